//! Pages of a list and the `Link` header between them.

use serde_json::{Value, json};

use super::ask::Ask;
use super::reply::Reply;
use crate::github::pen::put;

/// Entries of a page when the caller names no number.
const DEFAULT_SIZE: usize = 30;

/// Maximum number of entries of a page, whatever the caller asks for.
const MAX_SIZE: usize = 100;

struct Page {
    items: Vec<Value>,
    link: Option<String>,
    total: usize,
}

/// A page as a bare list.
pub(super) fn list(ask: &Ask, items: impl IntoIterator<Item = Value>) -> Reply {
    let page = cut(ask, items.into_iter().collect());
    Reply::json(Value::Array(page.items)).linked(page.link)
}

/// A page inside an object with the total.
pub(super) fn object(ask: &Ask, field: &str, items: Vec<Value>) -> Reply {
    extended(ask, json!({}), field, items)
}

/// The same with more fields around the page.
pub(super) fn extended(ask: &Ask, around: Value, field: &str, items: Vec<Value>) -> Reply {
    let page = cut(ask, items);
    let mut body = around;
    if let Value::Object(fields) = &mut body {
        fields.insert("total_count".to_owned(), json!(page.total));
        fields.insert(field.to_owned(), Value::Array(page.items));
    }
    Reply::json(body).linked(page.link)
}

/// The same without the total, as a comparison has its commits.
pub(super) fn within(ask: &Ask, around: Value, field: &str, items: Vec<Value>) -> Reply {
    let page = cut(ask, items);
    let mut body = around;
    put(&mut body, field, Value::Array(page.items));
    Reply::json(body).linked(page.link)
}

fn cut(ask: &Ask, items: Vec<Value>) -> Page {
    let asked = |name: &str| ask.param(name).and_then(|text| text.parse::<usize>().ok());
    let size = asked("per_page")
        .filter(|size| *size > 0)
        .unwrap_or(DEFAULT_SIZE)
        .min(MAX_SIZE);
    let number = asked("page").filter(|number| *number > 0).unwrap_or(1);
    let total = items.len();
    let last = total.div_ceil(size).max(1);
    let skipped = size.saturating_mul(number - 1);
    let link = link(ask, number, last);
    Page {
        items: items.into_iter().skip(skipped).take(size).collect(),
        link,
        total,
    }
}

/// The header as GitHub writes it: absent on a single page, `next` and `last` absent on the last one.
fn link(ask: &Ask, number: usize, last: usize) -> Option<String> {
    let mut parts = Vec::new();
    if number > 1 {
        parts.push(one(ask, (number - 1).min(last), "prev"));
    }
    if number < last {
        parts.push(one(ask, number + 1, "next"));
        parts.push(one(ask, last, "last"));
    }
    if number > 1 {
        parts.push(one(ask, 1, "first"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn one(ask: &Ask, number: usize, rel: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(ask.query.iter().filter(|(name, _)| *name != "page"));
    query.append_pair("page", &number.to_string());
    format!(
        "<{}{}?{}>; rel=\"{rel}\"",
        ask.api,
        ask.path,
        query.finish()
    )
}
