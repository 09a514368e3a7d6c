//! Webhooks: whether GitHub sends them, to which address, for which events, and with which secret.

use super::code::Code;
use super::facts::{InstallationFacts, SecretStatus};
use super::finding::{Area, Finding, names, outside};
use super::machine::unusable;
use super::repository::{Hook, Repository};
use super::unknown::unknown_fact;
use crate::facts::Fact;
use crate::policy::Source;

/// Suffix of the address of Gaffer's webhook endpoint.
pub const WEBHOOK_PATH: &str = "/github/webhook";

/// The events that cover everything a pull request waits for.
pub const EVENTS_WANTED: [&str; 5] = [
    "check_run",
    "check_suite",
    "pull_request",
    "pull_request_review",
    "status",
];

/// The events that cover the issues that become deliveries.
const EVENTS_OF_ISSUES: [&str; 2] = ["issue_comment", "issues"];

/// Status of a delivery with a wrong signature.
const UNAUTHORIZED: u16 = 401;

pub(super) fn examine(
    source: &Source,
    repository: &Repository,
    installation: &InstallationFacts,
    folder: &str,
) -> Vec<Finding> {
    let secret = &installation.webhook_secret;
    if let Some(finding) = unusable("webhook", secret, folder) {
        return vec![finding];
    }
    let about = &source.repo;
    let hooks = all(repository, installation);
    let wanted = installation.webhook_url.as_deref();
    let ours: Vec<&Hook> = hooks
        .iter()
        .copied()
        .filter(|hook| is_ours(hook, wanted))
        .collect();
    if ours.is_empty()
        && let Some(findings) = hidden(source, repository, installation)
    {
        return findings;
    }
    if hooks.is_empty() {
        let code = match (wanted, secret) {
            (Some(_), _) => Code::WebhookElsewhere,
            (None, SecretStatus::Here(_)) => Code::WebhookNone,
            (None, SecretStatus::Missing | SecretStatus::Unusable { .. }) => {
                let what = "there is none; changes are seen when they are looked for";
                return vec![Finding::ok(Area::Webhook, about, what)];
            }
        };
        let finding = Finding::new(code, about, "it has no webhook");
        return vec![finding.with("HOOK", wanted.unwrap_or_default())];
    }
    if ours.is_empty() {
        return elsewhere(source, &hooks, installation)
            .into_iter()
            .collect();
    }
    // One that works is enough.
    let mut findings = ours
        .iter()
        .map(|hook| examine_webhook(source, hook, secret))
        .min_by_key(Vec::len)
        .unwrap_or_default();
    if findings.is_empty() {
        findings.push(Finding::ok(
            Area::Webhook,
            about,
            "it points at Gaffer's webhook endpoint",
        ));
    }
    findings
}

/// The repository's own webhooks and the App's, as far as they are visible.
fn all<'a>(repository: &'a Repository, installation: &'a InstallationFacts) -> Vec<&'a Hook> {
    let own = repository.hooks.known().into_iter().flatten();
    let of_app = installation.github.hook.known().and_then(Option::as_ref);
    own.chain(of_app).collect()
}

/// Webhooks that may exist but are not visible, ours among them; `None` when that changes nothing.
fn hidden(
    source: &Source,
    repository: &Repository,
    installation: &InstallationFacts,
) -> Option<Vec<Finding>> {
    let (own, of_app) = (&repository.hooks, &installation.github.hook);
    let told = |finding: Option<Finding>| finding.into_iter().collect::<Vec<_>>();
    if let Fact::Unknown { .. } = of_app {
        return Some(told(unknown_fact(
            &source.repo,
            "the App's webhook",
            of_app,
        )));
    }
    let meant =
        installation.webhook_url.is_some() || installation.webhook_secret != SecretStatus::Missing;
    match own {
        Fact::Known(_) => None,
        Fact::Forbidden { .. } if of_app.known().is_some_and(Option::is_some) => None,
        // A source without permission and without a webhook address has nothing to fix; pull requests are read at
        // intervals.
        Fact::Forbidden { .. } if !meant => Some(Vec::new()),
        Fact::Forbidden { .. } | Fact::Unknown { .. } => {
            Some(told(unknown_fact(&source.repo, "its webhooks", own)))
        }
    }
}

fn is_ours(hook: &Hook, wanted: Option<&str>) -> bool {
    match wanted {
        Some(wanted) => hook.url.trim_end_matches('/') == wanted.trim_end_matches('/'),
        None => hook.url.trim_end_matches('/').ends_with(WEBHOOK_PATH),
    }
}

/// Reports that no webhook is ours. Without a secret and a configured address the webhooks of others do not matter.
fn elsewhere(
    source: &Source,
    hooks: &[&Hook],
    installation: &InstallationFacts,
) -> Option<Finding> {
    let wanted = installation.webhook_url.as_deref();
    if wanted.is_none() && installation.webhook_secret == SecretStatus::Missing {
        return None;
    }
    let urls: Vec<String> = hooks.iter().map(|hook| host_of(&hook.url)).collect();
    let what = format!("its webhooks point at {}", names(&urls));
    let url = wanted.unwrap_or("that of Gaffer's webhook endpoint with /github/webhook");
    Some(Finding::new(Code::WebhookElsewhere, &source.repo, what).with("HOOK", url))
}

/// Where an address leads, without its query, which may hold a secret.
fn host_of(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn examine_webhook(source: &Source, hook: &Hook, secret: &SecretStatus) -> Vec<Finding> {
    let about = &source.repo;
    let found = |code: Code, what: String| Finding::new(code, about, what);
    let at = outside(&host_of(&hook.url));
    if !hook.active {
        return vec![found(Code::WebhookInactive, format!("{at} is not active"))];
    }
    let mut findings = Vec::new();
    if *secret == SecretStatus::Missing {
        let what = format!("{at} gets deliveries, and no secret is kept");
        findings.push(found(Code::WebhookSecretMissing, what));
    }
    if !hook.json {
        findings.push(found(Code::WebhookForm, format!("{at} gets forms")));
    }
    let told = |event: &&str| hook.events.iter().any(|told| told == event || told == "*");
    let takes_issues = source.deliveries.label.is_some();
    let of_issues = EVENTS_OF_ISSUES.into_iter().filter(|_| takes_issues);
    let missing: Vec<&str> = EVENTS_WANTED
        .into_iter()
        .chain(of_issues)
        .filter(|event| !told(event))
        .collect();
    if !missing.is_empty() {
        findings.push(found(
            Code::WebhookEvents,
            format!("{at} does not get {}", names(&missing)),
        ));
    }
    findings.extend(answers(source, hook, &at, secret));
    findings
}

/// What the newest deliveries were answered with. Those before the newest success are history.
fn answers(source: &Source, hook: &Hook, at: &str, secret: &SecretStatus) -> Option<Finding> {
    let answers = match &hook.answers {
        Fact::Known(answers) => answers,
        Fact::Forbidden { .. } => return None,
        Fact::Unknown { .. } => {
            let what = "what its webhook's deliveries were answered with";
            return unknown_fact(&source.repo, what, &hook.answers);
        }
    };
    let is_success =
        |answer: &Option<u16>| answer.is_some_and(|status| (200..300).contains(&status));
    let failed: Vec<&Option<u16>> = answers
        .iter()
        .take_while(|answer| !is_success(answer))
        .collect();
    let newest = failed.first()?;
    let (count, of) = (failed.len(), answers.len());
    if **newest == Some(UNAUTHORIZED) {
        // Without a secret every delivery is refused, and another finding says so.
        let what = format!("{at} answered 401 to the {count} newest of {of} deliveries");
        return (*secret != SecretStatus::Missing)
            .then(|| Finding::new(Code::WebhookSecretMismatch, &source.repo, what));
    }
    let how = match newest {
        Some(0) | None => "did not answer".to_owned(),
        Some(status) => format!("answered {status}"),
    };
    let what = format!("{at} {how}; {count} of the {of} newest deliveries failed");
    Some(Finding::new(Code::WebhookFails, &source.repo, what))
}
