//! Takes the entries of a list: jobs of ours get notes, sessions that no job watches yet are adopted.

use std::time::Duration;

use anyhow::{Context, Result};
use domain::ids::{JobId, RepoName, SessionId};
use domain::notes::{InvalidNotes, Notes};
use engine::backend::{Backend, Error as BackendError};
use engine::jobs::adoption::{Adopted, Adoption};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::entries::{Entry, Name, Wrong};
use crate::args::files::AdoptedArgs;

/// Time limit of a wait for decisions. A process that works over the store decides within a second or two.
const DECIDED_WITHIN: Duration = Duration::from_secs(10);

/// Interval of checks for decisions.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The outcome of a list.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Entries that name what is watched already.
    pub(super) known: usize,
    /// Sessions that are watched from now on, with their jobs.
    pub(super) adopted: Vec<(SessionId, JobId)>,
    /// Sessions that are still unread.
    pub(super) later: Vec<SessionId>,
    /// Entries that could not be taken.
    pub(super) wrong: Vec<Failed>,
}

/// An entry that could not be taken.
#[derive(Debug, Clone)]
pub(super) struct Failed {
    /// The number of its line, or its place in the array.
    pub(super) at: usize,
    /// The job or session, if the entry has one.
    pub(super) names: Option<Name>,
    pub(super) what: String,
}

impl From<Wrong> for Failed {
    fn from(Wrong { at, what }: Wrong) -> Self {
        Self {
            at,
            names: None,
            what,
        }
    }
}

/// An adoption that was asked for.
struct Asked {
    at: usize,
    session: SessionId,
    id: JobId,
    metadata: Map<String, Value>,
}

impl Asked {
    fn is_for(&self, names: &Name) -> bool {
        *names == Name::Session(self.session.clone())
    }

    /// Merges a duplicate entry. Its notes are joined by name, as in a repeated registration.
    fn with(&mut self, entry: &Entry) -> Noted {
        let mut both = self.metadata.clone();
        both.extend(entry.metadata.clone());
        if let Err(refused) = Notes::default().with(both.clone()) {
            return Noted::Refused(not_kept(&refused));
        }
        self.metadata = both;
        Noted::Known
    }
}

/// What one entry came to.
enum Noted {
    /// It is about what is watched already.
    Known,
    /// A session was asked for.
    Asked(Asked),
    /// Its notes are invalid.
    Refused(String),
}

/// Takes the entries of a list. What is there already stays unchanged.
pub(super) async fn take(
    backend: &Backend,
    entries: Vec<Result<Entry, Wrong>>,
    adopted: &AdoptedArgs,
) -> Result<Taken> {
    let mut taken = Taken::default();
    let mut asked: Vec<Asked> = Vec::new();
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(wrong) => {
                taken.wrong.push(wrong.into());
                continue;
            }
        };
        let before = asked.iter_mut().find(|action| action.is_for(&entry.names));
        let noted = match before {
            Some(action) => action.with(&entry),
            None => match one(backend, &entry, adopted).await {
                Ok(noted) => noted,
                Err(error) => Noted::Refused(refusal(error)?),
            },
        };
        match noted {
            Noted::Known => taken.known += 1,
            Noted::Asked(action) => asked.push(action),
            Noted::Refused(what) => taken.wrong.push(Failed {
                at: entry.at,
                names: Some(entry.names),
                what,
            }),
        }
    }
    decided(backend, asked, &mut taken).await?;
    taken.wrong.sort_by_key(|failed| failed.at);
    Ok(taken)
}

/// An entry's own error is reported with it; an error of the store ends the whole.
fn refusal(error: BackendError) -> Result<String> {
    match error {
        BackendError::NotNow(_) | BackendError::Transition(_) | BackendError::NoSuch { .. } => {
            Ok(error.to_string())
        }
        BackendError::Outside(_)
        | BackendError::Records(_)
        | BackendError::Commit(_)
        | BackendError::Queue(_) => Err(error).context("reading the list"),
    }
}

/// Stores notes about a job, or requests an adoption.
async fn one(
    backend: &Backend,
    entry: &Entry,
    adopted: &AdoptedArgs,
) -> Result<Noted, BackendError> {
    let session = match &entry.names {
        Name::Job(job) => {
            backend.must_job(job).await?;
            return note(backend, job, &entry.metadata).await;
        }
        Name::Session(session) => session,
    };
    if let Some(job) = backend.store.job_of(session).await? {
        return note(backend, &job, &entry.metadata).await;
    }
    let repo = match entry.repo.clone().or_else(|| adopted.repo.clone()) {
        Some(repo) => repo,
        None => only_source(backend).await?,
    };
    // What cannot be kept is refused before anything is done for it.
    if let Err(refused) = Notes::default().with(entry.metadata.clone()) {
        return Ok(Noted::Refused(not_kept(&refused)));
    }
    let adoption = Adoption {
        session: session.clone(),
        repo,
        agent: entry.agent.clone().or_else(|| adopted.agent.clone()),
        take_over: false,
        delivery: None,
        by: None,
        asked_at: backend.now(),
        refused: None,
    };
    Ok(match backend.adopt(adoption, Duration::ZERO).await? {
        Adopted::Later(id) => Noted::Asked(Asked {
            at: entry.at,
            session: session.clone(),
            id,
            metadata: entry.metadata.clone(),
        }),
        // Another process was quicker.
        Adopted::Job(job) => note(backend, &job.id, &entry.metadata).await?,
        Adopted::Refused(_, what) => Noted::Refused(what),
    })
}

async fn note(
    backend: &Backend,
    job: &JobId,
    metadata: &Map<String, Value>,
) -> Result<Noted, BackendError> {
    if metadata.is_empty() {
        return Ok(Noted::Known);
    }
    Ok(match backend.note(job, metadata).await? {
        Ok(_) => Noted::Known,
        Err(refused) => Noted::Refused(not_kept(&refused)),
    })
}

fn not_kept(why: &InvalidNotes) -> String {
    format!("`metadata`: {why}")
}

async fn only_source(backend: &Backend) -> Result<RepoName, BackendError> {
    let mut sources = backend.store.sources().await?;
    match (sources.pop(), sources.is_empty()) {
        (Some(only), true) => Ok(only.value.repo),
        (_, _) => Err(BackendError::NotNow(domain::refusal::NotNow::new("no_repository", "nothing tells which repository it works on: write `\"repo\": \"OWNER/REPO\"` beside its id, or give `--repo OWNER/REPO`".to_owned()))),
    }
}

/// Waits until all adoptions are decided, or no process decides.
async fn decided(backend: &Backend, mut asked: Vec<Asked>, taken: &mut Taken) -> Result<()> {
    let mut last = Instant::now();
    let mut beat = tokio::time::interval(LOOK_EVERY);
    while !asked.is_empty() && last.elapsed() < DECIDED_WITHIN {
        beat.tick().await;
        let mut open = Vec::new();
        for action in asked {
            let adopted = backend.adopted(&action.id, &action.session).await;
            match adopted.context("looking what was decided")? {
                Adopted::Job(job) => {
                    let noted = note(backend, &job.id, &action.metadata).await;
                    // The check came before the adoption; notes in between may leave no room.
                    if let Noted::Refused(what) = noted.context("noting down the metadata")? {
                        let names = Some(Name::Session(action.session.clone()));
                        let at = action.at;
                        taken.wrong.push(Failed { at, names, what });
                    }
                    taken.adopted.push((action.session, job.id));
                }
                Adopted::Refused(_, what) => taken.wrong.push(Failed {
                    at: action.at,
                    names: Some(Name::Session(action.session)),
                    what,
                }),
                Adopted::Later(_) => {
                    open.push(action);
                    continue;
                }
            }
            last = Instant::now();
        }
        asked = open;
    }
    taken
        .later
        .extend(asked.into_iter().map(|action| action.session));
    Ok(())
}

impl Taken {
    /// For programs.
    pub(super) fn json(&self) -> Value {
        let adopted = self.adopted.iter();
        let adopted = adopted.map(|(session, job)| json!({ "session_id": session, "job_id": job }));
        let wrong = self.wrong.iter().map(|failed| {
            let names = failed.names.as_ref().map(ToString::to_string);
            json!({ "entry": failed.at, "id": names, "error": failed.what })
        });
        json!({
            "known": self.known, "adopted": adopted.collect::<Vec<_>>(), "later": self.later,
            "wrong": wrong.collect::<Vec<_>>(),
        })
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} known already, {} adopted, {} to be looked at, {} wrong.",
            self.known,
            self.adopted.len(),
            self.later.len(),
            self.wrong.len()
        )];
        let adopted = self.adopted.iter();
        lines.extend(adopted.map(|(session, job)| format!("Session {session} is job {job}.")));
        if !self.later.is_empty() {
            lines.push(
                "Sessions are read by the process that works here: `gaffer up` or `gaffer monitor`."
                    .to_owned(),
            );
        }
        let wrong = self.wrong.iter();
        lines.extend(wrong.map(|failed| format!("Entry {}: {}", failed.at, failed.what)));
        lines
    }
}
