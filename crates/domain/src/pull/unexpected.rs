//! Unexpected pushes: a session keeps the base it began with and may push after it has finished, which can revert
//! what others merged since.
//!
//! A head is accepted while its session rests. A later one that was pushed at rest, or after Gaffer updated the
//! branch, is compared with it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::alarm::about;
use super::{Pull, PullContext};
use crate::event::Occurrence;
use crate::facts::PullFacts;
use crate::ids::{CommitSha, EventId, digest};
use crate::merge::SessionStatus;
use crate::redact::presentable;
use crate::step::Step;

/// Maximum number of stored and shown paths: enough to see the subject, and the record stays small.
const PATHS_MAX: usize = 20;

/// Longest path that is kept, in characters.
const PATH_CHARS_MAX: usize = 200;

/// For how many heads this is announced. The count is stored, so that a session that goes on pushing wakes no one for
/// ever.
const UNEXPECTED_HEADS_MAX: u32 = 10;

/// The last head that was taken as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedHead {
    /// The head.
    pub sha: CommitSha,
    /// A digest of the paths that the pull request changed at that head.
    pub paths: String,
}

/// The last head with unexpected changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnexpectedHead {
    /// The head.
    pub sha: CommitSha,
    /// Its changed paths, at most 20; empty where too many changed to compare them.
    pub paths: Vec<String>,
    /// How many such heads there were so far.
    pub count: u32,
    /// Whether no head was accepted since.
    pub is_open: bool,
}

/// The comparison that must precede the acceptance of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadComparison {
    /// The head that was accepted before.
    pub before: CommitSha,
    /// Whether the pull request changes other paths than at that head.
    pub differs: bool,
    /// The head before Gaffer first merged the base into the branch.
    pub own: Option<CommitSha>,
}

/// Whether the head of a pull request must be compared, and with what. While a session works, its pushes are
/// expected, unless Gaffer has updated the branch since.
pub fn needed_comparison(
    pull: &Pull,
    facts: &PullFacts,
    session: SessionStatus,
) -> Option<HeadComparison> {
    let files = facts.files.known()?;
    let head = &facts.head.sha;
    let is_known = |seen: Option<&CommitSha>| seen == Some(head);
    let settled = is_known(pull.accepted.as_ref().map(|it| &it.sha))
        || is_known(pull.unexpected.as_ref().map(|it| &it.sha))
        || is_known(pull.approval.as_ref().map(|it| &it.sha));
    let accepted = pull.accepted.as_ref().filter(|_| !settled)?;
    let doubt = HeadComparison {
        before: accepted.sha.clone(),
        differs: accepted.paths != digest_of(files),
        own: pull.repairs.updated.first().cloned(),
    };
    let is_open = doubt.differs || doubt.own.is_some();
    (is_open && session == SessionStatus::Resting).then_some(doubt)
}

/// Of these paths, those that are not among the others.
pub fn beyond(paths: &[String], known: &[String]) -> Vec<String> {
    let beyond = paths.iter().filter(|path| !known.contains(path));
    beyond.cloned().collect()
}

/// Paths that a head reverts: others changed them in the base since the branch began, the head still differs from the
/// base in them, and they are as they were before the base was merged in.
pub fn reverted_paths(
    paths: &[String],
    in_base: &[String],
    since_own: Option<&[String]>,
) -> Vec<String> {
    let touched = paths.iter().filter(|path| in_base.contains(path));
    let touched: Vec<String> = touched.cloned().collect();
    beyond(&touched, since_own.unwrap_or_default())
}

/// The paths of a unified diff, both of a renamed file.
pub fn paths_of_patch(patch: &str) -> Vec<String> {
    let path = |line: &str| {
        let side = line.strip_prefix("--- a/").or(line.strip_prefix("+++ b/"));
        let moved = line
            .strip_prefix("rename from ")
            .or(line.strip_prefix("rename to "));
        side.or(moved).map(|path| path.trim_end().to_owned())
    };
    patch.lines().filter_map(path).collect()
}

/// Unexpected changes of the present head. A head that needed a comparison and got none counts as unexpected.
pub(super) fn of_head(
    pull: &Pull,
    facts: &PullFacts,
    outside: &PullContext,
) -> Option<Vec<String>> {
    let found = pull.unexpected.as_ref();
    let found = found.filter(|found| found.sha == facts.head.sha);
    let uncompared = || needed_comparison(pull, facts, outside.session).map(|_| Vec::new());
    found.map(|found| found.paths.clone()).or_else(uncompared)
}

/// Records the result of a comparison, announces an unexpected head, and accepts any other.
pub(super) fn see(step: &mut Step<Pull>, facts: &PullFacts, outside: &PullContext, now: Timestamp) {
    let sha = &facts.head.sha;
    let open = needed_comparison(&step.aggregate, facts, outside.session).is_some();
    if let (true, Some(paths)) = (open, outside.unexpected.as_ref())
        && *paths != Some(Vec::new())
    {
        note(step, facts, outside, paths.as_deref(), now);
    }
    let pull = &mut step.aggregate;
    // What a session pushes at work is expected, unless the base was merged in, which it may not know, or it builds
    // on a head that is still unexpected.
    let is_open = pull.unexpected.as_ref().is_some_and(|it| it.is_open);
    if outside.session == SessionStatus::Working && pull.repairs.updated.is_empty() && !is_open {
        pull.accepted = None;
    }
    let approved = pull.approval.as_ref().is_some_and(|it| it.sha == *sha);
    let known = pull.unexpected.as_ref().is_some_and(|it| it.sha == *sha);
    let as_expected = !known && (!open || outside.unexpected.is_some());
    let rests = outside.session == SessionStatus::Resting;
    let accepted = rests && (as_expected || approved);
    if let Some(files) = facts.files.known().filter(|_| accepted) {
        pull.accepted = Some(AcceptedHead {
            sha: sha.clone(),
            paths: digest_of(files),
        });
        if let Some(unexpected) = &mut pull.unexpected {
            unexpected.is_open = false;
        }
    }
}

fn note(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    outside: &PullContext,
    paths: Option<&[String]>,
    now: Timestamp,
) {
    let sha = facts.head.sha.clone();
    let shown = paths.unwrap_or_default().iter().take(PATHS_MAX);
    let paths: Vec<String> = shown
        .map(|path| presentable(path, PATH_CHARS_MAX))
        .collect();
    let pull = &mut step.aggregate;
    let before = pull.unexpected.as_ref().map_or(0, |it| it.count);
    pull.unexpected = Some(UnexpectedHead {
        sha: sha.clone(),
        paths: paths.clone(),
        count: before.saturating_add(1),
        is_open: true,
    });
    if before < UNEXPECTED_HEADS_MAX {
        let name = format!("{}:unexpected_push:{}@{sha}", pull.job, pull.pull);
        let what = Occurrence::UnexpectedPush { sha, paths };
        let event = about(pull, outside, EventId::from_name(&name), what, now);
        step.events.push(event);
    }
}

fn digest_of(files: &[String]) -> String {
    let mut sorted: Vec<&str> = files.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    digest(&sorted.join("\n"))
}
