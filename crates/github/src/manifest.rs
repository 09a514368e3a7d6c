//! The manifest of the user's own GitHub App: its permissions and events, and the page that makes it.

use serde_json::{Map, Value, json};
use url::Url;

use crate::client::{Error, GITHUB};

/// Where github.com is for people.
const GITHUB_WEB: &str = "https://github.com";

/// GitHub Enterprise Server serves REST below this path, and its pages at the root.
const ENTERPRISE_REST: &str = "/api/v3";

/// GitHub insists on a home page and shows it beside the App: what the App is about.
const HOME: &str = "https://jules.google.com";

/// What the App may do, and not more: each line is a row of `docs/github.md`, which says what breaks without it.
pub const PERMISSIONS: [(&str, &str); 9] = [
    ("actions", "read"),
    ("administration", "read"),
    ("checks", "read"),
    ("contents", "write"),
    ("deployments", "read"),
    ("issues", "write"),
    ("metadata", "read"),
    ("pull_requests", "write"),
    ("statuses", "write"),
];

/// Events of the App's webhook.
pub const EVENTS: [&str; 8] = [
    "check_run",
    "check_suite",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "status",
    "workflow_run",
];

/// A GitHub App to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name, unique on all of GitHub, at most 34 characters.
    pub name: String,
    /// The page on this machine that GitHub goes back to.
    pub back_to: String,
    /// Where its webhooks go; without one, it has none.
    pub webhook: Option<Url>,
}

/// The manifest, as GitHub's form takes it.
pub fn manifest(wanted: &Wanted) -> Value {
    let permissions: Map<String, Value> = PERMISSIONS
        .iter()
        .map(|(name, access)| ((*name).to_owned(), json!(access)))
        .collect();
    let mut manifest = json!({
        "name": wanted.name,
        "url": HOME,
        "description": "Watches Jules, waits for checks and merges what is green, if you let it.",
        "redirect_url": wanted.back_to,
        "public": false,
        "default_permissions": permissions,
    });
    if let (Some(url), Some(members)) = (&wanted.webhook, manifest.as_object_mut()) {
        members.insert(
            "hook_attributes".to_owned(),
            json!({ "url": url, "active": true }),
        );
        members.insert("default_events".to_owned(), json!(EVENTS));
    }
    manifest
}

/// The address that takes the manifest's form, of a person's account or of an organisation's.
///
/// # Errors
/// [`Error::Address`] when the base of the API is no address.
pub fn form_address(
    api_base: Option<&str>,
    organisation: Option<&str>,
    state: &str,
) -> Result<Url, Error> {
    let base = api_base.unwrap_or(GITHUB);
    let odd = || Error::Address("an address that is no URL".to_owned());
    let mut url: Url = if base == GITHUB { GITHUB_WEB } else { base }
        .parse()
        .map_err(|_| odd())?;
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(path.strip_suffix(ENTERPRISE_REST).unwrap_or(&path));
    let mut segments = url.path_segments_mut().map_err(|()| odd())?;
    segments.pop_if_empty();
    if let Some(organisation) = organisation {
        segments.extend(["organizations", organisation]);
    }
    segments.extend(["settings", "apps", "new"]);
    drop(segments);
    url.query_pairs_mut().append_pair("state", state);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = include_str!("../../../docs/github.md");

    /// The cells of every row of the first table below a heading.
    fn rows(heading: &str) -> Vec<Vec<String>> {
        let section = DOCS.split_once(heading).unwrap().1;
        let table = section.lines().skip_while(|line| !line.starts_with('|'));
        let rows = table.take_while(|line| line.starts_with('|')).skip(2);
        rows.map(|row| {
            let cells = row.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().replace('`', "")).collect()
        })
        .collect()
    }

    #[test]
    fn the_docs_explain_exactly_the_permissions_that_are_asked_for() {
        let told: Vec<_> = rows("## What the App may do")
            .into_iter()
            .inspect(|row| {
                assert!(
                    row.len() == 4 && row.iter().all(|it| !it.is_empty()),
                    "{row:?}"
                )
            })
            .map(|row| (row[0].clone(), row[1].clone()))
            .collect();
        let asked: Vec<_> = PERMISSIONS
            .iter()
            .map(|(name, access)| ((*name).to_owned(), (*access).to_owned()))
            .collect();
        assert_eq!(told, asked);
    }

    #[test]
    fn the_docs_explain_exactly_the_events_that_are_heard() {
        let told: Vec<_> = rows("## What the App hears")
            .into_iter()
            .map(|row| row[0].clone())
            .collect();
        assert_eq!(told, EVENTS);
    }

    fn wanted(webhook: Option<&str>) -> Wanted {
        Wanted {
            name: "gaffer-1".to_owned(),
            back_to: "http://127.0.0.1:9/made".to_owned(),
            webhook: webhook.map(|url| url.parse().unwrap()),
        }
    }

    #[test]
    fn an_app_without_a_webhook_hears_nothing() {
        let quiet = manifest(&wanted(None));
        assert!(quiet.get("hook_attributes").is_none() && quiet.get("default_events").is_none());
        let hearing = manifest(&wanted(Some("https://gaffer.example.com/github/webhook")));
        assert_eq!(
            hearing["hook_attributes"]["url"],
            "https://gaffer.example.com/github/webhook"
        );
        assert_eq!(hearing["default_events"], json!(EVENTS));
        assert_eq!(hearing["public"], false);
    }

    #[test]
    fn the_form_is_where_the_pages_are() {
        let address =
            |base, organisation| form_address(base, organisation, "s1").unwrap().to_string();
        assert_eq!(
            address(None, None),
            "https://github.com/settings/apps/new?state=s1"
        );
        assert_eq!(
            address(None, Some("a/b")),
            "https://github.com/organizations/a%2Fb/settings/apps/new?state=s1"
        );
        assert_eq!(
            address(Some("https://ghe.example/api/v3"), Some("acme")),
            "https://ghe.example/organizations/acme/settings/apps/new?state=s1"
        );
        assert_eq!(
            address(Some("http://127.0.0.1:4190/github"), None),
            "http://127.0.0.1:4190/github/settings/apps/new?state=s1"
        );
    }
}
