//! What a member is told of its conflict: where it is, who came in first, and the ways out.

use std::fmt::Write;
use std::iter;

use super::sprint::counted;
use crate::fence::{clip_encoded, encoded_len, fence};
use crate::ids::CommitSha;
use crate::job::MESSAGE_BYTES_MAX;
use crate::redact::presentable;
use crate::sprint::{Against, Sprint, WeaveConflict};

/// How much of the change that won is shown, in characters.
const WINNER_CHARS_MAX: usize = 8_000;

/// The least of the change that won that is worth showing, in bytes as JSON.
const WINNER_BYTES_MIN: usize = 200;

/// What a fence takes around most changes, in bytes as JSON.
const FENCE_BYTES: usize = 40;

/// A conflict, as it is sent by mail, to the session and to a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictText {
    /// What the mail is about.
    pub subject: String,
    /// The patch, and the patch that brings the branch to what came in first.
    pub attachments: Vec<String>,
    /// What it is a conflict with.
    against: String,
    /// Where it is.
    places: Vec<String>,
    /// How many other places there are.
    others: u32,
    /// Both patches, and what a member can do.
    ways_out: String,
    /// What the change that won is called, and the change.
    won: Option<(String, String)>,
}

impl ConflictText {
    /// What it says in so many bytes as JSON. Of the change that won and then of the places as much is left out as has to be, and
    /// never the patches and the ways out.
    pub fn within(&self, bytes_max: usize) -> String {
        let fits = |text: &String| encoded_len(text) <= bytes_max;
        let fewer = (0..=self.places.len()).rev();
        let mut texts = fewer.map(|shown| self.with_places(shown));
        let mut text = texts.find(fits).unwrap_or_else(|| self.with_places(0));
        if let Some((name, diff)) = &self.won {
            let name = format!("\n\n{name}\n");
            let taken = encoded_len(&text) + encoded_len(&name);
            if let Some(shown) = fenced(diff, bytes_max.saturating_sub(taken)) {
                text.push_str(&name);
                text.push_str(&shown);
            }
        }
        text
    }

    /// What it says without the change that won.
    fn with_places(&self, shown: usize) -> String {
        let mut text = format!("{}\n\nWhere:\n", self.against);
        for place in self.places.iter().take(shown) {
            let _ = writeln!(text, "- {place}");
        }
        let hidden = self.places.len().saturating_sub(shown);
        let hidden = u32::try_from(hidden).unwrap_or(u32::MAX);
        let others = self.others.saturating_add(hidden);
        if others > 0 {
            let said = match shown {
                0 => counted(others, "place"),
                _ => format!("and {}", counted(others, "more place")),
            };
            let _ = writeln!(text, "- {said}");
        }
        text.push_str(&self.ways_out);
        text
    }
}

/// As much of a change as there is room for in its fence, in bytes as JSON; nothing where that is hardly any. A fence may be
/// longer than what it holds.
fn fenced(diff: &str, room: usize) -> Option<String> {
    let sizes = iter::successors(room.checked_sub(FENCE_BYTES), |size| Some(size / 2));
    let worth = sizes.take_while(|size| *size >= WINNER_BYTES_MIN);
    let mut shown = worth.map(|size| fence("diff", &clip_encoded(diff, size), usize::MAX));
    shown.find(|text| encoded_len(text) <= room)
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
pub fn weave_conflict(
    sprint: &Sprint,
    pull: u64,
    refusal: &WeaveConflict,
    won: &Winner,
) -> ConflictText {
    conflict_text(sprint, pull, refusal, won, WAYS_OUT)
}

pub(super) fn conflict_text(
    sprint: &Sprint,
    pull: u64,
    refusal: &WeaveConflict,
    won: &Winner,
    ways_out: &str,
) -> ConflictText {
    let repo = &sprint.repo;
    let patch = format!("https://github.com/{repo}/pull/{pull}.patch");
    let mut attachments = vec![patch.clone()];
    let mut ways = format!("\nYour patch: {patch}\n");
    if let Some(commit) = &won.commit {
        let head = &refusal.head;
        let sync = format!("https://github.com/{repo}/compare/{head}...{commit}.patch");
        let what = holder(sprint, commit);
        let _ = writeln!(ways, "The patch that brings your branch to {what}: {sync}");
        attachments.push(sync);
    }
    ways.push_str(ways_out);
    let places = refusal.clashes.iter();
    let places = places.map(|it| presentable(&format!("`{}`: {}", it.path, it.words), usize::MAX));
    let diff = presentable(&won.diff, WINNER_CHARS_MAX);
    let won = (!diff.is_empty()).then(|| (won_so(sprint, &refusal.against), diff));
    ConflictText {
        subject: format!("Conflict in PR #{pull}"),
        attachments,
        against: against(sprint, &refusal.against),
        places: places.collect(),
        others: refusal.others,
        ways_out: ways,
        won,
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

/// The message to the session of a member that conflicts, as long as a session takes one.
pub fn weave_conflict_message(sprint: &Sprint, text: &ConflictText) -> String {
    let head = format!("{} of sprint {}.\n\n", text.subject, sprint.number);
    let body = text.within(MESSAGE_BYTES_MAX.saturating_sub(encoded_len(&head)));
    head + &body
}

#[cfg(test)]
mod tests {
    use super::super::sprint::tests::woven;
    use super::*;
    use crate::sprint::Clash;

    #[test]
    fn a_conflict_names_who_won_where_both_patches_and_the_ways_out() {
        let (sprint, refusal) = woven();
        let won = Winner {
            commit: sprint.woven.as_ref().map(|it| it.commit.clone()),
            diff: "-old\n+```\n".to_owned(),
        };
        let told = weave_conflict(&sprint, 102, &refusal, &won);
        assert_eq!(told.subject, "Conflict in PR #102");
        let body = told.within(MESSAGE_BYTES_MAX);
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
            assert!(body.contains(part), "{part}: {body}");
        }
        assert_eq!(told.attachments, [patch, sync]);
        let said = weave_conflict_message(&sprint, &told);
        assert!(said.starts_with("Conflict in PR #102 of sprint 50.\n\n") && said.ends_with(&body));
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
            let text = weave_conflict(sprint, 102, &refusal, won);
            let body = text.within(MESSAGE_BYTES_MAX);
            let shown = "The branch `main` changed these files like this:\n";
            assert!(body.contains(shown), "{body}");
            body
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

    #[test]
    fn a_message_keeps_both_patches_and_the_ways_out_whatever_won_and_wherever_it_is() {
        let (sprint, mut refusal) = woven();
        let clash = refusal.clashes[0].clone();
        let path = format!("docs/{}.md", "页".repeat(180));
        refusal.clashes = (0..100)
            .map(|at| Clash {
                path: format!("{at}/{path}"),
                ..clash.clone()
            })
            .collect();
        let few = WeaveConflict {
            clashes: vec![clash],
            ..refusal.clone()
        };
        let commit = sprint.woven.as_ref().map(|it| it.commit.clone());
        for diff in ["+中文字符中文字符\n", "+🎪", "\"\\", "`"] {
            let won = Winner {
                commit: commit.clone(),
                diff: diff.repeat(WINNER_CHARS_MAX),
            };
            for (refusal, is_many) in [(&few, false), (&refusal, true)] {
                let told = weave_conflict(&sprint, 102, refusal, &won);
                let said = weave_conflict_message(&sprint, &told);
                assert!(encoded_len(&said) <= MESSAGE_BYTES_MAX, "{diff}");
                let [patch, sync] = &told.attachments[..] else {
                    panic!("{:?}", told.attachments);
                };
                for part in [WAYS_OUT, " more places\n", patch, sync] {
                    assert!(said.contains(part), "{part}: {said}");
                }
                let last = said.lines().last().unwrap();
                let is_closed = said.contains(&format!("\n{last}text diff\n"));
                assert_eq!(said.contains("text diff\n"), is_closed, "{said}");
                assert!(is_closed || is_many, "{said}");
            }
        }
        let least = weave_conflict(&sprint, 102, &refusal, &Winner::default()).within(0);
        assert!(
            least.contains("Where:\n- 102 places\n") && least.ends_with(WAYS_OUT),
            "{least}"
        );
    }
}
