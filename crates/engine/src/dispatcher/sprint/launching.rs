//! The jobs of members: each begins with the mailbox of its persona, and what was shown is marked as read once its session is there.

use domain::failure::Hindrance;
use domain::ids::{PersonaName, RepoName, SprintNumber};
use domain::job::{self, Job, JobPhase};
use domain::mail::{MessageOrder, ReceivedMessage};
use domain::outgoing_text::{
    ConflictText, anew_task, mail_unsealed, member_task, prompt_room, shown_whole, task_room,
};
use domain::pipeline::{PartWork, PipelinePart, SprintPart};
use domain::policy::Source;
use domain::sprint::{Sprint, SprintInput, SprintMember};
use scaffold::layout::SYSTEM;
use scaffold::persona::{self, PersonaFile, Personas};

use super::{Progress, named, refused};
use crate::backend::{Error, IndexEntry};
use crate::dispatcher::Dispatcher;
use crate::mail::{INBOX_MAX, InboxQuery};
use crate::ports::Expect;
use crate::readings::ReadPersonas;
use crate::store::Versioned;
use crate::weaving::is_weave_of;
use crate::{keys, retention};

/// What the task of a member is made of.
struct MemberTask<'a> {
    /// What the file of its persona says.
    body: &'a str,
    /// Its conflict, if it begins anew.
    told: Option<&'a ConflictText>,
    /// How long it may be.
    room: usize,
}

impl Dispatcher {
    /// Reads the personas of a repository for a sprint, for a caller who waits.
    pub(in crate::dispatcher) async fn read_personas(
        &self,
        repo: &RepoName,
        number: SprintNumber,
    ) -> Result<(), Error> {
        let read_at = self.backend.now();
        let read = match self.personas_read(repo, number).await {
            Err(Error::Outside(failure)) => ReadPersonas::nothing(read_at, Some(&failure)),
            read => read?,
        };
        let mut unit = self.backend.unit();
        let place = IndexEntry::until(read.read_at, retention::ANSWER);
        unit.put_if(keys::personas_read(repo), &read, Expect::Any, place);
        self.backend.commit(unit).await
    }

    /// The personas of a repository as they are now, and whether the branch of a sprint is free.
    pub(super) async fn personas_read(
        &self,
        repo: &RepoName,
        number: SprintNumber,
    ) -> Result<ReadPersonas, Error> {
        let mut read = ReadPersonas::nothing(self.backend.now(), None);
        if let Some((commit, personas)) = self.personas_now(repo).await? {
            read.commit = Some(commit);
            read.batch = personas.batch().map(|it| it.id.clone()).collect();
            let others = personas.files.iter().filter(|it| !it.is_in_batch());
            read.others = others.map(|it| it.id.clone()).collect();
            read.faults = personas.faults.iter().map(ToString::to_string).collect();
            let is_taken = self.is_branch_taken(repo, number).await?;
            read.taken = is_taken.then_some(number);
        }
        Ok(read)
    }

    /// Whether the branch of a sprint ends with a commit that no weave of it made.
    async fn is_branch_taken(&self, repo: &RepoName, number: SprintNumber) -> Result<bool, Error> {
        let git = &*self.readers.git;
        match git.tip(repo, &number.branch()).await? {
            Some(tip) => Ok(!is_weave_of(git, repo, number, &tip).await?),
            None => Ok(false),
        }
    }

    /// The personas at the newest commit of the branch that people work on; none if it is not there.
    async fn personas_now(
        &self,
        repo: &RepoName,
    ) -> Result<Option<(domain::ids::CommitSha, Personas)>, Error> {
        let source = self.source(repo).await?;
        let Some(branch) = &source.branch else {
            return Ok(None);
        };
        let Some(tip) = self.readers.git.tip(repo, branch).await? else {
            return Ok(None);
        };
        let tree = self.readers.git.tree(repo, &tip, &[SYSTEM]).await?;
        Ok(Some((tip, persona::read(&tree))))
    }

    /// Makes the jobs of members that are not there yet. One that cannot be made stops no other.
    pub(super) async fn launch(
        &self,
        found: &Versioned<Sprint>,
        source: &Source,
    ) -> Result<Progress, Error> {
        let sprint = &found.value;
        let mut missing = Vec::new();
        for member in sprint.members.iter().filter(|it| it.is_begun()) {
            if self.backend.store.job(&member.job).await?.is_none() {
                missing.push(member);
            }
        }
        if missing.is_empty() {
            return Ok(Progress::Through(None));
        }
        let (personas, without) = match self.personas_at(sprint).await {
            Ok(read) => read,
            Err(hindrance) => return Ok(Progress::Through(Some(hindrance))),
        };
        let shown = self.shown_to(sprint, &missing, &personas).await?;
        if !shown.is_empty() {
            return self.decide(found, &shown).await.map(Progress::from_change);
        }
        Box::pin(self.seal_mail_of(sprint)).await?;
        let mut failed = Vec::new();
        for member in missing {
            let file = personas.get(&member.persona);
            let Some(body) = body_of(sprint, member, file) else {
                failed.push((member.job.clone(), without.clone()));
                continue;
            };
            match self
                .create_sprint_member(found, member, &body, source)
                .await
            {
                Ok(()) => {}
                Err(Error::NotNow(why)) => failed.push((member.job.clone(), why.to_string())),
                Err(error) => return Err(error),
            }
        }
        let failed = failed.into_iter();
        let failed: Vec<_> = failed.map(|(job, reason)| refused(job, reason)).collect();
        match failed.is_empty() {
            true => Ok(Progress::Through(None)),
            false => self.decide(found, &failed).await.map(Progress::from_change),
        }
    }

    /// The personas of a sprint, and why one has no file. Files that can never be read stop no member that needs none.
    async fn personas_at(&self, sprint: &Sprint) -> Result<(Personas, String), Hindrance> {
        let (repo, commit) = (&sprint.repo, &sprint.personas_at);
        let failure = match self.readers.git.tree(repo, commit, &[SYSTEM]).await {
            Ok(tree) => return Ok((persona::read(&tree), "its file is gone".to_owned())),
            Err(failure) => failure,
        };
        match Hindrance::of(&failure, sprint.hindrance.as_ref(), self.backend.now()) {
            Some(hindrance) => {
                tracing::warn!(sprint = %named(sprint), why = failure.message, "its personas are not read yet");
                Err(hindrance)
            }
            None => {
                let without = format!("its file cannot be read: {failure}");
                Ok((Personas::default(), without))
            }
        }
    }

    /// Seals the mail. A log that is broken stops no sprint: people are told once.
    async fn seal_mail_of(&self, sprint: &Sprint) -> Result<(), Error> {
        match self.backend.seal_mail(&sprint.repo).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_busy() => Err(error),
            Err(Error::NotNow(why)) => {
                tracing::warn!(sprint = %named(sprint), %why, "mail was not sealed");
                let words = mail_unsealed(sprint, &why.sentence);
                self.mail_people(sprint, Some(words), "unsealed").await
            }
            Err(error) => Err(error),
        }
    }

    /// The messages that prompts will show, which are saved before any job is made: nothing for those that are saved already.
    async fn shown_to(
        &self,
        sprint: &Sprint,
        missing: &[&SprintMember],
        personas: &Personas,
    ) -> Result<Vec<SprintInput>, Error> {
        let mut shown = Vec::new();
        for member in missing.iter().filter(|it| it.shown.is_empty()) {
            // The prompt of a last attempt says what the mail about its conflict says.
            let told = self.conflict_anew(sprint, member).await;
            let of_conflict = self.mail_anew(sprint, member, told.as_ref()).await?;
            let mut unread = self.unread_of(sprint, &member.persona).await?;
            unread.retain(|it| !of_conflict.contains(&it.message_id));
            let body = body_of(sprint, member, personas.get(&member.persona));
            let body = body.unwrap_or_default();
            let task = MemberTask {
                body: &body,
                told: told.as_ref(),
                room: task_room(&[]),
            };
            let task = self.task_of(sprint, member, task).await?;
            let mut whole = of_conflict;
            whole.extend(shown_whole(&unread, prompt_room(&task)));
            if !whole.is_empty() {
                shown.push(SprintInput::Shown {
                    persona: member.persona.clone(),
                    shown: whole,
                });
            }
        }
        Ok(shown)
    }

    /// A persona's unread messages, the oldest first. The weaver gets those of this sprint only, and what people wrote: what members of
    /// earlier ones wrote to it, such as their wishes, is about those, and few sprints have a session of it that reads them.
    pub(super) async fn unread_of(
        &self,
        sprint: &Sprint,
        persona: &PersonaName,
    ) -> Result<Vec<ReceivedMessage>, Error> {
        let query = InboxQuery {
            unread: true,
            after: None,
            since: persona.is_weaver().then_some(sprint.created_at),
            limit: INBOX_MAX,
        };
        let page = self.backend.inbox_of(&sprint.repo, persona, &query).await?;
        Ok(page.messages)
    }

    /// Makes the job of a member, unless the sprint was changed meanwhile: it may be over, or show other mail.
    async fn create_sprint_member(
        &self,
        found: &Versioned<Sprint>,
        member: &SprintMember,
        body: &str,
        source: &Source,
    ) -> Result<(), Error> {
        let sprint = &found.value;
        let prompt = self.member_prompt(sprint, member, body).await?;
        let title = format!("{} in sprint {}", member.persona, sprint.number);
        let begins_on_woven = member.begins_on_woven() && sprint.woven.is_some();
        let branch = match begins_on_woven {
            true => sprint.number.branch(),
            false => sprint.target.clone(),
        };
        let place = (&member.job, &branch);
        let part = part_of(sprint, Some(&member.persona));
        let new = self.part_job(source, place, (&title, prompt), part);
        let now = self.backend.now();
        let step = job::create(new, now)?;
        let mut unit = self.backend.unit();
        unit.check(keys::sprint(&sprint.repo, sprint.number), found.version);
        self.save_new_while(unit, step, &named(sprint), now).await
    }

    /// The mailbox of a member first, then its task.
    async fn member_prompt(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        body: &str,
    ) -> Result<String, Error> {
        let told = self.conflict_anew(sprint, member).await;
        let mut messages = self.messages_shown(sprint, member).await?;
        // Its task says what the mail about its conflict says.
        let of_conflict = told.as_ref().map(|it| &it.subject);
        messages.retain(|it| Some(&it.subject) != of_conflict);
        // What is read for the task may be more by now than when the messages were chosen.
        let task = MemberTask {
            body,
            told: told.as_ref(),
            room: task_room(&messages),
        };
        let task = self.task_of(sprint, member, task).await?;
        let mut others = self.unread_of(sprint, &member.persona).await?;
        others.retain(|it| !member.shown.contains(&it.message_id));
        let persona = &member.persona;
        Ok(member_task(persona, sprint, &messages, &others, &task))
    }

    /// The messages that a member is shown, as far as they are there.
    pub(super) async fn messages_shown(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
    ) -> Result<Vec<ReceivedMessage>, Error> {
        let mut messages = Vec::new();
        for id in &member.shown {
            let read = self
                .backend
                .mail_message(&sprint.repo, *id, &member.persona);
            match read.await {
                Ok(message) => messages.push(message),
                Err(Error::NoSuch { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(messages)
    }

    /// The task of a member: its conflict first, if it begins anew, or what is left to the weaver, as far as there is room; then its
    /// persona.
    async fn task_of(
        &self,
        sprint: &Sprint,
        member: &SprintMember,
        task: MemberTask<'_>,
    ) -> Result<String, Error> {
        let MemberTask { body, told, room } = task;
        if member.persona.is_weaver() {
            return self.weaver_task(sprint, body, room).await;
        }
        Ok(match told {
            Some(told) => anew_task(told, body, room),
            None => body.to_owned(),
        })
    }

    /// Marks what members were shown as read, once their sessions are there. Returns whether the sprint changed.
    pub(in crate::dispatcher) async fn mark_shown(
        &self,
        found: &Versioned<Sprint>,
    ) -> Result<bool, Error> {
        let sprint = &found.value;
        let mut read = Vec::new();
        for member in sprint.members.iter().filter(|it| !it.shown.is_empty()) {
            let job = self.backend.store.job(&member.job).await?;
            let has_session = job.is_some_and(|job| has_session(&job.value));
            if has_session {
                self.mark_read(sprint, member).await?;
                read.push(SprintInput::Read {
                    persona: member.persona.clone(),
                });
            }
        }
        match read.is_empty() {
            true => Ok(false),
            false => self.decide(found, &read).await,
        }
    }

    async fn mark_read(&self, sprint: &Sprint, member: &SprintMember) -> Result<(), Error> {
        let actor = named(sprint);
        for id in &member.shown {
            let message = (*id, &member.persona);
            let ordered =
                self.backend
                    .order_mail(&sprint.repo, message, &MessageOrder::Read, &actor);
            match ordered.await {
                // One that is gone needs no mark.
                Ok(_) | Err(Error::NoSuch { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What the file of a persona says to a session. The weaver's task needs none.
fn body_of(sprint: &Sprint, member: &SprintMember, file: Option<&PersonaFile>) -> Option<String> {
    let number = sprint.number.to_string();
    let filled = file.map(|file| file.fill(&number, &sprint.repo.to_string()));
    filled.or_else(|| member.persona.is_weaver().then(String::new))
}

/// What a job does for a sprint: as a persona, or for the one pull request.
pub(super) fn part_of(sprint: &Sprint, persona: Option<&PersonaName>) -> PipelinePart {
    PipelinePart {
        pipeline: None,
        work: PartWork::Sprint(SprintPart {
            sprint: sprint.number,
            persona: persona.cloned(),
        }),
    }
}

fn has_session(job: &Job) -> bool {
    match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => false,
        JobPhase::Watching(_) | JobPhase::Proposed { .. } => true,
        JobPhase::Ended(ending) => ending.session.is_some(),
    }
}
