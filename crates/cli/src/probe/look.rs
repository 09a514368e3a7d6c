//! What answers tell: pure readings of sessions and activities.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// A rolling day, in which tasks are counted.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// States in which a session certainly works or waits for a machine.
const BUSY: [&str; 3] = ["QUEUED", "PLANNING", "IN_PROGRESS"];

/// States in which a session is over.
const OVER: [&str; 2] = ["COMPLETED", "FAILED"];

/// How much of the account's limits is in use before the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    /// Sessions that work.
    pub(super) busy: u32,
    /// Sessions that wait for somebody, or are in a state nobody knows.
    pub(super) waiting: u32,
    /// Sessions that were made in the last 24 hours.
    pub(super) day: u32,
}

/// Counts listed sessions, as of a time.
pub(super) fn load(sessions: &[Value], now: Option<Timestamp>) -> Load {
    let count = |wanted: &dyn Fn(&Value) -> bool| {
        u32::try_from(sessions.iter().filter(|it| wanted(it)).count()).unwrap_or(u32::MAX)
    };
    let state = |it: &Value, of: &[&str]| of.contains(&text(it, "state"));
    let recent = |it: &Value| {
        let (made, now) = (time(it, "createTime"), now);
        made.zip(now)
            .is_none_or(|(made, now)| now.duration_since(made) < DAY)
    };
    Load {
        busy: count(&|it| state(it, &BUSY)),
        waiting: count(&|it| !state(it, &BUSY) && !state(it, &OVER)),
        day: count(&recent),
    }
}

/// A text member.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A time member.
pub(super) fn time(value: &Value, name: &str) -> Option<Timestamp> {
    text(value, name).parse().ok()
}

/// The members of a list.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// How `originator` is written, each way once.
pub(super) fn originators(activities: &[Value]) -> String {
    let ways: BTreeSet<&str> = activities.iter().map(|it| text(it, "originator")).collect();
    let shown = ways.into_iter().map(|way| {
        if way.is_empty() {
            "missing".to_owned()
        } else {
            format!("`{way}`")
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Whether an artifact of this kind was sent.
pub(super) fn has_artifact(activities: &[Value], kind: &str) -> bool {
    let mut artifacts = activities.iter().flat_map(|it| list(it, "artifacts"));
    artifacts.any(|it| it.get(kind).is_some())
}

/// Whether any pull request comes with its branches; none when there is no pull request.
pub(super) fn pull_refs(sessions: &[Value]) -> Option<bool> {
    let outputs = sessions.iter().flat_map(|it| list(it, "outputs"));
    let pulls: Vec<&Value> = outputs.filter_map(|it| it.get("pullRequest")).collect();
    let complete = |it: &&Value| it.get("baseRef").is_some() && it.get("headRef").is_some();
    (!pulls.is_empty()).then(|| pulls.iter().any(complete))
}

/// What patches hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything since the start.
    Whole,
    /// Only what is new.
    Part,
}

/// What the patches of one session hold, told from two that follow each other; none when they do not tell.
pub(super) fn scope(activities: &[Value]) -> Option<Scope> {
    let mut activities: Vec<&Value> = activities.iter().collect();
    activities.sort_by_key(|it| time(it, "createTime"));
    let artifacts = activities.into_iter().flat_map(|it| list(it, "artifacts"));
    let patches = artifacts.filter_map(|it| it.pointer("/changeSet/gitPatch/unidiffPatch"));
    let files: Vec<BTreeSet<String>> = patches
        .filter_map(Value::as_str)
        .map(files)
        .filter(|files| !files.is_empty())
        .collect();
    files.windows(2).find_map(|pair| {
        let [before, after] = pair else { return None };
        if before == after {
            return None;
        }
        if before.is_subset(after) {
            return Some(Scope::Whole);
        }
        before.is_disjoint(after).then_some(Scope::Part)
    })
}

fn files(patch: &str) -> BTreeSet<String> {
    let heads = patch
        .lines()
        .filter_map(|line| line.strip_prefix("diff --git "));
    heads.map(str::to_owned).collect()
}

/// When an activity of this kind was written first.
pub(super) fn first(activities: &[Value], kind: &str) -> Option<Timestamp> {
    let of_kind = activities.iter().filter(|it| it.get(kind).is_some());
    of_kind.filter_map(|it| time(it, "createTime")).min()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patch(at: &str, files: &[&str]) -> Value {
        let patch: String = files
            .iter()
            .map(|file| format!("diff --git a/{file} b/{file}\n+x\n"))
            .collect();
        json!({ "createTime": at, "artifacts": [ { "changeSet": { "gitPatch": { "unidiffPatch": patch } } } ] })
    }

    #[test]
    fn two_patches_tell_what_they_hold_and_one_does_not() {
        let (one, two) = ("2026-11-22T00:00:01Z", "2026-11-22T00:00:02Z");
        let of = |second: &[&str]| scope(&[patch(two, second), patch(one, &["a"])]);
        assert_eq!(of(&["a", "b"]), Some(Scope::Whole));
        assert_eq!(of(&["b"]), Some(Scope::Part));
        assert_eq!(of(&["a"]), None);
        assert_eq!(scope(&[patch(one, &["a"])]), None);
    }

    #[test]
    fn unknown_states_count_as_waiting_and_unreadable_times_as_recent() {
        let sessions = [
            json!({ "state": "IN_PROGRESS", "createTime": "2026-11-20T00:00:00Z" }),
            json!({ "state": "COMPLETED", "createTime": "2026-11-21T12:00:00Z" }),
            json!({ "state": "NEW_STATE" }),
        ];
        let now = "2026-11-22T00:00:00Z".parse().ok();
        let wanted = Load {
            busy: 1,
            waiting: 1,
            day: 2,
        };
        assert_eq!(load(&sessions, now), wanted);
    }

    #[test]
    fn pull_requests_are_sent_with_or_without_branches() {
        let of = |pull: Value| pull_refs(&[json!({ "outputs": [ { "pullRequest": pull } ] })]);
        assert_eq!(of(json!({ "url": "u" })), Some(false));
        assert_eq!(
            of(json!({ "url": "u", "baseRef": "main", "headRef": "x" })),
            Some(true)
        );
        assert_eq!(pull_refs(&[json!({ "outputs": [] })]), None);
    }
}
