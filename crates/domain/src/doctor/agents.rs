//! Agents: whether they can be woken.

use super::code::Code;
use super::credential_kind::CredentialKind;
use super::facts::{AgentFacts, InstallationFacts, Reachability, SecretStatus};
use super::finding::{Area, Finding, outside};
use super::machine::unusable;

pub(super) fn examine(installation: &InstallationFacts, folder: &str) -> Vec<Finding> {
    installation
        .agents
        .iter()
        .flat_map(|agent| examine_agent(agent, folder))
        .collect()
}

fn examine_agent(agent: &AgentFacts, folder: &str) -> Vec<Finding> {
    let about = format!("agent `{}`", agent.name);
    let mut findings = Vec::new();
    if let Some(why) = &agent.disabled {
        let what = format!("it is disabled: {}", outside(why));
        findings.push(Finding::new(Code::AgentDisabled, &about, what));
    }
    // What is fetched is not signed, and neither are a person's notices.
    if agent.host.is_some() && agent.notify.is_none() {
        findings.extend(secret(agent, &about, folder));
    }
    findings.extend(reach(agent, &about));
    if agent.dead_wakes > 0 {
        let what = format!("wakes given up: {}", agent.dead_wakes);
        findings.push(Finding::new(Code::DeadWakes, &about, what));
    }
    if findings.is_empty() {
        let what = match (&agent.host, &agent.reach, agent.notify) {
            (Some(host), Some(Reachability::Open), _) => format!("{host} takes connections"),
            (Some(_) | None, _, Some(notify)) => format!("its notices go to {}", notify.word()),
            (Some(_) | None, _, None) => "its wakes wait in its inbox".to_owned(),
        };
        findings.push(Finding::ok(Area::Agent, &about, what));
    }
    findings
        .into_iter()
        .map(|finding| finding.with("AGENT", &agent.name))
        .collect()
}

fn secret(agent: &AgentFacts, about: &str, folder: &str) -> Option<Finding> {
    match &agent.secret {
        SecretStatus::Missing => Some(Finding::new(
            Code::AgentSecret,
            about,
            "its secret is not kept",
        )),
        SecretStatus::Unusable { .. } => {
            unusable(&format!("agents/{}", agent.name), &agent.secret, folder)
        }
        SecretStatus::Here(CredentialKind::Signing) => None,
        SecretStatus::Here(shape) => {
            let what = format!("what is kept as its secret is {}", shape.words());
            Some(Finding::new(Code::AgentSecret, about, what))
        }
    }
}

fn reach(agent: &AgentFacts, about: &str) -> Option<Finding> {
    let host = agent.host.as_deref().unwrap_or_default();
    let (code, why) = match agent.reach.as_ref()? {
        Reachability::Open => return None,
        Reachability::Refused { why } => (Code::AgentAddress, why),
        Reachability::Unreachable { why } => (Code::AgentUnreachable, why),
    };
    let what = format!("{host}: {}", outside(why));
    Some(Finding::new(code, about, what).with("HOST", host))
}
