//! What is read without spending a task.

use anyhow::{Result, bail};
use serde_json::Value;

use super::{PAGE, PAGES_MAX, Probe};
use crate::probe::finding::Question;
use crate::probe::look;
use crate::probe::talk::{Seen, Verdict};

impl Probe {
    /// The repository, a wrong key, the description, filters, and the account's load.
    pub(super) async fn read_all(&mut self) -> Result<()> {
        let source = format!("sources/github/{}", self.plan.repo);
        let seen = self.talk.get(&source, &[]).await?;
        if !seen.is_ok() {
            bail!("Jules does not see {}: {}", self.plan.repo, seen.line());
        }
        self.wrong_key().await;
        self.description().await;
        self.session_filters().await?;
        self.load().await
    }

    async fn wrong_key(&mut self) {
        let seen = self.talk.get_as_nobody("sources").await;
        let (question, line) = (Question::WrongKey, seen.line());
        let done = ("listed sources with a key that is nobody's", line.clone());
        if seen.is_ok() || [400, 401, 403].contains(&seen.status) {
            self.findings.settled(question, done, line);
        } else {
            let why = format!("could not be told: {line}");
            self.findings.open(question, done, why);
        }
    }

    async fn description(&mut self) {
        let seen = self.talk.get_once("", &[("version", "v1alpha")]).await;
        let done = "asked for the service's description";
        if !seen.is_ok() {
            let why = format!("the description is not to be had: {}", seen.line());
            self.findings
                .open(Question::Discovery, (done, seen.line()), why.clone());
            self.findings
                .open(Question::Evolving, (done, seen.line()), why);
            return;
        }
        let schemas = seen.body.get("schemas").and_then(Value::as_object);
        let count = schemas.map_or(0, serde_json::Map::len);
        let revision = seen.text("/revision").to_owned();
        let answer = format!("it describes {count} types; the transcript holds all of it");
        self.findings
            .settled(Question::Discovery, (done, seen.line()), answer);
        let answer = format!("its description is of revision {revision}");
        self.findings
            .settled(Question::Evolving, (done, seen.line()), answer);
    }

    async fn session_filters(&mut self) -> Result<()> {
        let source = format!("source = \"sources/github/{}\"", self.plan.repo);
        let tries = [
            ("archived", "archived = true"),
            ("state", "state = COMPLETED"),
            ("source", source.as_str()),
        ];
        let (mut told, mut lines, mut all_told) = (Vec::new(), Vec::new(), true);
        for (name, filter) in tries {
            let query = [("pageSize", "1"), ("filter", filter)];
            let seen = self.talk.get("sessions", &query).await?;
            let word = match seen.verdict() {
                Verdict::Taken => "taken",
                Verdict::Refused => "refused",
                Verdict::Untold => "could not be told",
            };
            all_told &= seen.tells();
            told.push(format!("`{name}`: {word}"));
            lines.push(seen.line());
        }
        let done = ("listed sessions with three filters", lines.join(", "));
        let (question, text) = (Question::SessionFilter, told.join("; "));
        if all_told {
            self.findings.settled(question, done, text);
        } else {
            self.findings.open(question, done, text);
        }
        Ok(())
    }

    /// The account's newest sessions as far as a few pages reach, and the last page that was read, which may be a refusal.
    pub(super) async fn newest(&mut self) -> Result<(Vec<Value>, Seen)> {
        let (mut all, mut token, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let mut query = vec![("pageSize", PAGE)];
            if !token.is_empty() {
                query.push(("pageToken", token.as_str()));
            }
            let page = self.talk.get("sessions", &query).await?;
            all.extend(look::list(&page.body, "sessions").iter().cloned());
            token = page.text("/nextPageToken").to_owned();
            pages += 1;
            if !page.is_ok() || token.is_empty() || pages == PAGES_MAX {
                return Ok((all, page));
            }
        }
    }

    /// Counts the account's sessions, if they fit in a few pages. Without the list nothing may be spent: only it tells which sessions are the probe's when an answer is lost.
    async fn load(&mut self) -> Result<()> {
        let (all, page) = self.newest().await?;
        if !page.is_ok() {
            let line = page.line();
            bail!("the account's sessions could not be listed, so nothing was begun: {line}");
        }
        let newest = all
            .iter()
            .filter_map(|it| look::time(it, "createTime"))
            .max();
        let date = page.headers.get("date");
        let date = date.and_then(|it| jiff::fmt::rfc2822::parse(it).ok());
        let now = date.map(|it| it.timestamp()).or(newest);
        if page.text("/nextPageToken").is_empty() {
            self.load = Some(look::load(&all, now));
        }
        self.seen_before = all;
        Ok(())
    }

    /// Filters and masks need something to filter and to mask.
    pub(super) async fn ask_lists(&mut self, id: &str) -> Result<()> {
        self.mask().await?;
        let path = format!("sessions/{id}/activities");
        let all = self.activities(id).await?;
        let Some(first) = all
            .iter()
            .flatten()
            .filter_map(|it| look::time(it, "createTime"))
            .min()
        else {
            let why = "the session had no activity in time";
            self.findings
                .open(Question::ActivityFilter, ("listed activities", ""), why);
            return Ok(());
        };
        let mut taken = Vec::new();
        for sign in [">", ">="] {
            let filter = format!("create_time{sign}\"{first}\"");
            let query = [("pageSize", "100"), ("filter", filter.as_str())];
            let seen = self.talk.get(&path, &query).await?;
            taken.push(seen);
        }
        let lines: Vec<_> = taken.iter().map(Seen::line).collect();
        let done = (
            "listed activities after a time, with `>` and `>=`",
            lines.join(", "),
        );
        if !taken.iter().all(Seen::tells) {
            let why = format!("could not be told: {}", lines.join(", "));
            self.findings.open(Question::ActivityFilter, done, why);
            return Ok(());
        }
        let is_taken = |seen: Option<&Seen>| seen.is_some_and(Seen::is_ok);
        let answer = match (is_taken(taken.first()), is_taken(taken.last())) {
            (true, true) => "taken, also with `>=`",
            (true, false) => "taken with `>` only",
            (false, true) => "taken with `>=` only",
            (false, false) => "refused",
        };
        self.findings
            .settled(Question::ActivityFilter, done, answer);
        Ok(())
    }

    async fn mask(&mut self) -> Result<()> {
        let query = [
            ("pageSize", "1"),
            ("fields", "sessions(id,state),nextPageToken"),
        ];
        let seen = self.talk.get("sessions", &query).await?;
        let first = look::list(&seen.body, "sessions").first();
        let done = ("listed sessions with a mask of two members", seen.line());
        let open = match (seen.verdict(), first) {
            (Verdict::Untold, _) => Some(format!("could not be told: {}", seen.line())),
            (Verdict::Taken, None) => Some("the list was empty".to_owned()),
            (Verdict::Taken, Some(_)) | (Verdict::Refused, _) => None,
        };
        if let Some(why) = open {
            self.findings.open(Question::FieldMask, done, why);
            return Ok(());
        }
        let answer = match first {
            None => "refused",
            Some(first) if first.get("createTime").is_none() => "honoured",
            Some(_) => "ignored",
        };
        self.findings.settled(Question::FieldMask, done, answer);
        Ok(())
    }

    /// Cheap requests in a row, at the very end, since a limit that is met stays met for a while.
    pub(super) async fn burst(&mut self) {
        let (mut made, mut answered) = (0, true);
        while made < self.plan.burst && self.talk.throttled.is_none() && answered {
            let seen = self.talk.get_once("sources", &[("pageSize", "1")]).await;
            answered = seen.is_ok();
            made += 1;
        }
        let done = format!("made {made} cheap requests in a row");
        match self.talk.throttled.clone() {
            Some(met) => {
                let answer = format!(
                    "refused at request {} within a minute: {}, with {}",
                    met.requests,
                    met.seen.line(),
                    met.seen.when()
                );
                let question = Question::RequestsPerMinute;
                self.findings
                    .settled(question, (&done, met.seen.line()), answer);
            }
            None => {
                let (seen, why) = if answered {
                    let why = format!(
                        "no limit was met with {made} requests in a row; a larger `--burst` tells more"
                    );
                    ("all were answered", why)
                } else {
                    let why = format!("request {made} in a row was not answered as it should be");
                    ("not all were answered", why)
                };
                let question = Question::RequestsPerMinute;
                self.findings.open(question, (&done, seen), why);
            }
        }
    }
}
