//! The moment of a merge: its count, its evidence, what forbids it after all, and the withdrawal of earlier decisions.

use domain::effect::{Action, Effect, EffectState, PullAction};
use domain::facts::PullFacts;
use domain::failure::FailureClass;
use domain::governor::DAY;
use domain::ids::{CommitSha, EffectId, PullRef};
use domain::merge::SprintGate;
use domain::policy::Source;
use domain::pull;
use domain::step::Step;
use jiff::Timestamp;
use serde::Serialize;

use crate::backend::{Error, IndexEntry, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::{BODY_BYTES_MAX, Expect};
use crate::retention;
use crate::store::encode;

/// Changed files listed in the evidence of a merge.
const EVIDENCE_FILES_MAX: usize = 300;

/// Checks listed in the evidence of a merge that would otherwise not fit into a record.
const EVIDENCE_CHECKS_MAX: usize = 300;

/// What a merge was judged by, kept with the pull request.
#[derive(Serialize)]
struct Evidence<'a> {
    judged_at: Timestamp,
    facts: &'a PullFacts,
    policy: &'a domain::policy::Policy,
    green_since: Option<Timestamp>,
    files: usize,
    checks: usize,
}

/// A merge that was decided, and counts against the source's daily limit.
pub(in crate::dispatcher) struct CountedMerge {
    pub(in crate::dispatcher) id: EffectId,
    /// Whether its pull request is of an exchange.
    pub(in crate::dispatcher) of_exchange: bool,
}

impl Dispatcher {
    /// Counts a decided merge against the source's daily limit, once however often it is decided, and uncounts what will not happen.
    pub(in crate::dispatcher) async fn count_merges(
        &self,
        unit: &mut UnitOfWork,
        source: &Source,
        decided: Option<CountedMerge>,
        given_up: &[EffectId],
    ) -> Result<(), Error> {
        let now = self.backend.now();
        let found = self.backend.store.merges(&source.repo).await?;
        let mut merges = found.value.clone();
        for counted in [&mut merges.at, &mut merges.exchange] {
            counted.retain(|id, at| now.duration_since(*at) < DAY && !given_up.contains(id));
        }
        if let Some(merge) = decided {
            let counted = match merge.of_exchange {
                true => &mut merges.exchange,
                false => &mut merges.at,
            };
            counted.entry(merge.id).or_insert(now);
        }
        if merges != found.value {
            unit.save(&source.repo, &merges, Some(found.version));
        }
        Ok(())
    }

    /// Withdraws a merge that was decided earlier and never begun, unless it was decided again just now. Returns what
    /// was withdrawn.
    pub(super) async fn withdraw_merges(
        &self,
        unit: &mut UnitOfWork,
        step: &Step<pull::Pull>,
        judged: Option<&CommitSha>,
    ) -> Result<Vec<EffectId>, Error> {
        let mut withdrawn = Vec::new();
        let pk = keys::pull_pk(&step.aggregate.pull);
        for found in self.backend.store.effects(&pk).await? {
            let Action::Pull(PullAction::Merge { sha, .. }) = &found.value.action else {
                continue;
            };
            if judged != Some(sha) && matches!(found.value.state, EffectState::Intent { .. }) {
                let why = domain::failure::Failure::new(
                    FailureClass::Conflict,
                    "the facts changed before it was begun",
                );
                // It was never begun, so the attempt is still to come.
                let attempt = found.value.attempt().saturating_sub(1);
                let state = EffectState::Failed {
                    at: unit.now(),
                    attempt,
                    failure: why,
                };
                self.backend.save_effect_state(
                    unit,
                    &pk,
                    &found,
                    &Effect {
                        state,
                        ..found.value.clone()
                    },
                );
                withdrawn.push(found.value.id);
            }
        }
        Ok(withdrawn)
    }

    /// Why a head is not merged any more although it was judged: its delivery or its sprint went on meanwhile.
    pub(in crate::dispatcher) async fn not_let_go(
        &self,
        pull: &PullRef,
        sha: &CommitSha,
    ) -> Result<Option<String>, Error> {
        let store = &self.backend.store;
        let Some(tracked) = store.pull(pull).await? else {
            return Ok(None);
        };
        let Some(job) = store.job(&tracked.value.pull.job).await? else {
            return Ok(None);
        };
        let held = match self.backend.delivery_gate(&job.value, sha).await? {
            Some(gate) => Some(gate.reason()),
            None => {
                let gate = self.sprint_gate(&job.value, sha).await?;
                gate.map(SprintGate::reason)
            }
        };
        Ok(held.map(|reason| reason.sentence()))
    }
}

/// Keeps what a merge was judged by: everything but the untrusted texts, with a bounded list of files.
pub(super) fn keep_evidence(
    unit: &mut UnitOfWork,
    step: &Step<pull::Pull>,
    sha: &CommitSha,
    facts: &PullFacts,
    source: &Source,
) {
    let mut kept = facts.clone();
    kept.body.clear();
    kept.title.clear();
    let files = facts.files.known().map_or(0, Vec::len);
    if let domain::facts::Fact::Known(files) = &mut kept.files {
        files.truncate(EVIDENCE_FILES_MAX);
    }
    let green_since = step.aggregate.green.as_ref().map(|green| green.since);
    let mut evidence = Evidence {
        judged_at: unit.now(),
        facts: &kept,
        policy: &source.policy,
        green_since,
        files,
        checks: facts.checks.known().map_or(0, Vec::len),
    };
    let mut slim = kept.clone();
    // Evidence that does not fit would block the merge, so lists are cut and their lengths kept.
    if encode(&evidence).len() > BODY_BYTES_MAX {
        slim.files = domain::facts::Fact::Known(Vec::new());
        if let domain::facts::Fact::Known(checks) = &mut slim.checks {
            checks.truncate(EVIDENCE_CHECKS_MAX);
        }
        evidence.facts = &slim;
    }
    unit.put_if(
        keys::evidence(&facts.pull, sha),
        &evidence,
        Expect::Any,
        IndexEntry::until(unit.now(), retention::EVIDENCE),
    );
}
