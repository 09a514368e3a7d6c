//! Explains what a sprint waits for: its pauses, its state, and each member.

mod member;

use domain::advice::{Advice, Next};
use domain::ids::{JobId, PersonaName, RepoName, SprintNumber};
use domain::job::{self, WaitReason};
use domain::merge::Reason;
use domain::pull::{PullPhase, REOPEN_WAIT};
use domain::reasoned::Reasoned;
use domain::sprint::{Figures, MemberState, Sprint, SprintMember, SprintState, failed_checks};
use jiff::Timestamp;

use self::member::OfJob;
use super::job::health;
use super::told::NO_AGENT;
use super::{Why, WhySubject, pull};
use crate::backend::{Backend, Error};
use crate::keys;

/// What a sprint waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SprintWhy {
    /// The sprint.
    pub sprint: SprintNumber,
    /// How far it is, in one word.
    pub state: &'static str,
    /// What is the case: pauses first, then what it waits for.
    pub because: Vec<Reasoned>,
    /// Each member.
    pub members: Vec<MemberWhy>,
    /// Orders that would be accepted now, about the sprint, its one pull request or jobs of its members.
    pub next: Vec<Next>,
    /// The latest time of its next check.
    pub next_look: Option<Timestamp>,
}

/// What a member waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberWhy {
    /// Which.
    pub persona: PersonaName,
    /// Its job.
    pub job: JobId,
    /// How far it is, in one word.
    pub state: &'static str,
    /// What is the case.
    pub sentence: String,
    /// Until when it is waited for.
    pub until: Option<Timestamp>,
}

impl Backend {
    /// What a sprint waits for, the newest one without a number.
    pub async fn sprint_why(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
    ) -> Result<SprintWhy, Error> {
        let sprint = self.must_sprint(repo, number).await?.value;
        let mut found = WhySubject::default();
        if !sprint.is_over() {
            self.switches(&mut found, &sprint.repo).await?;
            if let Some(account) = self.store.account(&sprint.account).await? {
                health(&mut found, &account.value);
            }
        }
        found.because(sprint.state.word(), sentence(&sprint));
        if sprint.state == SprintState::Verifying {
            self.why_landing(&mut found, &sprint).await?;
        }
        if let Some(hindrance) = &sprint.hindrance {
            let sentence = format!("Its files are read again soon: {}", hindrance.why);
            found.because("read_again", sentence);
        }
        let members = self.why_sprint_members(&mut found, &sprint).await?;
        Ok(SprintWhy {
            sprint: sprint.number,
            state: sprint.state.word(),
            because: found.because,
            members,
            next: found.next,
            next_look: self
                .due_of(&keys::sprint(&sprint.repo, sprint.number))
                .await?,
        })
    }

    /// Why the one pull request is not merged.
    async fn why_landing(&self, found: &mut WhySubject, sprint: &Sprint) -> Result<(), Error> {
        if self.store.job(&sprint.integration).await?.is_none() {
            return Ok(());
        }
        let why = self.why(&sprint.integration).await?;
        let waits_for = why.waits_for.as_ref();
        let is_blocked = waits_for.is_some_and(|it| it.what == WaitReason::Blocked);
        add_landing(found, why);
        self.why_closed(found, sprint).await?;
        if is_blocked && !self.failing_of_sprint(sprint).await?.is_empty() {
            let sentence = "No session mends its checks any more: have them run again on GitHub, or abort the sprint. A push to its branch ends the sprint.";
            found.because("checks_left", sentence);
            found.next.push(Advice::AbortSprint.about(&sprint.repo));
        }
        Ok(())
    }

    /// The one pull request was closed by hand, and can be reopened for some minutes.
    async fn why_closed(&self, found: &mut WhySubject, sprint: &Sprint) -> Result<(), Error> {
        let Some(woven) = &sprint.woven else {
            return Ok(());
        };
        let Some(tracked) = self.store.pull(&woven.pull).await? else {
            return Ok(());
        };
        if let PullPhase::Closed { since, .. } = &tracked.value.pull.phase {
            let closed = WaitReason::Reopening;
            let until = *since + REOPEN_WAIT;
            let sentence = format!(
                "It waits for a person: {}, until about {until}. After that the sprint ends without a merge.",
                closed.words()
            );
            found.because(closed.word(), sentence);
        }
        Ok(())
    }

    /// The checks of the one pull request that fail, as it was last read.
    async fn failing_of_sprint(&self, sprint: &Sprint) -> Result<Vec<String>, Error> {
        let Some(woven) = &sprint.woven else {
            return Ok(Vec::new());
        };
        let found = self.store.pull(&woven.pull).await?;
        Ok(found.map_or_else(Vec::new, |it| failed_checks(&it.value.pull).to_vec()))
    }

    async fn why_sprint_members(
        &self,
        found: &mut WhySubject,
        sprint: &Sprint,
    ) -> Result<Vec<MemberWhy>, Error> {
        let failing = self.failing_of_sprint(sprint).await?;
        let mut members = Vec::new();
        for member in &sprint.members {
            let of_job = self.why_sprint_job(found, sprint, member).await?;
            members.push(member::why(sprint, member, &of_job, failing.as_slice()));
        }
        Ok(members)
    }

    /// What the job of a member tells. Where a person or an agent has to act, the sprint waits for that, and orders are advised; what
    /// unblocks a merge may be no order.
    async fn why_sprint_job(
        &self,
        found: &mut WhySubject,
        sprint: &Sprint,
        member: &SprintMember,
    ) -> Result<OfJob, Error> {
        if sprint.is_over() || !member::is_told_by_job(member, sprint.is_woven()) {
            return Ok(OfJob::Nothing);
        }
        let Some(job) = self.store.job(&member.job).await? else {
            let is_held = found.held;
            return Ok(OfJob::Missing { is_held });
        };
        let waits = self.waits_for(&job.value).await?;
        if waits.is_decision() && !waits.is_held() {
            let sentence = format!("{} waits for {}.", member.persona, waits.sentence());
            found.because(waits.what.word(), sentence);
            let is_blocked = waits.what == WaitReason::Blocked;
            let why = Box::pin(self.why(&member.job)).await?;
            let orders = why.next.into_iter();
            found
                .next
                .extend(orders.filter(|it| is_blocked || it.advice.order().is_some()));
        }
        let pull = match job.value.pull() {
            Some(pull) => self.store.pull(pull).await?,
            None => None,
        };
        let tracked = pull.as_ref().map(|found| &found.value);
        let hindrance = tracked.and_then(|it| job::hindrance(&job.value, &it.pull));
        let hindrance = hindrance.map(Reason::sentence);
        let delay = || tracked.and_then(|it| pull::delay(it, self.now()));
        let unopened = job.value.watched().filter(|watch| watch.pull.is_none());
        let rested = unopened.and_then(|watch| watch.announced.completed_at);
        Ok(OfJob::Waits {
            waits,
            hindrance: hindrance.or_else(delay),
            rested,
        })
    }
}

/// Adds what is told of the job of the one pull request, each thing once. Its events are told with the sprint, whose agent is that of
/// its source.
fn add_landing(found: &mut WhySubject, why: Why) {
    for reason in why.because {
        if reason.code != NO_AGENT && !found.because.contains(&reason) {
            found.because.push(reason);
        }
    }
    for next in why.next {
        if next.advice != Advice::Events && !found.next.contains(&next) {
            found.next.push(next);
        }
    }
}

/// The names of some members.
fn named(sprint: &Sprint, is_meant: impl Fn(&SprintMember) -> bool) -> String {
    let meant = sprint.members.iter().filter(|it| is_meant(it));
    let names: Vec<&str> = meant.map(|it| it.persona.as_str()).collect();
    names.join(", ")
}

/// What a sprint waits for whose members are merged by themselves.
fn one_by_one(sprint: &Sprint) -> String {
    let is_open = |it: &SprintMember| it.state == MemberState::PullOpen;
    let begun = named(sprint, |it| it.is_begun() || is_open(it));
    let pending = named(sprint, |it| it.state == MemberState::Pending);
    let begun = format!("It waits for {begun}; each pull request is merged by itself.");
    match pending.is_empty() {
        true => begun,
        false => format!("{begun} Then others begin: {pending}."),
    }
}

/// What a sprint is at, in a sentence.
fn sentence(sprint: &Sprint) -> String {
    let awaited = named(sprint, SprintMember::is_awaited);
    match &sprint.state {
        SprintState::Working if !sprint.is_woven() => one_by_one(sprint),
        SprintState::Working => format!("It waits for {awaited}; then all are woven."),
        SprintState::Integrating => format!("Weave {} is under way.", sprint.weaves),
        SprintState::Fixing => {
            format!("It waits for {awaited}; then all are woven again.")
        }
        SprintState::Verifying => match &sprint.woven {
            Some(woven) => format!("{} has to be merged.", woven.pull),
            None => "The pull requests of its members have to be merged.".to_owned(),
        },
        SprintState::Done { .. } => "It is over: all that was made is merged.".to_owned(),
        SprintState::PartiallyDone { reason, .. } => format!("It is over: {reason}."),
        SprintState::Aborted { by, .. } => {
            let Figures {
                merged, members, ..
            } = Figures::of_sprint(sprint);
            match merged {
                0 => format!("It is over: {by} aborted it."),
                _ => format!("It is over: {by} aborted it. Merged members: {merged} of {members}."),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_one_pull_request_each_thing_is_told_once_and_nothing_of_agents() {
        let job: JobId = "01k5nx0000000000000000000a".parse().unwrap();
        let landing = |codes: &[&str]| {
            let mut subject = WhySubject::default();
            for code in codes {
                subject.because(code, "It is so.");
            }
            let orders = [Advice::Events, Advice::Merge, Advice::Merge];
            subject.next.extend(orders.map(|it| it.about(&job)));
            subject.into_why(Some(job.clone()), None, "in-review", None)
        };
        let mut found = WhySubject::default();
        found.because("paused", "It is so.");
        add_landing(&mut found, landing(&["paused", NO_AGENT, "merge"]));
        let codes: Vec<&str> = found.because.iter().map(|it| it.code.as_str()).collect();
        assert_eq!(codes, ["paused", "merge"]);
        assert_eq!(found.next, [Advice::Merge.about(&job)]);
    }
}
