//! What a delivery refers to: what triggered it, what came of it, and what it is a part of.

use serde::{Deserialize, Serialize};

use super::{Delivery, IssueRef};
use crate::ids::PullRef;
use crate::web_page::WebPage;

/// Most references of one delivery.
pub const REFS_MAX: usize = 20;

/// Longest label, in bytes as JSON.
pub const LABEL_BYTES_MAX: usize = 120;

/// One reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ref {
    /// What it is to the delivery.
    pub role: RefRole,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: RefType,
    /// What people call it.
    pub label: String,
    /// Its page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<WebPage>,
}

impl Ref {
    /// The references of a part: the delivery that was split, and the pages that this one refers to, its issue among them. Its
    /// sessions are told those.
    pub fn of_part(whole: &Delivery) -> Vec<Self> {
        let parent = Self {
            role: RefRole::Parent,
            kind: RefType::Repo,
            label: whole.id.to_string(),
            url: None,
        };
        let pages = whole.refs.iter().filter(|it| it.url.is_some()).cloned();
        // As many as a new delivery may have.
        let all = std::iter::once(parent).chain(pages);
        all.take(REFS_MAX - 1).collect()
    }
}

/// What something is to a delivery. Later names are read as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefRole {
    /// It triggered it.
    #[serde(alias = "request")]
    Trigger,
    /// It came of it.
    #[serde(alias = "work")]
    Output,
    /// It is a part of it.
    Parent,
}

/// What kind of thing is referred to. Later names are read as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefType {
    /// An issue of Jira.
    Jira,
    /// Words.
    Verbal,
    /// A pull request.
    #[serde(alias = "pull_request")]
    Pr,
    /// A commit.
    Commit,
    /// A repository, or another delivery in it.
    Repo,
    /// An issue on GitHub.
    #[serde(alias = "issue")]
    GithubIssue,
}

/// Adds a reference: an output replaces the outputs of its type, and what is there already is not added again.
pub(super) fn add(refs: &mut Vec<Ref>, new: Ref) {
    match new.role {
        RefRole::Output => refs.retain(|old| old.role != new.role || old.kind != new.kind),
        RefRole::Trigger | RefRole::Parent => {}
    }
    if refs.len() < REFS_MAX && !refs.contains(&new) {
        refs.push(new);
    }
}

impl IssueRef {
    /// The reference of a delivery that it triggers.
    pub fn trigger(&self) -> Ref {
        Ref {
            role: RefRole::Trigger,
            kind: RefType::GithubIssue,
            label: format!("#{}", self.number),
            url: WebPage::from_service(&self.url()),
        }
    }
}

/// The reference of a delivery that made a pull request.
pub(super) fn output(pull: &PullRef) -> Ref {
    Ref {
        role: RefRole::Output,
        kind: RefType::Pr,
        label: format!("#{}", pull.number),
        url: WebPage::from_service(&pull.url()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(role: RefRole, kind: RefType, label: &str) -> Ref {
        Ref {
            role,
            kind,
            label: label.to_owned(),
            url: None,
        }
    }

    #[test]
    fn an_output_replaces_the_one_of_its_type_and_others_append() {
        let mut refs = vec![named(RefRole::Trigger, RefType::GithubIssue, "#1")];
        for label in ["#2", "#3", "#3"] {
            add(&mut refs, named(RefRole::Output, RefType::Pr, label));
        }
        add(&mut refs, named(RefRole::Output, RefType::Commit, "abc"));
        add(
            &mut refs,
            named(RefRole::Trigger, RefType::Verbal, "a call"),
        );
        let labels: Vec<&str> = refs.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(labels, ["#1", "#3", "abc", "a call"]);
        for n in 0..50 {
            add(
                &mut refs,
                named(RefRole::Parent, RefType::Repo, &format!("{n}")),
            );
        }
        assert_eq!(refs.len(), REFS_MAX);
    }

    #[test]
    fn later_names_are_read_and_the_first_ones_written() {
        let text = r##"{"role":"work","type":"pull_request","label":"#2"}"##;
        let read: Ref = serde_json::from_str(text).unwrap();
        assert_eq!(read, named(RefRole::Output, RefType::Pr, "#2"));
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(written, r##"{"role":"output","type":"pr","label":"#2"}"##);
    }

    #[test]
    fn an_issue_is_named_by_repository_and_number() {
        let issue: IssueRef = "acme/shop#12".parse().unwrap();
        assert_eq!(issue.to_string(), "acme/shop#12");
        let url = issue.trigger().url.unwrap();
        assert_eq!(url.as_str(), "https://github.com/acme/shop/issues/12");
        let wrong = "acme/shop#0".parse::<IssueRef>().unwrap_err();
        assert_eq!(wrong.kind, "issue");
    }
}
