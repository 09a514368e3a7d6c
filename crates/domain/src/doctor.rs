//! The doctor: turns collected facts into findings about an installation, with a reason and a fix for each.
//!
//! It decides nothing that Gaffer acts on; [`crate::merge`] alone judges what may be merged.

mod accounts;
mod agents;
mod code;
mod credential;
mod facts;
mod finding;
mod machine;
mod merging;
mod people;
mod repository;
mod shape;
mod source;
#[cfg(test)]
mod tests;
mod unseen;
mod webhooks;

pub use code::{Code, Row};
pub use facts::{
    AccountFacts, AgentFacts, CredentialFacts, DataFacts, Facts, Identity, InstallationFacts, Kept,
    MachineFacts, Reach, Skew, SourceFacts,
};
pub use finding::{Area, Finding, Severity};
pub use machine::{DISK_FULL_BYTES, DISK_LOW_BYTES, PAUSED_LONG, SKEW_MAX};
pub use repository::{
    Hook, May, Protection, Repository, RepositoryFacts, Rules, SeenChecks, Workflows,
};
pub use shape::Shape;
pub use webhooks::{DOOR_PATH, EVENTS_WANTED};

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
