//! An interface as an OpenAPI 3.1 document. utoipa collects it from the handlers and the types; what all
//! operations have in common is added here: names, tags, refusals, headers, bounds and examples.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{OpenApi, Ref};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;

use crate::answer::text;
use crate::problem::{PROBLEM_JSON, Problem};

/// What a server says of its operations.
#[derive(Debug)]
pub struct Style {
    /// Name and description of each tag, and the first words of the paths that have it.
    pub tags: &'static [(&'static str, &'static str, &'static [&'static str])],
    /// Bounds and examples of a parameter or a property with this name; of a parameter also as `query:name`.
    pub shape: fn(&str) -> Option<Value>,
    /// Whether answers of a path have a tag (`ETag`), so that 304 may come.
    pub is_tagged: fn(&str) -> bool,
}

/// The operations of a document.
pub fn operations(api: &mut OpenApi) -> impl Iterator<Item = &mut Operation> {
    let items = api.paths.paths.values_mut();
    items.flat_map(|item| [&mut item.get, &mut item.put, &mut item.post, &mut item.delete]).flatten()
}

/// Adds refusals with these statuses to every operation of a router; what an operation says of a status itself stays.
#[must_use]
pub fn refusing<S: Clone + Send + Sync + 'static>(
    mut router: OpenApiRouter<S>,
    statuses: &[u16],
) -> OpenApiRouter<S> {
    for operation in operations(router.get_openapi_mut()) {
        for status in statuses {
            let refusal = Ref::from_response_name(component(&status.to_string()));
            operation.responses.responses.entry(status.to_string()).or_insert_with(|| refusal.into());
        }
    }
    router
}

fn reason(status: &str) -> &'static str {
    let status = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
    status.and_then(|status| status.canonical_reason()).unwrap_or("Refused")
}

/// The name of the response that describes a status.
fn component(status: &str) -> String {
    reason(status).replace([' ', '\''], "")
}

/// The document as text.
pub fn written(api: &OpenApi, style: &Style) -> String {
    // Values of strings and numbers always have a text.
    let mut document = serde_json::to_value(api).unwrap_or_default();
    complete(&mut document, style);
    serde_json::to_string_pretty(&sorted(document)).unwrap_or_default() + "\n"
}

/// A document as an answer.
pub fn served(document: &'static str) -> Response {
    text(StatusCode::OK, "application/json", document)
}

/// A document by name on every level, whatever the order of the map's own is.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let map: BTreeMap<String, Value> = map.into_iter().map(|(name, it)| (name, sorted(it))).collect();
            Value::Object(map.into_iter().collect())
        }
        Value::Array(list) => list.into_iter().map(sorted).collect(),
        value => value,
    }
}

fn object(value: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    value.as_object_mut().into_iter().flatten()
}

fn complete(document: &mut Value, style: &Style) {
    document["servers"] = json!([{ "url": "/", "description": "the server that serves this document" }]);
    document["security"] = json!([]);
    let tags = style.tags.iter().map(|(name, about, _)| json!({ "name": name, "description": about }));
    document["tags"] = tags.collect();
    document["components"]["schemas"][&*Problem::name()] =
        serde_json::to_value(Problem::schema()).unwrap_or_default();
    let mut refusals = Map::new();
    for (path, item) in object(&mut document["paths"]) {
        for (method, operation) in object(item) {
            let is_tagged = method == "get" && (style.is_tagged)(path);
            described(operation, method, path, is_tagged, style);
            for (status, response) in object(&mut operation["responses"]) {
                answered(response, status, is_tagged);
                if response.get("$ref").is_some() {
                    refusals.insert(component(status), refusal(status));
                }
            }
        }
    }
    document["components"]["responses"] = Value::Object(refusals);
    document["components"]["headers"] = all_headers();
    prune(document);
    for (_, schema) in object(&mut document["components"]["schemas"]) {
        bounded(schema, style.shape);
    }
}

/// Completes what an operation says of itself and of its parameters.
fn described(operation: &mut Value, method: &str, path: &str, is_tagged: bool, style: &Style) {
    let mut parameters = operation.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_list = parameters.iter().any(|it| it["name"] == "limit");
    operation["operationId"] = name_of(method, path, is_list).into();
    let first = words(path).next().unwrap_or_default();
    let tags = style.tags.iter().filter(|(_, _, of)| of.contains(&first)).map(|(name, _, _)| json!(name));
    operation["tags"] = tags.collect();
    if is_tagged {
        parameters.push(json!({ "name": "If-None-Match", "in": "header", "required": false,
            "description": "the `ETag` of an answer that the client has", "schema": { "type": "string" } }));
        operation["responses"]["304"] = json!({ "description": "the client has this answer" });
    }
    for parameter in &mut parameters {
        let of = |field: &str| parameter[field].as_str().unwrap_or_default().to_owned();
        let name = of("name");
        let placed = format!("{}:{name}", of("in"));
        let schema = &mut parameter["schema"];
        // A parameter is there, or it is not: there is no null in a query.
        if let Some(types) = schema["type"].as_array() {
            let one = types.iter().find(|it| *it != "null").cloned();
            schema["type"] = one.unwrap_or_default();
        }
        if let Some(object) = schema.as_object_mut() {
            shaped(object, (style.shape)(&placed).or_else(|| (style.shape)(&name)));
        }
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
}

/// Completes an answer: its description, and the headers that it has.
fn answered(response: &mut Value, status: &str, is_tagged: bool) {
    if response.get("$ref").is_some() {
        return;
    }
    if response["description"].as_str().unwrap_or_default().is_empty() {
        response["description"] = reason(status).into();
    }
    response["headers"] = headers(status, is_tagged && matches!(status, "200" | "304"));
}

fn refusal(status: &str) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{}", Problem::name()) });
    json!({
        "description": reason(status),
        "headers": headers(status, false),
        "content": { PROBLEM_JSON: { "schema": schema } },
    })
}

/// The headers of an answer, as references.
fn headers(status: &str, is_tagged: bool) -> Value {
    let mut names = vec!["RateLimit", "RateLimit-Policy"];
    if is_tagged {
        names.push("ETag");
    }
    if matches!(status, "429" | "503") {
        names.push("Retry-After");
    }
    let referred = |name: &str| (name.to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }));
    names.into_iter().map(referred).collect::<Map<_, _>>().into()
}

/// What those references are of.
fn all_headers() -> Value {
    let text = |about: &str, example: &str| json!({ "description": about, "schema": { "type": "string" }, "example": example });
    json!({
        "RateLimit": text("requests that are left, and seconds until all are", "\"address\";r=499;t=1"),
        "RateLimit-Policy": text("requests of the burst, and seconds until it is full again", "\"address\";q=500;w=5"),
        "ETag": text("changes with the answer", "W/\"9f86d081884c7d65\""),
        "Retry-After": { "description": "seconds to wait", "schema": { "type": "integer", "minimum": 1 }, "example": 5 },
    })
}

/// Removes what nothing refers to: schemas of generic types are written where they are used.
fn prune(document: &mut Value) {
    loop {
        let text = document.to_string();
        let mut is_done = true;
        for kind in ["schemas", "headers"] {
            let Some(all) = document["components"][kind].as_object_mut() else { return };
            let before = all.len();
            all.retain(|name, _| text.contains(&format!("\"#/components/{kind}/{name}\"")));
            is_done &= all.len() == before;
        }
        if is_done {
            return;
        }
    }
}

/// Adds bounds and examples to the properties of a schema, by their names.
fn bounded(schema: &mut Value, shape: fn(&str) -> Option<Value>) {
    let Some(object) = schema.as_object_mut() else { return };
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for part in object.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten() {
            bounded(part, shape);
        }
    }
    for (name, property) in object.get_mut("properties").into_iter().flat_map(self::object) {
        match property.get_mut("items").and_then(Value::as_object_mut) {
            Some(items) => shaped(items, shape(name)),
            None => property.as_object_mut().into_iter().for_each(|it| shaped(it, shape(name))),
        }
        bounded(property, shape);
    }
    if let Some(items) = object.get_mut("items") {
        bounded(items, shape);
    }
}

/// Adds what is not there yet, where the types fit. A schema elsewhere has its own.
fn shaped(schema: &mut Map<String, Value>, shape: Option<Value>) {
    let Some(Value::Object(shape)) = shape else { return };
    let is_of = |word: &str| match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|it| it == word),
        it => it.is_some_and(|it| it == word),
    };
    let (is_text, is_number) = (is_of("string"), is_of("integer") || is_of("number"));
    for (keyword, value) in shape {
        let fits = match keyword.as_str() {
            "pattern" | "minLength" | "maxLength" => is_text,
            "minimum" | "maximum" => is_number,
            "examples" => value[0].is_string() == is_text && (is_text || is_number),
            _ => is_text || is_number,
        };
        // What utoipa knows of a number is its Rust type.
        if fits && (keyword == "minimum" || !schema.contains_key(&keyword)) {
            schema.insert(keyword, value);
        }
    }
}

/// The literal words of a path, without the version.
fn words(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|word| !word.is_empty() && !word.starts_with('{') && *word != "v1")
}

/// A name for generated clients: `listAgents`, `getAgentBatch`, `bondContract`. An act upon a thing is named after the
/// act, everything else after its method.
fn name_of(method: &str, path: &str, is_list: bool) -> String {
    let segments: Vec<&str> = path.split('/').filter(|it| !it.is_empty() && *it != "v1").collect();
    let (mut parts, mut act) = (Vec::new(), None);
    for (at, segment) in segments.iter().enumerate() {
        let (is_last, is_one) =
            (at + 1 == segments.len(), segments.get(at + 1).is_some_and(|next| next.starts_with('{')));
        if segment.starts_with('{') {
            continue;
        }
        let is_new = is_last && matches!(method, "post" | "put") && at == 0;
        if is_last && method == "post" && at > 0 {
            act = Some(*segment);
        } else {
            parts.push(camel(if is_one || is_new { singular(segment) } else { segment }));
        }
    }
    match act {
        Some(act) => {
            let act = camel(act);
            let (first, rest) = act.split_at(1);
            format!("{}{rest}{}", first.to_lowercase(), parts.concat())
        }
        None if is_list => format!("list{}", parts.concat()),
        None => format!("{method}{}", parts.concat()),
    }
}

fn singular(word: &str) -> &str {
    // The word has no plural.
    if word == "outbox" {
        return "draft";
    }
    match word.strip_suffix("es") {
        Some(stem) if stem.ends_with("ch") => stem,
        _ => word.strip_suffix('s').unwrap_or(word),
    }
}

/// `back_out` as `BackOut`.
fn camel(word: &str) -> String {
    word.split(['_', '.', '-'])
        .flat_map(|part| {
            let mut letters = part.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_named_after_what_it_does() {
        for (method, path, is_list, name) in [
            ("get", "/v1/agents", true, "listAgents"),
            ("get", "/v1/agents/{mint}", false, "getAgent"),
            ("get", "/v1/agents/{mint}/batches/{epoch}", false, "getAgentBatch"),
            ("get", "/v1/agents/{mint}/batches/{epoch}/leaves", true, "listAgentBatchLeaves"),
            ("put", "/v1/agents/{mint}/batches/{epoch}/data", false, "putAgentBatchData"),
            ("put", "/v1/bindings", false, "putBinding"),
            ("post", "/contracts", false, "postContract"),
            ("post", "/contracts/{id}/back_out", false, "backOutContract"),
            ("delete", "/contracts/{id}", false, "deleteContract"),
            ("get", "/v1/outbox", false, "getOutbox"),
            ("get", "/v1/outbox/{draft}", false, "getDraft"),
            ("get", "/openapi.json", false, "getOpenapiJson"),
        ] {
            assert_eq!(name_of(method, path, is_list), name, "{method} {path}");
        }
    }

    #[test]
    fn bounds_go_where_they_fit_and_nothing_is_written_over() {
        let shape = |name: &str| {
            (name == "mint").then(|| json!({ "pattern": "^x$", "minimum": 1, "examples": ["x"] }))
        };
        let mut schema = json!({ "properties": {
            "mint": { "type": ["string", "null"] },
            "other": { "type": "string" },
            "list": { "type": "array", "items": { "properties": { "mint": { "type": "string", "pattern": "^y$" } } } },
        } });
        bounded(&mut schema, shape);
        let of = &schema["properties"];
        assert_eq!(of["mint"], json!({ "type": ["string", "null"], "pattern": "^x$", "examples": ["x"] }));
        assert_eq!(of["other"], json!({ "type": "string" }));
        assert_eq!(of["list"]["items"]["properties"]["mint"]["pattern"], "^y$");
    }
}
