//! `gaffer cost`: counted usage times its prices, and what is left of the plans.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use clap::Args;
use domain::account::PollCounters;
use domain::status::{AccountView, SpendingView};
use engine::backend::Backend;
use engine::usage::prices::{MB_MS_OF_GB_S, Price, Prices};
use engine::usage::{Allowance, DAYS_KEPT, ROLES, Used};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::CommandContext;
use crate::render::{Answer, value};
use crate::site::Site;

/// The limit of costs.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  gaffer cost --stack gaffer\n  gaffer cost --json\n  gaffer cost --stack gaffer --a-day 0.50\n  gaffer cost --stack gaffer --a-day none"
)]
pub(crate) struct CostArgs {
    /// What running may cost in a day in UTC, or `none`; once it is spent, Jules is asked every 15 minutes until the day is over.
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) a_day: Option<ADay>,
}

/// Dollars, or as much as it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ADay(pub(crate) Option<f64>);

/// Most that can be said, in dollars: more is a slip of the pen.
const DOLLARS_MAX: f64 = 10_000.0;

impl std::str::FromStr for ADay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let dollars = text.parse::<f64>().ok();
        let fits = dollars.filter(|dollars| *dollars > 0.0 && *dollars <= DOLLARS_MAX);
        fits.map(|dollars| Self(Some(dollars))).ok_or_else(|| {
            "it has to be a number of dollars such as 0.50, at most 10000, or `none`".to_owned()
        })
    }
}

/// What the prices cover, and what they do not.
const NOT_COUNTED: &str = "Not counted: the functions webhook and api, and the deletes of the functions' triggers. Without any free tier, a month besides:";

/// What a function used by day, and what that costs.
#[derive(Serialize)]
struct RoleCost {
    role: &'static str,
    days: BTreeMap<String, Used>,
    dollars: f64,
}

/// An account with the counters of its polls.
struct PolledAccount {
    account: AccountView,
    counters: PollCounters,
}

/// Prints what was used and what is left, and first, if asked, an estimate of the costs.
pub(crate) async fn run(args: CostArgs, here: &CommandContext) -> Result<Answer> {
    let site = Site::load(here).await?;
    if let Some(a_day) = args.a_day {
        allow(&site.backend, a_day.0)
            .await
            .context("saying what it may cost")?;
    }
    if here.stack.is_none() {
        return here_only(&site.backend).await;
    }
    let spending = site
        .backend
        .spending()
        .await
        .context("reading what was spent")?;
    let prices = Prices::known().context("reading the price file")?;
    let (rows, roles) = by_role(&site.backend, prices).await?;
    let total: f64 = roles.iter().map(|role| role.dollars).sum();
    let status = site.backend.status().await;
    let status = status.context("reading what is left")?;
    let accounts = polled(&site.backend, status.accounts).await?;
    let sources: Vec<Value> = prices.all().iter().map(|it| source(it)).collect();
    let answer = Answer::new(json!({
        "now": status.now, "days_kept": DAYS_KEPT, "spending": value(&spending), "roles": roles, "dollars": total, "prices": sources,
        "fixed": prices.fixed().iter().map(|(what, dollars)| json!({ "what": what, "dollars": dollars })).collect::<Vec<_>>(),
        "accounts": accounts.iter().map(left_json).collect::<Vec<_>>(),
        "github": value(&status.github.budgets),
    }));
    let none = "Nothing on AWS was counted: there is no function here that uses any.";
    let answer = answer.table(
        &[
            "role",
            "reads",
            "writes",
            "queue requests",
            "invocations",
            "GB-s",
            "dollars",
        ],
        rows,
        none,
    );
    let told = format!(
        "{total:.6} dollars in all, of at most {DAYS_KEPT} days{}.",
        since(&roles)
    );
    let fixed = prices.fixed().into_iter();
    let fixed = fixed.map(|(what, dollars)| vec![what.to_owned(), format!("{dollars:.4}")]);
    let fixed = fixed.collect();
    let answer = answer
        .line(told)
        .line(today(&spending))
        .line(NOT_COUNTED)
        .table(&["a month", "dollars"], fixed, none)
        .line("");
    Ok(with_plans(answer, &accounts))
}

/// What each role has used, as rows for people and as it is answered.
async fn by_role(backend: &Backend, prices: &Prices) -> Result<(Vec<Vec<String>>, Vec<RoleCost>)> {
    let (mut rows, mut roles) = (Vec::new(), Vec::new());
    for role in ROLES {
        let usage = backend.store.usage(role).await;
        let usage = usage.context("reading what was used")?.value;
        let used = usage.total();
        let dollars = prices.cost_of(&used);
        if !usage.days.is_empty() {
            rows.push(row(role, &used, dollars));
        }
        roles.push(RoleCost {
            role,
            days: usage.days,
            dollars,
        });
    }
    Ok((rows, roles))
}

/// What is left of the plans; a Gaffer on one's own machine uses nothing of AWS.
async fn here_only(backend: &Backend) -> Result<Answer> {
    let status = backend.status().await.context("reading what is left")?;
    let accounts = polled(backend, status.accounts).await?;
    let answer = Answer::new(json!({
        "now": status.now,
        "accounts": accounts.iter().map(left_json).collect::<Vec<_>>(),
        "github": value(&status.github.budgets),
    }));
    let told = "Gaffer runs on this machine and costs nothing on AWS; `--stack NAME` tells what a stack there costs.";
    Ok(with_plans(answer.line(told).line(""), &accounts))
}

/// Adds the counters of their polls to accounts.
async fn polled(backend: &Backend, accounts: Vec<AccountView>) -> Result<Vec<PolledAccount>> {
    let counters = backend.poll_counters().await;
    let mut counters = counters.context("reading how often Jules was polled")?;
    let accounts = accounts.into_iter().map(|account| PolledAccount {
        counters: counters.remove(&account.name).unwrap_or_default(),
        account,
    });
    Ok(accounts.collect())
}

fn with_plans(answer: Answer, accounts: &[PolledAccount]) -> Answer {
    let head = ["account", "tasks left today", "slots left", "polls"];
    let none = "No account yet: `gaffer account add default`.";
    answer.table(&head, accounts.iter().map(left_row).collect(), none)
}

async fn allow(backend: &Backend, dollars_a_day: Option<f64>) -> Result<()> {
    let decide = |_: &Allowance| Ok::<_, engine::backend::Error>((Allowance { dollars_a_day }, ()));
    Ok(backend.update_or_initial(&(), decide).await?)
}

fn today(spending: &SpendingView) -> String {
    let today = spending.dollars_today;
    match spending.dollars_a_day {
        None => format!("Today {today:.6} dollars; a day may cost whatever it takes."),
        Some(allowed) if spending.is_over() => format!(
            "Today {today:.6} of {allowed} dollars: Jules is asked every 15 minutes until the day is over, in UTC."
        ),
        Some(allowed) => format!("Today {today:.6} of {allowed} dollars."),
    }
}

fn since(roles: &[RoleCost]) -> String {
    let first = roles
        .iter()
        .filter_map(|role| role.days.keys().next())
        .min();
    first.map_or_else(String::new, |first| format!(", since {first}"))
}

fn source(price: &Price) -> Value {
    json!({ "source": price.source, "read_on": price.read_on, "dollars": price.dollars })
}

fn row(role: &str, used: &Used, dollars: f64) -> Vec<String> {
    let units = |halves: u64| format!("{}", halves as f64 / 2.0);
    vec![
        role.to_owned(),
        units(used.read_halves),
        units(used.write_halves),
        used.queue_requests.to_string(),
        used.invocations.to_string(),
        format!("{:.1}", used.mb_ms as f64 / MB_MS_OF_GB_S),
        format!("{dollars:.6}"),
    ]
}

fn left_row(polled: &PolledAccount) -> Vec<String> {
    let account = &polled.account;
    vec![
        account.name.to_string(),
        format!("{} of {}", account.today.left(), account.today.of),
        format!("{} of {}", account.slots.left(), account.slots.of),
        polled.counters.polls.to_string(),
    ]
}

fn left_json(polled: &PolledAccount) -> Value {
    let PolledAccount { account, counters } = polled;
    json!({
        "name": account.name, "tasks_left": account.today.left(), "slots_left": account.slots.left(),
        "polls": counters.polls, "last_poll": counters.last,
    })
}
