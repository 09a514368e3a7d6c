//! The sessions at work and at rest: what they say, what a message does to them, and how they are put away.

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{AT_REST, Probe, TITLE};
use crate::probe::finding::Question;
use crate::probe::look::{self, Scope};
use crate::probe::talk::{Seen, Verdict, pause};
use crate::render;

/// How often a session is asked to go: one that stays goes on working.
const DELETES_MAX: u32 = 4;

impl Probe {
    /// Approves what still waits, and waits until nothing happens by itself any more.
    pub(super) async fn let_work(&mut self, first: &str) -> Result<()> {
        if !self.gone.iter().any(|id| id == first) {
            let path = format!("sessions/{first}:approvePlan");
            self.talk.post(&path, json!({})).await;
        }
        let until = Instant::now() + self.plan.patience;
        let mut told = false;
        for id in self.left() {
            loop {
                let session = self.talk.get(&format!("sessions/{id}"), &[]).await?;
                let state = session.text("/state").to_owned();
                if state == "PAUSED" || state == "FAILED" {
                    self.message_to(&id, &state).await?;
                    told = true;
                }
                if AT_REST.contains(&state.as_str()) || Instant::now() >= until {
                    break;
                }
                pause(self.plan.every).await;
            }
        }
        if !told {
            let why = "none of the two sessions was paused or failed; pause one in the web product while the probe runs, with a longer `--patience`";
            let done = ("let the sessions work", "");
            self.findings.open(Question::PausedAndFailed, done, why);
        }
        Ok(())
    }

    /// Sessions that were begun and are still there.
    pub(in crate::probe) fn left(&self) -> Vec<String> {
        let all = self.talk.ours.iter();
        all.filter(|id| !self.gone.contains(id)).cloned().collect()
    }

    async fn message_to(&mut self, id: &str, state: &str) -> Result<()> {
        let path = format!("sessions/{id}:sendMessage");
        let body = json!({ "prompt": "Please go on." });
        let seen = self.talk.post(&path, body).await;
        let done = ("sent a message to a session that rests", seen.line());
        let question = Question::PausedAndFailed;
        match seen.verdict() {
            Verdict::Taken => {}
            Verdict::Refused => {
                let answer = format!("{state}: refused with {}", seen.line());
                self.findings.settled(question, done, answer);
                return Ok(());
            }
            Verdict::Untold => {
                let why = format!("{state}: could not be told: {}", seen.line());
                self.findings.open(question, done, why);
                return Ok(());
            }
        }
        self.follow(id, state).await
    }

    /// Looks what follows a message to a session that rested in this state.
    async fn follow(&mut self, id: &str, state: &str) -> Result<()> {
        let done = "sent a message to a session that rests";
        let question = Question::PausedAndFailed;
        let until = Instant::now() + self.plan.patience;
        loop {
            let session = self.talk.get(&format!("sessions/{id}"), &[]).await?;
            let now = session.text("/state").to_owned();
            if !now.is_empty() && now != state {
                let answer = format!("{state}: it goes on ({now})");
                self.findings.settled(question, (done, now), answer);
                return Ok(());
            }
            if Instant::now() < until {
                pause(self.plan.every).await;
                continue;
            }
            let line = session.line();
            if now.is_empty() {
                let why = format!("{state}: taken, and the session could not be read: {line}");
                self.findings.open(question, (done, line), why);
            } else {
                let answer = format!(
                    "{state}: taken, and nothing followed within {} s",
                    self.plan.patience.as_secs()
                );
                self.findings.settled(question, (done, now), answer);
            }
            return Ok(());
        }
    }

    /// Reads all that the sessions have said.
    pub(super) async fn whole(&mut self) -> Result<()> {
        let (mut activities, mut scope, mut all_read) = (Vec::new(), None, true);
        let mut sessions = self.seen_before.clone();
        for id in self.left() {
            let own = self.activities(&id).await?;
            let session = self.talk.get(&format!("sessions/{id}"), &[]).await?;
            all_read &= own.is_some() && session.is_ok();
            let own = own.unwrap_or_default();
            scope = scope.or_else(|| look::scope(&own));
            activities.extend(own);
            sessions.push(session.body);
        }
        self.fields(&activities, &sessions, all_read);
        let done = ("compared the patches of activities", "see the transcript");
        match scope {
            Some(Scope::Whole) => {
                self.findings
                    .settled(Question::Patches, done, "everything so far");
            }
            Some(Scope::Part) => {
                self.findings
                    .settled(Question::Patches, done, "only its own part");
            }
            None => {
                let why = "no two patches of one session differed in their files";
                self.findings.open(Question::Patches, done, why);
            }
        }
        Ok(())
    }

    fn fields(&mut self, activities: &[Value], sessions: &[Value], all_read: bool) {
        let sent = |it: bool| if it { "sent" } else { "not seen" };
        let refs = match look::pull_refs(sessions) {
            Some(true) => "sent",
            Some(false) => "not sent",
            None => "no pull request was seen",
        };
        let files = sessions.iter().any(|it| it.get("generatedFiles").is_some());
        let answer = format!(
            "`originator`: {}; `bashOutput`: {}; `baseRef` and `headRef`: {refs}; `generatedFiles`: {}",
            look::originators(activities),
            sent(look::has_artifact(activities, "bashOutput")),
            sent(files),
        );
        let seen = format!(
            "{} activities, {} sessions",
            activities.len(),
            sessions.len()
        );
        let done = (
            "read the two sessions, and those that the account listed before",
            seen,
        );
        if !all_read || activities.is_empty() {
            let why = if all_read {
                "the sessions had no activities"
            } else {
                "could not be told: not all of the sessions could be read"
            };
            self.findings.open(Question::Fields, done, why);
        } else {
            self.findings.settled(Question::Fields, done, answer);
        }
    }

    /// Archives, unarchives and deletes a session, and looks at it once more.
    pub(super) async fn put_away(&mut self, id: &str) -> Result<()> {
        if self.gone.iter().any(|gone| gone == id) {
            return Ok(());
        }
        let path = format!("sessions/{id}");
        let archived = self.talk.post(&format!("{path}:archive"), json!({})).await;
        let taken_out = format!("{path}:unarchive");
        let taken_out = self.talk.post(&taken_out, json!({})).await;
        let mut told = vec![
            answers("archive", &archived),
            answers("unarchive", &taken_out),
        ];
        let mut lines = vec![archived.line(), taken_out.line()];
        if !self.plan.keep {
            let deleted = self.talk.delete(&path).await;
            let after = self.talk.get(&path, &[]).await?;
            let is = match (after.status, after.body.get("archived")) {
                (404, _) => "gone",
                (_, Some(Value::Bool(true))) => "only archived",
                (_, _) => "still there",
            };
            if after.status == 404 || deleted.is_ok() {
                self.gone.push(id.to_owned());
            }
            let all_told = after.status == 404 || after.is_ok();
            let delete = answers("delete", &deleted).filter(|_| all_told);
            told.push(delete.map(|delete| format!("{delete}, and the session is then {is}")));
            lines.extend([deleted.line(), after.line()]);
        }
        let done = (
            "archived, unarchived and deleted a session",
            lines.join(", "),
        );
        let question = Question::PuttingAway;
        match told.into_iter().collect::<Option<Vec<_>>>() {
            Some(told) => self.findings.settled(question, done, told.join("; ")),
            None => {
                let why = format!("could not be told: {}", lines.join(", "));
                self.findings.open(question, done, why);
            }
        }
        Ok(())
    }

    /// What became of a deleted session's slot; none when it could not be told.
    pub(super) fn gave_back(&mut self, how: Option<&str>) {
        let done = (
            "deleted a waiting session, then created another",
            "see the transcript",
        );
        let question = Question::PuttingAway;
        match (self.findings.answer(question), how) {
            (Some(before), Some(how)) => {
                let answer = format!("{before}; it {how}");
                self.findings.settled(question, done, answer);
            }
            (Some(before), None) => {
                let why = format!("{before}; whether it gave its slot back could not be told");
                self.findings.open(question, done, why);
            }
            (None, Some(how)) => {
                let why = format!("what it answers could not be told; it {how}");
                self.findings.open(question, done, why);
            }
            (None, None) => {}
        }
    }

    /// Finds what was begun unknowingly, and deletes what is left, unless it is to be kept.
    pub(in crate::probe) async fn clean_up(&mut self) {
        self.find_strays().await;
        for id in self.left() {
            if self.plan.keep {
                render::note(&format!("Session {id} is left where it is."));
                continue;
            }
            let line = self.delete(&id).await;
            let Some(line) = line else { continue };
            let what = format!("session {id} could not be deleted ({line})");
            render::note(&format!(
                "{}: delete it in Jules's web product, where it holds a slot.",
                what.replacen("session", "Session", 1)
            ));
            self.trouble.get_or_insert(what);
        }
    }

    /// A last look at the list: an answer that was lost may have been a session.
    async fn find_strays(&mut self) {
        if !self.asked {
            return;
        }
        match self.strays().await {
            Ok(Some(found)) => {
                for (id, _) in found {
                    self.perhaps = self.perhaps.saturating_sub(1);
                    self.own(&id, ", which was never told");
                }
            }
            Ok(None) | Err(_) if self.perhaps > 0 => {
                render::note(&format!(
                    "The list of sessions could not be read: look in Jules's web product for a session with the title {TITLE}, and delete it."
                ));
            }
            Ok(None) | Err(_) => {}
        }
    }

    /// Deletes one session, more than once if need be; answers the last answer when it may still be there.
    async fn delete(&mut self, id: &str) -> Option<String> {
        let path = format!("sessions/{id}");
        let mut line = String::new();
        for _ in 0..DELETES_MAX {
            let seen = self.talk.delete(&path).await;
            if seen.is_ok() || seen.status == 404 {
                self.gone.push(id.to_owned());
                return None;
            }
            line = seen.line();
            if seen.verdict() == Verdict::Refused {
                break;
            }
            pause(self.plan.every).await;
        }
        Some(line)
    }
}

/// How a call was answered; none when that cannot be told.
fn answers(call: &str, seen: &Seen) -> Option<String> {
    match seen.status {
        _ if seen.is_ok() => Some(format!("{call} answers {}", seen.kind())),
        408 | 429 => None,
        400..=499 => Some(format!("{call} is refused with {}", seen.line())),
        _ => None,
    }
}
