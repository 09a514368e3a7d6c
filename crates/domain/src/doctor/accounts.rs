//! Jules accounts: keys, limits, and who else works with them.

use super::code::Code;
use super::facts::{AccountFacts, InstallationFacts, SecretStatus};
use super::finding::{Area, Finding, outside};
use super::machine::unusable;
use super::unknown::unknown_fact;
use crate::failure::{Failure, FailureClass};
use crate::governor::Limits;

/// Google's plans: free, pro and ultra.
const PLANS: [Limits; 3] = [
    Limits {
        concurrent: 3,
        per_day: 15,
    },
    Limits {
        concurrent: 15,
        per_day: 100,
    },
    Limits {
        concurrent: 60,
        per_day: 300,
    },
];

pub(super) fn examine(installation: &InstallationFacts, folder: &str) -> Vec<Finding> {
    if installation.accounts.is_empty() {
        let what = "there is none";
        return vec![Finding::new(Code::NoAccount, "Jules accounts", what)];
    }
    installation
        .accounts
        .iter()
        .flat_map(|account| examine_account(account, folder))
        .collect()
}

fn examine_account(account: &AccountFacts, folder: &str) -> Vec<Finding> {
    let about = format!("account `{}`", account.name);
    let mut findings: Vec<Finding> = key(account, &about, folder).into_iter().collect();
    findings.extend(limits(account, &about));
    findings.extend(others(account, &about));
    let filled: Vec<Finding> = findings
        .into_iter()
        .map(|finding| finding.with("ACCOUNT", &account.name))
        .collect();
    if !filled.is_empty() {
        return filled;
    }
    let connected = match &account.connected {
        Some(Ok(repos)) => repos.len(),
        Some(Err(_)) | None => 0,
    };
    let what = format!("Jules accepts its key; repositories it shows: {connected}");
    vec![Finding::ok(Area::Jules, about, what)]
}

fn key(account: &AccountFacts, about: &str, folder: &str) -> Option<Finding> {
    match &account.key {
        SecretStatus::Missing => {
            return Some(Finding::new(
                Code::JulesKeyMissing,
                about,
                "its key is not kept and JULES_API_KEY is not set",
            ));
        }
        SecretStatus::Unusable { .. } => {
            return unusable(&format!("jules/{}", account.name), &account.key, folder);
        }
        SecretStatus::Here(shape) if !shape.may_be_jules() => {
            let what = format!("what is kept as its key is {}", shape.words());
            return Some(Finding::new(Code::JulesKeyKind, about, what));
        }
        SecretStatus::Here(_) => {}
    }
    match &account.connected {
        Some(Err(failure)) => Some(refused(failure, about)),
        Some(Ok(_)) | None => None,
    }
}

fn refused(failure: &Failure, about: &str) -> Finding {
    let code = match failure.class {
        FailureClass::Unauthorized => Code::JulesKeyRefused,
        FailureClass::Forbidden => Code::JulesForbidden,
        // A wrong address answers 404, or with something that is no JSON.
        FailureClass::Network | FailureClass::Garbled | FailureClass::NotFound => {
            Code::JulesUnreachable
        }
        FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Throttled
        | FailureClass::Unavailable => Code::JulesTrouble,
    };
    Finding::new(code, about, outside(&failure.message))
}

/// Limits that no plan has, or that refusals have shown to be too high.
fn limits(account: &AccountFacts, about: &str) -> Option<Finding> {
    let Limits {
        concurrent,
        per_day,
    } = account.limits;
    if let Some(learned) = account.learned.filter(|learned| *learned < concurrent) {
        let what = format!(
            "it is set to {concurrent} tasks at a time, and Jules refused more than {learned}"
        );
        return Some(Finding::new(Code::LimitsAbovePlan, about, what));
    }
    // Of the plan that allows so many tasks a day, not more may run at a time.
    let plan = PLANS.iter().find(|plan| per_day <= plan.per_day);
    if plan.is_some_and(|plan| concurrent <= plan.concurrent) {
        return None;
    }
    let what = format!("no plan allows {concurrent} tasks at a time and {per_day} in 24 hours");
    Some(Finding::new(Code::LimitsAbovePlan, about, what))
}

fn others(account: &AccountFacts, about: &str) -> Option<Finding> {
    let Some(others) = account.others.known() else {
        return unknown_fact(about, "whether others work with it", &account.others);
    };
    let (first, sessions) = others.first()?;
    let more = others.len().saturating_sub(1);
    let among = if more > 0 {
        format!(" (and of {more} other installations)")
    } else {
        String::new()
    };
    let what =
        format!("{sessions} of its newest sessions are of the installation `{first}`{among}");
    Some(Finding::new(Code::OtherInstallation, about, what))
}
