//! The doctor: turns collected facts into findings about an installation, with a reason and a fix for each.
//!
//! It decides nothing that Gaffer acts on; [`crate::merge`] alone judges what may be merged.

mod accounts;
mod agents;
mod code;
mod credential;
mod credential_kind;
mod facts;
mod finding;
mod machine;
mod merging;
mod people;
mod repository;
mod source;
#[cfg(test)]
mod tests;
mod unknown;
mod webhooks;

pub use code::{Code, CodeInfo, Severity};
pub use credential_kind::CredentialKind;
pub use facts::{
    AccountFacts, AgentFacts, CredentialFacts, CredentialIdentity, DataFacts, Facts,
    InstallationFacts, MachineFacts, Reachability, SecretStatus, Skew, SourceFacts,
};
pub use finding::{Area, Finding};
pub use machine::{DISK_FULL_BYTES, DISK_LOW_BYTES, PAUSED_LONG, SKEW_MAX};
pub use repository::{
    Hook, Permissions, Protection, ReportedChecks, Repository, RepositoryFacts, RulesetDemands,
    Workflows,
};
pub use webhooks::{EVENTS_WANTED, WEBHOOK_PATH};

/// All findings, in the best order for fixing: later ones are often caused by earlier ones.
pub fn examine(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = machine::not_running(&facts.machine).into_iter().collect();
    findings.extend(machine::data(&facts.machine));
    let Some(installation) = &facts.installation else {
        return findings;
    };
    findings.extend(machine::clock(installation));
    findings.extend(accounts::examine(installation, &facts.machine.folder));
    findings.extend(credential::examine(installation, &facts.machine.folder));
    findings.extend(source::examine(installation, &facts.machine.folder));
    findings.extend(agents::examine(installation, &facts.machine.folder));
    findings.extend(machine::work(installation));
    findings
}
