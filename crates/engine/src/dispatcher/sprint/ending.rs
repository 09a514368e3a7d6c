//! The end of a sprint: jobs of members that are in end with it, others are left to people, and one event says so.

mod meanwhile;

use domain::effect::{Action, PullAction, RepoAction};
use domain::event::{Event, EventContext, News, Occurrence};
use domain::facts::{PullFacts, ReadDepth};
use domain::failure::{FailureClass, Hindrance};
use domain::ids::{EventId, JobId, PersonaName, PullRef};
use domain::job::{self, EndReason, Job, JobPhase};
use domain::mail::{HUMAN, Outgoing, Recipient};
use domain::outgoing_text::{left_out, next_not_started, sprint_end, unread_mail};
use domain::policy::Timing;
use domain::sprint::{self, NextSprint, Sights, Sprint, SprintInput, SprintMember, SprintState};
use domain::step::Step;
use jiff::Timestamp;

use super::labels::without_conflict;
use super::named;
use crate::backend::{Error, UnitOfWork, decide_again};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::{Reading, Share};
use crate::save::EventRoute;
use crate::store::Versioned;

/// How many sprints are read to find the two before: the next one may be there already.
const NEWEST: usize = 4;

impl Dispatcher {
    /// Carries out what the end of a sprint asks for; done twice it does nothing more. Returns whether the sprint changed.
    pub(super) async fn end_sprint(&self, found: &Versioned<Sprint>) -> Result<bool, Error> {
        let sprint = &found.value;
        if Box::pin(self.see_merged_meanwhile(found)).await? {
            return Ok(true);
        }
        let mail = match Box::pin(self.settle_mail(found)).await {
            Ok(None) => return Ok(true),
            Ok(Some(sights)) => Ok(sights),
            Err(error) => Err(error),
        };
        if found.due.is_none() {
            return mail.map(|_| false);
        }
        for member in &sprint.members {
            self.end_member(sprint, member).await?;
        }
        // Its own merge ends it as merged, if that was not noticed yet.
        self.settle_with_pull(&sprint.integration).await?;
        self.end_job(&sprint.integration, job::leave).await?;
        // Mail that cannot be read now holds up no job.
        let mut sights = mail?;
        if sights.hindrance.is_none() {
            self.tell_of_end(sprint).await?;
            self.tell_left_out(sprint).await?;
            self.tell_unread(sprint).await?;
            sights.hindrance = self.start_next(sprint).await?;
        }
        self.save_end(found, sights).await?;
        Ok(false)
    }

    /// A sprint that is over is due until all was read, and the next one is there.
    async fn save_end(&self, found: &Versioned<Sprint>, sights: Sights) -> Result<(), Error> {
        let now = self.backend.now();
        let again_at = sprint::soon(&sights, now);
        let next = sprint::apply(&found.value, &SprintInput::Seen(sights), now);
        let mut unit = self.backend.unit();
        let id = (next.repo.clone(), next.number);
        unit.save_at(&id, &next, Some(found.version), again_at);
        self.backend.try_commit(unit).await.map(drop)
    }

    /// Marks what members were shown as read, and collects what they wrote. Returns what kept mail from being read; none if the
    /// sprint changed.
    async fn settle_mail(&self, found: &Versioned<Sprint>) -> Result<Option<Sights>, Error> {
        let sprint = &found.value;
        if self.mark_shown(found).await? {
            return Ok(None);
        }
        if found.due.is_none() {
            return Ok(Some(Sights::default()));
        }
        let source = self.source(&sprint.repo).await?;
        let mut sights = self.sprint_sights(sprint, &source.timing).await?;
        if self.collect(found, &mut sights).await? {
            return Ok(None);
        }
        // How far its members are counts no more.
        Ok(Some(Sights {
            hindrance: sights.hindrance,
            doubts: sights.doubts,
            ..Sights::default()
        }))
    }

    /// Starts the next sprint where the source says so. After one of which nothing was merged, or that a person aborted,
    /// people go on. Returns what kept its personas from being read.
    async fn start_next(&self, sprint: &Sprint) -> Result<Option<Hindrance>, Error> {
        let source = self.source(&sprint.repo).await?;
        let is_aborted = matches!(sprint.state, SprintState::Aborted { .. });
        if source.sprints.next == NextSprint::ByHand || is_aborted {
            return Ok(None);
        }
        let is_merged = sprint.has_merged_member() || self.merged(sprint).await?.is_some();
        if !is_merged {
            return Ok(None);
        }
        let why = match self.try_to_start_next(sprint).await {
            Ok(()) => return Ok(None),
            Err(error) if error.is_busy() => return Err(error),
            Err(Error::NotNow(why)) => why.sentence,
            Err(Error::Outside(failure)) => {
                let before = sprint.hindrance.as_ref();
                let hindrance = Hindrance::of(&failure, before, self.backend.now());
                if hindrance.is_some() {
                    return Ok(hindrance);
                }
                format!("its personas cannot be read: {failure}")
            }
            Err(error) => return Err(error),
        };
        let words = next_not_started(sprint, &why);
        self.mail_people(sprint, Some(words), "next").await?;
        Ok(None)
    }

    async fn try_to_start_next(&self, sprint: &Sprint) -> Result<(), Error> {
        let read = self
            .personas_read(&sprint.repo, sprint.number.next())
            .await?;
        let started = self.backend.start_next_sprint(sprint, read).await;
        started.map(drop)
    }

    async fn end_member(&self, sprint: &Sprint, member: &SprintMember) -> Result<(), Error> {
        match &sprint.state {
            SprintState::Aborted { .. } => {
                for job in member.jobs() {
                    self.call_off(sprint, member, job).await?;
                }
                Ok(())
            }
            SprintState::Done { .. } | SprintState::PartiallyDone { .. } => {
                let into = self.merged(sprint).await?.filter(|_| member.is_in());
                for job in member.jobs() {
                    self.end_job_of_member(sprint, member, job, into.as_ref())
                        .await?;
                }
                Ok(())
            }
            SprintState::Working
            | SprintState::Integrating
            | SprintState::Fixing
            | SprintState::Verifying => Ok(()),
        }
    }

    /// Ends a job with what its change was woven into, or leaves it to people.
    async fn end_job_of_member(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        id: &JobId,
        into: Option<&PullRef>,
    ) -> Result<(), Error> {
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        let is_begun = found.value.session().is_some();
        let Some(into) = into.filter(|_| is_begun) else {
            return self.leave_member(sprint, &found.value).await;
        };
        if is_woven(&found.value) {
            return Ok(());
        }
        let facts = match found.value.pull() {
            Some(pull) => self.outline_of(pull).await?,
            None => None,
        };
        let is_other = |it: &PullFacts| !member.covers(it.pull.number, &it.head.sha);
        if facts.as_ref().is_some_and(is_other) {
            return self.leave_member(sprint, &found.value).await;
        }
        let source = self.source(&sprint.repo).await?;
        let facts = facts.filter(|_| source.policy.delete_branch);
        let branch = facts.map(|facts| {
            Action::Pull(PullAction::DeleteBranch {
                repo: sprint.repo.clone(),
                branch: facts.head.branch,
                sha: facts.head.sha,
            })
        });
        let end = |job: &Job, now| {
            let mut step = job::woven(job, into, now);
            step.effects.extend(branch.clone());
            step
        };
        self.end_job(id, end).await
    }

    /// Leaves a job and its pull request to people. One whose session is not done is cancelled: the session would keep its slot, and
    /// one that is not there yet is not wanted any more.
    async fn leave_member(&self, sprint: &Sprint, job: &Job) -> Result<(), Error> {
        let source = self.source(&sprint.repo).await?;
        match job::is_under_way(job, &source.timing, self.backend.now()) {
            true => self.cancel_member(&named(sprint), &job.id).await,
            false => self.end_job(&job.id, job::leave).await,
        }
    }

    /// A pull request as GitHub shows it now; none if it is gone.
    async fn outline_of(&self, pull: &PullRef) -> Result<Option<PullFacts>, Error> {
        let reading = Reading {
            share: Share::Common,
            depth: ReadDepth::Outline,
        };
        let now = self.backend.now();
        match self.readers.pulls.facts(pull, reading, now).await {
            Ok(facts) => Ok(Some(facts)),
            Err(failure) if failure.class == FailureClass::NotFound => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    /// The one pull request, if it is merged.
    async fn merged(&self, sprint: &Sprint) -> Result<Option<PullRef>, Error> {
        let Some(woven) = &sprint.woven else {
            return Ok(None);
        };
        let found = self.backend.store.pull(&woven.pull).await?;
        let landing = found.map(|found| sprint::landing(&found.value.pull, woven));
        let is_merged = landing == Some(sprint::Landing::Merged);
        Ok(is_merged.then(|| woven.pull.clone()))
    }

    /// Cancels a job of a member, and takes the labels of the sprint and of a conflict off its pull request, which stays.
    async fn call_off(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        job: &JobId,
    ) -> Result<(), Error> {
        let Some(found) = self.backend.store.job(job).await? else {
            return Ok(());
        };
        // The labels go first: a job that is over by then is not called off again.
        if let Some(pull) = found.value.pull() {
            let refusal = member.refusal.iter();
            let mut off: Vec<_> = refusal
                .map(|refusal| without_conflict(pull.clone(), refusal.weave))
                .collect();
            off.push(Action::Repo(RepoAction::Unlabel {
                pull: pull.clone(),
                label: sprint.number.label(),
                weave: None,
            }));
            self.ask_of_job(job, off).await?;
        }
        self.cancel_member(&named(sprint), job).await
    }

    /// Has something done for a job, if it is there, once.
    async fn ask_of_job(&self, id: &JobId, actions: Vec<Action>) -> Result<(), Error> {
        let pk = keys::job_pk(id);
        let actions = self.backend.not_asked_for(&pk, actions).await?;
        if actions.is_empty() {
            return Ok(());
        }
        let asked = |job: &Job, _now| {
            let mut step = Step::unchanged(job.clone());
            step.due = job::looked_at(job, &Timing::default());
            step.effects.extend_from_slice(&actions);
            step
        };
        self.end_job(id, asked).await
    }

    /// Ends a job, if it is there.
    async fn end_job(
        &self,
        id: &JobId,
        end: impl Fn(&Job, Timestamp) -> Step<Job> + Sync,
    ) -> Result<(), Error> {
        decide_again(format!("the end of job {id}"), || async {
            let Some(found) = self.backend.store.job(id).await? else {
                return Ok(Some(()));
            };
            let step = end(&found.value, self.backend.now());
            let mut unit = self.backend.unit();
            self.backend
                .save_job(&mut unit, Some(&found), &step)
                .await?;
            Ok::<_, Error>(self.backend.try_commit(unit).await?.then_some(()))
        })
        .await
    }

    /// One event. The jobs that end call their sprint, so another worker may tell it at the same time: then it is there.
    async fn tell_of_end(&self, sprint: &Sprint) -> Result<(), Error> {
        decide_again(format!("the end of {}", named(sprint)), || async {
            let unit = self.event_of_end(sprint).await?;
            Ok::<_, Error>(self.backend.try_commit(unit).await?.then_some(()))
        })
        .await
    }

    /// The event of the end of a sprint; nothing if it is there.
    async fn event_of_end(&self, sprint: &Sprint) -> Result<UnitOfWork, Error> {
        let source = self.source(&sprint.repo).await?;
        let mut unit = self.backend.unit();
        let event = Event {
            aid: EventContext {
                pull: sprint.woven.as_ref().map(|woven| woven.pull.clone()),
                ..EventContext::default()
            },
            ..Event::new(
                EventId::from_name(&format!("sprint:{}:{}", sprint.repo.key(), sprint.number)),
                sprint.account.clone(),
                unit.now(),
                Occurrence::News(News::Sprint {
                    repo: sprint.repo.clone(),
                    sprint: sprint.number,
                    words: sprint_end(sprint),
                }),
            )
        };
        let route = EventRoute {
            agent: self.backend.awake(source.agent).await?,
            repo: Some(sprint.repo.clone()),
            resume: None,
        };
        self.backend
            .save_account_events(&mut unit, &[event], &route)
            .await?;
        Ok(unit)
    }

    /// Mail to people about members that are not in; none about a sprint that they aborted.
    async fn tell_left_out(&self, sprint: &Sprint) -> Result<(), Error> {
        if matches!(sprint.state, SprintState::Aborted { .. }) {
            return Ok(());
        }
        let pulls = self.backend.sprint_pulls(sprint).await?;
        let words = left_out(sprint, &pulls);
        self.mail_people(sprint, words, "left-out").await
    }

    /// Sends people mail once, if there are words for it.
    pub(super) async fn mail_people(
        &self,
        sprint: &Sprint,
        words: Option<(String, String)>,
        purpose: &str,
    ) -> Result<(), Error> {
        let Some((subject, body)) = words else {
            return Ok(());
        };
        let (Ok(to), Ok(subject), Ok(body)) = (HUMAN.parse(), subject.parse(), body.parse()) else {
            return Ok(());
        };
        let outgoing = Outgoing {
            from: PersonaName::weaver(),
            to: Recipient::Persona(to),
            subject,
            body,
            attachments: Vec::new(),
        };
        self.send_once(sprint, &outgoing, purpose).await.map(drop)
    }

    /// Mail that stayed unread for this sprint and the one before is told to people, whether or not its persona takes part. What
    /// was sent before the sprint before those was told at the end of that one.
    async fn tell_unread(&self, sprint: &Sprint) -> Result<(), Error> {
        let newest = self.backend.sprints(&sprint.repo, NEWEST).await?;
        let mut earlier = newest.iter().filter(|it| it.number < sprint.number);
        let Some(before) = earlier.next() else {
            return Ok(());
        };
        let told = earlier.next().map(|it| it.created_at);
        let messages = self
            .backend
            .unread_between(&sprint.repo, told, before.created_at)
            .await?;
        let named = messages.into_iter();
        let unread: Vec<_> = named.map(|it| (it.to_persona, it.message_id)).collect();
        self.mail_people(sprint, unread_mail(sprint, &unread), "unread")
            .await
    }
}

/// Whether a job ended with what its change was woven into: all that follows was saved with that.
fn is_woven(job: &Job) -> bool {
    matches!(&job.phase, JobPhase::Ended(ending) if matches!(ending.how, EndReason::Woven { .. }))
}
