//! Relations: artefacts that name each other, counts over several files, and how long an event waits.

use std::collections::{BTreeMap, BTreeSet};

use domain::ids::StreamName;
use jiff::civil::Date;

use super::artefacts::{Artefact, ArtefactKind, Artefacts};
use super::finding::{Report, Rule};
use super::form::date;
use crate::yaml::Node;

/// How many days an event may wait for a decision before that is worth a look.
const WAITING_DAYS_MAX: i32 = 7;

/// How many proposals a persona makes in one run.
const PROPOSALS: usize = 3;

/// How alike two titles are that say the same, from 0 to 1: the pairs of letters that both have count, wherever they stand.
const TITLE_LIKENESS_MIN: f64 = 0.85;

/// With how many others that name one of its files an event is compared: the time for a heap of them does not grow with its square.
const COMPARED_MAX: usize = 200;

const EVENTS: &[ArtefactKind] = &[ArtefactKind::Pending, ArtefactKind::Decided];
const REQUIREMENTS: &[ArtefactKind] = &[ArtefactKind::Requirement];

/// Everything that takes more than one file to see.
pub(super) fn check(report: &mut Report, artefacts: &Artefacts, today: Date) {
    for kinds in [EVENTS, REQUIREMENTS, &[ArtefactKind::Proposal]] {
        twins(report, artefacts, kinds);
    }
    events(report, artefacts);
    requirements(report, artefacts);
    proposals(report, artefacts);
    similar(report, artefacts);
    for event in artefacts.of_kinds(&[ArtefactKind::Pending]) {
        waiting(report, event, today);
    }
}

/// The first artefact of each id in its stream: no link leads into another one.
fn by_id<'a>(
    artefacts: &'a Artefacts,
    kinds: &'static [ArtefactKind],
) -> BTreeMap<Id<'a>, &'a Artefact> {
    let mut found = BTreeMap::new();
    for it in artefacts.of_kinds(kinds) {
        found.entry((&it.stream, it.text("id"))).or_insert(it);
    }
    found
}

type Id<'a> = (&'a StreamName, &'a str);

/// No two artefacts of a kind have one id.
fn twins(report: &mut Report, artefacts: &Artefacts, kinds: &'static [ArtefactKind]) {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for it in artefacts.of_kinds(kinds) {
        let id = it.text("id");
        if id.is_empty() {
            continue;
        }
        if let Some(first) = seen.insert(id, &it.file) {
            let what = format!("`{first}` has the id `{id}` too");
            report.add(Rule::TwinId, &it.file, it.line("id"), what);
        }
    }
}

/// Whether a requirement names an event among its sources.
fn names(requirement: &Artefact, event: &str) -> bool {
    let mut sources = requirement.list("source_events").iter();
    sources.any(|source| source.text() == Some(event))
}

/// The requirement of a decided event is there, and names the event.
fn events(report: &mut Report, artefacts: &Artefacts) {
    let requirements = by_id(artefacts, REQUIREMENTS);
    for event in artefacts.of_kinds(&[ArtefactKind::Decided]) {
        let wanted = event.text("requirement_id");
        if wanted.is_empty() {
            continue;
        }
        let line = event.line("requirement_id");
        match requirements.get(&(&event.stream, wanted)) {
            None => {
                let what = format!("there is no requirement `{wanted}`");
                report.add(Rule::Link, &event.file, line, what);
            }
            Some(requirement) if !names(requirement, event.text("id")) => {
                let what = format!("`{}` does not name this event", requirement.file);
                report.add(Rule::Link, &event.file, line, what);
            }
            Some(_) => {}
        }
    }
}

/// The sources of a requirement are decided events that name it, and are in no other requirement.
fn requirements(report: &mut Report, artefacts: &Artefacts) {
    let decided = by_id(artefacts, &[ArtefactKind::Decided]);
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for requirement in artefacts.of_kinds(REQUIREMENTS) {
        for source in requirement.list("source_events") {
            let id = source.text().unwrap_or_default();
            let event = decided.get(&(&requirement.stream, id)).copied();
            link(report, event, requirement, source, id);
            if let Some(other) = taken.insert(id, &requirement.file) {
                let what = format!("the event `{id}` is in `{other}` too");
                report.add(Rule::SharedEvent, &requirement.file, source.line, what);
            }
        }
    }
}

fn link(
    report: &mut Report,
    event: Option<&Artefact>,
    requirement: &Artefact,
    source: &Node,
    id: &str,
) {
    let what = match event {
        None => format!("there is no decided event `{id}`"),
        Some(event) if event.text("requirement_id") != requirement.text("id") => {
            format!("`{}` names another requirement", event.file)
        }
        Some(_) => return,
    };
    report.add(Rule::Link, &requirement.file, source.line, what);
}

/// A persona makes three proposals on one day, since each run makes three.
fn proposals(report: &mut Report, artefacts: &Artefacts) {
    let mut runs: BTreeMap<(&str, &str), Vec<&Artefact>> = BTreeMap::new();
    for it in artefacts.of_kinds(&[ArtefactKind::Proposal]) {
        let day = it.text("created_at").get(..10).unwrap_or_default();
        let persona = it.text("persona");
        // A proposal that lacks one of them is told by that alone.
        if !persona.is_empty() && !day.is_empty() {
            runs.entry((persona, day)).or_default().push(it);
        }
    }
    for ((persona, day), run) in runs {
        let Some(last) = run.last().filter(|_| run.len() % PROPOSALS != 0) else {
            continue;
        };
        let what = format!("`{persona}` made {} proposals on {day}", run.len());
        let line = last.line("created_at");
        report.add(Rule::ProposalCount, &last.file, line, what);
    }
}

/// What an event or a requirement is about: a title, and the files that it names. Each stream is worked on by itself.
struct Subject<'a> {
    file: &'a str,
    stream: &'a StreamName,
    title: String,
    paths: BTreeSet<&'a str>,
}

impl<'a> Subject<'a> {
    fn new(it: &'a Artefact, paths: impl Iterator<Item = &'a str>) -> Self {
        Self {
            file: &it.file,
            stream: &it.stream,
            title: it.text("title").trim().to_lowercase(),
            paths: paths.collect(),
        }
    }

    fn of_event(event: &'a Artefact) -> Self {
        let evidence = event.list("evidence").iter();
        Self::new(event, evidence.filter_map(|it| it.get("path")?.text()))
    }

    fn of_requirement(requirement: &'a Artefact) -> Self {
        let areas = requirement.list("affected_areas").iter();
        Self::new(requirement, areas.filter_map(Node::text))
    }

    /// Whether both say much the same. What has no title is told by that alone.
    fn is_like(&self, other: &Self) -> bool {
        let likeness = strsim::sorensen_dice(&self.title, &other.title);
        !self.title.is_empty() && likeness >= TITLE_LIKENESS_MIN
    }
}

/// A pending event that says what an open requirement covers, or another one has said.
fn similar(report: &mut Report, artefacts: &Artefacts) {
    let open = artefacts
        .of_kinds(REQUIREMENTS)
        .map(Subject::of_requirement);
    let mut known: Vec<Subject<'_>> = open.collect();
    for event in artefacts.of_kinds(&[ArtefactKind::Pending]) {
        let subject = Subject::of_event(event);
        let near = known
            .iter()
            .filter(|other| other.stream == subject.stream)
            .filter(|other| !other.paths.is_disjoint(&subject.paths));
        let mut near = near.take(COMPARED_MAX);
        if let Some(twin) = near.find(|other| subject.is_like(other)) {
            let what = format!(
                "`{}` has much the same title and a file in common",
                twin.file
            );
            report.add(Rule::SimilarEvents, &event.file, event.line("title"), what);
        }
        known.push(subject);
    }
}

fn waiting(report: &mut Report, event: &Artefact, today: Date) {
    let Some(created) = date(event.text("created_at")) else {
        return;
    };
    let days = today.since(created).map_or(0, |span| span.get_days());
    if days > WAITING_DAYS_MAX {
        let what = format!("the event has waited for {days} days");
        report.add(Rule::Waiting, &event.file, event.line("created_at"), what);
    }
}
