//! The schemas of the tools' arguments and answers, as short as possible: every client reads all of them once a
//! session.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of a type, whole and without what only costs room: every client reads it once a session.
pub(super) fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.meta_schema = None;
        it.inline_subschemas = true;
    });
    let made = settings.into_generator().into_root_schema_for::<T>();
    let mut whole = made.to_value();
    slim(&mut whole);
    let mut object = whole.as_object().cloned().unwrap_or_default();
    object.remove("description");
    object
}

/// Removes what helps no model: defaults, number formats, `null` alternatives, and descriptions that repeat the type.
fn slim(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    for idle in ["title", "default", "format", "minimum", "maximum"] {
        object.remove(idle);
    }
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
    }
    // Anything may be in an object unless the schema says otherwise.
    if object.get("additionalProperties") == Some(&Value::Bool(true)) {
        object.remove("additionalProperties");
    }
    without_nothing(object);
    if object.contains_key("description")
        && let Some(Value::Array(choices)) = object.get_mut("anyOf")
    {
        let choices = choices.iter_mut().filter_map(Value::as_object_mut);
        choices.for_each(|choice| drop(choice.remove("description")));
    }
    let below = ["properties", "items", "anyOf", "oneOf"];
    for name in below {
        match object.get_mut(name) {
            Some(Value::Array(all)) => all.iter_mut().for_each(slim),
            Some(Value::Object(all)) if name == "properties" => all.values_mut().for_each(slim),
            Some(other) => slim(other),
            None => {}
        }
    }
    if object
        .get("items")
        .is_some_and(|it| it.get("properties").is_some())
        && let Some(Value::Object(item)) = object.get_mut("items")
    {
        item.remove("description");
    }
    as_words(object);
}

/// Turns the choice between a value and `null` into the value alone.
fn without_nothing(object: &mut JsonObject) {
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(only)] = &choices[..] {
        let only = only.clone();
        object.remove("anyOf");
        for (name, value) in only {
            object.entry(name).or_insert(value);
        }
    }
}

/// Turns a choice between words into a list of them, with their meanings in one text.
fn as_words(object: &mut JsonObject) {
    let Some(Value::Array(choices)) = object.get("oneOf") else {
        return;
    };
    let word = |choice: &Value| Some(choice.get("const")?.as_str()?.to_owned());
    let Some(words) = choices.iter().map(word).collect::<Option<Vec<_>>>() else {
        return;
    };
    let meaning = |choice: &Value| {
        let said = choice.get("description")?.as_str()?.trim_end_matches('.');
        Some(format!("{}: {said}", word(choice)?))
    };
    let meanings: Vec<_> = choices.iter().filter_map(meaning).collect();
    object.remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), words.into());
    if !meanings.is_empty() {
        let meanings = meanings.join("; ") + ".";
        object.insert("description".to_owned(), meanings.into());
    }
}
