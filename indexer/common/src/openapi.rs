//! An interface as OpenAPI 3.1, from a table of routes. The table is the server's; how fields, parameters and
//! routes are written stands here.

use crate::answer::text;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};

/// How the words of a table are read. A field is its name and what it holds: `name` a text, `name#` a number,
/// `name!` true or false, `name{}` an object, `name{?}` an object or null, `name[]` a list. A `?` at the end
/// says that it may be missing.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The type of a number: `integer` or `number`.
    pub number: &'static str,
    /// The schema of a list's items.
    pub item: fn() -> Value,
    /// What else there is to say of a field of this name.
    pub note: fn(&str) -> Option<&'static str>,
}

impl Words {
    /// A field: its name, its schema, whether it is always there.
    pub fn field(&self, word: &str) -> (String, Value, bool) {
        let (word, is_required) = match word.strip_suffix('?') {
            Some(word) => (word, false),
            None => (word, true),
        };
        let shapes = [
            ("#", json!({ "type": self.number })),
            ("!", json!({ "type": "boolean" })),
            ("{}", json!({ "type": "object" })),
            ("{?}", json!({ "type": ["object", "null"] })),
            ("[]", json!({ "type": "array", "items": (self.item)() })),
        ];
        let shaped = shapes
            .into_iter()
            .find_map(|(ending, shape)| word.strip_suffix(ending).map(|name| (name, shape)));
        let (name, mut schema) = shaped.unwrap_or_else(|| (word, json!({ "type": "string" })));
        if let (Some(note), Some(schema)) = ((self.note)(name), schema.as_object_mut()) {
            schema.insert("description".to_owned(), note.into());
        }
        (name.to_owned(), schema, is_required)
    }

    /// An object of these fields.
    pub fn object(&self, words: &str) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for word in words.split_whitespace() {
            let (name, schema, is_required) = self.field(word);
            if is_required {
                required.push(Value::from(name.clone()));
            }
            properties.insert(name, schema);
        }
        let mut object = json!({ "type": "object", "properties": properties });
        if let (false, Some(object)) = (required.is_empty(), object.as_object_mut()) {
            object.insert("required".to_owned(), required.into());
        }
        object
    }
}

/// A reference to a schema of the document.
pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Content of one kind.
pub fn content(kind: &str, schema: Value) -> Value {
    json!({ kind: { "schema": schema } })
}

/// An answer: what it is, and its content.
pub fn answer(description: &str, content: Value) -> Value {
    json!({ "description": description, "content": content })
}

/// A body that must be there.
pub fn body(kind: &str, schema: Value) -> Value {
    json!({ "required": true, "content": content(kind, schema) })
}

/// A parameter in `path`, `query` or `header`; that of a path must be there. With a sentence, if there is one.
pub fn parameter(name: &str, place: &str, schema: Value, note: Option<&str>) -> Value {
    let mut parameter = json!({ "name": name, "in": place, "required": place == "path", "schema": schema });
    if let (Some(note), Some(parameter)) = (note, parameter.as_object_mut()) {
        parameter.insert("description".to_owned(), note.into());
    }
    parameter
}

/// The names in a path: `id` in `/contracts/{id}`.
pub fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// The document: its `info`, operations by method and path, its components.
pub fn document<'r>(
    info: Value,
    operations: impl IntoIterator<Item = (&'r str, &'r str, Value)>,
    components: Value,
) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for (method, path, operation) in operations {
        let path = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(method.to_owned(), operation);
        }
    }
    json!({ "openapi": "3.1.0", "info": info, "paths": paths, "components": components })
}

/// A document as text.
pub fn written(document: &Value) -> String {
    // A value of strings and numbers always has a text.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// A document as an answer.
pub fn served(document: &Value) -> Response {
    text(StatusCode::OK, "application/json", written(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_fields() {
        let words =
            Words { number: "integer", item: || json!({}), note: |name| (name == "fee").then_some("XNO") };
        let expected = json!({
            "type": "object",
            "properties": {
                "a": { "type": "string" },
                "b": { "type": "integer" },
                "c": { "type": "boolean" },
                "d": { "type": "object" },
                "e": { "type": ["object", "null"] },
                "f": { "type": "array", "items": {} },
                "fee": { "type": "string", "description": "XNO" },
            },
            "required": ["a", "c", "d", "e", "f"],
        });
        assert_eq!(words.object("a b#? c! d{} e{?} f[] fee?"), expected);
        assert_eq!(words.object(""), json!({ "type": "object", "properties": {} }));
        assert_eq!(names("/a/{b}/c/{d}").collect::<Vec<_>>(), ["b", "d"]);
    }
}
