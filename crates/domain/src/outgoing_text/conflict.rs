//! What a member is told of its conflict: where it is, who came in first, and the ways out.

use std::fmt::Write;

use crate::fence::fence;
use crate::ids::CommitSha;
use crate::redact::redact;
use crate::sprint::{Against, Refusal, Sprint};

/// How much of the change that won is shown, in characters.
const WINNER_CHARS_MAX: usize = 8_000;

/// A conflict, as it is sent by mail and to the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictText {
    /// What the mail is about.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// The patch, and the patch that brings the branch to what came in first.
    pub attachments: Vec<String>,
}

/// What came in first where a change conflicts, as far as it can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Winner {
    /// The commit that holds it.
    pub commit: Option<CommitSha>,
    /// Its diff, in the files of the conflict.
    pub diff: String,
}

/// What a member is told of its conflict.
pub fn weave_conflict(sprint: &Sprint, refused: (u64, &Refusal), won: &Winner) -> ConflictText {
    conflict_text(sprint, refused, (won, WAYS_OUT))
}

pub(super) fn conflict_text(
    sprint: &Sprint,
    (pull, refusal): (u64, &Refusal),
    (won, ways_out): (&Winner, &str),
) -> ConflictText {
    let repo = &sprint.repo;
    let mut body = format!("{}\n\nWhere:\n", against(sprint, &refusal.against));
    for clash in &refusal.clashes {
        let _ = writeln!(body, "- `{}`: {}", clash.path, clash.words);
    }
    if refusal.others > 0 {
        let _ = writeln!(body, "- and {} more places", refusal.others);
    }
    let patch = format!("https://github.com/{repo}/pull/{pull}.patch");
    let mut attachments = vec![patch.clone()];
    let _ = write!(body, "\nYour patch: {patch}\n");
    if let Some(commit) = &won.commit {
        let head = &refusal.head;
        let sync = format!("https://github.com/{repo}/compare/{head}...{commit}.patch");
        let what = holder(sprint, commit);
        let _ = writeln!(body, "The patch that brings your branch to {what}: {sync}");
        attachments.push(sync);
    }
    body.push_str(ways_out);
    if !won.diff.is_empty() {
        let shown = fence("diff", &redact(&won.diff), WINNER_CHARS_MAX);
        let _ = write!(body, "\n\n{}\n{shown}", won_so(sprint, &refusal.against));
    }
    ConflictText {
        subject: format!("Conflict in PR #{pull}"),
        body,
        attachments,
    }
}

/// What a member can do about its conflict.
const WAYS_OUT: &str = "\nTake over what is woven in these places, make your change on top of it, and push to the same branch \
     of the same pull request. Or ask to go first: add `.jules/mail/outbox/NAME.json` with \
     {\"to\": \"weaver\", \"subject\": \"First\", \"body\": \"why\", \"order\": \"first\"} to it, which holds if nobody who is in \
     falls out by it. Or take your change back: add `.jules/mail/outbox/NAME.json` with \
     {\"to\": \"weaver\", \"subject\": \"Withdraw\", \"body\": \"why\", \"withdraw\": true} to it.";

pub(super) fn against(sprint: &Sprint, against: &Against) -> String {
    match against {
        Against::StaleBase => format!(
            "Your changes conflict with what is on the branch `{}` by now.",
            sprint.target
        ),
        Against::Members(numbers) => {
            let named: Vec<String> = numbers.iter().map(|it| named(sprint, *it)).collect();
            format!(
                "Your changes conflict with {}, which came in first.",
                named.join(" and ")
            )
        }
    }
}

/// What a commit holds that a member has to join its change with.
fn holder(sprint: &Sprint, commit: &CommitSha) -> String {
    let is_woven = sprint.woven.as_ref().is_some_and(|it| it.commit == *commit);
    match is_woven {
        true => "what is woven".to_owned(),
        false => format!("the branch `{}`", sprint.target),
    }
}

/// What a diff shows of what came in first.
pub(super) fn won_so(sprint: &Sprint, against: &Against) -> String {
    match against {
        Against::Members(_) => "What is woven changes these files like this:".to_owned(),
        Against::StaleBase => format!(
            "The branch `{}` changed these files like this:",
            sprint.target
        ),
    }
}

fn named(sprint: &Sprint, pull: u64) -> String {
    match sprint.member_of(pull) {
        Some(member) => format!("{}'s PR #{pull}", member.persona),
        None => format!("PR #{pull}"),
    }
}

/// The message to the session of a member that conflicts.
pub fn weave_conflict_message(sprint: &Sprint, text: &ConflictText) -> String {
    format!(
        "{} of sprint {}.\n\n{}",
        text.subject, sprint.number, text.body
    )
}

#[cfg(test)]
mod tests {
    use super::super::sprint::tests::woven;
    use super::*;

    #[test]
    fn a_conflict_names_who_won_where_both_patches_and_the_ways_out() {
        let (sprint, refusal) = woven();
        let won = Winner {
            commit: sprint.woven.as_ref().map(|it| it.commit.clone()),
            diff: "-old\n+```\n".to_owned(),
        };
        let told = weave_conflict(&sprint, (102, &refusal), &won);
        assert_eq!(told.subject, "Conflict in PR #102");
        let patch = "https://github.com/acme/shop/pull/102.patch".to_owned();
        let (head, commit) = ("3".repeat(40), "2".repeat(40));
        let sync = format!("https://github.com/acme/shop/compare/{head}...{commit}.patch");
        for part in [
            "conflict with PR #101, which came in first.",
            "- `src/cart.rs`: both changed the same lines, lines 10–14",
            "- and 2 more places",
            &patch,
            &format!("to what is woven: {sync}"),
            WAYS_OUT,
            "What is woven changes these files like this:\n",
            "````text diff",
        ] {
            assert!(told.body.contains(part), "{part}: {}", told.body);
        }
        assert_eq!(told.attachments, [patch, sync]);
        let said = weave_conflict_message(&sprint, &told);
        assert!(
            said.starts_with("Conflict in PR #102 of sprint 50.\n\n") && said.ends_with(&told.body)
        );
    }

    #[test]
    fn a_conflict_with_the_target_names_what_the_target_changed() {
        let (mut sprint, mut refusal) = woven();
        refusal.against = Against::StaleBase;
        let won = |commit: &str| Winner {
            commit: Some(commit.repeat(40).parse().unwrap()),
            diff: "-old\n+new\n".to_owned(),
        };
        let told = |sprint: &Sprint, won: &Winner| {
            let text = weave_conflict(sprint, (102, &refusal), won);
            let shown = "The branch `main` changed these files like this:\n";
            assert!(text.body.contains(shown), "{}", text.body);
            text.body
        };
        let body = told(&sprint, &won("2"));
        assert!(body.contains("to what is woven: https://"), "{body}");
        sprint.woven = None;
        let body = told(&sprint, &won("4"));
        let (head, tip) = ("3".repeat(40), "4".repeat(40));
        let sync = format!("https://github.com/acme/shop/compare/{head}...{tip}.patch");
        let sync = format!("to the branch `main`: {sync}");
        assert!(body.contains(&sync), "{body}");
    }
}
