//! The sessions at work and at rest: what they say, what a message does to them, and how they are put away.

use anyhow::Result;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{AT_REST, Probe};
use crate::probe::finding::Question;
use crate::probe::look::{self, Scope};
use crate::probe::talk::pause;
use crate::render;

impl Probe {
    /// Approves what still waits, and waits until nothing happens by itself any more.
    pub(super) async fn let_work(&mut self, first: &str) -> Result<()> {
        if !self.gone.iter().any(|id| id == first) {
            let path = format!("sessions/{first}:approvePlan");
            self.talk.post(&path, json!({})).await?;
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
    fn left(&self) -> Vec<String> {
        let all = self.talk.ours.iter();
        all.filter(|id| !self.gone.contains(id)).cloned().collect()
    }

    async fn message_to(&mut self, id: &str, state: &str) -> Result<()> {
        let path = format!("sessions/{id}:sendMessage");
        let body = json!({ "prompt": "Please go on." });
        let seen = self.talk.post(&path, body).await?;
        let done = "sent a message to a session that rests";
        let question = Question::PausedAndFailed;
        if !seen.is_ok() {
            let answer = format!("{state}: refused with {}", seen.line());
            self.findings.settled(question, (done, seen.line()), answer);
            return Ok(());
        }
        let until = Instant::now() + self.plan.patience;
        loop {
            let session = self.talk.get(&format!("sessions/{id}"), &[]).await?;
            let now = session.text("/state").to_owned();
            if now != state {
                let answer = format!("{state}: it goes on ({now})");
                self.findings.settled(question, (done, now), answer);
                return Ok(());
            }
            if Instant::now() >= until {
                let answer = format!(
                    "{state}: taken, and nothing followed within {} s",
                    self.plan.patience.as_secs()
                );
                self.findings.settled(question, (done, now), answer);
                return Ok(());
            }
            pause(self.plan.every).await;
        }
    }

    /// Reads all that the sessions have said.
    pub(super) async fn whole(&mut self) -> Result<()> {
        let (mut activities, mut scope) = (Vec::new(), None);
        let mut sessions = self.seen_before.clone();
        for id in self.left() {
            let own = self.activities(&id).await?;
            scope = scope.or_else(|| look::scope(&own));
            activities.extend(own);
            sessions.push(self.talk.get(&format!("sessions/{id}"), &[]).await?.body);
        }
        self.fields(&activities, &sessions);
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

    fn fields(&mut self, activities: &[Value], sessions: &[Value]) {
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
        if activities.is_empty() {
            let why = "the sessions had no activities";
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
        let archived = self
            .talk
            .post(&format!("{path}:archive"), json!({}))
            .await?;
        let taken_out = self
            .talk
            .post(&format!("{path}:unarchive"), json!({}))
            .await?;
        let mut answer = format!(
            "archive answers {}; unarchive answers {}",
            archived.kind(),
            taken_out.kind()
        );
        let mut lines = vec![archived.line(), taken_out.line()];
        if !self.plan.keep {
            let deleted = self.talk.delete(&path).await?;
            let after = self.talk.get(&path, &[]).await?;
            let is = match (after.status, after.body.get("archived")) {
                (404, _) => "gone",
                (_, Some(Value::Bool(true))) => "only archived",
                (_, _) => "still there",
            };
            answer = format!(
                "{answer}; delete answers {}, and the session is then {is}",
                deleted.kind()
            );
            lines.extend([deleted.line(), after.line()]);
            self.gone.push(id.to_owned());
        }
        let done = (
            "archived, unarchived and deleted a session",
            lines.join(", "),
        );
        self.findings.settled(Question::PuttingAway, done, answer);
        Ok(())
    }

    /// What became of a deleted session's slot.
    pub(super) fn gave_back(&mut self, how: &str) {
        let before = self
            .findings
            .answer(Question::PuttingAway)
            .unwrap_or_default();
        let done = (
            "deleted a waiting session, then created another",
            "see the transcript",
        );
        let answer = format!("{before}; it {how}");
        self.findings.settled(Question::PuttingAway, done, answer);
    }

    /// Deletes what is left, unless it is to be kept.
    pub(in crate::probe) async fn clean_up(&mut self) -> Result<()> {
        for id in self.left() {
            if self.plan.keep {
                render::note(&format!("Session {id} is left where it is."));
                continue;
            }
            let seen = self.talk.delete(&format!("sessions/{id}")).await?;
            if seen.is_ok() || seen.status == 404 {
                self.gone.push(id);
            } else {
                render::note(&format!(
                    "Session {id} could not be deleted ({}): delete it in the web product.",
                    seen.line()
                ));
            }
        }
        Ok(())
    }
}
