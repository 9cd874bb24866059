//! An interface as an OpenAPI 3.1 document. utoipa collects it from the handlers and the types; what all
//! operations have in common is added here.

use axum::http::StatusCode;
use axum::response::Response;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa_axum::router::OpenApiRouter;

use crate::answer::text;

/// The operations of a document.
pub fn operations(api: &mut OpenApi) -> impl Iterator<Item = &mut Operation> {
    let items = api.paths.paths.values_mut();
    items.flat_map(|item| [&mut item.get, &mut item.put, &mut item.post, &mut item.delete]).flatten()
}

fn reason(status: &str) -> &'static str {
    let status = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
    status.and_then(|status| status.canonical_reason()).unwrap_or("Refused")
}

/// Adds refusals to every operation of a router: their statuses, and the name of the schema of each.
#[must_use]
pub fn refusing<S: Clone + Send + Sync + 'static>(
    mut router: OpenApiRouter<S>,
    statuses: &[u16],
    schema: fn(u16) -> &'static str,
) -> OpenApiRouter<S> {
    for operation in operations(router.get_openapi_mut()) {
        for status in statuses {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema(*status)))).build();
            let refusal = ResponseBuilder::new().content("application/json", content).build();
            operation.responses.responses.insert(status.to_string(), refusal.into());
        }
    }
    router
}

/// The document as text.
pub fn written(mut api: OpenApi) -> String {
    for operation in operations(&mut api) {
        // The names of our functions, which are not unique.
        operation.operation_id = None;
        for (status, response) in &mut operation.responses.responses {
            if let RefOr::T(response) = response
                && response.description.is_empty()
            {
                response.description = reason(status).to_owned();
            }
        }
    }
    // A value of strings and numbers always has a text.
    api.to_pretty_json().unwrap_or_default() + "\n"
}

/// A document as an answer.
pub fn served(document: &'static str) -> Response {
    text(StatusCode::OK, "application/json", document)
}
