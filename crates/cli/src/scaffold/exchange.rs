//! `gaffer exchange inspect`: what is in the exchange of a repository, as it is committed.

use ::scaffold::inspection::{Event, Inspection, Proposal, Requirement, Role, inspect};
use ::scaffold::layout::SYSTEM;
use anyhow::Result;
use domain::ids::StreamName;

use super::place::{Place, bad_layout, must_tip, note_behind};
use crate::git::Git;
use crate::render::{Answer, value};

/// Lists what is there.
pub(super) fn inspected(git: &Git, revision: Option<&str>, stream: &StreamName) -> Result<Answer> {
    let place = Place::read(git)?;
    let tip = match revision {
        Some(revision) => git.must_commit(revision)?,
        None => {
            note_behind(git, &place.branches.worker)?;
            must_tip(git, &place.branches.worker)?
        }
    };
    let found = inspect(&git.tree(&tip, &[SYSTEM])?, &place.settings, stream);
    let found = found.map_err(|error| bad_layout(&error))?;
    Ok(answer(&found))
}

fn answer(found: &Inspection) -> Answer {
    let schedule = &found.schedule;
    let changes = found.changes.as_ref();
    let changes = changes.map_or("none".to_owned(), |changes| match changes.created_at {
        Some(at) => format!("{} of {at}", changes.path),
        None => changes.path.clone(),
    });
    let (pending, decided) = (&found.events.pending, &found.events.decided);
    let answer = Answer::new(value(found))
        .pairs(vec![
            ("stream", found.stream.to_string()),
            ("observers", roles(&schedule.observers)),
            ("innovators", roles(&schedule.innovators)),
            ("changes", changes),
        ])
        .line("")
        .table(
            &["PENDING", "TITLE", "ROLE", "SINCE", "FILE"],
            pending.iter().map(waiting).collect(),
            "There are no pending events.",
        )
        .line("")
        .table(
            &["DECIDED", "TITLE", "REQUIREMENT", "FILE"],
            decided.iter().map(done).collect(),
            "There are no decided events.",
        )
        .line("")
        .table(
            &[
                "REQUIREMENT",
                "TITLE",
                "LABEL",
                "ANALYSIS",
                "EVENTS",
                "FILE",
            ],
            found.requirements.iter().map(wanted).collect(),
            "There are no requirements.",
        )
        .line("")
        .table(
            &["PROPOSAL", "TITLE", "ROLE", "FILE"],
            found.proposals.iter().map(proposed).collect(),
            "There are no proposals.",
        );
    let unreadable = found.unreadable.iter();
    unreadable.fold(answer, |answer, path| {
        answer.line(format!(
            "{path} cannot be read: `gaffer scaffold doctor` says why."
        ))
    })
}

fn roles(roles: &[Role]) -> String {
    let shown = roles.iter().map(|role| match role.enabled {
        true => role.name.to_string(),
        false => format!("{} (off)", role.name),
    });
    let shown: Vec<_> = shown.collect();
    match shown.is_empty() {
        true => "none".to_owned(),
        false => shown.join(", "),
    }
}

fn waiting(event: &Event) -> Vec<String> {
    [
        &event.id,
        &event.title,
        &event.role,
        &event.created_at,
        &event.path,
    ]
    .map(String::clone)
    .to_vec()
}

fn done(event: &Event) -> Vec<String> {
    [&event.id, &event.title, &event.requirement, &event.path]
        .map(String::clone)
        .to_vec()
}

fn wanted(requirement: &Requirement) -> Vec<String> {
    let analysis = match requirement.requires_deep_analysis {
        Some(true) => "wanted",
        Some(false) => "no",
        None => "not said",
    };
    vec![
        requirement.id.clone(),
        requirement.title.clone(),
        requirement.label.clone(),
        analysis.to_owned(),
        requirement.source_events.join(" "),
        requirement.path.clone(),
    ]
}

fn proposed(proposal: &Proposal) -> Vec<String> {
    [
        &proposal.id,
        &proposal.title,
        &proposal.role,
        &proposal.path,
    ]
    .map(String::clone)
    .to_vec()
}
