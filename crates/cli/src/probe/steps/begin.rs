//! Beginning sessions: at most two, whatever is answered, and every one that was begun is known afterwards or said to be possible.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{FIRST, Probe, Said, TITLE};
use crate::probe::finding::Question;
use crate::probe::look;
use crate::probe::talk::{Seen, Verdict, pause};
use crate::render;

/// Most tasks that a probe spends.
const TASKS_MAX: usize = 2;

/// What came of asking for a session.
pub(super) enum Created {
    /// It was begun, and is known by this id.
    Begun(String),
    /// It was certainly not begun.
    Refused(Seen),
    /// It may have been begun, and did not turn up: nothing more may be asked for.
    Untold(String),
}

impl Probe {
    /// Begins the first task with as many of the doubtful members as are taken. What is refused spends nothing.
    pub(super) async fn first(&mut self) -> Result<Option<String>> {
        // Each is tried from the fullest to the plainest, so that the first that is taken tells of all.
        let tries = [
            (true, Some("sourceContext")),
            (true, Some("githubRepoContext")),
            (true, None),
            (false, Some("sourceContext")),
            (false, Some("githubRepoContext")),
            (false, None),
        ];
        let mut refused = String::new();
        for (variables, place) in tries {
            let body = self.body(("first", FIRST), true, (variables, place));
            match self.create("first", body).await? {
                Created::Begun(id) => {
                    self.took(variables, place, &refused);
                    return Ok(Some(id));
                }
                Created::Untold(why) => {
                    let done = ("created a session", why.clone());
                    self.findings.open(Question::CreateFields, done, why);
                    return Ok(None);
                }
                Created::Refused(seen) if seen.is_limit() => {
                    self.limit_met("created a session", &seen, self.stands_at_limit());
                    self.trouble = Some(format!("Jules takes no task now: {}", seen.line()));
                    return Ok(None);
                }
                Created::Refused(seen) => refused = seen.line(),
            }
        }
        let why = format!("not even a plain session could be created: {refused}");
        self.trouble = Some(why.clone());
        self.findings
            .open(Question::CreateFields, ("created sessions", refused), why);
        Ok(None)
    }

    fn took(&mut self, variables: bool, place: Option<&str>, refused: &str) {
        let variables = if variables { "taken" } else { "refused" };
        let place = place.map_or("refused".to_owned(), |place| format!("taken in `{place}`"));
        let answer =
            format!("`environmentVariablesEnabled`: {variables}; `workingBranch`: {place}");
        let done = "created a session with both members, then with fewer until it was taken";
        let seen = format!("last refusal: {refused}");
        self.findings
            .settled(Question::CreateFields, (done, seen), answer);
    }

    /// What a refusal tells of the limit of tasks: nothing, unless the account stood at one.
    pub(super) fn limit_met(&mut self, done: &str, seen: &Seen, at_limit: bool) {
        let text = format!("{}, with {}", seen.line(), seen.when());
        let (question, done) = (Question::QuotaRefusal, (done, seen.line()));
        if at_limit {
            self.findings.settled(question, done, text);
        } else {
            let why = format!("{text}; by its list and its plan the account stood at no limit");
            self.findings.open(question, done, why);
        }
    }

    /// Asks for one session, once. Whatever is answered but a session, the list says whether there is one.
    pub(super) async fn create(&mut self, name: &str, body: Value) -> Result<Created> {
        if self.talk.ours.len() + self.perhaps >= TASKS_MAX {
            let why = "two tasks are spent already, so it was not asked for";
            return Ok(Created::Untold(why.to_owned()));
        }
        self.asked = true;
        let seen = self.talk.post("sessions", body).await;
        let id = seen.text("/id");
        if seen.is_ok() && !id.is_empty() {
            self.own(id, "");
            return Ok(Created::Begun(id.to_owned()));
        }
        let is_certain = seen.verdict() == Verdict::Refused;
        if !is_certain {
            self.perhaps += 1;
        }
        let found = self.look_for(name, is_certain).await;
        match found {
            Ok(Some(id)) => {
                self.perhaps -= usize::from(!is_certain);
                let how = format!(", although the answer was: {}", seen.line());
                self.own(&id, &how);
                Ok(Created::Begun(id))
            }
            Ok(None) if seen.status == 429 && self.stands_at_limit() => {
                // The service says no, its list shows none, and the account has no room for one.
                self.perhaps -= 1;
                Ok(Created::Refused(seen))
            }
            // A refusal of what was asked is believed without the list.
            Ok(None) | Err(_) if is_certain => Ok(Created::Refused(seen)),
            Ok(None) => Ok(self.untold(&seen)),
            Err(error) => {
                self.untold(&seen);
                Err(error)
            }
        }
    }

    fn untold(&mut self, seen: &Seen) -> Created {
        let why = format!(
            "could not be told: a session was asked for, the answer was {}, and none turned up within {} s",
            seen.line(),
            self.plan.patience.as_secs()
        );
        self.trouble = Some(why.clone());
        Created::Untold(why)
    }

    /// Looks for a session of ours that nobody told of: once after a certain refusal, else as long as patience lasts, since lists lag.
    async fn look_for(&mut self, name: &str, once: bool) -> Result<Option<String>> {
        let until = Instant::now() + self.plan.patience;
        let title = format!("{TITLE} {name}");
        loop {
            let seen = self.strays().await?;
            let is_read = seen.is_some();
            let mut found = seen.into_iter().flatten();
            if let Some((id, _)) = found.find(|(_, of)| *of == title) {
                return Ok(Some(id));
            }
            if once || Instant::now() >= until {
                ensure!(is_read, "the list of sessions could not be read");
                return Ok(None);
            }
            pause(self.plan.every).await;
        }
    }

    /// Sessions with the probe's titles that were made since it began and are not known yet, with their titles; none when the list cannot be read.
    pub(super) async fn strays(&mut self) -> Result<Option<Vec<(String, String)>>> {
        let (sessions, page) = self.newest().await?;
        if !page.is_ok() {
            return Ok(None);
        }
        let new = sessions.iter().filter(|it| self.is_stray(it));
        let named = new.map(|it| {
            let of = |name| look::text(it, name).to_owned();
            (of("id"), of("title"))
        });
        Ok(Some(named.collect()))
    }

    /// Whether a refusal of one more session may be the account's limit speaking.
    pub(super) fn stands_at_limit(&self) -> bool {
        let begun = u32::try_from(self.talk.ours.len()).unwrap_or(u32::MAX);
        let messages = u32::from(self.said != Said::No);
        let limits = self.plan.limits;
        self.load.is_some_and(|load| {
            let slots = load.busy.saturating_add(load.waiting).saturating_add(begun);
            let tasks = load.day.saturating_add(begun).saturating_add(messages);
            slots >= limits.concurrent || tasks >= limits.per_day
        })
    }

    /// Whether a session is one that this probe has begun unknowingly: not listed before it, and newer than all that were.
    fn is_stray(&self, session: &Value) -> bool {
        let id = look::text(session, "id");
        let title = look::text(session, "title");
        let titles = ["first", "second"].map(|name| format!("{TITLE} {name}"));
        let before = |it: &Value| look::text(it, "id") == id;
        let made = |it: &Value| look::time(it, "createTime");
        let newest = self.seen_before.iter().filter_map(made).max();
        !id.is_empty()
            && titles.iter().any(|it| it == title)
            && !self.talk.ours.iter().any(|own| own == id)
            && !self.seen_before.iter().any(before)
            && made(session).is_none_or(|made| newest.is_none_or(|newest| made >= newest))
    }

    /// Takes a session for ours, and tells of it at once, should the probe be interrupted.
    pub(super) fn own(&mut self, id: &str, how: &str) {
        self.talk.own(id);
        render::note(&format!("Began session {id} ({TITLE}){how}."));
    }

    pub(super) fn body(
        &self,
        (name, prompt): (&str, &str),
        approval: bool,
        (variables, place): (bool, Option<&str>),
    ) -> Value {
        let mut context = json!({
            "source": format!("sources/github/{}", self.plan.repo),
            "githubRepoContext": { "startingBranch": self.plan.branch },
        });
        if variables {
            put(
                &mut context,
                "",
                "environmentVariablesEnabled",
                json!(false),
            );
        }
        match place {
            Some("githubRepoContext") => {
                put(
                    &mut context,
                    "/githubRepoContext",
                    "workingBranch",
                    json!("gaffer-probe"),
                );
            }
            Some(_) => put(&mut context, "", "workingBranch", json!("gaffer-probe")),
            None => {}
        }
        json!({
            "prompt": prompt, "title": format!("{TITLE} {name}"), "sourceContext": context,
            "requirePlanApproval": approval,
        })
    }
}

fn put(value: &mut Value, pointer: &str, name: &str, member: Value) {
    if let Some(members) = value.pointer_mut(pointer).and_then(Value::as_object_mut) {
        members.insert(name.to_owned(), member);
    }
}
