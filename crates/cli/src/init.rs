//! `gaffer init`: from nothing to a source that can be worked on, in one command that can be run again.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use domain::doctor::Severity;
use domain::ids::{AgentName, RepoName};
use engine::ports::{SecretName, SourceView};
use engine::settings::Upstreams;
use serde_json::{Value, json};
use server::data::Data;

use crate::args::account::{AddAccountArgs as AccountArgs, LimitArgs};
use crate::args::doctor::DoctorArgs;
use crate::args::init::InitArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{self, Answer, value};
use crate::site::StoreAccess;
use crate::{account, doctor, upstreams};

mod notes;
pub(crate) mod outside;
pub(crate) mod person;
pub(crate) mod secrets;
mod source;

use notes::InitNotes;
use outside::Outside;
use person::Person;
use secrets::{ChosenSecret, GivenSecrets, KEY, TOKEN, WantedSecret};

/// Default name of an agent.
const AGENT: &str = "helper";

/// Sets everything up; existing settings stay. Errors of the doctor end the process with 1.
pub(crate) async fn run(args: InitArgs, here: &CommandContext, as_json: bool) -> Result<()> {
    let person = person::here(args.yes);
    let mut first_hour = InitRun::new(args, here, person).await?;
    let (answer, errors) = match Box::pin(first_hour.run()).await {
        Ok(done) => done,
        Err(error) => return Err(first_hour.failed(error, as_json)?),
    };
    render::answer(&answer, as_json).context("writing what was set up")?;
    if errors > 0 {
        let found = if errors == 1 { "error" } else { "errors" };
        let what = format!(
            "it is set up, but the doctor found {errors} {found} in the way; what was done stays stored"
        );
        let next = "mend them from the top, then run `gaffer doctor`";
        return Err(Error::refused("unhealthy", what, next).into());
    }
    match first_hour.notes.differing() {
        0 => Ok(()),
        count => Err(differing(count).into()),
    }
}

fn differing(count: usize) -> Error {
    let what = match count {
        1 => "one setting differs from what was asked for, and stays as it is".to_owned(),
        count => format!("{count} settings differ from what was asked for, and stay as they are"),
    };
    Error::refused("differs", what, "change it with the commands above")
}

struct InitRun {
    data: Data,
    here: CommandContext,
    person: Option<Box<dyn Person>>,
    notes: InitNotes,
    given: GivenSecrets,
    args: InitArgs,
}

impl InitRun {
    async fn new(
        args: InitArgs,
        here: &CommandContext,
        person: Option<Box<dyn Person>>,
    ) -> Result<Self> {
        let given = GivenSecrets::read(&args, here)?;
        // What the environment holds is stored as well, so that `gaffer up` finds it in another terminal.
        let here = here.stored_only();
        Ok(Self {
            data: here.open().await.context("setting up")?,
            here,
            person,
            notes: InitNotes::default(),
            given,
            args,
        })
    }

    /// A failure, after the rows of completed steps, which stay. Programs get those within the error.
    fn failed(&self, error: anyhow::Error, as_json: bool) -> Result<anyhow::Error> {
        if as_json {
            return Ok(match self.notes.stored() {
                "" => error.context("setting up"),
                stored => error.context(format!(
                    "setting up (stored so far, and it stays: {stored})"
                )),
            });
        }
        let rows = self.notes.append_notes(Answer::new(Value::Null));
        if !self.notes.is_empty() {
            render::answer(&rows, as_json).context("writing what was set up")?;
        }
        Ok(error)
    }

    /// Asks the person the same question again after a refused answer.
    fn told_wrong(&mut self, error: anyhow::Error, codes: &[&str]) -> Result<()> {
        let refused = error.downcast_ref::<Error>().filter(|error| match error {
            Error::Refused { code, .. } => codes.contains(code),
            Error::Usage { .. } | Error::Unfit { .. } => false,
        });
        match (refused, &mut self.person) {
            (Some(refused), Some(person)) => {
                person.show_error(refused);
                Ok(())
            }
            (_, _) => Err(error),
        }
    }

    async fn run(&mut self) -> Result<(Answer, usize)> {
        let upstreams = self.places().await?;
        let sources = self.jules(&upstreams).await?;
        let (repo, seen) = self.repo(&sources)?;
        self.notes.done(format!("Jules sees {repo}"));
        let branch = self.github(&upstreams, &repo).await?;
        let agent = self.agent(&repo).await?;
        let branch = seen.default_branch.clone().or(branch);
        let source = source::ensure(self, repo, agent, branch).await?;
        let report = self.doctor(&source.repo).await?;
        let errors = report.count(Severity::Error);
        let next = if errors == 0 {
            format!(
                "Start it with `gaffer up`, then `gaffer job create --repo {} --prompt TEXT`.",
                source.repo
            )
        } else {
            "It does not work like this yet: mend these, then `gaffer doctor`.".to_owned()
        };
        let answer = Answer::new(json!({
            "data": self.here.folder, "source": value(&source), "notes": value(&self.notes),
            "doctor": report.json(),
        }));
        Ok((
            report
                .append_report(self.notes.append_notes(answer))
                .line(next),
            errors,
        ))
    }

    /// Checks everything again, as it is stored now.
    async fn doctor(&self, repo: &RepoName) -> Result<doctor::DoctorReport> {
        let args = DoctorArgs {
            source: Some(repo.clone()),
            ..DoctorArgs::default()
        };
        let report = doctor::examine(&args, &self.here).await;
        Ok(report.context("looking around")?.before_start())
    }

    /// Stores the addresses of Jules and GitHub, if they were given.
    async fn places(&mut self) -> Result<Upstreams> {
        let before = upstreams::remembered(&self.data.backend).await?.value;
        let asked = &self.args.upstreams;
        let after = upstreams::remember(&self.data.backend, |known| Upstreams {
            jules_base: asked
                .jules_base
                .clone()
                .or_else(|| known.jules_base.clone()),
            github_base: asked
                .github_base
                .clone()
                .or_else(|| known.github_base.clone()),
            ..known.clone()
        })
        .await?;
        for (what, was, is) in [
            ("Jules", &before.jules_base, &after.jules_base),
            ("GitHub", &before.github_base, &after.github_base),
        ] {
            if let Some(is) = is.as_ref().filter(|_| was != is) {
                let was = was.as_deref().unwrap_or("the usual address");
                self.notes
                    .stored_now(format!("{what} is remembered at {is} (before: {was})"));
            }
        }
        Ok(after)
    }

    /// Checks the key, then keeps it.
    async fn jules(&mut self, upstreams: &Upstreams) -> Result<Vec<SourceView>> {
        let name = SecretName::Jules(self.args.account.clone());
        let wanted = WantedSecret {
            name: &name,
            kind: &KEY,
            given: self.given.key.as_ref(),
        };
        let secrets = self.data.secrets.as_ref();
        let chosen = secrets::choose(secrets, &wanted, &mut self.person, &mut self.notes).await?;
        let mut chosen = chosen.ok_or_else(|| secrets::missing(&KEY))?;
        let sources = loop {
            let outside = self.outside(&name, &chosen, upstreams);
            match outside.sources(&self.args.account).await {
                Ok(sources) => break sources,
                Err(error) if chosen.is_new && self.given.key.is_none() => {
                    self.told_wrong(error, &["bad_key"])?;
                    chosen = secrets::asked_again(&mut self.person, &KEY)?;
                }
                Err(error) => return Err(error),
            }
        };
        self.notes.done("Jules takes the key");
        let known = self.data.backend.store.account(&self.args.account).await?;
        if known.is_none() {
            account::add(self.account_args(), &self.here, Some(&chosen.secret)).await?;
            self.notes
                .stored_now(format!("account `{}` is added", self.args.account));
        } else if chosen.is_new {
            self.data.secrets.write(&name, &chosen.secret).await?;
            self.notes.stored_now("the Jules key is stored");
        } else {
            self.notes.kept(format!("account `{}`", self.args.account));
        }
        Ok(sources)
    }

    fn account_args(&self) -> AccountArgs {
        AccountArgs {
            name: self.args.account.clone(),
            key_stdin: false,
            key_file: None,
            limits: LimitArgs::default(),
            agent: None,
            replace_key: false,
        }
    }

    fn outside(&self, name: &SecretName, chosen: &ChosenSecret, upstreams: &Upstreams) -> Outside {
        let overlay = BTreeMap::from([(name.path(), chosen.secret.clone())]);
        Outside::new(&self.here.folder, overlay, upstreams.clone())
    }

    /// The repository, which Jules has to see.
    fn repo<'a>(&mut self, sources: &'a [SourceView]) -> Result<(RepoName, &'a SourceView)> {
        if let Some(repo) = &self.args.repo {
            return Ok((repo.clone(), outside::connected(repo, sources)?));
        }
        let seen = match sources {
            [] => "Jules sees none yet".to_owned(),
            some => format!("Jules sees {}", outside::shown(some)),
        };
        let Some(person) = &mut self.person else {
            let next = format!("give one with `--repo OWNER/REPO`; {seen}");
            return Err(Error::usage("no repository is given", next).into());
        };
        let question = format!("Repository, as owner/name ({seen})");
        person::ask(person.as_mut(), &question, |answer| {
            let answer = match (answer, sources) {
                ("", [only]) => only.repo.to_string(),
                (text, _) => text.to_owned(),
            };
            let bad = |error| Error::usage(format!("`{answer}`: {error}"), "give it as owner/name");
            let repo = answer.parse::<RepoName>().map_err(bad)?;
            let seen = outside::connected(&repo, sources)?;
            Ok((repo, seen))
        })
    }

    /// Checks the token against the repository, then keeps it; without one, a GitHub App has to come.
    async fn github(
        &mut self,
        upstreams: &Upstreams,
        repo: &RepoName,
    ) -> Result<Option<domain::ids::BranchName>> {
        let name = SecretName::GitHub;
        let wanted = WantedSecret {
            name: &name,
            kind: &TOKEN,
            given: self.given.token.as_ref(),
        };
        let secrets = self.data.secrets.as_ref();
        let chosen = secrets::choose(secrets, &wanted, &mut self.person, &mut self.notes).await?;
        let Some(mut chosen) = chosen else {
            self.notes.warn(format!(
                "there is no GitHub token: give one in {} and run this again, or make a GitHub App with `gaffer github setup`",
                TOKEN.variable
            ));
            return Ok(None);
        };
        let branch = loop {
            let outside = self.outside(&name, &chosen, upstreams);
            match outside.default_branch(repo).await {
                Ok(branch) => break branch,
                Err(error) if chosen.is_new && self.given.token.is_none() => {
                    self.told_wrong(error, &["bad_token", "no_access"])?;
                    chosen = secrets::asked_again(&mut self.person, &TOKEN)?;
                }
                Err(error) => return Err(error),
            }
        };
        self.notes.done(format!("GitHub lets {repo} be read"));
        if chosen.is_new {
            self.data.secrets.write(&name, &chosen.secret).await?;
            self.notes.stored_now("the GitHub token is stored");
        }
        Ok(Some(branch))
    }

    /// The agent to wake, made if it is new; none means a person.
    async fn agent(&mut self, repo: &RepoName) -> Result<Option<AgentName>> {
        let asked = self.args.agent.clone();
        let mut url = self.args.agent_url.clone();
        if asked.is_none() && url.is_none() && self.is_new_source(repo).await? {
            url = source::ask_agent(&mut self.person)?;
        }
        let Some(url) = url else {
            return Ok(asked);
        };
        let name = match asked {
            Some(name) => name,
            None => AGENT.parse().context("naming the agent")?,
        };
        if let Some(known) = self.data.backend.store.agent(&name).await? {
            if known.value.url.as_ref() == Some(&url) {
                self.notes.kept(format!("agent `{name}`"));
            } else {
                self.notes.differs(
                    &format!("agent `{name}`"),
                    "it is woken at another address",
                    &format!("change it with `gaffer agent set {name} --url {url}`"),
                );
            }
            return Ok(Some(name));
        }
        let keeping = StoreAccess::load(&self.here).await?;
        crate::agent::add_quietly(&name, url, &keeping).await?;
        let file = self.here.folder.join("secrets/agents").join(name.as_str());
        self.notes.stored_now(format!(
            "agent `{name}` is added; what its wakes are signed with is in {}",
            file.display()
        ));
        Ok(Some(name))
    }

    async fn is_new_source(&self, repo: &RepoName) -> Result<bool> {
        Ok(self.data.backend.store.source(repo).await?.is_none())
    }
}

#[cfg(test)]
mod tests;
