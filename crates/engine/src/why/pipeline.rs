//! Explains what a run of a pipeline waits for: its pauses, its present step, and the jobs of that step.

use domain::advice::{Advice, Next};
use domain::ids::PipelineId;
use domain::job::{Job, JobPhase};
use domain::pipeline::{self, AgentState, Exchange, Member, Pipeline, PipelineStep, StepState};
use domain::reasoned::Reasoned;
use domain::redact::closed;
use domain::why::PlannedStep;
use jiff::Timestamp;

use super::WhySubject;
use super::polls::POLLS;
use crate::backend::{Backend, Error};
use crate::keys;

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineWhy {
    /// Which.
    pub pipeline: PipelineId,
    /// How far it is, in one word.
    pub state: &'static str,
    /// What is the case: pauses first, then the present step, then its agents that are not through; once it is over, each step that failed.
    pub because: Vec<Reasoned>,
    /// Each step in a sentence.
    pub steps: Vec<StepWhy>,
    /// Advice: orders about its jobs that would be accepted now, or another run where steps of this one failed.
    pub next: Vec<Next>,
    /// The latest time of its next check.
    pub next_look: Option<Timestamp>,
}

/// One step of a run, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepWhy {
    /// Its name.
    pub step: &'static str,
    /// How far it is, in one word.
    pub state: &'static str,
    /// What is the case.
    pub sentence: String,
}

impl Backend {
    /// What a run waits for.
    pub async fn pipeline_why(&self, id: &PipelineId) -> Result<PipelineWhy, Error> {
        let run = self.must::<Pipeline>(id).await?.value;
        let mut found = WhySubject::default();
        match run.current() {
            None => why_over(&mut found, &run),
            Some(place) => {
                self.switches(&mut found, &run.repo).await?;
                let step = &run.steps[place];
                let sentence = format!("{}: {}", step.kind, sentence(&run, place));
                found.because(step.state.word(), sentence);
                self.why_members(&mut found, step).await?;
            }
        }
        Ok(PipelineWhy {
            pipeline: id.clone(),
            state: run.word(),
            because: found.because,
            steps: steps(&run),
            next: found.next,
            next_look: self.due_of(&keys::pipeline(id)).await?,
        })
    }

    /// The decisive reason of each job that is not through, apart from what holds up all of them.
    async fn why_members(&self, found: &mut WhySubject, step: &PipelineStep) -> Result<(), Error> {
        for member in step.members.iter().filter(|it| !it.state.is_over()) {
            let who = full_name(step, member);
            let Some(job) = self.store.job(&member.job).await? else {
                let told = match step.reason() {
                    Some(why) => {
                        let why = closed(why);
                        format!("{who} has no job yet, and the next try is soon: {why}")
                    }
                    None => format!("{who} has no job yet."),
                };
                found.because("no_job", told);
                continue;
            };
            if found.held && is_unbegun(&job.value) {
                // The pause, which comes first, decides alone when it begins.
                continue;
            }
            let why = self.why(&member.job).await?;
            let own = why.because.iter().filter(|it| !found.because.contains(it));
            let own: Vec<&Reasoned> = own.collect();
            if let Some(Reasoned { code, sentence }) = decisive(&own, why.pull.is_some()) {
                let pull = why.pull.as_ref().map(|pull| format!(", {pull}"));
                let then = coming(&why.then, sentence, self.now());
                let told = format!(
                    "{who}, job {}{}: {sentence}{}",
                    member.job,
                    pull.unwrap_or_default(),
                    then.unwrap_or_default()
                );
                found.because(code, told);
            }
            let new = why.next.into_iter().filter(|it| !found.next.contains(it));
            let new: Vec<Next> = new.collect();
            found.next.extend(new);
        }
        Ok(())
    }
}

/// What comes next for a job, unless the reason tells of that time itself.
fn coming(then: &[PlannedStep], reason: &str, now: Timestamp) -> Option<String> {
    // The next poll says nothing about this one, and what was due before only waits for its turn.
    let mut then = then
        .iter()
        .filter(|it| !POLLS.contains(&it.sentence.as_str()));
    let (at, what) = then.find_map(|it| Some((it.at.filter(|at| *at > now)?, &it.sentence)))?;
    let is_told = reason.contains(&format!("{at:.0}"));
    (!is_told).then(|| format!(" {at:.0}: {what}"))
}

/// The steps of a run that failed, and that nothing of it is tried again.
fn why_over(found: &mut WhySubject, run: &Pipeline) {
    for (place, step) in run.failed_steps() {
        let sentence = format!("{}: {}", step.kind, sentence(run, place));
        found.because(step.state.word(), sentence);
    }
    if found.because.is_empty() {
        return found.because("over", "It is over.");
    }
    found.because("over", "It is over: only another run tries that again.");
    let again = run
        .again()
        .map(|command| Advice::StartPipeline.about(&command));
    found.next.extend(again);
}

/// Whether a job has no session yet, so that a pause alone decides when it begins.
fn is_unbegun(job: &Job) -> bool {
    match job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => true,
        JobPhase::Watching(_) | JobPhase::Proposed { .. } | JobPhase::Ended(_) => false,
    }
}

/// The reason that matters of a job: what its pull request waits for comes last, and neither an agent that is not there, nor a
/// session that is done, nor polls that are rarer hold up anything.
fn decisive<'a>(reasons: &[&'a Reasoned], has_pull: bool) -> Option<&'a Reasoned> {
    let holds_nothing = ["no_agent", "resting", "polls_slowed"];
    let holds = |it: &&&Reasoned| !holds_nothing.contains(&it.code.as_str());
    let mut holding = reasons.iter().filter(holds);
    let found = match has_pull {
        true => holding.next_back(),
        false => holding.next(),
    };
    found.or_else(|| reasons.first()).copied()
}

fn steps(run: &Pipeline) -> Vec<StepWhy> {
    let step_why = |(place, step): (usize, &PipelineStep)| StepWhy {
        step: step.kind.name(),
        state: step.state.word(),
        sentence: sentence(run, place),
    };
    run.steps.iter().enumerate().map(step_why).collect()
}

/// A step in a sentence, with what the prompts of its agents had no room for.
fn sentence(run: &Pipeline, place: usize) -> String {
    let step = &run.steps[place];
    let noted = step.members.iter().filter(|it| !it.note.is_empty());
    let noted = noted.map(|it| format!(" {}: {}.", full_name(step, it), it.note));
    std::iter::once(progress(run, place)).chain(noted).collect()
}

/// How far a step is, in a sentence.
fn progress(run: &Pipeline, place: usize) -> String {
    let step = &run.steps[place];
    match (&step.state, run.current()) {
        (StepState::Pending, Some(current)) if current < place => {
            format!("It waits for the step {}.", run.steps[current].kind)
        }
        (StepState::Pending, _) => match step.reason() {
            Some(why) => {
                let why = closed(why);
                format!("It is next, and its files are read again soon: {why}")
            }
            None => {
                "It is next: its files are read, and what there is to do is found out.".to_owned()
            }
        },
        (StepState::Running { since }, _) => {
            let working = names(step, &AgentState::Working);
            let (minutes, until) = (run.wait_minutes, pipeline::late_at(run, *since));
            format!(
                "At work, and waited for at most {minutes} min, until about {until}: {working}."
            )
        }
        (StepState::WaitingMerge { since }, _) => {
            // What each waits for is told of its job: a red or a closed one waits for no person who merges.
            let merging = names(step, &AgentState::Merging);
            let until = match run.rules.exchange {
                Exchange::Human => String::new(),
                Exchange::Auto => {
                    format!(
                        ", and waited for until about {}",
                        pipeline::late_at(run, *since)
                    )
                }
            };
            format!("Finished, and their pull requests are not merged yet{until}: {merging}.")
        }
        (StepState::Done { .. }, _) => done(step),
        (StepState::Skipped { reason, .. }, _) => format!("It was skipped: {}", closed(reason)),
        (StepState::Failed { reason, .. }, _) => failure(step, reason),
    }
}

/// Why a step failed: where its agents did, each with its name and its reason.
fn failure(step: &PipelineStep, reason: &str) -> String {
    let is_of = |it: &Member| it.name().is_some() && it.state.reason() == Some(reason);
    let why = match step.members.iter().any(is_of) {
        true => failed(step).join("; "),
        // The sentence says already that it failed.
        false => reason
            .strip_prefix("it failed: ")
            .unwrap_or(reason)
            .to_owned(),
    };
    format!("It failed: {}", closed(&why))
}

/// A step that is through, with those of its agents that were not.
fn done(step: &PipelineStep) -> String {
    let failed = failed(step);
    match failed.is_empty() {
        true => "It is through.".to_owned(),
        false => format!("It is through without {}.", failed.join("; ")),
    }
}

/// The agents of a step that failed, each with its reason.
fn failed(step: &PipelineStep) -> Vec<String> {
    let members = step.members.iter();
    let failed = members.filter_map(|it| Some((it, it.state.reason()?)));
    let told = failed.map(|(it, reason)| format!("{}: {reason}", full_name(step, it)));
    told.collect()
}

/// The agents of a step that are in this state.
fn names(step: &PipelineStep, state: &AgentState) -> String {
    let are = step.members.iter().filter(|it| it.state == *state);
    let named: Vec<String> = are.map(|it| full_name(step, it)).collect();
    named.join(", ")
}

fn full_name(step: &PipelineStep, member: &Member) -> String {
    match member.name() {
        Some(name) => format!("{} {name}", step.kind),
        None => step.kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::JobId;
    use domain::pipeline::StepKind;

    use super::*;

    fn step(role: Option<&str>, reason: &str) -> PipelineStep {
        let job: JobId = "01j00000000000000000000001".parse().unwrap();
        let reason = reason.to_owned();
        PipelineStep {
            kind: StepKind::try_from("observers".to_owned()).unwrap(),
            state: StepState::Pending,
            members: vec![Member {
                role: role.map(|role| role.parse().unwrap()),
                stream: domain::ids::StreamName::default(),
                requirement: None,
                job,
                state: AgentState::Failed { reason },
                note: String::new(),
            }],
            trees: None,
            range: String::new(),
            hindrance: None,
            note: String::new(),
        }
    }

    #[test]
    fn what_comes_next_is_told_once() {
        let at: Timestamp = "2026-03-01T12:00:00.5Z".parse().unwrap();
        let now: Timestamp = "2026-03-01T11:00:00Z".parse().unwrap();
        let then = [PlannedStep::new(Some(at), "To do then: make a session.")];
        for (reason, told) in [
            (
                "It is red.",
                Some(" 2026-03-01T12:00:00Z: To do then: make a session."),
            ),
            (
                "To do from 2026-03-01T12:00:00Z on: make a session (attempt 2).",
                None,
            ),
        ] {
            assert_eq!(coming(&then, reason, now).as_deref(), told);
        }
        assert_eq!(coming(&then, "It is red.", at), None);
    }

    #[test]
    fn what_holds_up_nothing_hides_no_reason_of_a_job() {
        let decided = |codes: &[&str], has_pull| {
            let reasons: Vec<Reasoned> =
                codes.iter().map(|code| Reasoned::new(code, ".")).collect();
            let reasons: Vec<&Reasoned> = reasons.iter().collect();
            decisive(&reasons, has_pull).map(|it| it.code.clone())
        };
        for (codes, has_pull, code) in [
            (
                vec!["polls_slowed", "question_open"],
                false,
                "question_open",
            ),
            (vec!["polls_slowed", "resting", "red"], true, "red"),
            (vec!["throttled", "question_open"], false, "throttled"),
            (vec!["polls_slowed"], false, "polls_slowed"),
        ] {
            assert_eq!(
                decided(&codes, has_pull).as_deref(),
                Some(code),
                "{codes:?}"
            );
        }
        assert_eq!(decided(&[], false), None);
    }

    #[test]
    fn a_step_that_failed_names_its_agents_and_says_once_that_it_failed() {
        for (role, of_agent, of_step, told) in [
            (Some("qa"), "late", "late", "It failed: observers qa: late."),
            (
                None,
                "it failed: no disk",
                "it failed: no disk",
                "It failed: no disk.",
            ),
            (
                None,
                "did you mean `qa`?",
                "did you mean `qa`?",
                "It failed: did you mean `qa`?",
            ),
            (
                Some("qa"),
                "called off",
                "ann cancelled the run",
                "It failed: ann cancelled the run.",
            ),
        ] {
            assert_eq!(failure(&step(role, of_agent), of_step), told);
        }
    }
}
