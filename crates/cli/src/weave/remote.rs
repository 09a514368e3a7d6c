//! Pull requests of a repository on GitHub, woven without a clone and without a running Gaffer.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use domain::ids::{PullRef, RepoName, SprintNumber};
use engine::machine::SystemClock;
use engine::ports::{Clock, PullsRead};
use engine::settings::Upstreams;
use engine::weaving::{self, Ask, Published, Push, Refused, Weave, Weaver, publish};
use github::{Client, Reader, Writer};
use weave::tree::{Entry, Mode};

use super::show::{Named, RemoteWeave, WeaveReport};
use super::{nothing_woven, too_much};
use crate::args::weave::WeaveArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::git;
use crate::init::outside::{Outside, of_github};
use crate::upstreams;

/// Weaves the pull requests, and writes or pushes what came of it if that is wanted.
pub(super) async fn weave(args: &WeaveArgs, here: &CommandContext) -> Result<WeaveReport> {
    let (repo, numbers) = asked(&args.what)?;
    must_be_of_no_sprint(args, &repo)?;
    let client = outside(args, here).await?.github()?;
    let reader = Reader::new(client.clone());
    let default = reader.default_branch(&repo).await;
    let default = default.map_err(|failure| of_github(&failure, &repo))?;
    let base = args.base.clone().unwrap_or_else(|| default.clone());
    let ask = Ask {
        repo,
        base,
        numbers,
        order: args.order,
        known: BTreeMap::new(),
    };
    let weaver = Weaver {
        pulls: &reader,
        git: &reader,
        with_drafts: false,
    };
    let woven = weaver.weave(&ask, SystemClock.now()).await;
    let woven = woven.map_err(|error| weaving_error(error, &ask.repo))?;
    let is_empty = woven.woven.tree == woven.target;
    if let Some(file) = args.patch.as_ref().filter(|_| !is_empty) {
        write(&weaver, &ask.repo, &woven, file).await?;
    }
    let pushed = match &args.push {
        Some(branch) => {
            let to = Push {
                repo: ask.repo.clone(),
                base: ask.base.clone(),
                default,
                branch: branch.clone(),
                pull: args.pull,
                words: None,
            };
            push(&weaver, client, &woven, &to).await?
        }
        None => None,
    };
    Ok(report(ask, woven, pushed, reader.usage().requests, args))
}

const AS_IN: &str = "type it as in `gaffer weave acme/shop 101 102`, or patches with `--local DIR`";

/// The repository, and the numbers of its pull requests.
fn asked(what: &[PathBuf]) -> Result<(RepoName, Vec<u64>)> {
    let mut words = what.iter().map(|word| word.display().to_string());
    let first = words.next().unwrap_or_default();
    let repo: RepoName = first
        .parse()
        .map_err(|error| Error::usage(format!("{first} names no repository: {error}"), AS_IN))?;
    let numbers = words.map(|word| number_in(&repo, &word));
    let numbers = numbers.collect::<Result<Vec<u64>, Error>>()?;
    if numbers.is_empty() {
        let what = format!("it is not said which pull requests of {repo}");
        return Err(Error::usage(what, AS_IN).into());
    }
    Ok((repo, numbers))
}

/// Refuses the branch of a sprint: a commit there that is no weave of the sprint itself ends it.
fn must_be_of_no_sprint(args: &WeaveArgs, repo: &RepoName) -> Result<(), Error> {
    let Some(branch) = &args.push else {
        return Ok(());
    };
    let Some(number) = SprintNumber::of_branch(branch) else {
        return Ok(());
    };
    let what = format!("{branch} gets the weaves of sprint {number} and no others");
    let next = format!(
        "have the sprint weave with `gaffer sprint integrate {repo} {number}`, or push to another branch"
    );
    Err(Error::usage(what, next))
}

/// The number of a pull request of a repository, which may be named with it, or by its address.
fn number_in(repo: &RepoName, word: &str) -> Result<u64, Error> {
    let named: Option<PullRef> = word.parse().ok().or_else(|| PullRef::from_url(word));
    match named {
        Some(pull) if pull.repo == *repo => Ok(pull.number),
        Some(PullRef {
            repo: other,
            number,
        }) => Err(Error::usage(
            format!("{word} is of {other}, and only what is of {repo} is woven"),
            format!("leave it out, or type `gaffer weave {other} {number}`"),
        )),
        None => {
            let number = word.strip_prefix('#').unwrap_or(word);
            let number = number.parse().ok().filter(|number| *number > 0);
            let odd = || Error::usage(format!("{word} is no number of a pull request"), AS_IN);
            number.ok_or_else(odd)
        }
    }
}

/// GitHub, as this command line and the data folder have it, if there is one.
async fn outside(args: &WeaveArgs, here: &CommandContext) -> Result<Outside> {
    let typed = Upstreams {
        jules_base: None,
        github_base: args.github_base.clone(),
        github_app_id: args.github_app_id,
    };
    let upstreams = match here.database() {
        Ok(_) => {
            let data = here.found().await?;
            upstreams::in_force(&data.backend, typed, |name| here.is_overlaid(name)).await?
        }
        Err(_) => typed,
    };
    let overlay = here.environment.overlay.clone();
    Ok(Outside::new(&here.folder, overlay, upstreams))
}

fn weaving_error(error: weaving::WeavingError, repo: &RepoName) -> anyhow::Error {
    match error {
        weaving::WeavingError::NoBranch(..) => {
            let next = "name one that is there with `--base BRANCH`";
            Error::usage(error.to_string(), next).into()
        }
        weaving::WeavingError::Excess(excess) => too_much(excess).into(),
        weaving::WeavingError::Outside(failure) => of_github(&failure, repo).into(),
    }
}

/// Writes the woven change as a patch.
async fn write(weaver: &Weaver<'_>, repo: &RepoName, woven: &Weave, file: &Path) -> Result<()> {
    let contents = weaver.contents(repo, woven).await;
    let contents = contents.map_err(|error| weaving_error(error, repo))?;
    let changes = woven.woven.tree.changes_since(&woven.target);
    let lacks = |entry: Option<Entry>| {
        entry.is_some_and(|it| it.mode != Mode::Submodule && !contents.contains_key(&it.id))
    };
    let lacking = changes
        .iter()
        .find(|(path, after)| lacks(**after) || lacks(woven.target.get(path)));
    if let Some((path, _)) = lacking {
        let what = format!("GitHub does not give what {path} holds, so no patch is written");
        let next = "weave without `--patch`, or with git on a clone";
        return Err(Error::refused("too_large", what, next).into());
    }
    let patch = git::patch(&woven.target, &changes, &contents).context("making the patch")?;
    fs::write(file, patch).with_context(|| format!("writing {}", file.display()))
}

/// Pushes what was woven, if there is any and it is of the newest heads still.
async fn push(
    weaver: &Weaver<'_>,
    client: Client,
    woven: &Weave,
    to: &Push,
) -> Result<Option<Published>> {
    let moved = weaver.moved(&to.repo, woven, SystemClock.now()).await;
    let moved = moved.map_err(|error| weaving_error(error, &to.repo))?;
    if let Some(first) = moved.first() {
        let what = format!("#{} is not pushed: {}", first.number, first.skip);
        return Err(Error::refused(first.skip.code(), what, first.skip.next()).into());
    }
    let writer = Writer::new(client);
    match publish(weaver.git, &writer, woven, to).await {
        Ok(published) => Ok(Some(published)),
        // The answer has the reason of each, and the command ends with a refusal after it.
        Err(Refused::Nothing) => Ok(None),
        Err(refused) => Err(not_pushed(refused, to)),
    }
}

fn not_pushed(refused: Refused, to: &Push) -> anyhow::Error {
    let what = refused.to_string();
    match refused {
        Refused::Nothing => nothing_woven().into(),
        Refused::Same(_) | Refused::Default(_) => {
            Error::usage(what, "push to a branch of its own").into()
        }
        Refused::NotOurs(..) => {
            let next = "push to a new branch, so that nothing of another hand is built upon";
            Error::refused("not_ours", what, next).into()
        }
        Refused::OtherBase(..) => {
            let next = "close it or weave into its base, or push to another branch";
            Error::refused("other_base", what, next).into()
        }
        Refused::Path(..) => {
            Error::refused("odd_path", what, "weave without it, or with git on a clone").into()
        }
        Refused::Outside(failure) => of_github(&failure, &to.repo).into(),
    }
}

fn report(
    ask: Ask,
    weave: Weave,
    pushed: Option<Published>,
    calls: u64,
    args: &WeaveArgs,
) -> WeaveReport {
    let files = weave.woven.tree.changes_since(&weave.target).len();
    let named = weave.taken.iter().map(|taken| Named {
        number: taken.number,
        name: String::new(),
    });
    WeaveReport {
        base: weave.base.to_string(),
        named: named.collect(),
        files,
        woven: weave.woven,
        written: None,
        remote: Some(RemoteWeave {
            repo: ask.repo,
            branch: ask.base,
            skipped: weave.skipped,
            calls,
            patch: args.patch.clone().filter(|_| files > 0),
            pushed: args.push.clone().zip(pushed),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_and_numbers_are_understood() {
        let words = |words: &[&str]| words.iter().map(PathBuf::from).collect::<Vec<_>>();
        let named = [
            "101",
            "#7",
            "Acme/Shop#8",
            "https://github.com/acme/shop/pull/9/files",
        ];
        let (repo, numbers) = asked(&words(&[&["acme/shop"], &named[..]].concat())).unwrap();
        assert_eq!(
            (repo.as_str(), &numbers[..]),
            ("acme/shop", &[101, 7, 8, 9][..])
        );
        for odd in [
            &["acme/shop"][..],
            &["shop", "1"],
            &["acme/shop", "0"],
            &["acme/shop", "x"],
            &["acme/shop", "-1"],
            &["acme/shop", "99999999999999999999"],
            &["acme/shop", "acme/shop#0"],
            &["acme/shop", "acme/other#3"],
            &["acme/shop", "https://github.com/acme/shop/issues/3"],
        ] {
            let error = asked(&words(odd)).unwrap_err();
            let error = error.downcast_ref::<Error>();
            assert!(matches!(error, Some(Error::Usage { .. })), "{odd:?}");
        }
    }
}
