//! What a delivery refers to, on the command line.

use client::wire::RefRequest;
use domain::delivery::{RefRole, RefType};
use domain::nearest::meant;
use domain::web_page::WebPage;
use serde_json::Value;

/// How a reference is written.
const FORM: &str = "a reference is ROLE:TYPE:LABEL, with the address of its page after a space, for example `trigger:jira:SHOP-7 https://jira.example.com/SHOP-7`";

/// What something can be to a delivery.
const ROLES: [&str; 3] = ["trigger", "output", "parent"];

/// What a delivery can refer to.
const TYPES: [&str; 6] = ["jira", "verbal", "pr", "commit", "repo", "github_issue"];

/// A reference as ROLE:TYPE:LABEL, with the address of its page after a space if it has one.
pub(crate) fn reference(text: &str) -> Result<RefRequest, String> {
    let mut parts = text.trim().splitn(3, ':');
    let (Some(role), Some(kind), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(FORM.to_owned());
    };
    let (label, page) = match rest.rsplit_once(' ') {
        Some((label, page)) if is_address(page) => (label, Some(page)),
        Some(_) | None => (rest, None),
    };
    if label.trim().is_empty() {
        return Err(FORM.to_owned());
    }
    let page = page.map(|page| WebPage::try_from(page.to_owned()));
    Ok(RefRequest {
        role: self::role(role).ok_or_else(|| none_of(role, "role", &ROLES))?,
        kind: self::kind(kind).ok_or_else(|| none_of(kind, "type", &TYPES))?,
        label: label.trim().to_owned(),
        url: page.transpose().map_err(|odd| odd.to_string())?,
    })
}

/// Why a word is none of these, with the nearest of them.
fn none_of(word: &str, what: &str, words: &[&str]) -> String {
    let near = meant(word, words.iter().copied());
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!("a {what} is one of {}{near}", quoted.join(", "))
}

fn is_address(word: &str) -> bool {
    ["https://", "http://"]
        .iter()
        .any(|it| word.starts_with(it))
}

fn role(word: &str) -> Option<RefRole> {
    serde_json::from_value(Value::from(word)).ok()
}

fn kind(word: &str) -> Option<RefType> {
    serde_json::from_value(Value::from(word)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_role_a_type_a_label_and_perhaps_a_page() {
        let whole = reference("trigger:jira:SHOP-7 https://jira.example.com/SHOP-7").unwrap();
        assert_eq!((whole.role, whole.kind), (RefRole::Trigger, RefType::Jira));
        assert_eq!(whole.label, "SHOP-7");
        let page = whole.url.as_ref().map(WebPage::as_str);
        assert_eq!(page, Some("https://jira.example.com/SHOP-7"));
        let said = reference("parent:verbal:a call: at noon").unwrap();
        assert_eq!((said.label.as_str(), said.url), ("a call: at noon", None));
        for (odd, told) in [
            ("", "ROLE:TYPE:LABEL"),
            ("SHOP-7", "ROLE:TYPE:LABEL"),
            ("jira:SHOP-7", "ROLE:TYPE:LABEL"),
            (
                "trigger:jira: https://jira.example.com/SHOP-7",
                "ROLE:TYPE:LABEL",
            ),
            ("cause:jira:SHOP-7", "a role is"),
            ("triger:jira:SHOP-7", "did you mean `trigger`?"),
            ("trigger:ticket:SHOP-7", "a type is"),
            ("trigger:jirra:SHOP-7", "did you mean `jira`?"),
            (
                "trigger:jira:SHOP-7 https://kim@jira.example.com",
                "no address",
            ),
        ] {
            let refused = reference(odd).unwrap_err();
            assert!(refused.contains(told), "{odd}: {refused}");
        }
    }
}
