//! How a weave is shown: a line for each member, then the order and who shares files; JSON for programs.

use std::path::PathBuf;

use domain::ids::{BranchName, RepoName};
use engine::weaving::{Published, Skipped};
use serde_json::{Value, json};
use weave::verdict::{Against, Clash, ClashKind, Conflict, Lines, Verdict};
use weave::weave::{Outcome, Woven};

use crate::render::{self, Answer};

/// As many shared paths as a line lists.
const SHARED_MAX: usize = 5;

/// What there is to say of a weave on GitHub besides.
pub(super) struct RemoteWeave {
    pub(super) repo: RepoName,
    pub(super) branch: BranchName,
    pub(super) skipped: Vec<Skipped>,
    /// How often GitHub was asked.
    pub(super) calls: u64,
    pub(super) patch: Option<PathBuf>,
    pub(super) pushed: Option<(BranchName, Published)>,
}

/// A member, as it is shown.
pub(super) struct Named {
    pub(super) number: u64,
    /// What else it is called.
    pub(super) name: String,
}

/// What came of a weave.
pub(super) struct WeaveReport {
    /// What was woven into.
    pub(super) base: String,
    pub(super) named: Vec<Named>,
    pub(super) woven: Woven,
    /// How many files are other than in the base.
    pub(super) files: usize,
    /// How many of them were written, if that was wanted.
    pub(super) written: Option<usize>,
    pub(super) remote: Option<RemoteWeave>,
}

impl WeaveReport {
    /// How many members are in.
    pub(super) fn inside(&self) -> usize {
        let outcomes = self.woven.outcomes.iter();
        outcomes
            .filter(|it| matches!(it.verdict, Verdict::In { .. }))
            .count()
    }

    /// How many were given.
    pub(super) fn all(&self) -> usize {
        self.woven.outcomes.len() + self.skipped().len()
    }

    fn skipped(&self) -> &[Skipped] {
        self.remote.as_ref().map_or(&[], |remote| &remote.skipped)
    }

    fn name(&self, number: u64) -> &str {
        let named = self.named.iter().find(|named| named.number == number);
        named.map_or("", |named| named.name.as_str())
    }
}

/// The report for people and for programs.
pub(super) fn answer(report: &WeaveReport) -> Answer {
    let outcomes = report.woven.outcomes.iter();
    let lines = outcomes.map(|outcome| line(outcome, report.name(outcome.number)));
    let skipped = report.skipped().iter().map(|skipped| {
        let Skipped { number, skip } = skipped;
        format!("❌ #{number} is left out: {skip}; {}", skip.next())
    });
    let lines = lines.chain(skipped).chain(arrangement(report));
    let lines = lines.chain(results(report));
    lines.fold(Answer::new(to_json(report)), Answer::line)
}

/// In which order they were tried, and which of them share files.
fn arrangement(report: &WeaveReport) -> Vec<String> {
    let order = report.woven.outcomes.iter().map(|outcome| outcome.number);
    let order = numbered(order);
    let shared = report
        .woven
        .groups
        .iter()
        .filter(|group| group.members.len() > 1);
    let shared = shared.map(|group| {
        let paths: Vec<_> = group
            .shared
            .iter()
            .take(SHARED_MAX)
            .map(String::as_str)
            .collect();
        let more = if group.shared.len() > paths.len() {
            " and more"
        } else {
            ""
        };
        let members = numbered(group.members.iter().copied());
        format!("{members} share {}{more}.", paths.join(", "))
    });
    let order = (!order.is_empty()).then(|| format!("Order: {order}."));
    order.into_iter().chain(shared).collect()
}

/// What it came to.
fn results(report: &WeaveReport) -> Vec<String> {
    let files = render::counted(report.files, "file");
    let (inside, all) = (report.inside(), report.all());
    let mut lines = vec![format!("{inside} of {all} are in, and change {files}.")];
    lines.extend(
        report
            .written
            .map(|written| format!("{} written.", render::counted(written, "file"))),
    );
    let Some(remote) = &report.remote else {
        return lines;
    };
    let patch = remote.patch.as_ref();
    lines.extend(patch.map(|file| format!("The change is in {}.", file.display())));
    if let Some((branch, published)) = &remote.pushed {
        let commit = &published.commit;
        lines.push(match published.is_new {
            true => format!("The branch {branch} is at {commit} now."),
            false => format!("The branch {branch} has this weave already, at {commit}."),
        });
        let pull = published.pull.as_ref();
        lines.extend(pull.map(|pull| format!("Its pull request is {pull}.")));
    }
    lines.push(format!("Calls to GitHub: {}.", remote.calls));
    lines
}

fn line(outcome: &Outcome, name: &str) -> String {
    let who = format!("#{} {name}", outcome.number);
    let who = who.trim_end();
    match &outcome.verdict {
        Verdict::In { way, files } => {
            format!(
                "✅ {who} applies cleanly ({way}, {})",
                render::counted(*files, "file")
            )
        }
        Verdict::Out(conflict) => {
            let places: Vec<_> = conflict.clashes.iter().map(place).collect();
            format!("❌ {who} {}: {}", against(conflict), places.join("; "))
        }
        Verdict::Unreadable(fault) => format!("❌ {who} is no patch that can be woven: {fault}"),
    }
}

fn against(conflict: &Conflict) -> String {
    match &conflict.against {
        Against::Members(numbers) if numbers.is_empty() => {
            "has conflicts with what is woven".to_owned()
        }
        Against::Members(numbers) => {
            format!("has conflicts with {}", numbered(numbers.iter().copied()))
        }
        Against::StaleBase => "does not apply to the base alone either".to_owned(),
    }
}

/// A path with its lines, or with what else is the matter there.
fn place(clash: &Clash) -> String {
    if clash.lines.is_empty() {
        return format!("{}: {}", clash.path, clash.kind);
    }
    let lines: Vec<_> = clash.lines.iter().map(Lines::to_string).collect();
    format!("{} {}", clash.path, lines.join(", "))
}

fn numbered(numbers: impl Iterator<Item = u64>) -> String {
    let numbers: Vec<_> = numbers.map(|number| format!("#{number}")).collect();
    numbers.join(", ")
}

fn to_json(report: &WeaveReport) -> Value {
    let outcomes = &report.woven.outcomes;
    let members = outcomes
        .iter()
        .map(|outcome| member(outcome, report.name(outcome.number)));
    let groups = report.woven.groups.iter();
    let groups = groups.map(|group| json!({ "members": group.members, "shared": group.shared }));
    let mut json = json!({
        "base": report.base,
        "members": members.collect::<Vec<_>>(),
        "order": outcomes.iter().map(|outcome| outcome.number).collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
        "in": report.inside(),
        "files": report.files,
    });
    let more = match &report.remote {
        Some(remote) => of_remote(remote),
        None => json!({ "written": report.written }),
    };
    if let (Some(fields), Value::Object(more)) = (json.as_object_mut(), more) {
        fields.extend(more);
    }
    json
}

fn of_remote(remote: &RemoteWeave) -> Value {
    let skipped = remote.skipped.iter().map(|Skipped { number, skip }| {
        json!({
            "number": number, "code": skip.code(), "reason": skip.to_string(), "next": skip.next(),
        })
    });
    let pushed = remote.pushed.as_ref().map(|(branch, published)| {
        json!({
            "branch": branch, "commit": published.commit, "new": published.is_new,
            "pull": published.pull.as_ref().map(|pull| pull.number),
        })
    });
    json!({
        "repo": remote.repo, "branch": remote.branch, "skipped": skipped.collect::<Vec<_>>(),
        "calls": remote.calls, "patch": remote.patch, "pushed": pushed,
    })
}

fn member(outcome: &Outcome, name: &str) -> Value {
    let Outcome { number, verdict } = outcome;
    let mut json = match verdict {
        Verdict::In { way, files } => json!({
            "number": number, "verdict": "in", "way": way.to_string(), "files": files,
        }),
        Verdict::Out(conflict) => {
            let (verdict, with) = match &conflict.against {
                Against::Members(numbers) => ("conflict", numbers.clone()),
                Against::StaleBase => ("stale_base", Vec::new()),
            };
            json!({
                "number": number, "verdict": verdict, "conflicts_with": with,
                "clashes": conflict.clashes.iter().map(clash).collect::<Vec<_>>(),
            })
        }
        Verdict::Unreadable(fault) => json!({
            "number": number, "verdict": "unreadable", "reason": fault.to_string(),
        }),
    };
    // A pull request has no name but its number.
    if !name.is_empty() {
        json["name"] = name.into();
    }
    json
}

fn clash(clash: &Clash) -> Value {
    let lines = clash.lines.iter();
    let lines = lines.map(|lines| json!({ "first": lines.first, "count": lines.count }));
    json!({
        "path": clash.path, "kind": kind(clash.kind), "reason": clash.kind.to_string(),
        "lines": lines.collect::<Vec<_>>(),
    })
}

/// What a program calls a kind of conflict.
fn kind(kind: ClashKind) -> &'static str {
    match kind {
        ClashKind::Lines => "lines",
        ClashKind::Binary => "binary",
        ClashKind::EditDeleted => "edit_deleted",
        ClashKind::RenameChanged => "rename_changed",
        ClashKind::MovedApart => "moved_apart",
        ClashKind::Kind => "kind",
        ClashKind::InTheWay => "in_the_way",
        ClashKind::Unmergeable => "unmergeable",
        ClashKind::NotLoaded => "not_loaded",
        ClashKind::Patch(_) => "patch",
    }
}
