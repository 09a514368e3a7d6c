//! `gaffer run LAYER --prompt-preview`: the prompt that a layer would get, or that of a job, and what went into it.

mod again;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use ::scaffold::config::role_that_decides;
use ::scaffold::layout::{CONTROL, Layout, SYSTEM};
use ::scaffold::prompt::{self, Ask, Origin, Prompt, PromptError, Records, Trees, ids_wanted};
use ::scaffold::tree::{Tree, TreePath};
use ::scaffold::{commits, exchange, roles};
use anyhow::{Context, Result};
use domain::ids::{ArtefactId, CommitSha, RepoName, RoleName};
use domain::job::PROMPT_BYTES_MAX;
use domain::layer::Layer;
use serde_json::{Value, json};
use ulid::Ulid;

use super::here;
use super::place::{Branches, Place, must_tip, note_behind};
use crate::args::scaffold::{LayerArgs, OnGithub, RunArgs};
use crate::context::CommandContext;
use crate::error::Error;
use crate::git::Git;
use crate::render;

/// How many characters an id of an artefact has.
const ID_CHARS: usize = 6;

/// Prints the prompt alone on stdout, and what is in it on stderr.
pub(crate) async fn run(
    args: RunArgs,
    context: impl FnOnce() -> Result<CommandContext, Error>,
    as_json: bool,
) -> Result<()> {
    let git = here()?;
    let (prompt, ids) = match args.job.clone() {
        Some(job) => again::assembled(&git, job.as_str(), args.of, &context()?).await?,
        None => {
            let repository = of_origin(&git, &args.of.on)?;
            let ids = fresh_ids(ids_wanted(args.of.layer));
            (assembled(&git, args, repository, ids.clone())?, ids)
        }
    };
    if as_json {
        return render::json_line(&to_json(&prompt, &ids)).context("writing the prompt");
    }
    for line in lines(&prompt) {
        render::note(&line);
    }
    // A program gets the bytes that a session gets, and a terminal a line of its own for what comes after them.
    let written = match io::stdout().is_terminal() {
        true => render::line(&prompt.text),
        false => render::raw(prompt.text.as_bytes()),
    };
    written.context("writing the prompt")
}

fn assembled(
    git: &Git,
    args: RunArgs,
    repository: RepoName,
    ids: Vec<ArtefactId>,
) -> Result<Prompt> {
    let place = Place::read(git)?;
    let (mut branches, mut control) = (place.branches, place.control);
    let RunArgs {
        of: args, branch, ..
    } = args;
    let mut worker = None;
    if let Some(start) = branch {
        match start.as_str().parse::<CommitSha>() {
            Err(_) => {
                start_at(&mut branches, args.layer, start);
                must_tip(git, &branches.target)?;
            }
            // The files are those of the commit, and the prompt names the branch all the same.
            Ok(commit) if args.layer.is_on_worker_branch() => {
                worker = Some(git.must_commit(commit.as_str())?);
            }
            Ok(commit) => {
                control = git.tree(&git.must_commit(commit.as_str())?, &[CONTROL])?;
            }
        }
    }
    let worker = match worker {
        Some(commit) => commit,
        None => {
            note_behind(git, &branches.worker)?;
            must_tip(git, &branches.worker)?
        }
    };
    let system = git.tree(&worker, &[SYSTEM])?;
    must_be_usable(&control, args.layer, args.role.as_ref())?;
    let range_description = match args.layer {
        // Which commits the runs looked at, only Gaffer's store knows.
        Layer::Narrator => range(git, &place.code, None, &system)?,
        Layer::Observers
        | Layer::Decider
        | Layer::Planner
        | Layer::Implementer
        | Layer::Innovators => String::new(),
    };
    let trees = Trees {
        target: Arc::new(control),
        worker: Arc::new(system),
    };
    let role = role_of(&args, &trees.worker);
    let ask = Ask {
        layer: args.layer,
        role,
        stream: args.stream,
        task: args.task,
        requirement: args.requirement.or(args.requirement_file),
        repository,
        target_branch: branches.target,
        worker_branch: branches.worker,
        range_description,
        ids,
        records: Records::default(),
    };
    prompt::assemble(&trees, &ask).map_err(|error| refusal(&error).into())
}

/// The role of the prompt: for a decider of the older generation, the one that a run takes by itself.
fn role_of(args: &LayerArgs, worker: &Tree) -> Option<RoleName> {
    let of_stream = || {
        let stream = args.stream.clone().unwrap_or_default();
        role_that_decides(worker, &stream)
    };
    match args.layer {
        Layer::Decider => args.role.clone().or_else(of_stream),
        Layer::Narrator
        | Layer::Observers
        | Layer::Planner
        | Layer::Implementer
        | Layer::Innovators => args.role.clone(),
    }
}

/// Refuses a role with an error in its file, as a run does.
fn must_be_usable(control: &Tree, layer: Layer, role: Option<&RoleName>) -> Result<()> {
    let why = role.and_then(|role| roles::unusable(control, layer, role));
    let refused = |why: String| {
        let next =
            "correct it, commit it, and try again; `gaffer role validate` lists what is wrong";
        Error::unfit("unusable_role", why, next).into()
    };
    why.map_or(Ok(()), |why| Err(refused(why)))
}

/// Puts another branch in place of the one that a layer starts from.
fn start_at(branches: &mut Branches, layer: Layer, branch: domain::ids::BranchName) {
    if layer.is_on_worker_branch() {
        branches.worker = branch;
    } else {
        branches.target = branch;
    }
}

fn refusal(error: &PromptError) -> Error {
    Error::unfit("no_prompt", error.to_string(), next_of(error))
}

/// What to do: correct what was asked for, or the files.
fn next_of(error: &PromptError) -> &'static str {
    match error {
        PromptError::RoleWanted { .. } | PromptError::UnknownRole { .. } => {
            "name one with `--role ROLE`; `gaffer role list` shows them all"
        }
        PromptError::RoleUnwanted(_)
        | PromptError::TaskUnwanted(_)
        | PromptError::RequirementUnwanted(_) => "run it again without that",
        PromptError::UnknownTask { .. } => "name another one with `--task TASK`",
        PromptError::RequirementWanted(_)
        | PromptError::RequirementOutside { .. }
        | PromptError::RequirementMissing { .. } => {
            "`gaffer exchange inspect` lists the requirements"
        }
        PromptError::NotReady(_) => "`gaffer run planner FILE --prompt-preview` shows its prompt",
        PromptError::Ready(_) => "`gaffer run implementer FILE --prompt-preview` shows its prompt",
        PromptError::Layout(_)
        | PromptError::Requirement(_)
        | PromptError::RequirementId(_)
        | PromptError::NoMark(_)
        | PromptError::UnknownLabel { .. }
        | PromptError::Ids { .. }
        | PromptError::NoTemplate(_)
        | PromptError::NoList(_)
        | PromptError::NoOutput(_)
        | PromptError::List(_)
        | PromptError::Template { .. }
        | PromptError::Include { .. }
        | PromptError::TooLong { .. } => {
            "`gaffer scaffold doctor` finds what is wrong with the files"
        }
    }
}

/// What a narrator sums up: the commits since the last summary, or the last ones of all. Nothing where a run would leave the narrator out,
/// since they changed nothing but the pipeline's own files.
fn range(
    git: &Git,
    code: &CommitSha,
    summed_up: Option<&CommitSha>,
    system: &Tree,
) -> Result<String> {
    let paths = Layout::paths(system).ok();
    let since = paths.and_then(|paths| exchange::last_summary(system, paths));
    let log = git.log(code, commits::wanted(since))?;
    let new = commits::uncovered(&log, since, summed_up);
    // Without a commit before them, all that there is changed.
    if let (Some(newest), Some(before)) = (new.first(), log.get(new.len())) {
        let mut changed = git.changed(&before.sha, &newest.sha)?.into_iter();
        if changed.all(|path| exchange::is_of_pipeline(&path)) {
            return Ok(String::new());
        }
    }
    Ok(commits::described(new))
}

/// The repository that was named, that of the remote, or that of the environment.
pub(crate) fn repository(args: &OnGithub) -> Result<RepoName> {
    match &args.repo {
        Some(repository) => Ok(repository.clone()),
        None => of_origin(&here()?, args),
    }
}

fn of_origin(git: &Git, args: &OnGithub) -> Result<RepoName> {
    if let Some(repository) = &args.repo {
        return Ok(repository.clone());
    }
    if let Some(origin) = git.origin()? {
        let parsed = origin.parse();
        return parsed.with_context(|| format!("reading the remote `origin`, {origin}"));
    }
    let what = "the remote `origin` names no repository on GitHub";
    let next = "name one with `--repo OWNER/REPO`, or in GITHUB_REPOSITORY";
    let fallback = args.github_repository.clone();
    fallback.ok_or_else(|| Error::unfit("no_origin", what, next).into())
}

/// As many ids as are wanted, each of the last characters of a fresh ULID.
fn fresh_ids(count: usize) -> Vec<ArtefactId> {
    let mut ids = BTreeSet::new();
    while ids.len() < count {
        let ulid = Ulid::generate().to_string().to_lowercase();
        let id = ulid.get(ulid.len().saturating_sub(ID_CHARS)..);
        ids.extend(id.and_then(|id| id.parse::<ArtefactId>().ok()));
    }
    ids.into_iter().collect()
}

/// What the prompt is made of, for people, one a line.
fn lines(prompt: &Prompt) -> Vec<String> {
    let included = prompt.included.iter().map(|it| {
        let from = match &it.origin {
            Origin::Target | Origin::Worker => String::new(),
            Origin::BuiltIn => ", built in".to_owned(),
            Origin::Schema(schema) => format!(", from {schema}"),
        };
        format!("included: {} ({} bytes as JSON{from})", it.path, it.bytes)
    });
    let skipped = prompt.skipped.iter();
    let skipped = skipped.map(|path| format!("skipped: {path}"));
    let left = prompt.left.iter();
    let left = left.map(|path| format!("left for the next one: {path}"));
    let oversized = prompt.oversized.iter();
    let oversized = oversized.map(|path| format!("too long for any prompt: {path}"));
    let whole = format!(
        "{} of {PROMPT_BYTES_MAX} bytes as JSON, about {} tokens",
        prompt.bytes,
        prompt.tokens()
    );
    let events = left.chain(oversized);
    included
        .chain(skipped)
        .chain(events)
        .chain([whole])
        .collect()
}

/// The same for programs.
fn to_json(prompt: &Prompt, ids: &[ArtefactId]) -> Value {
    let included: Vec<Value> = prompt
        .included
        .iter()
        .map(|it| json!({ "path": it.path.as_str(), "bytes": it.bytes }))
        .collect();
    let paths =
        |paths: &[TreePath]| -> Vec<String> { paths.iter().map(TreePath::to_string).collect() };
    let ids: Vec<&str> = ids.iter().map(ArtefactId::as_str).collect();
    json!({
        "prompt": prompt.text, "included": included, "skipped": prompt.skipped,
        "left": paths(&prompt.left), "oversized": paths(&prompt.oversized),
        "ids": ids, "bytes": prompt.bytes, "tokens": prompt.tokens(),
    })
}
