//! What is tried at each route, and how it has to be named.

use api::{JOB_BODY_BYTES_MAX, ParameterType, RequestBody, Route};
use client::wire::IDEMPOTENCY_KEY;
use domain::ids::PersonaName;
use serde_json::{Map, Value, json};

/// The document lists the fields of each body.
const DOCUMENT: &str = include_str!("../../../../../docs/openapi.json");

/// The pattern of a text that says anything at all.
const ANY_TEXT: &str = "\\S";

/// A body of this size, in bytes, is sent to each route that reads one.
const LARGE_BYTES: usize = 10 * 1024 * 1024;

/// What is wrong with a request, and so what its refusal has to name.
#[derive(Debug)]
enum Wrong {
    /// A part of the path: some code of this list.
    Path,
    /// A field, parameter or header of this name.
    Named(String),
    /// The whole body: one of these codes.
    Body(&'static [&'static str]),
    /// A message: this code of its protocol.
    Message(i32),
}

/// One bad request.
pub(super) struct Tried {
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    wrong: Wrong,
}

impl std::fmt::Debug for Tried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        let body: String = body.chars().take(200).collect();
        write!(
            f,
            "{:?} at {} {:?} {body}",
            self.wrong, self.path, self.headers
        )
    }
}

impl Tried {
    fn new(path: String, body: &Value, wrong: Wrong) -> Self {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        Self {
            path,
            headers: Vec::new(),
            body: body.into_bytes(),
            wrong,
        }
    }

    /// Whether a refusal names what is wrong.
    pub(super) fn named(&self, code: &str, field: Option<&str>) -> bool {
        match &self.wrong {
            Wrong::Path => {
                // A bad name of a job may look like an order, or like another path.
                field.is_some()
                    || ["no_such_verb", "no_such_route", "no_such_method"].contains(&code)
            }
            Wrong::Named(name) => field.is_some_and(|field| {
                // One of a list is named with its place.
                let rest = field.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
            }),
            Wrong::Body(codes) => codes.contains(&code),
            Wrong::Message(_) => false,
        }
    }

    /// The code of JSON-RPC that a refusal has, where it has one.
    pub(super) fn protocol(&self) -> Option<i32> {
        match &self.wrong {
            Wrong::Message(code) => Some(*code),
            Wrong::Path | Wrong::Named(_) | Wrong::Body(_) => None,
        }
    }

    pub(super) fn is_about_a_field(&self) -> bool {
        matches!(self.wrong, Wrong::Named(_))
    }
}

/// Names of nothing, as they are written in a path.
fn nowhere() -> Vec<String> {
    let mut all: Vec<String> = [
        "%2e%2e%2f",
        "..%2f..%2fetc%2fpasswd",
        "%00",
        "%0d%0aset-cookie:%20a=b",
        "%ff",
        "a%20b",
        "%F0%9F%92%A5",
        // Ids of every kind that name nothing here: a job, another account's session, an event, an effect.
        "01k0000000000000000000000a",
        "15400000000000009999",
        "evt_ffffffffffffffffffffffffffffffff",
        "ffffffffffffffffffffffffffffffff",
    ]
    .map(str::to_owned)
    .into();
    all.push("x".repeat(3_000));
    all
}

/// Each variable part of a path, spoilt. An unknown pull request has an answer of its own, so its parts stay valid.
pub(super) fn bad_paths(path: &str, whole: &dyn Fn(&str) -> String, body: &Value) -> Vec<Tried> {
    let parts = [
        "{job}",
        "{delivery}",
        "{run}",
        "{effect}",
        "{event}",
        "{agent}",
        "{number}",
        "{pipeline}",
        "{requirement}",
        "{persona}",
        "{message}",
        "{sprint}",
    ];
    let varying = parts.into_iter().filter(|part| path.contains(part));
    let spoilt = varying.flat_map(|part| {
        nowhere()
            .into_iter()
            // Each persona has a mailbox, and every number may be that of a pull request.
            .filter(move |bad| part != "{persona}" || bad.parse::<PersonaName>().is_err())
            .filter(move |bad| part != "{number}" || bad.parse::<u64>().is_err())
            .map(move |bad| path.replace(part, &bad))
    });
    spoilt
        .map(|path| Tried::new(whole(&path), body, Wrong::Path))
        .collect()
}

/// Each parameter of a query, spoilt, and one that there is not.
pub(super) fn bad_queries(route: &Route, path: &str) -> Vec<Tried> {
    let mut all = Vec::new();
    let mut spoil = |name: &str, value: &str| {
        let path = format!("{path}?{name}={value}");
        all.push(Tried::new(
            path,
            &Value::Null,
            Wrong::Named(name.to_owned()),
        ));
    };
    let queried = route.parameters.iter().filter(|it| !it.in_header);
    for parameter in queried.clone() {
        let wrong: Vec<String> = match parameter.takes {
            ParameterType::Number { max, .. } => ["x", "-1", "", "1.5", "99999999999999999999"]
                .map(str::to_owned)
                .into_iter()
                .chain([(max + 1).to_string()])
                .collect(),
            ParameterType::Form(_)
            | ParameterType::Job
            | ParameterType::States
            | ParameterType::Word(_)
            | ParameterType::Cursor
            | ParameterType::Switch
            | ParameterType::Toolsets => ["..%2f", "%00", "%0d%0aa:%20b", "no such", "%ff"]
                .map(|it| it.replace(' ', "%20"))
                .into(),
            ParameterType::Name { .. } => Vec::new(),
        };
        for value in wrong {
            spoil(parameter.name, &value);
        }
    }
    if queried.count() > 0 {
        spoil("colour", "red");
    }
    all
}

/// The name of an order, spoilt, and a body that is said to be something else.
pub(super) fn bad_headers(route: &Route, path: &str, body: &Value) -> Vec<Tried> {
    let tried = |name: &'static str, value: String| Tried {
        headers: vec![(name, value)],
        ..Tried::new(path.to_owned(), body, Wrong::Named(name.to_owned()))
    };
    let mut all = Vec::new();
    if route.parameters.iter().any(|it| it.in_header) {
        let wrong = ["", "  ", "\u{e4}"].map(str::to_owned);
        let wrong = wrong.into_iter().chain(["k".repeat(256)]);
        all.extend(wrong.map(|value| tried(IDEMPOTENCY_KEY, value)));
        let mut twice = tried(IDEMPOTENCY_KEY, "a".to_owned());
        twice.headers.push((IDEMPOTENCY_KEY, "b".to_owned()));
        all.push(twice);
    }
    if !body.is_null() {
        let wrong = ["text/plain", "application/x-www-form-urlencoded", "x"];
        let said = wrong.map(|value| tried("content-type", value.to_owned()));
        all.extend(said);
    }
    all
}

/// The whole body spoilt, then each of its fields.
pub(super) fn bad_bodies(route: &Route, path: &str, body: &Value) -> Vec<Tried> {
    let (name, must_be) = match route.sends {
        RequestBody::Nothing | RequestBody::Delivery | RequestBody::Form => return Vec::new(),
        RequestBody::Json(name) => (name, true),
        RequestBody::MaybeJson(name) => (name, false),
        RequestBody::Message => return bad_messages(path),
    };
    let raw = |body: Vec<u8>, codes| Tried {
        body,
        ..Tried::new(path.to_owned(), &Value::Null, Wrong::Body(codes))
    };
    let deep = format!("{{\"x\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(LARGE_BYTES));
    assert!(large.len() > JOB_BODY_BYTES_MAX);
    let mut all: Vec<Tried> = ["{", "nonsense", "[]", "null", "5", "{} {}", "{\"x\":}"]
        .map(|text| raw(text.into(), &["bad_json", "missing_field", "unknown_field"]))
        .into();
    all.push(raw(
        b"{\"x\":\"\xff\xfe\"}".to_vec(),
        &["bad_json", "missing_field", "unknown_field"],
    ));
    all.push(raw(
        deep.into_bytes(),
        &["bad_json", "missing_field", "unknown_field"],
    ));
    all.push(raw(large.into_bytes(), &["too_large"]));
    if must_be {
        all.push(raw(Vec::new(), &["bad_json"]));
    }
    all.extend(bad_fields(&schema(name), path, body));
    all
}

/// What is no message, and one that is too long.
fn bad_messages(path: &str) -> Vec<Tried> {
    let headers = vec![("content-type", "application/json".to_owned())];
    let tried = |body: &str, wrong| Tried {
        body: body.as_bytes().to_vec(),
        headers: headers.clone(),
        ..Tried::new(path.to_owned(), &Value::Null, wrong)
    };
    let deep = format!("{{\"x\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(LARGE_BYTES));
    let no_json = ["", "{", "nonsense", "{} {}", &deep];
    let no_message = [
        "[]",
        "null",
        "5",
        "{}",
        "{\"jsonrpc\":\"1.0\",\"method\":\"ping\"}",
    ];
    let no_json = no_json.map(|text| tried(text, Wrong::Message(-32_700)));
    let no_message = no_message.map(|text| tried(text, Wrong::Message(-32_600)));
    let too_long = tried(&long, Wrong::Body(&["too_large"]));
    no_json
        .into_iter()
        .chain(no_message)
        .chain([too_long])
        .collect()
}

/// Each field missing, of another type, and holding what no name holds; and one that there is not.
fn bad_fields(schema: &Value, path: &str, body: &Value) -> Vec<Tried> {
    let whole = body.as_object().unwrap();
    let tried = |body: Map<String, Value>, field: &str| {
        let wrong = Wrong::Named(field.to_owned());
        Tried::new(path.to_owned(), &Value::Object(body), wrong)
    };
    let with = |field: &str, value: Value| {
        let mut body = whole.clone();
        body.insert(field.to_owned(), value);
        tried(body, field)
    };
    let mut all = Vec::new();
    // What others make up may hold more than we know.
    if schema["additionalProperties"] == false {
        all.push(with("colour", json!("red")));
    }
    for field in schema["required"].as_array().into_iter().flatten() {
        let field = field.as_str().unwrap();
        let mut body = whole.clone();
        body.remove(field).unwrap();
        all.push(tried(body, field));
    }
    for (field, form) in schema["properties"].as_object().into_iter().flatten() {
        let wrong = wrong_values(form);
        assert!(!wrong.is_empty(), "{field}: {form}");
        all.extend(wrong.into_iter().map(|value| with(field, value)));
    }
    all
}

/// Values that do not fit a schema.
fn wrong_values(form: &Value) -> Vec<Value> {
    let form = &resolved(form);
    // Where a list of texts is right, a list of lists is not.
    let takes = format!("{}{}", form["oneOf"], form["type"]);
    let takes_lists = takes.contains("\"array\"");
    let mut wrong = vec![if takes_lists {
        json!([["x"]])
    } else {
        json!(["x"])
    }];
    let kinds = form["type"].to_string();
    if form["oneOf"].is_array() || kinds.contains("string") {
        wrong.extend([json!(5), json!(true)]);
    } else {
        wrong.push(json!("x"));
    }
    let is_name = form["pattern"].is_string() && form["pattern"] != ANY_TEXT;
    if is_name {
        let texts = ["", "../../etc/passwd", "a\r\nb: c", "a\u{0}b", "a b/c"];
        wrong.extend(texts.map(Value::from));
        wrong.push("x/".repeat(3_000).into());
    }
    if let Some(max) = form["maximum"].as_u64() {
        wrong.extend([json!(max + 1), json!(-1), json!(1.5)]);
    }
    if let Some(max) = form["maxLength"].as_u64().filter(|_| !is_name) {
        wrong.push("x".repeat(usize::try_from(max).unwrap() + 1).into());
    }
    wrong
}

/// What a reference leads to, also where nothing may stand instead.
fn resolved(form: &Value) -> Value {
    let mut form = form.clone();
    if let Some(any) = form["anyOf"].as_array() {
        form = any[0].clone();
    }
    match form["$ref"].as_str() {
        Some(name) => schema(name.rsplit('/').next().unwrap()),
        None => form,
    }
}

fn schema(name: &str) -> Value {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    document["components"]["schemas"][name].clone()
}
