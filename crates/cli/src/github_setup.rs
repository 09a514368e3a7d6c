//! `gaffer github setup`: makes a GitHub App for the person who typed it, keeps its secrets, and waits until it is installed.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use engine::ports::{SecretName, SecretsError};
use engine::settings::{AppSetup, MadeApp, Upstreams};
use github::{AppMaker, Installed, NewApp, Wanted};
use secrecy::{ExposeSecret, SecretString};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::args::github::{GithubCommand, SetupArgs};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{self, Answer};
use crate::site::StoreAccess;
use crate::stdin::{self, KeyFrom};
use crate::upstreams;

mod code;
mod key;
mod page;
mod progress;
mod report;
mod token;

use code::Code;
use page::Page;
use report::{End, not_exchanged, not_signed_in, setup_answer};

/// How often GitHub is asked whether the App is installed: a person needs longer to click.
const LOOK_EVERY: Duration = Duration::from_secs(2);

pub(crate) async fn run(command: GithubCommand, here: &CommandContext) -> Result<Answer> {
    match command {
        GithubCommand::Setup(args) => {
            let is_deployed = here.stack.is_some();
            let answer = setup(*args, here).await;
            let answer = answer.context("setting up the GitHub App")?;
            Ok(match is_deployed {
                true => answer
                    .line("Deploy the stack once more: its functions are told of the App then."),
                false => answer,
            })
        }
        GithubCommand::Token(args) => token::replace(args, here)
            .await
            .context("replacing the GitHub token"),
    }
}

async fn setup(args: SetupArgs, here: &CommandContext) -> Result<Answer> {
    let overlaid = here.is_overlaid(&SecretName::GitHub);
    // Secrets are written, so those that the environment lays over them are left out.
    let data = StoreAccess::load(here).await?;
    let typed = Upstreams {
        github_base: args.github_base.clone(),
        ..Upstreams::default()
    };
    let base = upstreams::in_force(&data.backend, typed, |_| false)
        .await?
        .github_base;
    let settings =
        github::Settings::new(base.as_deref(), None).context("reading the address of GitHub")?;
    let maker = AppMaker::new(&settings).context("preparing to talk to GitHub")?;
    let run = Run {
        args,
        data,
        maker,
        base,
    };
    let made = run.made().await?;
    let was_used = run.is_used(&made).await?;
    // Without another credential nothing is lost by using this one at once.
    let others = was_used || run.has_other().await?;
    if !others {
        run.put_to_use(&made).await?;
    }
    let wanted = if was_used {
        Vec::new()
    } else {
        run.owners().await?
    };
    let installed = run.wait_for_installation(&made, &wanted).await?;
    let lacking = lacking(&wanted, &installed);
    if others && !was_used && lacking.is_empty() && !installed.is_empty() {
        run.put_to_use(&made).await?;
    }
    let end = End {
        in_use: run.is_used(&made).await?,
        is_new: !was_used,
        replaced: others && !was_used,
        lacking,
        overlaid,
    };
    Ok(setup_answer(&made, &installed, &end))
}

/// Owners that have not installed the App, or have suspended it.
fn lacking(owners: &[String], installed: &[Installed]) -> Vec<String> {
    let has = |owner: &&String| {
        let mut live = installed.iter().filter(|it| it.suspended_at.is_none());
        live.any(|it| it.account.login.eq_ignore_ascii_case(owner))
    };
    owners.iter().filter(|owner| !has(owner)).cloned().collect()
}

struct Run {
    args: SetupArgs,
    data: StoreAccess,
    maker: AppMaker,
    base: Option<String>,
}

impl Run {
    /// Continues where the last run stopped until the App's key is stored.
    async fn made(&self) -> Result<MadeApp> {
        if let Some(id) = self.args.app_id {
            return self.take_over(id).await;
        }
        let found = progress::read(&self.data.backend).await?;
        let version = found.as_ref().map(|found| found.version);
        let stage = found.map(|found| found.value).filter(|_| !self.args.again);
        if let (Some(_), None | Some(AppSetup::Asked { .. } | AppSetup::Stored(_))) =
            (&self.args.key_file, &stage)
        {
            let what = "`--key-file` says no App: none was made whose key was lost";
            let next = "give the App's id with `--app-id ID`, or leave `--key-file` out";
            return Err(Error::usage(what, next).into());
        }
        match stage {
            Some(AppSetup::Stored(made)) if !self.args.code_stdin => Ok(made),
            Some(AppSetup::Made(made)) if !self.args.code_stdin => self.rescue(made).await,
            Some(AppSetup::Asked { state, port }) => self.ask(version, state, port).await,
            Some(AppSetup::Stored(_) | AppSetup::Made(_)) | None => {
                let state = format!("{:032x}", rand::random::<u128>());
                self.ask(version, state, self.args.listen.port()).await
            }
        }
    }

    /// Gets a code, exchanges it, and stores the result.
    async fn ask(&self, version: Option<u64>, state: String, port: u16) -> Result<MadeApp> {
        let code = if self.args.code_stdin {
            let text = stdin::key(KeyFrom::StdinOrAsked, "the code")?;
            code::pasted(text.expose_secret(), Some(&state))?
        } else {
            self.code(version, state, port).await?
        };
        let made = self.maker.convert(code.expose()).await;
        let new = made.map_err(|failure| not_exchanged(&failure))?;
        self.keep(new).await
    }

    /// Opens the page and waits for the code.
    async fn code(&self, version: Option<u64>, state: String, port: u16) -> Result<Code> {
        let listener = self.listen(port).await?;
        let at = listener
            .local_addr()
            .context("reading the address of the page")?;
        let asked = AppSetup::Asked {
            state: state.clone(),
            port: at.port(),
        };
        progress::save(&self.data.backend, version, &asked).await?;
        let page = self.page(at, state)?;
        render::note(&format!(
            "Open http://{at}/ in a browser on this machine and follow it. On another machine, tunnel to that port, or give the code with `gaffer github setup --code-stdin`."
        ));
        let within = self.args.within.unsigned_abs();
        let code = page::wait(listener, page, within).await?;
        code.ok_or_else(|| {
            let next = "type `gaffer github setup` again, which goes on from here";
            Error::refused("no_code", "GitHub has brought no code", next).into()
        })
    }

    /// The port of the last run, if it is free, since GitHub may still go back to it.
    async fn listen(&self, port: u16) -> Result<TcpListener> {
        let at = self.args.listen;
        if !at.ip().is_loopback() {
            let what = format!("`--listen {at}` could be reached by others");
            return Err(
                Error::usage(what, "give an address of this machine, such as 127.0.0.1:0").into(),
            );
        }
        if let Ok(listener) = TcpListener::bind(SocketAddr::new(at.ip(), port)).await {
            return Ok(listener);
        }
        TcpListener::bind(at)
            .await
            .with_context(|| format!("listening on {at}"))
    }

    fn page(&self, at: SocketAddr, state: String) -> Result<Page> {
        let name = match &self.args.name {
            Some(name) => name.clone(),
            None => format!("gaffer-{}", self.data.backend.installation),
        };
        let wanted = Wanted {
            name,
            back_to: format!("http://{at}{}", page::BACK),
            webhook: self.args.webhook_url.clone(),
        };
        let form = github::form_address(self.base.as_deref(), self.args.org.as_deref(), &state)
            .context("finding GitHub's page")?;
        Ok(Page {
            form,
            manifest: github::manifest(&wanted).to_string(),
            state,
        })
    }

    /// Notes the App, then keeps its secrets: a crash in between is found again by the next run.
    ///
    /// Its key is not put in the place of another credential, which works until the App is installed.
    async fn keep(&self, new: NewApp) -> Result<MadeApp> {
        let made = MadeApp {
            id: new.id,
            slug: new.slug,
            page: new.html_url,
        };
        progress::made(&self.data.backend, &made).await?;
        if let Some(secret) = new.webhook_secret {
            self.keep_webhook_secret(&secret).await?;
        }
        let name = SecretName::App(made.id);
        self.data.secrets.write(&name, &new.pem).await?;
        Ok(made)
    }

    /// Has `gaffer up` use the App from its next start on. The order lets any crash be fixed by another run.
    async fn put_to_use(&self, made: &MadeApp) -> Result<()> {
        let key = self.data.secrets.read(&SecretName::App(made.id)).await?;
        self.data.secrets.write(&SecretName::GitHub, &key).await?;
        progress::finish(&self.data.backend, made).await?;
        let name = SecretName::App(made.id);
        Ok(self.data.secrets.remove(&name).await?)
    }

    /// Whether `gaffer up` uses this App.
    async fn is_used(&self, made: &MadeApp) -> Result<bool> {
        let found = progress::read(&self.data.backend).await?;
        Ok(
            found
                .is_some_and(|it| matches!(it.value, AppSetup::Stored(used) if used.id == made.id)),
        )
    }

    /// Whether another credential is stored, which is used until now.
    async fn has_other(&self) -> Result<bool> {
        match self.data.secrets.read(&SecretName::GitHub).await {
            Ok(_) => Ok(true),
            Err(SecretsError::Missing(_)) => Ok(false),
            Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
                Err(error.into())
            }
        }
    }

    /// Whose repositories are worked on.
    async fn owners(&self) -> Result<Vec<String>> {
        let sources = self.data.backend.store.sources().await;
        let sources = sources.context("reading the sources")?;
        let owners = sources.iter().filter_map(|it| {
            let (owner, _) = it.value.repo.as_str().split_once('/')?;
            Some(owner.to_ascii_lowercase())
        });
        let owners: std::collections::BTreeSet<_> = owners.collect();
        Ok(owners.into_iter().collect())
    }

    /// The new secret goes first; what signed until now is still taken.
    async fn keep_webhook_secret(&self, new: &SecretString) -> Result<()> {
        let name = SecretName::Webhook;
        let both = match self.data.secrets.read(&name).await {
            Ok(before) => {
                let before = before.expose_secret().split(',').next().unwrap_or_default();
                SecretString::from(format!("{},{before}", new.expose_secret()))
            }
            Err(SecretsError::Missing(_)) => new.clone(),
            Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
                return Err(error.into());
            }
        };
        Ok(self.data.secrets.write(&name, &both).await?)
    }

    /// Waits until it is installed, for all required owners.
    async fn wait_for_installation(
        &self,
        made: &MadeApp,
        wanted: &[String],
    ) -> Result<Vec<Installed>> {
        let name = SecretName::App(made.id);
        let key = match self.data.secrets.read(&name).await {
            Err(SecretsError::Missing(_)) => self.data.secrets.read(&SecretName::GitHub).await?,
            kept => kept?,
        };
        let until = Instant::now() + self.args.within.unsigned_abs();
        let mut beat = tokio::time::interval(LOOK_EVERY);
        let mut asked = false;
        loop {
            beat.tick().await;
            let found = self
                .maker
                .installations(made.id, &key, self.data.backend.now())
                .await;
            let found = found.map_err(|failure| not_signed_in(&failure))?;
            let is_enough = !found.is_empty() && lacking(wanted, &found).is_empty();
            if is_enough || Instant::now() >= until {
                return Ok(found);
            }
            if let Some(page) = made.install_page().filter(|_| !asked) {
                render::note(&format!("Install it at {page}"));
                asked = true;
            }
        }
    }
}
