//! The last step of `gaffer init`: adds the source, or compares it with the request.

use anyhow::{Context, Result};
use domain::ids::{AgentName, BranchName, RepoName};
use domain::policy::{MergePolicy, Source};
use serde_json::Value;
use url::Url;

use super::InitRun;
use super::notes::InitNotes;
use super::person::{self, Person};
use crate::args::source::{AddSourceArgs, DeliveryRuleArgs, SourceCommand};
use crate::args::value::agent_url;
use crate::error::Error;
use crate::render::value;
use crate::source;

/// The branch that is worked on when neither Jules nor GitHub says.
const BRANCH: &str = "main";

/// Adds the source, or reports how the existing one differs from the request.
pub(super) async fn ensure(
    run: &mut InitRun,
    repo: RepoName,
    agent: Option<AgentName>,
    branch: Option<BranchName>,
) -> Result<Source> {
    if let Some(known) = run.data.backend.store.source(&repo).await? {
        compare(&known.value, run, agent)?;
        return Ok(known.value);
    }
    let mut policy = run.args.policy.clone();
    if policy.merge.is_none() {
        policy.merge = ask_merge(&mut run.person)?;
    }
    let branch = match run.args.branch.clone().or(branch) {
        Some(branch) => branch,
        None => BRANCH.parse().context("naming the branch")?,
    };
    let add = AddSourceArgs {
        repo: repo.clone(),
        account: run.args.account.clone(),
        branch,
        agent,
        policy,
        timing: run.args.timing.clone(),
        deliveries: DeliveryRuleArgs::default(),
    };
    source::run(SourceCommand::Add(add), &run.here).await?;
    run.notes.stored_now(format!("source {repo} is added"));
    let added = run.data.backend.store.source(&repo).await?;
    added
        .map(|it| it.value)
        .ok_or_else(|| Error::no_such("source", &repo, "").into())
}

/// Says what differs and how to change it.
fn compare(known: &Source, run: &mut InitRun, agent: Option<AgentName>) -> Result<()> {
    let args = &run.args;
    let wanted = Source {
        account: args.account.clone(),
        agent: agent.or_else(|| known.agent.clone()),
        branch: args.branch.clone().or_else(|| known.branch.clone()),
        policy: source::policy(&known.policy, &args.policy)?,
        timing: source::timing(&known.timing, &args.timing),
        ..known.clone()
    };
    if wanted == *known {
        run.notes.kept(format!("source {}", known.repo));
        return Ok(());
    }
    let (is, asked) = (value(known), value(&wanted));
    differing("", &is, &asked, &known.repo, &mut run.notes);
    Ok(())
}

/// One note for each field that differs, by its name.
fn differing(name: &str, is: &Value, asked: &Value, repo: &RepoName, notes: &mut InitNotes) {
    match (is, asked) {
        (Value::Object(is), Value::Object(asked)) => {
            for (field, is) in is {
                let asked = asked.get(field).unwrap_or(&Value::Null);
                differing(field, is, asked, repo, notes);
            }
        }
        (is, asked) if is != asked => notes.differs(
            &format!("source {repo}"),
            &format!("{name} is {is}, not {asked}"),
            &format!(
                "change it with `gaffer source set {repo} {}`",
                options(name, asked)
            ),
        ),
        (_, _) => {}
    }
}

/// The options of `gaffer source set` that set a field as requested.
fn options(field: &str, asked: &Value) -> String {
    let (option, asked) = match (field, asked) {
        ("answers", _) => ("answer".to_owned(), asked.clone()),
        ("required_checks" | "protected_paths" | "blocking_labels" | "other_merge_methods", _) => {
            let one = field.strip_suffix('s').unwrap_or(field);
            (one.replace('_', "-"), asked.clone())
        }
        ("delete_branch", Value::Bool(delete)) => ("keep-branch".to_owned(), Value::Bool(!delete)),
        (name, asked) => (name.replace('_', "-"), asked.clone()),
    };
    match asked {
        Value::Null => format!("--no-{option}"),
        Value::Bool(is) => format!("--{option}={is}"),
        Value::Array(none) if none.is_empty() => format!("--no-{option}s"),
        Value::Array(several) => {
            let each = several
                .iter()
                .map(|one| format!("--{option} {}", word(one)));
            each.collect::<Vec<_>>().join(" ")
        }
        one @ (Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            format!("--{option} {}", word(&one))
        }
    }
}

/// A value as a shell takes it.
fn word(value: &Value) -> String {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Asks for the agent's address, if there is a person; an empty answer means a person.
pub(super) fn ask_agent(person: &mut Option<Box<dyn Person>>) -> Result<Option<Url>> {
    let Some(person) = person else {
        return Ok(None);
    };
    let question = "Web address that wakes your agent (empty: a person looks)";
    person::ask(person.as_mut(), question, |answer| {
        if answer.is_empty() {
            return Ok(None);
        }
        let next = "type another one, or nothing";
        let bad = |wrong| Error::usage(format!("`{answer}`: {wrong}"), next);
        agent_url(answer).map(Some).map_err(bad)
    })
}

fn ask_merge(person: &mut Option<Box<dyn Person>>) -> Result<Option<MergePolicy>> {
    let Some(person) = person else {
        return Ok(None);
    };
    let words = MergePolicy::ALL.map(MergePolicy::word).join(", ");
    let question = format!("Who merges green pull requests: {words} [human]");
    person::ask(person.as_mut(), &question, |answer| {
        if answer.is_empty() {
            return Ok(Some(MergePolicy::Human));
        }
        let odd = || Error::usage(format!("`{answer}` is none of {words}"), "type one of them");
        let mut all = MergePolicy::ALL.into_iter();
        let meant = all.find(|policy| policy.word() == answer);
        meant.map(Some).ok_or_else(odd)
    })
}
