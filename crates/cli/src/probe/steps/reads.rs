//! What is read without spending a task.

use anyhow::{Result, bail};
use serde_json::Value;

use super::{PAGE, PAGES_MAX, Probe};
use crate::probe::finding::Question;
use crate::probe::look;

impl Probe {
    /// The repository, a wrong key, the description, filters, and the account's load.
    pub(super) async fn read_all(&mut self) -> Result<()> {
        let source = format!("sources/github/{}", self.plan.repo);
        let seen = self.talk.get(&source, &[]).await?;
        if !seen.is_ok() {
            bail!("Jules does not see {}: {}", self.plan.repo, seen.line());
        }
        self.wrong_key().await?;
        self.description().await?;
        self.session_filters().await?;
        self.load().await
    }

    async fn wrong_key(&mut self) -> Result<()> {
        let seen = self.talk.get_as_nobody("sources").await?;
        let done = ("listed sources with a key that is nobody's", seen.line());
        self.findings.settled(Question::WrongKey, done, seen.line());
        Ok(())
    }

    async fn description(&mut self) -> Result<()> {
        let seen = self.talk.get_once("", &[("version", "v1alpha")]).await?;
        let done = "asked for the service's description";
        if !seen.is_ok() {
            let why = format!("the description is not to be had: {}", seen.line());
            self.findings
                .open(Question::Discovery, (done, seen.line()), why.clone());
            self.findings
                .open(Question::Evolving, (done, seen.line()), why);
            return Ok(());
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
        Ok(())
    }

    async fn session_filters(&mut self) -> Result<()> {
        let source = format!("source = \"sources/github/{}\"", self.plan.repo);
        let tries = [
            ("archived", "archived = true"),
            ("state", "state = COMPLETED"),
            ("source", source.as_str()),
        ];
        let (mut told, mut lines) = (Vec::new(), Vec::new());
        for (name, filter) in tries {
            let query = [("pageSize", "1"), ("filter", filter)];
            let seen = self.talk.get("sessions", &query).await?;
            let word = if seen.is_ok() { "taken" } else { "refused" };
            told.push(format!("`{name}`: {word}"));
            lines.push(seen.line());
        }
        let done = ("listed sessions with three filters", lines.join(", "));
        self.findings
            .settled(Question::SessionFilter, done, told.join("; "));
        Ok(())
    }

    /// Counts the account's sessions, if they fit in a few pages.
    async fn load(&mut self) -> Result<()> {
        let (mut all, mut token) = (Vec::new(), String::new());
        for _ in 0..PAGES_MAX {
            let mut query = vec![("pageSize", PAGE)];
            if !token.is_empty() {
                query.push(("pageToken", token.as_str()));
            }
            let page = self.talk.get("sessions", &query).await?;
            all.extend(look::list(&page.body, "sessions").iter().cloned());
            let newest = all
                .iter()
                .filter_map(|it| look::time(it, "createTime"))
                .max();
            let date = page.headers.get("date");
            let date = date.and_then(|it| jiff::fmt::rfc2822::parse(it).ok());
            let now = date.map(|it| it.timestamp()).or(newest);
            token = page.text("/nextPageToken").to_owned();
            if token.is_empty() {
                self.load = Some(look::load(&all, now));
                break;
            }
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
            taken.push((seen.is_ok(), seen.line()));
        }
        let answer = match (taken.first(), taken.last()) {
            (Some((true, _)), Some((true, _))) => "taken, also with `>=`",
            (Some((true, _)), _) => "taken with `>` only",
            (_, Some((true, _))) => "taken with `>=` only",
            (_, _) => "refused",
        };
        let lines: Vec<_> = taken.iter().map(|(_, line)| line.as_str()).collect();
        let done = (
            "listed activities after a time, with `>` and `>=`",
            lines.join(", "),
        );
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
        let answer = match (seen.is_ok(), first) {
            (false, _) => "refused",
            (true, Some(first)) if first.get("createTime").is_none() => "honoured",
            (true, Some(_)) => "ignored",
            (true, None) => {
                let why = "the list was empty";
                self.findings.open(
                    Question::FieldMask,
                    ("listed sessions with a mask", ""),
                    why,
                );
                return Ok(());
            }
        };
        let done = ("listed sessions with a mask of two members", seen.line());
        self.findings.settled(Question::FieldMask, done, answer);
        Ok(())
    }

    /// Cheap requests in a row, at the very end, since a limit that is met stays met for a while.
    pub(super) async fn burst(&mut self) -> Result<()> {
        let mut made = 0;
        while made < self.plan.burst && self.talk.throttled.is_none() {
            self.talk.get_once("sources", &[("pageSize", "1")]).await?;
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
                let why = format!(
                    "no limit was met with {made} requests in a row; a larger `--burst` tells more"
                );
                let question = Question::RequestsPerMinute;
                self.findings
                    .open(question, (&done, "all were answered"), why);
            }
        }
        Ok(())
    }
}
