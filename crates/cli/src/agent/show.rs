//! `gaffer agent list` and `gaffer agent show`.

use anyhow::Result;
use domain::ids::AgentName;
use domain::wake::Channel;
use engine::backend::Backend;
use engine::settings::Agent;
use serde::Serialize;
use serde_json::json;

use super::must_find;
use crate::render::{Answer, moment, or_dash, or_empty, value};

/// An agent, which ways its wakes go, and how many of these wait or were given up.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    agent: Agent,
    ways: Vec<&'static str>,
    wakes_waiting: usize,
    wakes_given_up: usize,
}

impl Shown {
    async fn load(agent: Agent, backend: &Backend) -> Result<Self> {
        let wakes = backend.store.wakes(&agent.name).await?;
        Ok(Self {
            ways: match agent.notify {
                Some(notify) => vec![notify.word()],
                None => agent.ways().into_iter().map(Channel::word).collect(),
            },
            wakes_waiting: wakes.iter().filter(|wake| !wake.value.is_settled()).count(),
            wakes_given_up: wakes.iter().filter(|wake| wake.value.is_lost()).count(),
            agent,
        })
    }

    fn state(&self) -> String {
        let disabled = self.agent.disabled.as_ref();
        disabled.map_or_else(
            || "takes wakes".to_owned(),
            |it| format!("disabled since {}: {}", moment(it.at), it.why),
        )
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.agent.name.to_string(),
            or_dash(self.agent.url.as_ref()),
            self.ways.join(", then "),
            self.state(),
            self.wakes_waiting.to_string(),
            self.wakes_given_up.to_string(),
        ]
    }
}

/// All agents.
pub(super) async fn all(backend: &Backend) -> Result<Answer> {
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    for found in backend.store.agents().await? {
        let shown = Shown::load(found.value, backend).await?;
        all.push(value(&shown));
        rows.push(shown.row());
    }
    let head = ["agent", "url", "ways", "state", "waiting", "given up"];
    Ok(Answer::new(json!({ "agents": all })).table(
        &head,
        rows,
        "No agent yet: `gaffer agent add NAME --url URL`, or without an address for an inbox.",
    ))
}

pub(super) async fn one(name: &AgentName, backend: &Backend) -> Result<Answer> {
    let agent = must_find(backend, name).await?.value;
    let mut sources = Vec::new();
    for found in backend.store.sources().await? {
        if found.value.agent.as_ref() == Some(name) {
            sources.push(found.value.repo.to_string());
        }
    }
    let shown = Shown::load(agent, backend).await?;
    let mut json = value(&shown);
    json["sources"] = json!(sources);
    let resume = shown.agent.resume.clone().map(String::from);
    let pairs = vec![
        ("agent", name.to_string()),
        ("address", or_empty(shown.agent.url.as_ref())),
        ("ways", shown.ways.join(", then ")),
        ("state", shown.state()),
        ("resume", or_empty(resume)),
        ("wakes waiting", shown.wakes_waiting.to_string()),
        ("wakes given up", shown.wakes_given_up.to_string()),
        ("woken for", sources.join("\n")),
    ];
    Ok(Answer::new(json!({ "agent": json })).pairs(pairs))
}
