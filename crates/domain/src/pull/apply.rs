//! Facts and outcomes → settle, repair, merge or give up.

use jiff::{SignedDuration, Timestamp};

use super::{Approval, Green, Pull, PullPhase, Repairs, Seen, TOLD_MAX, Verdict};
use crate::effect::Action;
use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::facts::{Base, PullFacts, PullState};
use crate::failure::Failure;
use crate::ids::{AccountName, BranchName, CommitSha, EventId, JobId, PullRef, SessionId};
use crate::job::NotNow;
use crate::merge::{self, Hold, Judgement, Owner, Reason, SessionRest, Standing, Weight};
use crate::policy::{Policy, Timing};
use crate::step::{Look, Step};
use crate::words;

/// After a merge call that failed, the pull request is read back this soon.
const READ_BACK: SignedDuration = SignedDuration::from_secs(10);

/// A pull request that only a person can move is read this many times less often.
const REFUSED_SLOWER: i32 = 5;

/// What else is known when facts about a pull request come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    /// Whose it is.
    pub owner: Owner,
    /// What its session does.
    pub session: SessionRest,
    /// The account of its job, for events.
    pub account: AccountName,
    /// The attempt of its job, for events.
    pub attempt: u32,
    /// The base that its job asked for.
    pub wanted_base: BranchName,
    /// Merges of this source in the last 24 hours.
    pub merges_today: u32,
    /// Whether writing is switched off.
    pub hold: Option<Hold>,
    /// Whether a merge call is under way or its outcome unknown.
    pub merge_unsettled: bool,
    /// The ends of the logs of failed checks, untrusted, ready to be fenced.
    pub logs: Vec<(String, String)>,
}

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// GitHub was read.
    Facts(Box<PullFacts>, Box<Outside>),
    /// The merge call succeeded.
    Merged {
        /// The commit on the base branch.
        commit: CommitSha,
    },
    /// The merge call certainly failed.
    MergeFailed(Failure),
}

/// A pull request that was found to belong to a session of ours.
pub fn track(pull: PullRef, job: JobId, session: SessionId, now: Timestamp) -> Pull {
    Pull {
        pull,
        job,
        session,
        since: now,
        phase: PullPhase::Open,
        head: None,
        green: None,
        failing: None,
        approval: None,
        repairs: Repairs::default(),
        verdict: None,
    }
}

/// Decides what an input means. A settled pull request stays as it is.
pub fn apply(
    pull: &Pull,
    input: &Input,
    now: Timestamp,
    policy: &Policy,
    timing: &Timing,
) -> Step<Pull> {
    let mut step = Step::stay(pull.clone());
    if pull.is_settled() {
        return step;
    }
    match input {
        Input::Facts(facts, outside) => match facts.state {
            PullState::Open => open(&mut step, facts, outside, (policy, timing), now),
            PullState::Closed | PullState::Merged { .. } => {
                settled(&mut step, facts, outside, policy, now)
            }
        },
        Input::Merged { .. } => step.due = Some(now),
        Input::MergeFailed(_) => {
            step.aggregate.phase = PullPhase::Open;
            step.due = Some(now + READ_BACK);
        }
    }
    step
}

/// Somebody says that a head may be merged once it is green. Nothing else is waived.
pub fn approve(
    pull: &Pull,
    sha: Option<&CommitSha>,
    by: &str,
    now: Timestamp,
) -> Result<Step<Pull>, NotNow> {
    if pull.is_settled() {
        return Err(NotNow {
            code: "settled",
            sentence: format!("pull request {} is merged or closed already", pull.pull),
        });
    }
    let Some(head) = &pull.head else {
        return Err(NotNow {
            code: "not_read_yet",
            sentence: format!(
                "pull request {} has not been read yet: try again",
                pull.pull
            ),
        });
    };
    if let Some(wanted) = sha.filter(|wanted| **wanted != head.sha) {
        return Err(NotNow {
            code: "head_moved",
            sentence: format!(
                "the head of {} is {}, not {wanted}: look at it again",
                pull.pull, head.sha
            ),
        });
    }
    let mut step = Step::stay(pull.clone());
    step.aggregate.approval = Some(Approval {
        sha: head.sha.clone(),
        by: by.to_owned(),
        at: now,
    });
    step.due = Some(now);
    Ok(step)
}

/// It is merged or closed: the job is told, and a merged branch is cleaned away.
fn settled(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    outside: &Outside,
    policy: &Policy,
    now: Timestamp,
) {
    let pull = &mut step.aggregate;
    let merged = matches!(facts.state, PullState::Merged { .. });
    if let PullPhase::Merging { base, .. } = &pull.phase {
        if merged && base.branch != facts.base.branch {
            let reason = format!(
                "{} was judged for `{}` but merged into `{}`",
                pull.pull, base.branch, facts.base.branch
            );
            step.events.push(alarm(
                pull,
                outside,
                (ErrorCause::WrongBase, reason, &facts.head.sha),
                now,
            ));
        }
    }
    pull.phase = PullPhase::Settled {
        state: facts.state.clone(),
        sha: facts.head.sha.clone(),
        at: now,
    };
    pull.green = None;
    step.looks.push(Look::Job(pull.job.clone()));
    let ours =
        facts.head.repo.as_ref() == Some(&facts.pull.repo) && outside.owner != Owner::Foreign;
    if merged && ours && policy.delete_branch && outside.hold.is_none() {
        step.effects.push(Action::DeleteBranch {
            pull: facts.pull.clone(),
            repo: facts.pull.repo.clone(),
            branch: facts.head.branch.clone(),
            sha: facts.head.sha.clone(),
        });
    }
}

fn open(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    outside: &Outside,
    (policy, timing): (&Policy, &Timing),
    now: Timestamp,
) {
    if outside.merge_unsettled {
        // Its outcome is being found out; a decision now could contradict it.
        step.due = Some(now + READ_BACK);
        return;
    }
    see_head(&mut step.aggregate, facts, now);
    let standing = standing(&step.aggregate, outside, now);
    let judgement = merge::judge(facts, &standing, (policy, timing), now);
    keep_green(&mut step.aggregate, facts, &judgement, now);
    step.aggregate.phase = PullPhase::Open;
    match &judgement {
        Judgement::Merge { sha, method } => merge_now(step, facts, (sha.clone(), *method), now),
        Judgement::Wait { until, reasons } => {
            wait(step, facts, outside, reasons, (*until, timing, now))
        }
        Judgement::Refuse { reasons } => {
            refuse(step, facts, outside, reasons, (policy, timing), now)
        }
        Judgement::Conflict { sha } => conflict(step, outside, sha, (policy, timing), now),
    }
    if outside.hold.is_some() || outside.owner == Owner::Foreign {
        step.effects.clear();
    }
    if step
        .aggregate
        .verdict
        .as_ref()
        .is_none_or(|last| last.judgement != judgement || last.sha != facts.head.sha)
    {
        step.aggregate.verdict = Some(Verdict {
            at: now,
            sha: facts.head.sha.clone(),
            judgement,
        });
    }
}

fn see_head(pull: &mut Pull, facts: &PullFacts, now: Timestamp) {
    let sha = &facts.head.sha;
    if pull.head.as_ref().is_none_or(|seen| seen.sha != *sha) {
        pull.head = Some(Seen {
            sha: sha.clone(),
            since: now,
        });
    }
    if pull.failing.as_ref().is_some_and(|seen| seen.sha != *sha) {
        pull.failing = None;
    }
    if pull
        .green
        .as_ref()
        .is_some_and(|green| green.sha != *sha || green.base != facts.base.sha)
    {
        pull.green = None;
    }
}

fn standing(pull: &Pull, outside: &Outside, now: Timestamp) -> Standing {
    Standing {
        owner: outside.owner,
        session: outside.session,
        wanted_base: outside.wanted_base.clone(),
        approved: pull.approval.as_ref().map(|approval| approval.sha.clone()),
        head_since: pull.head.as_ref().map_or(now, |seen| seen.since),
        green_since: pull.green.as_ref().map(|green| green.since),
        merges_today: outside.merges_today,
        hold: outside.hold,
    }
}

/// Green lasts as long as nothing but the settle window stands against a merge.
fn keep_green(pull: &mut Pull, facts: &PullFacts, judgement: &Judgement, now: Timestamp) {
    let green = match judgement {
        Judgement::Merge { .. } => true,
        Judgement::Wait { reasons, .. } => reasons
            .iter()
            .all(|reason| matches!(reason, Reason::Settling { .. })),
        Judgement::Refuse { .. } | Judgement::Conflict { .. } => false,
    };
    if !green {
        pull.green = None;
    } else if pull.green.is_none() {
        pull.green = Some(Green {
            sha: facts.head.sha.clone(),
            base: facts.base.sha.clone(),
            since: now,
        });
    }
}

fn merge_now(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    (sha, method): (CommitSha, crate::policy::MergeMethod),
    now: Timestamp,
) {
    let base: Base = facts.base.clone();
    step.aggregate.phase = PullPhase::Merging {
        sha: sha.clone(),
        base: base.clone(),
        since: now,
    };
    step.effects.push(Action::Merge {
        pull: facts.pull.clone(),
        sha,
        base,
        method,
    });
    step.due = Some(now + READ_BACK);
}

/// What can pass by itself is waited for; two things Gaffer can do about it itself.
fn wait(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    outside: &Outside,
    reasons: &[Reason],
    (until, timing, now): (Option<Timestamp>, &Timing, Timestamp),
) {
    let resting = outside.session == SessionRest::Resting;
    if facts.draft && resting {
        let action = Action::MarkReady {
            pull: facts.pull.clone(),
            node_id: facts.node_id.clone(),
            sha: facts.head.sha.clone(),
        };
        step.effects.push(action);
    }
    if reasons.len() == 1 && matches!(reasons[0], Reason::Behind { .. }) {
        step.effects.push(Action::UpdateBranch {
            pull: facts.pull.clone(),
            sha: facts.head.sha.clone(),
        });
    }
    let poll = now + timing.pull_poll;
    step.due = Some(until.map_or(poll, |until| until.clamp(now, poll)));
}

fn refuse(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    outside: &Outside,
    reasons: &[Reason],
    (policy, timing): (&Policy, &Timing),
    now: Timestamp,
) {
    step.due = Some(now + timing.pull_poll * REFUSED_SLOWER);
    for reason in reasons {
        match reason {
            Reason::ChecksFailed {
                names,
                others_pending,
            } => {
                step.due = Some(now + timing.pull_poll);
                if !others_pending && !outsider(outside) {
                    repair_ci(step, facts, outside, (names, policy, timing), now);
                }
            }
            Reason::CiNeverStarted { .. } => {
                let told = (
                    ErrorCause::CiNeverStarted,
                    reason.sentence(),
                    &facts.head.sha,
                );
                let event = alarm(&step.aggregate, outside, told, now);
                if !same_alarm_stands(&step.aggregate, facts, reason) {
                    step.events.push(event);
                }
            }
            Reason::Conflict => conflict(step, outside, &facts.head.sha, (policy, timing), now),
            _ => {}
        }
    }
    let only_approval = reasons
        .iter()
        .all(|reason| reason.weight() == Weight::Wait || *reason == Reason::NeedsApproval);
    if facts.draft && outside.session == SessionRest::Resting && only_approval {
        let action = Action::MarkReady {
            pull: facts.pull.clone(),
            node_id: facts.node_id.clone(),
            sha: facts.head.sha.clone(),
        };
        step.effects.push(action);
    }
}

fn outsider(outside: &Outside) -> bool {
    outside.owner == Owner::Foreign
        || matches!(
            outside.session,
            SessionRest::Failed | SessionRest::CalledOff
        )
}

/// The same alarm about the same head was raised by the judgement before.
fn same_alarm_stands(pull: &Pull, facts: &PullFacts, reason: &Reason) -> bool {
    pull.verdict
        .as_ref()
        .is_some_and(|last| match &last.judgement {
            Judgement::Refuse { reasons } => last.sha == facts.head.sha && reasons.contains(reason),
            Judgement::Merge { .. } | Judgement::Wait { .. } | Judgement::Conflict { .. } => false,
        })
}

/// Failed checks go back to the session that made them: once a head, a few times a pull request, and not before Jules had a chance to see them itself.
fn repair_ci(
    step: &mut Step<Pull>,
    facts: &PullFacts,
    outside: &Outside,
    (names, policy, timing): (&[String], &Policy, &Timing),
    now: Timestamp,
) {
    let sha = &facts.head.sha;
    let pull = &mut step.aggregate;
    let since = pull
        .failing
        .get_or_insert_with(|| Seen {
            sha: sha.clone(),
            since: now,
        })
        .since;
    if pull.repairs.ci_told.contains(sha) {
        return;
    }
    if now.duration_since(since) < timing.ci_repair_after {
        step.due = Some(since + timing.ci_repair_after);
        return;
    }
    if outside.session == SessionRest::Working {
        return;
    }
    remember(&mut pull.repairs.ci_told, sha);
    if pull.repairs.count >= policy.ci_repairs {
        let reason = format!(
            "checks of {} fail ({}) and its session was told {} times",
            pull.pull,
            names.join(", "),
            pull.repairs.count
        );
        step.events.push(alarm(
            &step.aggregate,
            outside,
            (ErrorCause::CiFailed, reason, sha),
            now,
        ));
        return;
    }
    pull.repairs.count += 1;
    let text = words::ci_failed(&facts.pull, sha, names, &outside.logs);
    step.effects.push(Action::Say {
        session: pull.session.clone(),
        text,
        cause: format!("ci:{sha}"),
    });
}

/// A conflict goes back to the session in the same way.
fn conflict(
    step: &mut Step<Pull>,
    outside: &Outside,
    sha: &CommitSha,
    (policy, timing): (&Policy, &Timing),
    now: Timestamp,
) {
    step.due = Some(now + timing.pull_poll);
    let pull = &mut step.aggregate;
    if outsider(outside)
        || outside.session == SessionRest::Working
        || pull.repairs.conflict_told.contains(sha)
    {
        return;
    }
    remember(&mut pull.repairs.conflict_told, sha);
    if pull.repairs.count >= policy.ci_repairs {
        let reason = format!(
            "{} conflicts with its base and its session was told {} times",
            pull.pull, pull.repairs.count
        );
        step.events.push(alarm(
            &step.aggregate,
            outside,
            (ErrorCause::Conflict, reason, sha),
            now,
        ));
        return;
    }
    pull.repairs.count += 1;
    let text = words::conflict(&pull.pull, &outside.wanted_base);
    step.effects.push(Action::Say {
        session: pull.session.clone(),
        text,
        cause: format!("conflict:{sha}"),
    });
}

fn remember(told: &mut Vec<CommitSha>, sha: &CommitSha) {
    told.push(sha.clone());
    if told.len() > TOLD_MAX {
        told.remove(0);
    }
}

/// An event about a pull request, once per cause and head.
fn alarm(
    pull: &Pull,
    outside: &Outside,
    (cause, reason, sha): (ErrorCause, String, &CommitSha),
    now: Timestamp,
) -> Event {
    Event {
        id: EventId::of(&format!(
            "{}:{}:{}@{sha}",
            pull.job,
            cause.as_str(),
            pull.pull
        )),
        job: Some(pull.job.clone()),
        account: outside.account.clone(),
        attempt: outside.attempt,
        observed_at: now,
        status: String::new(),
        last_activity: None,
        what: Occurrence::Error { cause, reason },
        audience: Audience::Agent,
    }
}
