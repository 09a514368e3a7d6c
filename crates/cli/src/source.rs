//! `gaffer source`: repositories to work on, and their policies.

use anyhow::{Context, Result};
use domain::delivery::{OddRules, Rules};
use domain::github_access::RepositoryAccess;
use domain::ids::{RepoId, RepoName};
use domain::nearest::meant;
use domain::policy::{self, Answers, OddSource, Policy, Source, Timing};
use engine::backend::Backend;
use engine::sources::SourceRefused;
use engine::store::Store;
use serde_json::json;

use crate::args::source::{AddSourceArgs, PolicyArgs, SetSourceArgs, SourceCommand, TimingArgs};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{Answer, value};
use crate::site::StoreAccess;

mod deliveries;
pub(crate) mod pause;
mod remove;
mod show;
mod sync;

pub(crate) use show::unread;

pub(crate) async fn run(command: SourceCommand, here: &CommandContext) -> Result<Answer> {
    let found = async || Ok::<_, anyhow::Error>(StoreAccess::found(here).await?.backend);
    match command {
        SourceCommand::Add(args) => {
            let context = format!("adding source {}", args.repo);
            let backend = StoreAccess::load(here).await?.backend;
            add(args, &backend).await.context(context)
        }
        SourceCommand::Set(args) => {
            let context = format!("changing source {}", args.repo);
            set(args, &found().await?).await.context(context)
        }
        SourceCommand::List => list(&found().await?).await.context("listing sources"),
        SourceCommand::Show { repo } => show_one(&repo, &found().await?)
            .await
            .with_context(|| format!("showing source {repo}")),
        SourceCommand::Remove { repo } => remove::run(&repo, &found().await?)
            .await
            .with_context(|| format!("removing source {repo}")),
        SourceCommand::Sync { repo, url } => sync::run(&repo, url, here)
            .await
            .with_context(|| format!("having the issues of {repo} read")),
        SourceCommand::Pause { repo } => pause::set(&found().await?, &repo, true)
            .await
            .with_context(|| format!("pausing source {repo}")),
        SourceCommand::Resume { repo } => pause::set(&found().await?, &repo, false)
            .await
            .with_context(|| format!("resuming source {repo}")),
    }
}

async fn add(args: AddSourceArgs, backend: &Backend) -> Result<Answer> {
    let source = Source {
        policy: policy(&Policy::default(), &args.policy)?,
        timing: timing(&Timing::default(), &args.timing),
        repo: args.repo,
        account: args.account,
        agent: args.agent,
        paused: false,
        branch: Some(args.branch),
        pipeline: None,
        deliveries: deliveries::rules(&Rules::default(), &args.deliveries)?,
        sprints: domain::sprint::SprintRules::default(),
    };
    let added = match backend.add_source(&source).await {
        Ok(added) => added,
        Err(error) => return Err(missing(&backend.store, error.into()).await),
    };
    added.map_err(|refused| match refused {
        SourceRefused::Odd(odd) => worded(odd, &source.repo),
        SourceRefused::Exists(found) => {
            let next = format!("change it with `gaffer source set {}`", found.repo);
            let what = format!("{} is a source already", found.repo);
            Error::refused("exists", what, next)
        }
    })?;
    Ok(answer(&source, "is added"))
}

async fn set(args: SetSourceArgs, backend: &Backend) -> Result<Answer> {
    if args.is_empty() {
        return Err(Error::usage(
            "nothing is given that could change",
            "`gaffer source set --help` lists what can be set",
        )
        .into());
    }
    if let Some(id) = args.repository_id {
        mean(backend, &args.repo, RepoId(id)).await?;
    }
    let source = change_source(backend, &args.repo, |source| {
        let kept = source.agent.clone().filter(|_| !args.no_agent);
        Ok(Source {
            account: args
                .account
                .clone()
                .unwrap_or_else(|| source.account.clone()),
            agent: args.agent.clone().or(kept),
            branch: args.branch.clone().or_else(|| source.branch.clone()),
            policy: policy(&source.policy, &args.policy)?,
            timing: timing(&source.timing, &args.timing),
            deliveries: deliveries::rules(&source.deliveries, &args.deliveries)?,
            ..source.clone()
        })
    })
    .await?;
    Ok(answer(&source, "is set"))
}

/// Sets the repository's number. The state of the previous one is dropped.
async fn mean(backend: &Backend, repo: &RepoName, id: RepoId) -> Result<()> {
    if backend.store.source(repo).await?.is_none() {
        return Err(unknown(&backend.store, repo.as_str()).await);
    }
    let renumbered =
        |reach: &RepositoryAccess| Ok::<_, engine::backend::Error>((reach.meant(id), ()));
    backend.update_or_initial(repo, renumbered).await?;
    backend.read_pulls_soon(repo).await?;
    // What was not written to the other one goes on.
    Ok(backend.go_on(Some(repo)).await?)
}

async fn list(backend: &Backend) -> Result<Answer> {
    let found = backend.store.sources().await?;
    let unread = backend.store.unread_issues(&found).await?;
    let sources: Vec<Source> = found.into_iter().map(|source| source.value).collect();
    let rows = sources.iter().map(show::row).collect();
    let none = "No source yet: `gaffer source add OWNER/REPO`.";
    let answer = Answer::new(json!({ "sources": value(&sources), "unread_issues": unread }));
    let answer = answer.table(&show::HEAD, rows, none);
    let lines = unread.iter().map(|it| format!("error: {}", it.sentence));
    Ok(lines.fold(answer, Answer::line))
}

async fn show_one(repo: &RepoName, backend: &Backend) -> Result<Answer> {
    let found = backend.store.source(repo).await?;
    let Some(found) = found else {
        return Err(unknown(&backend.store, repo.as_str()).await);
    };
    let unread = backend.store.unread_issues(std::slice::from_ref(&found));
    let unread = unread.await?;
    let source = found.value;
    let mut pairs = vec![("source", source.repo.to_string())];
    pairs.extend(show::pairs(&source));
    pairs.push(("issues", show::unread(&unread)));
    let json = json!({ "source": value(&source), "unread_issues": unread });
    Ok(Answer::new(json).pairs(pairs))
}

/// Changes an existing source; returns the new one.
pub(crate) async fn change_source(
    backend: &Backend,
    repo: &RepoName,
    decide: impl Fn(&Source) -> Result<Source>,
) -> Result<Source> {
    match backend.change_source(repo, decide).await {
        Ok(changed) => Ok(changed.map_err(|odd| worded(odd, repo))?),
        Err(error) => Err(missing(&backend.store, error).await),
    }
}

fn answer(source: &Source, what: &str) -> Answer {
    Answer::new(json!({ "source": value(source) }))
        .line(format!("Source {} {what}.", source.repo))
        .pairs(show::pairs(source))
}

/// The command that adds what is missing.
async fn missing(store: &Store, error: anyhow::Error) -> anyhow::Error {
    let (what, name) = match error.downcast_ref::<engine::backend::Error>() {
        Some(engine::backend::Error::NoSuch { what, name }) => (*what, name.clone()),
        Some(_) | None => return error,
    };
    match what {
        "source" => unknown(store, &name).await,
        "agent" => Error::no_such(what, &name, " --url URL").into(),
        _ => Error::no_such(what, &name, "").into(),
    }
}

/// There is no such source: the nearest one, and the command that adds it.
pub(crate) async fn unknown(store: &Store, repo: &str) -> anyhow::Error {
    let known = match store.sources().await {
        Ok(known) => known,
        Err(error) => return error.into(),
    };
    let known: Vec<String> = known.iter().map(|it| it.value.repo.to_string()).collect();
    let near = meant(repo, known.iter().map(String::as_str));
    let what = format!("there is no source `{repo}`{near}");
    let next = format!("add it with `gaffer source add {repo}`");
    Error::refused("no_such", what, next).into()
}

/// What is odd about a source, in the words of the options.
fn worded(odd: OddSource, repo: &RepoName) -> Error {
    match odd {
        OddSource::NothingChecked => Error::usage(
            "`--merge on-green` or `integration` with `--min-checks 0` and no required check would merge what nothing has checked",
            "name a check with `--required-check NAME`, or set `--min-checks 1`",
        ),
        OddSource::NoPlanner => Error::usage(
            "`--plan-by agent` in a source without an agent would wait for a plan that nothing sends",
            "name one with `--agent NAME`, or let `--plan-by jules` or `--plan-by human` plan",
        ),
        OddSource::NoBranch => Error::usage(
            "the pipeline of a source works on its branch, and this source names none",
            format!("name one with `gaffer source set {repo} --branch BRANCH`"),
        ),
        OddSource::SameBranch => Error::usage(
            "the worker branch of a pipeline has to be another one than the branch of its source",
            format!("name another one with `gaffer pipeline on {repo} --worker BRANCH`"),
        ),
        OddSource::OfSprint { .. } => Error::usage(
            odd.to_string(),
            format!(
                "name another one with `gaffer source set {repo} --branch BRANCH`, or with `gaffer pipeline on {repo} --worker BRANCH`"
            ),
        ),
        OddSource::NoReviewer => Error::usage(
            "`--review-by agent` in a source without an agent would wait for a review that nothing makes",
            "name one with `--agent NAME`, or let `--review-by human`, `jules` or `nobody` review",
        ),
        OddSource::Sprints(odd) => Error::usage(
            odd.to_string(),
            format!("give another value with `gaffer sprint set {repo}`"),
        ),
        OddSource::Deliveries(odd) => Error::usage(format!("{odd}"), mended(&odd)),
    }
}

/// What to give instead of settings of deliveries that do not go together.
fn mended(odd: &OddRules) -> &'static str {
    match odd {
        OddRules::Rounds(_) | OddRules::Attempts(_) => "give another number",
        OddRules::NeverReached(..) => {
            "name the checkpoints with `--checkpoint PHASE`, or the end with `--endpoint PHASE`"
        }
        OddRules::NeverDeployed | OddRules::NeverObserved => "name the end with `--endpoint PHASE`",
        OddRules::LabelOfJules
        | OddRules::Label(_)
        | OddRules::Deploy(_)
        | OddRules::Observe(_) => "give another value",
    }
}

/// A policy with the given changes.
pub(crate) fn policy(before: &Policy, args: &PolicyArgs) -> Result<Policy, Error> {
    let list = |given: &Option<Vec<String>>, none: bool, before: &[String]| match given {
        Some(given) => given.clone(),
        None if none => Vec::new(),
        None => before.to_vec(),
    };
    Ok(Policy {
        merge: args.merge.unwrap_or(before.merge),
        merge_method: args.merge_method.unwrap_or(before.merge_method),
        other_merge_methods: match &args.other_merge_methods {
            Some(others) => others.clone(),
            None if args.no_other_merge_methods => Vec::new(),
            None => before.other_merge_methods.clone(),
        },
        min_checks: args.min_checks.unwrap_or(before.min_checks),
        required_checks: list(
            &args.required_checks,
            args.no_required_checks,
            &before.required_checks,
        ),
        protected_paths: list(
            &args.protected_paths,
            args.no_protected_paths,
            &before.protected_paths,
        ),
        blocking_labels: list(&args.blocking_labels, false, &before.blocking_labels),
        merges_per_day: args.merges_per_day.unwrap_or(before.merges_per_day),
        adopted_may_merge: args.adopted_may_merge.unwrap_or(before.adopted_may_merge),
        delete_branch: args.keep_branch.map_or(before.delete_branch, |keep| !keep),
        plan_approval: args.plan_approval.unwrap_or(before.plan_approval),
        answers: match &args.answers {
            Some(steps) => chain(steps)?,
            None => before.answers.clone(),
        },
        ci_repairs: args.ci_repairs.unwrap_or(before.ci_repairs),
        comment_when_blocked: args
            .comment_when_blocked
            .unwrap_or(before.comment_when_blocked),
        blocked_label: match &args.blocked_label {
            Some(label) => Some(label.clone()),
            None if args.no_blocked_label => None,
            None => before.blocked_label.clone(),
        },
    })
}

/// The answer chain, in the order of the options.
fn chain(steps: &[policy::Answer]) -> Result<Answers, Error> {
    Answers::new(steps.to_vec()).map_err(|odd| {
        let next = "give them in their order, as in `--answer agent:2h --answer human`";
        Error::usage(format!("`--answer`: {odd}"), next)
    })
}

/// Timings with the given changes.
pub(crate) fn timing(before: &Timing, args: &TimingArgs) -> Timing {
    Timing {
        stuck_after: args.stuck_after.unwrap_or(before.stuck_after),
        stuck_after_queued: args.stuck_after_queued.unwrap_or(before.stuck_after_queued),
        text_wait: args.text_wait.unwrap_or(before.text_wait),
        not_found_grace: args.not_found_grace.unwrap_or(before.not_found_grace),
        quiet: args.quiet.unwrap_or(before.quiet),
        watch_completed: args.watch_completed.unwrap_or(before.watch_completed),
        settle: args.settle.unwrap_or(before.settle),
        ci_start: args.ci_start.unwrap_or(before.ci_start),
        ci_repair_after: args.ci_repair_after.unwrap_or(before.ci_repair_after),
        pull_poll: args.pull_poll.unwrap_or(before.pull_poll),
    }
}

#[cfg(test)]
mod tests {
    use domain::policy::MergePolicy;

    use super::*;

    #[test]
    fn what_is_not_given_stays() {
        let safe = Policy::default();
        assert_eq!(policy(&safe, &PolicyArgs::default()).unwrap(), safe);
        assert_eq!(
            timing(&Timing::default(), &TimingArgs::default()),
            Timing::default()
        );
        let changed = policy(
            &safe,
            &PolicyArgs {
                merge: Some(MergePolicy::OnGreen),
                keep_branch: Some(true),
                no_protected_paths: true,
                ..PolicyArgs::default()
            },
        )
        .unwrap();
        let wanted = Policy {
            merge: MergePolicy::OnGreen,
            delete_branch: false,
            protected_paths: Vec::new(),
            ..safe
        };
        assert_eq!(changed, wanted);
    }

    #[test]
    fn who_answers_is_given_in_order_and_each_but_the_last_with_a_time() {
        let given = |steps: &[&str]| PolicyArgs {
            answers: Some(steps.iter().map(|step| step.parse().unwrap()).collect()),
            ..PolicyArgs::default()
        };
        let chain = given(&["agent:2h", "nudge:20m", "human"]);
        let set = policy(&Policy::default(), &chain).unwrap();
        assert_eq!(
            set.answers.to_string(),
            "agent:2h, then nudge:20m, then human"
        );
        let endless = policy(&Policy::default(), &given(&["agent", "human"]));
        assert!(endless.unwrap_err().to_string().contains("`agent:2h`"));
    }
}
