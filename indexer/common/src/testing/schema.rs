//! Answers held against an OpenAPI 3.1 document: the part of JSON Schema that such documents use. A keyword
//! that is not known here is an error, so that nothing is passed over.

use regex::Regex;
use serde_json::Value;

/// A description of an interface.
#[derive(Debug)]
pub struct Description(Value);

type Checked = Result<(), String>;

impl Description {
    /// Parses a description from the text of a document.
    ///
    /// # Panics
    ///
    /// Panics when the text is not valid JSON.
    #[must_use]
    pub fn new(document: &str) -> Description {
        Description(serde_json::from_str(document).unwrap())
    }

    /// Every operation: its method in lower case, and its path.
    #[must_use]
    pub fn operations(&self) -> Vec<(&str, &str)> {
        let mut all = Vec::new();
        for (path, item) in self.0["paths"].as_object().into_iter().flatten() {
            all.extend(
                item.as_object().into_iter().flatten().map(|(method, _)| (method.as_str(), path.as_str())),
            );
        }
        all
    }

    /// The operation of a request.
    #[must_use]
    pub fn operation(&self, method: &str, target: &str) -> Option<&Value> {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let fits = |template: &str| {
            template.split('/').count() == path.split('/').count()
                && template.split('/').zip(path.split('/')).all(|(t, p)| t.starts_with('{') || t == p)
        };
        let paths = self.0["paths"].as_object()?;
        // A path without parameters comes before one with.
        let item = paths.get(path).or_else(|| paths.iter().find(|(it, _)| fits(it)).map(|(_, item)| item))?;
        item.get(method.to_lowercase())
    }

    /// Checks the JSON answer to a request. Requests that the document does not describe are not looked at.
    ///
    /// # Errors
    ///
    /// What is not as described, and where.
    pub fn check(&self, method: &str, target: &str, status: u16, body: &Value) -> Checked {
        let Some(operation) = self.operation(method, target) else { return Ok(()) };
        let said = |what: String| format!("{method} {target} answers {status} {body}: {what}");
        let response = match &operation["responses"][status.to_string()] {
            Value::Null => return Err(said("no such status is described".to_owned())),
            response => response["$ref"].as_str().map_or(Some(response), |it| self.referred(it)),
        };
        let Some(response) = response else { return Err(said("its description is missing".to_owned())) };
        let kinds = ["application/json", crate::problem::PROBLEM_JSON];
        match kinds.iter().find_map(|kind| response["content"].get(kind)) {
            None => Ok(()),
            Some(content) => self.fits(&content["schema"], body, "").map_err(said),
        }
    }

    fn referred(&self, pointer: &str) -> Option<&Value> {
        self.0.pointer(pointer.strip_prefix('#')?)
    }

    fn fits(&self, schema: &Value, value: &Value, at: &str) -> Checked {
        let wrong = |what: String| Err(format!("at `{at}`: {what}"));
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(true) => return Ok(()),
            _ => return wrong(format!("invalid schema: {schema}")),
        };
        let of = |list: &Value| list.as_array().cloned().unwrap_or_default();
        let fitting = |list: &Value| {
            of(list).iter().map(|it| self.fits(it, value, at)).partition::<Vec<Checked>, _>(Result::is_ok)
        };
        for (keyword, rule) in keywords {
            match keyword.as_str() {
                "$ref" => {
                    let Some(schema) = rule.as_str().and_then(|it| self.referred(it)) else {
                        return wrong(format!("{rule} is not in the document"));
                    };
                    self.fits(schema, value, at)?;
                }
                "type" => {
                    let types = if rule.is_array() { of(rule) } else { vec![rule.clone()] };
                    let is = |name: &Value| match name.as_str().unwrap_or_default() {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "boolean" => value.is_boolean(),
                        "null" => value.is_null(),
                        "number" => value.is_number(),
                        "integer" => value.is_i64() || value.is_u64(),
                        _ => false,
                    };
                    if !types.iter().any(is) {
                        return wrong(format!("{value} is not of the type {rule}"));
                    }
                }
                "enum" if !of(rule).contains(value) => return wrong(format!("{value} is none of {rule}")),
                "minimum" if value.is_number() && value.as_f64() < rule.as_f64() => {
                    return wrong(format!("{value} is less than {rule}"));
                }
                "maximum" if value.is_number() && value.as_f64() > rule.as_f64() => {
                    return wrong(format!("{value} is more than {rule}"));
                }
                "pattern" => {
                    let fits =
                        |text: &str| Regex::new(rule.as_str().unwrap_or_default()).unwrap().is_match(text);
                    if value.as_str().is_some_and(|text| !fits(text)) {
                        return wrong(format!("{value} does not match {rule}"));
                    }
                }
                "required" => {
                    let missing = |name: &&Value| {
                        value.is_object() && value.get(name.as_str().unwrap_or_default()).is_none()
                    };
                    if let Some(name) = of(rule).iter().find(missing) {
                        return wrong(format!("{name} is missing"));
                    }
                }
                "properties" => {
                    for (name, schema) in rule.as_object().into_iter().flatten() {
                        if let Some(value) = value.get(name) {
                            self.fits(schema, value, &format!("{at}/{name}"))?;
                        }
                    }
                }
                "items" => {
                    for (nth, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.fits(rule, item, &format!("{at}/{nth}"))?;
                    }
                }
                "allOf" => of(rule).iter().try_for_each(|it| self.fits(it, value, at))?,
                "anyOf" | "oneOf" => {
                    let (fits, fails) = fitting(rule);
                    if fits.is_empty() || (keyword == "oneOf" && fits.len() > 1) {
                        return wrong(format!("{} of {keyword} fit: {fails:?}", fits.len()));
                    }
                }
                "enum"
                | "minimum"
                | "maximum"
                | "example"
                | "examples"
                | "description"
                | "format"
                | "default"
                | "propertyNames"
                | "additionalProperties"
                | "title" => {}
                _ => return wrong(format!("the keyword {keyword} is not known to this test")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_that_is_not_as_described_is_found() {
        let named = json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string" }, "n": { "type": ["integer", "null"], "minimum": 0 }, "h": { "type": "string", "pattern": "^[0-9a-f]+$" } } });
        let schema = json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Named" }] });
        let document = json!({
            "paths": { "/x/{id}": { "get": { "responses": {
                "200": { "content": { "application/json": { "schema": schema } } },
                "400": { "$ref": "#/components/responses/Bad" },
                "500": { "$ref": "#/components/responses/Missing" },
            } } } },
            "components": {
                "schemas": { "Named": named },
                "responses": { "Bad": { "content": { "application/problem+json": { "schema": { "type": "object" } } } } },
            },
        });
        let description = Description::new(&document.to_string());
        let check = |status, body: Value| description.check("GET", "/x/1?y", status, &body);
        check(200, json!(null)).unwrap();
        check(200, json!({ "a": "b", "n": null, "more": 1 })).unwrap();
        assert!(check(200, json!({ "a": "b", "n": -1 })).unwrap_err().contains("less than 0"));
        assert!(check(200, json!({ "a": null })).unwrap_err().contains("/a"));
        assert!(check(200, json!({})).unwrap_err().contains("missing"));
        assert!(check(200, json!({ "a": "b", "h": "xyz" })).unwrap_err().contains("/h"));
        assert!(check(404, json!({})).unwrap_err().contains("status"));
        check(400, json!({})).unwrap();
        assert!(check(400, json!([])).unwrap_err().contains("type"));
        assert!(check(500, json!({})).unwrap_err().contains("missing"));
        assert_eq!(description.check("GET", "/elsewhere", 200, &json!(1)), Ok(()));
        assert_eq!(description.operations(), [("get", "/x/{id}")]);
    }
}
