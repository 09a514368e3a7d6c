//! The merge style that a caller chooses, within what the source allows.

use serde::{Deserialize, Serialize};

use crate::policy::{MergeMethod, Policy};
use crate::redact::holds_secret;
use crate::refusal::NotNow;

/// Longest title of a merge commit, in characters.
pub const TITLE_CHARS_MAX: usize = 200;

/// The chosen style; anything else is as the source says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeStyle {
    /// How.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MergeMethod>,
    /// The first line of the commit; GitHub's own without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether the head branch goes afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_branch: Option<bool>,
}

impl MergeStyle {
    /// Whether nothing was chosen.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// The same, tidied; refused where it is not what the source allows, or what cannot be written into a commit.
    pub fn within(&self, policy: &Policy) -> Result<Self, NotNow> {
        if let Some(method) = self.method.filter(|method| !policy.allows(*method)) {
            let sentence = format!(
                "`merge_method` is `{}`, but the repository's settings allow {}: leave it out, or allow it as the source's `other_merge_method`",
                method.as_str(),
                policy.allowed_methods().join(", ")
            );
            return Err(NotNow::new("merge_method_not_allowed", sentence).about("merge_method"));
        }
        if self.delete_branch == Some(true) && !policy.delete_branch {
            let sentence = "`delete_branch` is `true`, but the repository's settings keep branches: leave it out, or turn off the source's `keep_branch`";
            return Err(NotNow::new("branch_kept", sentence).about("delete_branch"));
        }
        let title = self.title.as_deref().map(str::trim);
        if let Some(title) = title {
            self.fits(title, policy)?;
        }
        Ok(Self {
            title: title.map(str::to_owned),
            ..self.clone()
        })
    }

    fn fits(&self, title: &str, policy: &Policy) -> Result<(), NotNow> {
        let chars = title.chars().count();
        let wrong = if title.is_empty() {
            "is empty".to_owned()
        } else if chars > TITLE_CHARS_MAX {
            format!("has {chars} characters, at most {TITLE_CHARS_MAX}")
        } else if title.chars().any(is_unseen) {
            "has to be one line without control characters".to_owned()
        } else if holds_secret(title) {
            "holds what looks like a secret: take it out".to_owned()
        } else if self.method_under(policy) == MergeMethod::Rebase {
            "cannot be given to a rebase, which keeps the titles of its commits".to_owned()
        } else {
            return Ok(());
        };
        let sentence = format!("`commit_title` {wrong}");
        Err(NotNow::new("commit_title_odd", sentence).about("commit_title"))
    }

    /// Its merge method: one that the source no longer allows is not used.
    pub(super) fn method_under(&self, policy: &Policy) -> MergeMethod {
        let wished = self.method.filter(|method| policy.allows(*method));
        wished.unwrap_or(policy.merge_method)
    }
}

/// What ends a line or cannot be seen, marks that turn the direction of a text among it.
fn is_unseen(letter: char) -> bool {
    let turns = matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    letter.is_control() || turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::About;

    fn titled(title: &str) -> MergeStyle {
        MergeStyle {
            title: Some(title.to_owned()),
            ..MergeStyle::default()
        }
    }

    #[test]
    fn what_a_source_does_not_allow_is_refused_by_name() {
        let rebase = MergeStyle {
            method: Some(MergeMethod::Rebase),
            delete_branch: Some(true),
            ..MergeStyle::default()
        };
        let mut policy = Policy::default();
        let refused = rebase.within(&policy).unwrap_err();
        assert_eq!(refused.code, "merge_method_not_allowed");
        assert_eq!(refused.about, About::Field("merge_method"));
        assert_eq!(
            refused.sentence,
            "`merge_method` is `rebase`, but the repository's settings allow squash: leave it out, or allow it as the source's `other_merge_method`"
        );
        assert_eq!(rebase.method_under(&policy), MergeMethod::Squash);
        policy.other_merge_methods = vec![MergeMethod::Rebase];
        assert_eq!(rebase.within(&policy), Ok(rebase.clone()));
        assert_eq!(rebase.method_under(&policy), MergeMethod::Rebase);
        policy.delete_branch = false;
        let refused = rebase.within(&policy).unwrap_err();
        assert_eq!(refused.code, "branch_kept");
        assert_eq!(refused.about, About::Field("delete_branch"));
    }

    #[test]
    fn a_title_is_one_short_line_that_can_be_seen() {
        let policy = Policy::default();
        assert_eq!(
            titled(" Add search ").within(&policy),
            Ok(titled("Add search"))
        );
        let longest = "é".repeat(TITLE_CHARS_MAX);
        assert!(titled(&longest).within(&policy).is_ok());
        for odd in [
            "",
            "  ",
            "two\nlines",
            "a\u{2028}b",
            "a\u{202e}b",
            "a\u{7}b",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            &(longest + "x"),
        ] {
            let refused = titled(odd).within(&policy).unwrap_err();
            assert_eq!(refused.code, "commit_title_odd", "{odd:?}");
            assert_eq!(refused.about, About::Field("commit_title"));
            assert!(!refused.sentence.contains("ghp_"));
        }
        let rebased = MergeStyle {
            method: Some(MergeMethod::Rebase),
            ..titled("Add search")
        };
        let policy = Policy {
            other_merge_methods: vec![MergeMethod::Rebase],
            ..Policy::default()
        };
        assert_eq!(
            rebased.within(&policy).unwrap_err().code,
            "commit_title_odd"
        );
    }
}
