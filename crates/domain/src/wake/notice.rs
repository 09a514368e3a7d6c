//! A notice: what a person reads on the desktop or in a chat, in place of the signed message that an agent gets.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Wake;
use crate::event::{DeliveryAsk, Event, Occurrence};
use crate::fence::clip;
use crate::redact::{presentable, redact};

/// Longest text from outside in a notice, in characters.
const TEXT_CHARS_MAX: usize = 500;

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 120;

/// Where a person reads notices. The address of a chat or push service is a secret and kept as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notify {
    /// The desktop of the machine that `gaffer up` runs on.
    Desktop,
    /// An incoming webhook of Slack.
    Slack,
    /// A webhook of a Discord channel.
    Discord,
    /// A topic of ntfy, on ntfy.sh or a server of one's own.
    Ntfy,
}

/// What a person reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// One line.
    pub title: String,
    /// What happened, with the text of others, and where to look.
    pub text: String,
}

impl Notify {
    /// The form that the server of an address takes: that of ntfy, which also a server of one's own may run, unless it is Slack or Discord.
    pub fn of_host(host: &str) -> Self {
        let is_at = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        if is_at("slack.com") {
            Self::Slack
        } else if is_at("discord.com") || is_at("discordapp.com") {
            Self::Discord
        } else {
            Self::Ntfy
        }
    }

    /// The word used in the store and in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Slack => "slack",
            Self::Discord => "discord",
            Self::Ntfy => "ntfy",
        }
    }

    /// The content type and body of a request. Its text mentions no one, whatever it says.
    pub fn body(self, notice: &Notice) -> (&'static str, String) {
        let Notice { title, text } = notice;
        let whole = format!("{title}\n{text}");
        match self {
            // https://docs.slack.dev/messaging/formatting-message-text: these three characters are control characters.
            Self::Slack => {
                let escaped = whole
                    .replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;");
                ("application/json", json!({ "text": escaped }).to_string())
            }
            // https://discord.com/developers/docs/resources/webhook: without `allowed_mentions` a text may call everyone.
            Self::Discord => {
                let body = json!({ "content": whole, "allowed_mentions": { "parse": [] } });
                ("application/json", body.to_string())
            }
            Self::Desktop | Self::Ntfy => ("text/plain; charset=utf-8", whole),
        }
    }
}

impl Wake {
    /// What a person reads of it.
    pub fn notice(&self) -> Notice {
        let event = &self.event;
        let place = match &self.repo {
            Some(repo) => repo.clone(),
            None => format!("account {}", event.account),
        };
        let lines = [said(event), page(event), event.job.as_ref().map(command)];
        let text: Vec<String> = lines.into_iter().flatten().collect();
        Notice {
            title: presentable(&format!("{place}: {}", what(event)), TITLE_CHARS_MAX),
            text: text.join("\n"),
        }
    }
}

fn what(event: &Event) -> String {
    match &event.what {
        Occurrence::Question { .. } => "Jules asks a question".to_owned(),
        Occurrence::PlanApproval { .. } => "a plan waits for approval".to_owned(),
        Occurrence::UnreviewedPlan { .. } => "a plan that was not approved is worked on".to_owned(),
        Occurrence::UnexpectedPush { .. } => "an unexpected push changes files".to_owned(),
        Occurrence::Completed { .. } => match event.asks_approval() {
            true => "a green pull request waits for approval".to_owned(),
            false => "a session has finished".to_owned(),
        },
        Occurrence::Error { cause, .. } => format!("error `{}`", cause.as_str()),
        Occurrence::Stuck { .. } => "a session is silent".to_owned(),
        Occurrence::Delivery { ask, .. } => match ask {
            DeliveryAsk::Start => "a delivery waits to be started".to_owned(),
            DeliveryAsk::Plan => "a delivery waits for its plan".to_owned(),
            DeliveryAsk::Checkpoint { phase, .. } => format!("a delivery waits after {phase}"),
            DeliveryAsk::Review { .. } => "a change waits for a review".to_owned(),
            DeliveryAsk::Merge { .. } => "a green pull request waits for approval".to_owned(),
        },
        Occurrence::News(news) => news.title(),
    }
}

fn said(event: &Event) -> Option<String> {
    let words = event.what.words()?;
    Some(clip(&redact(words), TEXT_CHARS_MAX))
}

fn page(event: &Event) -> Option<String> {
    let pull = event.aid.pull.as_ref().map(crate::ids::PullRef::url);
    pull.or_else(|| Some(event.aid.session.as_ref()?.as_str().to_owned()))
}

fn command(job: &crate::ids::JobId) -> String {
    format!("gaffer job why {job}")
}
