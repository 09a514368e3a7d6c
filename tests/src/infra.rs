//! What the templates in `infra/` say, so that tests work with the very table that is deployed.

use std::path::Path;

use serde_norway::Value;

/// A template; tags such as `!GetAtt` stay beside their values.
pub fn template(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../infra")
        .join(file);
    let text = std::fs::read_to_string(path).expect("a template");
    serde_norway::from_str(&text).expect("YAML")
}

/// What a resource of a template is to be.
pub fn properties(template: &Value, resource: &str) -> Value {
    let found = &template["Resources"][resource]["Properties"];
    assert!(found.is_mapping(), "{resource} is no resource");
    found.clone()
}

/// A required text.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    let found = value[name].as_str();
    found.unwrap_or_else(|| panic!("{name} is no text: {value:?}"))
}

/// The items of a required list.
pub fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    let found = value[name].as_sequence();
    found.unwrap_or_else(|| panic!("{name} is no list: {value:?}"))
}
