//! Explains what a sprint waits for: its pauses, its state, and each member.

use domain::advice::Next;
use domain::ids::{JobId, PersonaName, RepoName, SprintNumber};
use domain::sprint::{
    ATTEMPTS_MAX, Against, MemberState, QUEUED_TIMEOUT, Sprint, SprintMember, SprintState,
};
use domain::when::plus;
use jiff::Timestamp;

use super::{Reasoned, WhySubject};
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
    /// Orders about the one pull request that would be accepted now.
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
        }
        found.because(sprint.state.word(), sentence(&sprint));
        if sprint.state == SprintState::Verifying {
            self.why_landing(&mut found, &sprint).await?;
        }
        Ok(SprintWhy {
            sprint: sprint.number,
            state: sprint.state.word(),
            because: found.because,
            members: sprint
                .members
                .iter()
                .map(|it| member(&sprint, it))
                .collect(),
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
        let new = why.because.into_iter();
        let new: Vec<Reasoned> = new.filter(|it| !found.because.contains(it)).collect();
        found.because.extend(new);
        found.next.extend(why.next);
        Ok(())
    }
}

/// What a sprint is at, in a sentence.
fn sentence(sprint: &Sprint) -> String {
    let awaited: Vec<&str> = sprint
        .members
        .iter()
        .filter(|it| it.is_awaited())
        .map(|it| it.persona.as_str())
        .collect();
    let awaited = awaited.join(", ");
    match &sprint.state {
        SprintState::Working if !sprint.is_woven() => {
            format!("It waits for {awaited}; each pull request is merged by itself.")
        }
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
        SprintState::Aborted { by, .. } => format!("It is over: {by} aborted it."),
    }
}

fn member(sprint: &Sprint, member: &SprintMember) -> MemberWhy {
    let until = Some(plus(member.since, member.timeout()));
    let (sentence, until) = match &member.state {
        _ if member.reading.is_some() => {
            let sentence = "Its session reads mail that came after its change was ready.";
            (sentence.to_owned(), until)
        }
        MemberState::Pending => ("It begins when others are through.".to_owned(), None),
        MemberState::Waiting => (
            "Its job waits for a slot.".to_owned(),
            Some(plus(member.since, QUEUED_TIMEOUT)),
        ),
        MemberState::Working => (
            "Its session works, or its pull request is not ready yet.".to_owned(),
            until,
        ),
        MemberState::PullOpen if !sprint.is_woven() => {
            ("Its pull request has to be merged.".to_owned(), None)
        }
        MemberState::PullOpen => ("It is ready for the next weave.".to_owned(), None),
        MemberState::Applied { way } => (format!("It is in ({way})."), None),
        MemberState::Conflicted => (conflict(member), None),
        MemberState::Rerunning => (
            format!(
                "{} It was sent that, and has {} of {ATTEMPTS_MAX} attempts.",
                conflict(member),
                member.attempts
            ),
            until,
        ),
        MemberState::Unresolved => (
            format!("{} Its attempts are used up.", conflict(member)),
            None,
        ),
        MemberState::Delegated => (
            format!("{} The weaver's job resolves that.", conflict(member)),
            None,
        ),
        MemberState::TimedOut => (
            "It took too long; a late pull request joins the next weave.".to_owned(),
            None,
        ),
        MemberState::NoChange => ("It changed nothing.".to_owned(), None),
        MemberState::Skipped { reason } => (format!("It is left out: {reason}."), None),
        MemberState::Withdrawn => ("It took its change back.".to_owned(), None),
        MemberState::Failed { reason } => (format!("Nothing comes of it: {reason}."), None),
    };
    MemberWhy {
        persona: member.persona.clone(),
        job: member.job.clone(),
        state: member.state.word(),
        sentence,
        until: until.filter(|_| !sprint.is_over()),
    }
}

fn conflict(member: &SprintMember) -> String {
    let Some(refusal) = &member.refusal else {
        return "It has not answered.".to_owned();
    };
    let files: Vec<&str> = refusal.clashes.iter().map(|it| it.path.as_str()).collect();
    let files = files.join(", ");
    match &refusal.against {
        Against::StaleBase => format!("It conflicts with the target in {files}."),
        Against::Members(with) => {
            let with: Vec<String> = with.iter().map(|number| format!("#{number}")).collect();
            format!("It conflicts with {} in {files}.", with.join(", "))
        }
    }
}
