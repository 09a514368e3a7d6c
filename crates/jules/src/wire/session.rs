//! Sessions as they travel. Prompts and patches are not among the fields, so listing never builds them in memory.

use domain::ids::{BranchName, PullRef};
use domain::session::{SessionState, SessionView};
use jiff::Timestamp;
use serde::Deserialize;

use super::activity::{ChangeSet, ChangeSetWire};
use super::id_of;
use super::loose::{Loose, Many, Text};
use super::source::repo_of;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionWire {
    name: Loose<Text>,
    id: Loose<Text>,
    title: Loose<Text>,
    state: Loose<Text>,
    url: Loose<Text>,
    source_context: Loose<SourceContext>,
    create_time: Loose<Timestamp>,
    update_time: Loose<Timestamp>,
    outputs: Many<PullOutput>,
    archived: Loose<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SourceContext {
    source: Loose<Text>,
    github_repo_context: Loose<GithubRepoContext>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GithubRepoContext {
    starting_branch: Loose<Text>,
}

/// An output of which only the pull request is read.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PullOutput {
    pull_request: Loose<PullRequest>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PullRequest {
    url: Loose<Text>,
}

impl PullOutput {
    fn url(&self) -> Option<&str> {
        self.pull_request.0.as_ref()?.url.some()
    }
}

/// An output of which only the change set is read.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PatchOutput {
    change_set: Loose<ChangeSetWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Outputs<T: Default> {
    #[serde(bound(deserialize = "T: Deserialize<'de>"))]
    outputs: Many<T>,
}

/// Reads one session; `None` if it has no id that could be asked for.
pub(crate) fn session(raw: &str) -> Option<SessionView> {
    let wire: SessionWire = serde_json::from_str(raw).ok()?;
    let context = wire.source_context.0.unwrap_or_default();
    Some(SessionView {
        id: id_of(wire.id.some(), wire.name.some())?,
        url: wire.url.some().map(str::to_owned),
        title: wire.title.or_empty(),
        state: SessionState::from(wire.state.or_empty()),
        created_at: wire.create_time.0,
        updated_at: wire.update_time.0,
        repo: context.source.some().and_then(repo_of),
        branch: branch_of(&context),
        pulls: pulls(&wire.outputs.0),
        archived: wire.archived.0.unwrap_or(false),
    })
}

fn branch_of(context: &SourceContext) -> Option<BranchName> {
    let github = context.github_repo_context.0.as_ref()?;
    github.starting_branch.some()?.parse().ok()
}

fn pulls(outputs: &[PullOutput]) -> Vec<PullRef> {
    let mut pulls: Vec<PullRef> = Vec::new();
    for pull in outputs
        .iter()
        .filter_map(PullOutput::url)
        .filter_map(PullRef::from_url)
    {
        if !pulls.contains(&pull) {
            pulls.push(pull);
        }
    }
    pulls
}

/// The addresses of a session's pull requests, and the last of its change sets that holds a patch.
pub(crate) fn outputs(raw: &str) -> (Vec<String>, Option<ChangeSet>) {
    let pulls: Outputs<PullOutput> = serde_json::from_str(raw).unwrap_or_default();
    let mut urls: Vec<String> = Vec::new();
    for url in pulls.outputs.0.iter().filter_map(PullOutput::url) {
        if PullRef::from_url(url).is_some() && !urls.iter().any(|known| known == url) {
            urls.push(url.to_owned());
        }
    }
    let patches: Outputs<PatchOutput> = serde_json::from_str(raw).unwrap_or_default();
    let sets = patches
        .outputs
        .0
        .into_iter()
        .filter_map(|output| output.change_set.0);
    (urls, sets.filter_map(ChangeSetWire::read).next_back())
}
