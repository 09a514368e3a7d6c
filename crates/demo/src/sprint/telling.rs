//! What is told of a sprint as it goes: its ticks, its weaves, and its mail.

use std::collections::BTreeSet;

use client::wire::{SprintView, VerdictView, WeaveView};
use serde_json::Value;

/// Tells each thing once.
#[derive(Debug, Default)]
pub(super) struct Teller {
    told: BTreeSet<String>,
}

impl Teller {
    /// What is new since the last time: first what weaves came to and the mail about it, then where the sprint is.
    pub(super) fn tell(&mut self, sprint: &SprintView, mail: &[String]) -> Vec<String> {
        let weaves = sprint.reports.iter().map(|it| weave_lines(sprint, it));
        let mut lines: Vec<String> = weaves.flatten().collect();
        lines.extend(mail.iter().filter_map(|line| mail_line(line)));
        lines.push(format!("Tick {}: {}", sprint.ticks, sprint.state));
        lines.retain(|line| self.told.insert(line.clone()));
        lines
    }
}

/// A weave with each of its pull requests.
fn weave_lines(sprint: &SprintView, weave: &WeaveView) -> Vec<String> {
    let mut lines = vec![match &weave.woven {
        Some(woven) => format!("Weave {} into #{}:", weave.weave, woven.pull.number),
        None => format!("Weave {}: no pull request is in", weave.weave),
    }];
    let verdicts = weave.verdicts.iter();
    lines.extend(
        verdicts.map(|it| format!("  {} in weave {}", verdict_line(sprint, it), weave.weave)),
    );
    lines
}

fn verdict_line(sprint: &SprintView, it: &VerdictView) -> String {
    let number = it.pull.number;
    let mut members = sprint.members.iter();
    let member = members.find(|member| {
        member
            .pull
            .as_ref()
            .is_some_and(|pull| pull.number == number)
    });
    let who = member.map_or_else(String::new, |member| format!(" by {}", member.persona));
    match (&it.way, it.conflicts_with.as_slice()) {
        (Some(way), _) => format!("✅ #{number}{who} is in ({way})"),
        (None, []) => format!("❌ #{number}{who}: {}", it.verdict),
        (None, with) => {
            let with: Vec<String> = with.iter().map(|it| format!("#{it}")).collect();
            let places = it
                .places
                .iter()
                .map(|place| format!("{}, {}", place.path, place.words));
            let places: Vec<String> = places.collect();
            format!(
                "❌ #{number}{who} conflicts with {}: {}",
                with.join(" and "),
                places.join("; ")
            )
        }
    }
}

/// A line of the log of mail for people.
pub(super) fn mail_line(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let number = &event["message_id"];
    match text("event_type") {
        "send" => Some(format!(
            "📬 #{number} {} to {}: {}",
            text("from_persona"),
            text("to_persona"),
            text("subject")
        )),
        "read" => Some(format!("📖 #{number} is read")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_is_told_by_who_wrote_to_whom_and_whether_it_is_read() {
        let sent = r#"{"event_type":"send","message_id":42,"from_persona":"weaver","to_persona":"refactor","subject":"Conflict in PR #102"}"#;
        let read = r#"{"event_type":"read","message_id":42}"#;
        let told = [sent, read, "{}", "torn"].map(mail_line);
        let told = told.each_ref().map(Option::as_deref);
        let sent = "📬 #42 weaver to refactor: Conflict in PR #102";
        assert_eq!(told, [Some(sent), Some("📖 #42 is read"), None, None]);
    }
}
