//! The second task: begun while the first one's plan waits, which tells of limits, lengths and modes.

use anyhow::Result;

use super::begin::Created;
use super::{LENGTHS, Probe, Said, bounds, long};
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
    /// It cannot be told, and nothing more may be asked for.
    Untold(String),
}

/// What a refusal of the second session would say about a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// There is room in any case.
    Free,
    /// There is room only if what is asked does not count.
    Exactly,
    /// It says nothing.
    Unclear,
}

/// What is done to learn what counts.
const WHILE_WAITING: &str = "created a session while another one's plan waited";

impl Probe {
    /// Begins the second task, and learns from how it is taken or refused.
    pub(super) async fn second(&mut self, first: &str) -> Result<()> {
        let waits = self.plan_waits_now(first).await?;
        let refusal = match self.begin_second(false).await? {
            Tried::Begun { taken, refused } => {
                self.mode_taken();
                self.prompt_length(taken, refused);
                self.counted(waits, None);
                return Ok(());
            }
            Tried::Untold(why) => {
                self.second_untold(&why);
                return Ok(());
            }
            // Too many requests or tasks say nothing about modes.
            Tried::Refused(seen) if seen.status == 429 => {
                return self.second_limited(first, waits, &seen).await;
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
                self.second_limited(first, waits, &seen).await?;
            }
            Tried::Refused(seen) => self.second_untold(&format!("refused: {}", seen.line())),
            Tried::Untold(why) => self.second_untold(&why),
        }
        Ok(())
    }

    /// A limit spoke, as far as can be seen.
    async fn second_limited(&mut self, first: &str, waits: bool, seen: &Seen) -> Result<()> {
        self.limit_met("created a second session", seen, self.stands_at_limit());
        if self.counted(waits, Some(seen)) {
            self.give_back(first).await?;
        }
        Ok(())
    }

    fn second_untold(&mut self, why: &str) {
        for question in [
            Question::ModeWithoutApproval,
            Question::QuotaRefusal,
            Question::WhatCounts,
        ] {
            self.findings.open(question, (WHILE_WAITING, ""), why);
        }
    }

    /// Puts the first session away while it still waits, and tries once more.
    async fn give_back(&mut self, first: &str) -> Result<()> {
        if self.plan.keep {
            return Ok(());
        }
        self.put_away(first).await?;
        let mut limited = false;
        for approval in [false, true] {
            match self.begin_second(approval).await? {
                Tried::Begun { taken, refused } => {
                    if !approval {
                        self.mode_taken();
                    }
                    self.prompt_length(taken, refused);
                    self.gave_back(Some("gave its slot back"));
                    return Ok(());
                }
                Tried::Untold(_) => {
                    self.gave_back(None);
                    return Ok(());
                }
                Tried::Refused(seen) => limited = seen.is_limit(),
            }
        }
        self.gave_back(limited.then_some("did not give its slot back"));
        Ok(())
    }

    async fn begin_second(&mut self, approval: bool) -> Result<Tried> {
        let mut refused = None;
        let mut last = None;
        for length in LENGTHS {
            let prompt = long(SECOND, length);
            let body = self.body(("second", &prompt), approval, (false, None));
            match self.create("second", body).await? {
                Created::Begun(_) => {
                    let taken = prompt.len();
                    return Ok(Tried::Begun { taken, refused });
                }
                Created::Untold(why) => return Ok(Tried::Untold(why)),
                Created::Refused(seen) => {
                    let is_limit = seen.is_limit();
                    last = Some(seen);
                    if is_limit {
                        break;
                    }
                    refused = Some(prompt.len());
                }
            }
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
        let message = self.findings.answer(Question::Lengths);
        let message = message.unwrap_or_else(|| "message: not settled".to_owned());
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
        let done = WHILE_WAITING;
        if refusal.is_none() {
            let why = "the account was at no limit; meeting one would cost as many tasks as the plan allows";
            self.findings
                .open(Question::QuotaRefusal, (done, "200"), why);
        }
        let (at_slots, at_tasks) = (self.slots(waits), self.tasks());
        let (slot, task) = match (refusal.is_some(), at_slots, at_tasks) {
            (true, Stand::Exactly, Stand::Free) => (Some(true), None),
            (true, Stand::Free, Stand::Exactly) => (None, Some(true)),
            (true, _, _) => (None, None),
            (false, slots, tasks) => (
                (slots == Stand::Exactly).then_some(false),
                (tasks == Stand::Exactly).then_some(false),
            ),
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
        slot == Some(true)
    }

    /// How the account stands at its slots, with the first session in one of them if waiting holds one.
    fn slots(&self, waits: bool) -> Stand {
        let most = self.plan.limits.concurrent;
        match self.load {
            Some(load) if load.busy + load.waiting + 1 < most => Stand::Free,
            Some(load) if waits && load.waiting == 0 && load.busy + 1 == most => Stand::Exactly,
            Some(_) | None => Stand::Unclear,
        }
    }

    /// How the account stands at its tasks, with the first session and perhaps a message among them.
    fn tasks(&self) -> Stand {
        let most = self.plan.limits.per_day;
        match (self.load, self.said) {
            (Some(load), _) if load.day + 2 < most => Stand::Free,
            (Some(load), Said::No) if load.day + 2 == most => Stand::Free,
            (Some(load), Said::Yes) if load.day + 2 == most => Stand::Exactly,
            (Some(_) | None, _) => Stand::Unclear,
        }
    }
}
