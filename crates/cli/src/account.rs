//! `gaffer account`: Jules keys with their plans.

use anyhow::{Context, Result};
use domain::account::{Account, Budget};
use domain::governor::Limits;
use domain::ids::AccountName;
use engine::backend::decide_again;
use engine::ports::SecretName;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::args::account::{AccountCommand, AddAccountArgs, JulesPlan, LimitArgs, SetAccountArgs};
use crate::context::{CommandContext, must_agent};
use crate::error::Error;
use crate::render::{Answer, moment, or_empty, value};
use crate::secret;
use crate::site::StoreAccess;
use crate::stdin::{self, KeyFrom};
use crate::switch::health;

mod remove;

pub(crate) async fn run(command: AccountCommand, here: &CommandContext) -> Result<Answer> {
    match command {
        AccountCommand::Add(args) => {
            let context = format!("adding account `{}`", args.name);
            add(args, here, None).await.context(context)
        }
        AccountCommand::Set(args) => {
            let context = format!("setting account `{}`", args.name);
            set(&args, here).await.context(context)
        }
        AccountCommand::Remove { name } => {
            let data = StoreAccess::found(here).await?;
            let removed = remove::run(&name, &data).await;
            removed.with_context(|| format!("removing account `{name}`"))
        }
        AccountCommand::List => list(here).await.context("listing accounts"),
    }
}

/// Adds an account, or replaces its key; a key that is in hand already is not asked for.
pub(crate) async fn add(
    args: AddAccountArgs,
    here: &CommandContext,
    in_hand: Option<&SecretString>,
) -> Result<Answer> {
    let data = StoreAccess::load(here).await?;
    let known = data.backend.store.account(&args.name).await?.is_some();
    let name = &args.name;
    if known && !args.replace_key {
        let next = format!("replace its key with `gaffer account add {name} --replace-key`");
        return Err(
            Error::refused("exists", format!("account `{name}` is already there"), next).into(),
        );
    }
    if !known && args.replace_key {
        let next = format!("add it with `gaffer account add {name}`");
        return Err(Error::refused(
            "no_such",
            format!("there is no account `{name}` whose key could be replaced"),
            next,
        )
        .into());
    }
    if let Some(agent) = &args.agent {
        must_agent(&data.backend, agent).await?;
    }
    let stored = match in_hand {
        Some(key) => keep_key(&args.name, key, &data).await?,
        None => store_key(&args, here, &data).await?,
    };
    let account = save_account(&args, &data).await?;
    let text = format!(
        "Account `{name}` {}; {stored}.",
        if known { "has a new key" } else { "is added" }
    );
    Ok(answer(&account, text))
}

fn answer(account: &Account, text: String) -> Answer {
    let limits = format!(
        "It runs {} tasks at a time and {} in 24 hours.",
        account.limits.concurrent, account.limits.per_day
    );
    Answer::new(json!({ "account": shown(account) }))
        .line(text)
        .line(limits)
}

/// Changes limits and agent, without a word about the key.
async fn set(args: &SetAccountArgs, here: &CommandContext) -> Result<Answer> {
    let SetAccountArgs {
        name,
        limits: asked,
        agent,
        requests_a_day,
    } = args;
    if *asked == LimitArgs::default() && agent.is_none() && requests_a_day.is_none() {
        let next = "give `--plan`, `--concurrent`, `--per-day`, `--requests-a-day` or `--agent`";
        return Err(Error::usage("nothing is given that could change", next).into());
    }
    let data = StoreAccess::load(here).await?;
    if let Some(agent) = agent {
        must_agent(&data.backend, agent).await?;
    }
    let set = data.backend.update(name, |known: &Account| {
        let account = Account {
            limits: limits(asked, Some(known.limits)),
            agent: agent.clone().or_else(|| known.agent.clone()),
            budget: Budget {
                requests_a_day: requests_a_day.map_or(known.budget.requests_a_day, |it| it.0),
                ..known.budget.clone()
            },
            ..known.clone()
        };
        Ok::<_, engine::backend::Error>((account.clone(), account))
    });
    Ok(answer(&set.await?, format!("Account `{name}` is set.")))
}

/// Stores the key before the record: an account is polled as soon as it is there.
async fn store_key(
    args: &AddAccountArgs,
    here: &CommandContext,
    data: &StoreAccess,
) -> Result<String> {
    let secret = SecretName::Jules(args.name.clone());
    let from = match (&args.key_file, args.key_stdin) {
        (Some(file), _) => KeyFrom::File(file),
        (None, true) => KeyFrom::Stdin,
        (None, false) if here.is_overlaid(&secret) && !args.replace_key => {
            return Ok("its key is JULES_API_KEY in the environment".to_owned());
        }
        (None, false) => KeyFrom::StdinOrAsked,
    };
    let key = stdin::key(from, "the Jules key")?;
    keep_key(&args.name, &key, data).await
}

async fn keep_key(name: &AccountName, key: &SecretString, data: &StoreAccess) -> Result<String> {
    let secret = SecretName::Jules(name.clone());
    data.secrets.write(&secret, key).await?;
    Ok(format!("its key is the secret `{}`", secret.path()))
}

/// Adds the account, or lets a known one try its new key at once. The poller changes the record all the time.
async fn save_account(args: &AddAccountArgs, data: &StoreAccess) -> Result<Account> {
    decide_again(format!("account `{}`", args.name), async || {
        let found = data.backend.store.account(&args.name).await?;
        let account = Account {
            limits: limits(&args.limits, found.as_ref().map(|found| found.value.limits)),
            agent: args
                .agent
                .clone()
                .or_else(|| found.as_ref().and_then(|found| found.value.agent.clone())),
            // A dead key is over only when a poll was answered: a poller may cache the old one for another minute.
            next_poll: data.backend.now(),
            ..found.as_ref().map_or_else(
                || Account::new(args.name.clone(), data.backend.now()),
                |found| found.value.clone(),
            )
        };
        let mut unit = data.backend.unit();
        unit.save(&args.name, &account, found.map(|found| found.version));
        Ok(data.backend.try_commit(unit).await?.then_some(account))
    })
    .await
}

fn limits(args: &LimitArgs, before: Option<Limits>) -> Limits {
    let base = args
        .plan
        .map(JulesPlan::limits)
        .or(before)
        .unwrap_or_default();
    Limits {
        concurrent: args.concurrent.unwrap_or(base.concurrent),
        per_day: args.per_day.unwrap_or(base.per_day),
    }
}

async fn list(here: &CommandContext) -> Result<Answer> {
    let data = StoreAccess::found(here).await?;
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    for account in data.backend.store.accounts().await? {
        let account = account.value;
        let secret = SecretName::Jules(account.name.clone());
        let key = secret::state(&secret, here, &data).await;
        let mut shown = shown(&account);
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("key".to_owned(), json!(key));
        }
        all.push(shown);
        rows.push(vec![
            account.name.to_string(),
            key.to_owned(),
            account.limits.concurrent.to_string(),
            account.limits.per_day.to_string(),
            health(&account.health),
            moment(account.next_poll),
            or_empty(account.agent.as_ref()),
        ]);
    }
    let head = [
        "account",
        "key",
        "at a time",
        "in 24 h",
        "health",
        "next poll",
        "agent",
    ];
    Ok(Answer::new(json!({ "accounts": all })).table(
        &head,
        rows,
        "No account yet: `gaffer account add default`.",
    ))
}

/// The account as programs see it.
fn shown(account: &Account) -> Value {
    json!({
        "name": account.name, "concurrent": account.limits.concurrent, "per_day": account.limits.per_day,
        "requests_a_day": account.budget.requests_a_day,
        "agent": account.agent, "health": value(&account.health), "next_poll": account.next_poll,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(plan: Option<JulesPlan>, concurrent: Option<u32>) -> LimitArgs {
        LimitArgs {
            plan,
            concurrent,
            per_day: None,
        }
    }

    #[test]
    fn the_plan_gives_limits_and_numbers_go_before_it() {
        let free = Limits {
            concurrent: 3,
            per_day: 15,
        };
        assert_eq!(limits(&args(None, None), None), free);
        assert_eq!(
            limits(&args(Some(JulesPlan::Pro), None), Some(free)),
            Limits {
                concurrent: 15,
                per_day: 100
            }
        );
        assert_eq!(
            limits(&args(Some(JulesPlan::Ultra), Some(2)), None),
            Limits {
                concurrent: 2,
                per_day: 300
            }
        );
        assert_eq!(
            limits(&args(None, Some(2)), Some(JulesPlan::Pro.limits())),
            Limits {
                concurrent: 2,
                per_day: 100
            }
        );
    }
}
