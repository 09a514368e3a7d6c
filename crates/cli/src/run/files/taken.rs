//! Takes the entries of a list: jobs of ours get notes, sessions that no job watches yet are adopted.

use std::time::Duration;

use anyhow::{Context, Result};
use domain::ids::{JobId, RepoName, SessionId};
use domain::notes::{NotKept, Notes};
use engine::desk::{Desk, Error as DeskError};
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
    /// Why.
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
    desk: &Desk,
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
        let before = asked.iter_mut().find(|wish| wish.is_for(&entry.names));
        let noted = match before {
            Some(wish) => wish.with(&entry),
            None => match one(desk, &entry, adopted).await {
                Ok(noted) => noted,
                Err(error) => Noted::Refused(refusal(error)?),
            },
        };
        match noted {
            Noted::Known => taken.known += 1,
            Noted::Asked(wish) => asked.push(wish),
            Noted::Refused(what) => taken.wrong.push(Failed {
                at: entry.at,
                names: Some(entry.names),
                what,
            }),
        }
    }
    decided(desk, asked, &mut taken).await?;
    taken.wrong.sort_by_key(|failed| failed.at);
    Ok(taken)
}

/// An entry's own error is reported with it; an error of the store ends the whole.
fn refusal(error: DeskError) -> Result<String> {
    match error {
        DeskError::NotNow(_) | DeskError::NoSuch { .. } => Ok(error.to_string()),
        DeskError::Outside(_)
        | DeskError::Records(_)
        | DeskError::Commit(_)
        | DeskError::Queue(_) => Err(error).context("reading the list"),
    }
}

/// Stores notes about a job, or requests an adoption.
async fn one(desk: &Desk, entry: &Entry, adopted: &AdoptedArgs) -> Result<Noted, DeskError> {
    let session = match &entry.names {
        Name::Job(job) => {
            desk.must_job(job).await?;
            return note(desk, job, &entry.metadata).await;
        }
        Name::Session(session) => session,
    };
    if let Some(job) = desk.store.job_of(session).await? {
        return note(desk, &job, &entry.metadata).await;
    }
    let repo = match entry.repo.clone().or_else(|| adopted.repo.clone()) {
        Some(repo) => repo,
        None => only_source(desk).await?,
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
        by: None,
        asked_at: desk.now(),
        refused: None,
    };
    Ok(match desk.adopt(adoption, Duration::ZERO).await? {
        Adopted::Later(id) => Noted::Asked(Asked {
            at: entry.at,
            session: session.clone(),
            id,
            metadata: entry.metadata.clone(),
        }),
        // Another process was quicker.
        Adopted::Job(job) => note(desk, &job.id, &entry.metadata).await?,
        Adopted::Refused(_, what) => Noted::Refused(what),
    })
}

async fn note(desk: &Desk, job: &JobId, metadata: &Map<String, Value>) -> Result<Noted, DeskError> {
    if metadata.is_empty() {
        return Ok(Noted::Known);
    }
    Ok(match desk.note(job, metadata).await? {
        Ok(_) => Noted::Known,
        Err(refused) => Noted::Refused(not_kept(&refused)),
    })
}

fn not_kept(why: &NotKept) -> String {
    format!("`metadata`: {why}")
}

async fn only_source(desk: &Desk) -> Result<RepoName, DeskError> {
    let mut sources = desk.store.sources().await?;
    match (sources.pop(), sources.is_empty()) {
        (Some(only), true) => Ok(only.value.repo),
        (_, _) => Err(DeskError::NotNow(domain::job::NotNow::new("no_repository", "nothing tells which repository it works on: write `\"repo\": \"OWNER/REPO\"` beside its id, or give `--repo OWNER/REPO`".to_owned()))),
    }
}

/// Waits until all adoptions are decided, or no process decides.
async fn decided(desk: &Desk, mut asked: Vec<Asked>, taken: &mut Taken) -> Result<()> {
    let mut last = Instant::now();
    let mut beat = tokio::time::interval(LOOK_EVERY);
    while !asked.is_empty() && last.elapsed() < DECIDED_WITHIN {
        beat.tick().await;
        let mut open = Vec::new();
        for wish in asked {
            let adopted = desk.adopted(&wish.id, &wish.session).await;
            match adopted.context("looking what was decided")? {
                Adopted::Job(job) => {
                    let noted = note(desk, &job.id, &wish.metadata).await;
                    // The check came before the adoption; notes in between may leave no room.
                    if let Noted::Refused(what) = noted.context("noting down the metadata")? {
                        let names = Some(Name::Session(wish.session.clone()));
                        let at = wish.at;
                        taken.wrong.push(Failed { at, names, what });
                    }
                    taken.adopted.push((wish.session, job.id));
                }
                Adopted::Refused(_, what) => taken.wrong.push(Failed {
                    at: wish.at,
                    names: Some(Name::Session(wish.session)),
                    what,
                }),
                Adopted::Later(_) => {
                    open.push(wish);
                    continue;
                }
            }
            last = Instant::now();
        }
        asked = open;
    }
    taken
        .later
        .extend(asked.into_iter().map(|wish| wish.session));
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
                "Sessions are looked at by whoever works here: `gaffer up` or `gaffer monitor`."
                    .to_owned(),
            );
        }
        let wrong = self.wrong.iter();
        lines.extend(wrong.map(|failed| format!("Entry {}: {}", failed.at, failed.what)));
        lines
    }
}
