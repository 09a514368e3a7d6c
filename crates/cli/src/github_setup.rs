//! `gaffer github setup`: makes a GitHub App for the person who typed it, keeps its secrets, and waits until it is installed.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use domain::failure::{Failure, FailureClass};
use engine::ports::{SecretName, SecretsError};
use engine::settings::{AppSetup, MadeApp, Upstreams};
use github::{AppMaker, Installed, NewApp, Wanted};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::args::github::{GithubCommand, SetupArgs};
use crate::data::Data;
use crate::error::Error;
use crate::here::Here;
use crate::render::{self, Answer};
use crate::{stdin, upstreams};

mod code;
mod page;
mod progress;

use code::Code;
use page::Page;

/// How a private key begins in PEM.
const PEM: &str = "-----BEGIN";

/// Longest private key, in bytes: one of 8,192 bits has about 6,400.
const KEY_BYTES_MAX: u64 = 16 * 1024;

/// How often GitHub is asked whether the App is installed: a person needs longer to click.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Runs one of the commands.
pub(crate) async fn run(command: GithubCommand, here: &Here) -> Result<Answer> {
    match command {
        GithubCommand::Setup(args) => setup(*args, here)
            .await
            .context("setting up the GitHub App"),
    }
}

async fn setup(args: SetupArgs, here: &Here) -> Result<Answer> {
    let overlaid = here.is_overlaid(&SecretName::GitHub);
    // Secrets are written, so those that the environment lays over them are left out.
    let data = here.stored_only().open().await?;
    let typed = Upstreams {
        github_base: args.github_base.clone(),
        ..Upstreams::default()
    };
    let base = upstreams::in_force(&data.desk, typed, |_| false)
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
    let installed = run.wait_for_installation(&made).await?;
    Ok(told(&made, &installed, overlaid))
}

/// One run.
struct Run {
    args: SetupArgs,
    data: Data,
    maker: AppMaker,
    base: Option<String>,
}

impl Run {
    /// Goes on from where the last run stopped until the App's key is stored and in use.
    async fn made(&self) -> Result<MadeApp> {
        if let Some(id) = self.args.app_id {
            return self.take_over(id).await;
        }
        let found = progress::read(&self.data.desk).await?;
        let version = found.as_ref().map(|found| found.version);
        match found.map(|found| found.value).filter(|_| !self.args.again) {
            Some(AppSetup::Stored(made)) if self.args.code.is_none() => Ok(made),
            Some(AppSetup::Made(made)) if self.args.code.is_none() => self.rescue(made).await,
            Some(AppSetup::Asked { state, port }) => self.ask(version, (state, port)).await,
            Some(AppSetup::Stored(_) | AppSetup::Made(_)) | None => {
                let state = format!("{:032x}", rand::random::<u128>());
                self.ask(version, (state, self.args.listen.port())).await
            }
        }
    }

    /// Gets a code, exchanges it, and keeps what comes of it.
    async fn ask(&self, version: Option<u64>, (state, port): (String, u16)) -> Result<MadeApp> {
        let code = match &self.args.code {
            Some(text) => code::pasted(text, Some(&state))?,
            None => self.code(version, (state, port)).await?,
        };
        let made = self.maker.convert(code.expose()).await;
        let new = made.map_err(|failure| not_exchanged(&failure))?;
        self.keep(new).await
    }

    /// Opens the page and waits for the code.
    async fn code(&self, version: Option<u64>, (state, port): (String, u16)) -> Result<Code> {
        let listener = self.listen(port).await?;
        let at = listener
            .local_addr()
            .context("reading the address of the page")?;
        let asked = AppSetup::Asked {
            state: state.clone(),
            port: at.port(),
        };
        progress::save(&self.data.desk, version, &asked).await?;
        let page = self.page(at, state)?;
        render::note(&format!(
            "Open http://{at}/ in a browser on this machine and follow it. On another machine, tunnel to that port, or give the code with `gaffer github setup --code CODE`."
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
            None => format!("gaffer-{}", self.data.desk.installation),
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

    /// Notes the App, then keeps its secrets, then puts it to use: a crash in between is found again by the next run.
    async fn keep(&self, new: NewApp) -> Result<MadeApp> {
        let made = MadeApp {
            id: new.id,
            slug: new.slug,
            page: new.html_url,
        };
        let found = progress::read(&self.data.desk).await?;
        let version = found.map(|found| found.version);
        progress::save(&self.data.desk, version, &AppSetup::Made(made.clone())).await?;
        if let Some(secret) = new.webhook_secret {
            self.keep_webhook_secret(&secret).await?;
        }
        self.data
            .secrets
            .write(&SecretName::GitHub, &new.pem)
            .await?;
        progress::finish(&self.data.desk, &made).await?;
        Ok(made)
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
            Err(error @ SecretsError::Unusable { .. }) => return Err(error.into()),
        };
        Ok(self.data.secrets.write(&name, &both).await?)
    }

    /// A run stopped between the making and the keeping: the key is there, or it is lost.
    async fn rescue(&self, made: MadeApp) -> Result<MadeApp> {
        if let Some(file) = &self.args.key_file {
            return self.take_key(made, file).await;
        }
        let stored = self.data.secrets.read(&SecretName::GitHub).await;
        let has_key = stored.is_ok_and(|it| it.expose_secret().trim_start().starts_with(PEM));
        if !has_key {
            let what = format!(
                "the App {} was made, and its key was lost before it could be kept",
                made.slug
            );
            let next = format!(
                "make a private key on its page {} and give it with `gaffer github setup --key-file FILE`, or delete the App there and type `gaffer github setup --again`",
                made.page
            );
            return Err(Error::refused("key_lost", what, next).into());
        }
        progress::finish(&self.data.desk, &made).await?;
        Ok(made)
    }

    /// An App that somebody has made by hand.
    async fn take_over(&self, id: u64) -> Result<MadeApp> {
        let made = MadeApp {
            id,
            slug: String::new(),
            page: String::new(),
        };
        match &self.args.key_file {
            Some(file) => self.take_key(made, file).await,
            None => Err(Error::usage(
                "the App's key is not given",
                "give it with `--key-file FILE`",
            )
            .into()),
        }
    }

    /// Keeps a key that fits the App.
    async fn take_key(&self, made: MadeApp, file: &std::path::Path) -> Result<MadeApp> {
        let text = stdin::of_file(file, KEY_BYTES_MAX)
            .with_context(|| format!("reading the private key from {}", file.display()))?;
        let key = SecretString::from(text);
        let seen = self.maker.installations((made.id, &key)).await;
        seen.map_err(|failure| not_signed_in(&failure))?;
        self.data.secrets.write(&SecretName::GitHub, &key).await?;
        progress::finish(&self.data.desk, &made).await?;
        Ok(made)
    }

    async fn wait_for_installation(&self, made: &MadeApp) -> Result<Vec<Installed>> {
        let key = self.data.secrets.read(&SecretName::GitHub).await?;
        let until = Instant::now() + self.args.within.unsigned_abs();
        let mut beat = tokio::time::interval(LOOK_EVERY);
        let mut asked = false;
        loop {
            beat.tick().await;
            let found = self.maker.installations((made.id, &key)).await;
            let found = found.map_err(|failure| not_signed_in(&failure))?;
            if !found.is_empty() || Instant::now() >= until {
                return Ok(found);
            }
            if let Some(page) = made.install_page().filter(|_| !asked) {
                render::note(&format!("Install it at {page}"));
                asked = true;
            }
        }
    }
}

fn not_exchanged(failure: &Failure) -> Error {
    match failure.class {
        FailureClass::NotFound | FailureClass::Conflict | FailureClass::Invalid => Error::refused(
            "code_used",
            "GitHub does not take this code: it was used already, is older than an hour, or belongs to another GitHub",
            "type `gaffer github setup` and begin at the page it tells; an App that was made meanwhile can be deleted on GitHub, below Settings, Developer settings, GitHub Apps",
        ),
        FailureClass::Unauthorized
        | FailureClass::Forbidden
        | FailureClass::Precondition
        | FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled => Error::refused(
            "not_exchanged",
            failure.message.clone(),
            "type `gaffer github setup` again; the code may have been used up, and then GitHub gives another one",
        ),
    }
}

fn not_signed_in(failure: &Failure) -> Error {
    let (code, next) = match failure.class {
        FailureClass::Unauthorized | FailureClass::Forbidden | FailureClass::NotFound => (
            "key_refused",
            "give the id and a private key of the same App with `gaffer github setup --app-id ID --key-file FILE`",
        ),
        FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled => (
            "github_unreachable",
            "type `gaffer github setup` again, which goes on from here",
        ),
    };
    Error::refused(code, failure.message.clone(), next)
}

fn told(made: &MadeApp, installed: &[Installed], overlaid: bool) -> Answer {
    let accounts: Vec<&str> = installed
        .iter()
        .map(|it| it.account.login.as_str())
        .collect();
    let mut answer = Answer::new(json!({
        "app_id": made.id, "slug": made.slug, "page": made.page, "installed_on": accounts,
    }))
    .line(format!(
        "The GitHub App {} {} is set up, and `gaffer up` uses it.",
        made.id, made.slug
    ));
    answer = if accounts.is_empty() {
        let page = made.install_page();
        let page = page.as_deref().unwrap_or("its page on GitHub");
        answer.line(format!(
            "It is not installed yet: install it at {page}, then go on with `gaffer up`."
        ))
    } else {
        answer.line(format!("It is installed on {}.", accounts.join(", ")))
    };
    if overlaid {
        return answer
            .line("GITHUB_TOKEN or GITHUB_APP_KEY in the environment goes before it: unset it.");
    }
    answer
}
