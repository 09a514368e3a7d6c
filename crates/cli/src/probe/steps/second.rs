//! The second task: begun while the first one's plan waits, which tells of limits, lengths and modes.

use anyhow::Result;

use super::{LENGTHS, Probe, bounds, long};
use crate::probe::finding::Question;
use crate::probe::talk::Seen;

/// The second task: like the first, without waiting.
const SECOND: &str = "This is a probe of the Jules API by the owner of this repository. \
    Create the file gaffer-probe-3.txt with one line and run `ls`, then create the file gaffer-probe-4.txt with one line. \
    Change nothing else and open no pull request.";

/// How one try ended.
enum Tried {
    /// A session was begun with a prompt of so many bytes.
    Begun {
        taken: usize,
        refused: Option<usize>,
    },
    /// Refused at every length.
    Refused(Seen),
}

impl Probe {
    /// Begins the second task, and learns from how it is taken or refused.
    pub(super) async fn second(&mut self, first: &str) -> Result<()> {
        let waits = self.plan_waits_now(first).await?;
        let without = self.begin_second(false).await?;
        let refusal = match without {
            Tried::Begun { taken, refused } => {
                self.mode_taken();
                self.prompt_length(taken, refused);
                self.counted(waits, None);
                return Ok(());
            }
            Tried::Refused(seen) => seen,
        };
        match self.begin_second(true).await? {
            Tried::Begun { taken, refused } => {
                let done = "created a session with approval off and no mode, then with approval on";
                let answer = format!("no: {}", refusal.line());
                let question = Question::ModeWithoutApproval;
                self.findings
                    .settled(question, (done, refusal.line()), answer);
                self.prompt_length(taken, refused);
                self.counted(waits, None);
            }
            Tried::Refused(seen) if seen.is_limit() => {
                let answer = format!("{}, with {}", seen.line(), seen.when());
                let done = ("created a second session", seen.line());
                self.findings.settled(Question::QuotaRefusal, done, answer);
                if self.counted(waits, Some(&seen)) {
                    self.give_back(first).await?;
                }
            }
            Tried::Refused(_) => {}
        }
        Ok(())
    }

    /// Puts the first session away while it still waits, and tries once more.
    async fn give_back(&mut self, first: &str) -> Result<()> {
        if self.plan.keep {
            return Ok(());
        }
        self.put_away(first).await?;
        for approval in [false, true] {
            if let Tried::Begun { taken, refused } = self.begin_second(approval).await? {
                if !approval {
                    self.mode_taken();
                }
                self.prompt_length(taken, refused);
                self.gave_back("gave its slot back");
                return Ok(());
            }
        }
        self.gave_back("did not give its slot back");
        Ok(())
    }

    async fn begin_second(&mut self, approval: bool) -> Result<Tried> {
        let mut refused = None;
        let mut last = None;
        for length in LENGTHS {
            let prompt = long(SECOND, length);
            let body = self.body(("second", &prompt), approval, (false, None));
            let seen = self.talk.post("sessions", body).await?;
            if seen.is_ok() {
                self.begun(&seen);
                let taken = prompt.len();
                return Ok(Tried::Begun { taken, refused });
            }
            let limit = seen.is_limit();
            last = Some(seen);
            if limit {
                break;
            }
            refused = Some(prompt.len());
        }
        last.map(Tried::Refused)
            .ok_or_else(|| anyhow::anyhow!("no length to try"))
    }

    async fn plan_waits_now(&mut self, first: &str) -> Result<bool> {
        let session = self.talk.get(&format!("sessions/{first}"), &[]).await?;
        Ok(session.text("/state") == "AWAITING_PLAN_APPROVAL")
    }

    fn mode_taken(&mut self) {
        let done = ("created a session with approval off and no mode", "200");
        self.findings
            .settled(Question::ModeWithoutApproval, done, "yes");
    }

    fn prompt_length(&mut self, taken: usize, refused: Option<usize>) {
        let prompt = format!("prompt: {}", bounds(taken, refused));
        let message = self.findings.answer(Question::Lengths).unwrap_or_default();
        let message = if message.is_empty() {
            "message: not settled".to_owned()
        } else {
            message
        };
        let done = (
            "sent prompts and messages of 100,000 bytes and fewer",
            "see the transcript",
        );
        let question = Question::Lengths;
        self.findings
            .settled(question, done, format!("{prompt}; {message}"));
    }

    /// What a refusal, or none, says about slots and tasks, where the account stood exactly at a limit; answers whether that was the limit of slots.
    fn counted(&mut self, waits: bool, refusal: Option<&Seen>) -> bool {
        let done = "created a session while another one's plan waited";
        if refusal.is_none() {
            let why = "the account was at no limit; meeting one would cost as many tasks as the plan allows";
            self.findings
                .open(Question::QuotaRefusal, (done, "200"), why);
        }
        let limits = self.plan.limits;
        let at_slots = self
            .load
            .is_some_and(|load| waits && load.waiting == 0 && load.busy + 1 == limits.concurrent);
        let at_tasks = self
            .load
            .is_some_and(|load| self.said && load.day + 2 == limits.per_day);
        let refused = refusal.is_some();
        let (slot, task) = match (at_slots, at_tasks) {
            (true, false) => (Some(refused), None),
            (false, true) => (None, Some(refused)),
            (true, true) if !refused => (Some(false), Some(false)),
            (true, true) | (false, false) => (None, None),
        };
        let slots = match slot {
            Some(true) => "a session whose plan waits holds a slot",
            Some(false) => "a session whose plan waits holds no slot",
            None => "whether a waiting session holds a slot is not settled",
        };
        let tasks = match task {
            Some(true) => "a message counts as a task",
            Some(false) => "a message does not count as a task",
            None => "whether a message counts as a task is not settled",
        };
        let seen = refusal.map_or_else(|| "200".to_owned(), Seen::line);
        let text = format!("{slots}; {tasks}");
        if slot.is_none() && task.is_none() {
            let why = format!("{text}: the account did not stand exactly at one of its limits");
            self.findings.open(Question::WhatCounts, (done, seen), why);
        } else {
            self.findings
                .settled(Question::WhatCounts, (done, seen), text);
        }
        at_slots && !at_tasks
    }
}
