//! Prompts: each that is scheduled can be put together, says nothing twice, and orders no reading of what could be included.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::fence::encoded_len;
use domain::ids::{ArtefactId, BranchName, RepoName, RoleName, StreamName};
use domain::layer::Layer;
use domain::nearest::meant;

use super::artefacts::{ArtefactKind, Artefacts};
use super::finding::{Report, Rule};
use crate::config::{Config, DecidedBy, Scheduled, of_older};
use crate::exchange::label_names;
use crate::layout::{CONFIG, LayoutError, Paths, SYSTEM, schedule_file, streams};
use crate::prompt::older;
use crate::prompt::{Ask, Prompt, PromptError, Records, Trees, assemble, ids_wanted, roles};
use crate::tree::{Entry, Tree, TreePath};

/// Words that order an agent to read a file.
const ORDERS: [&str; 6] = [
    "read ",
    "open ",
    "see ",
    "consult ",
    "refer to ",
    "follow the contracts in ",
];

/// Folders whose files a template can include.
const INCLUDABLE: [&str; 2] = [".jules/", ".jlo/roles/"];

/// A paragraph of this many characters is no coincidence when it stands there twice.
const BLOCK_CHARS_MIN: usize = 120;

/// A fence has at least this many backticks.
const FENCE_TICKS_MIN: usize = 3;

/// The id of a requirement that stands in for one.
const SAMPLE_ID: &str = "000000";

/// What stands in for the branches and the repository, which the doctor does not know.
const REPOSITORY: &str = "owner/repository";

pub(super) fn check(
    report: &mut Report,
    trees: &Trees,
    paths: &Paths,
    config: Option<&Config>,
    artefacts: &Artefacts,
) {
    let trees = &with_samples(trees, paths, artefacts);
    if paths.is_older() {
        older_agents(report, &trees.worker, paths);
    }
    let mut asked = usual(&trees.worker, paths, config);
    for (layer, stream, scheduled) in scheduled(config) {
        if paths.is_older() {
            continue;
        }
        // One that is not there is told with the settings.
        if roles(&trees.target, layer).contains(&scheduled.name) {
            let template = paths.template(&trees.worker, layer);
            let asked_for = ask(layer, Some(scheduled.name.clone()), None);
            // A stream that is not there yet is told as a folder that is missing.
            let stream = stream.filter(|stream| streams(&trees.worker).contains(stream));
            let stream = stream.cloned();
            asked.push((template, asked_for.map(|ask| Ask { stream, ..ask })));
        }
    }
    for (layer, file) in largest_requirements(&trees.worker, artefacts) {
        asked.push((file.to_owned(), ask(layer, None, file.parse().ok())));
    }
    let waiting = [Layer::Planner, Layer::Implementer].into_iter();
    for layer in waiting.filter(|_| !paths.is_older()) {
        let path: Option<TreePath> = sample(paths, layer).parse().ok();
        if path
            .as_ref()
            .is_some_and(|path| trees.worker.get(path).is_some())
        {
            asked.push((paths.template(&trees.worker, layer), ask(layer, None, path)));
        }
    }
    for (file, ask) in asked {
        match ask.map(|ask| assemble(trees, &ask)) {
            Some(Ok(prompt)) => {
                doubled(report, &file, &prompt);
                oversized(report, &prompt);
            }
            Some(Err(error)) => refused(report, &file, &error),
            None => {}
        }
    }
    orders(report, &trees.worker, paths);
}

/// The largest requirement of each layer and label: their prompts differ in nothing else, so if it fits, the others do.
fn largest_requirements<'a>(worker: &Tree, artefacts: &'a Artefacts) -> Vec<(Layer, &'a str)> {
    let mut largest: BTreeMap<(Layer, &str), (usize, &str)> = BTreeMap::new();
    for requirement in artefacts.of_kinds(&[ArtefactKind::Requirement]) {
        let layer = match requirement.wants_analysis() {
            true => Layer::Planner,
            false => Layer::Implementer,
        };
        let bytes = encoded_len(worker.text(&requirement.file).unwrap_or_default());
        let key = (layer, requirement.text("label"));
        let entry = largest.entry(key).or_default();
        *entry = (*entry).max((bytes, &requirement.file));
    }
    let found = largest.into_iter();
    found.map(|((layer, _), (_, file))| (layer, file)).collect()
}

/// What every repository runs: the layers of one agent, a decider for each stream that has one, and in the older generation each list of
/// files.
fn usual(worker: &Tree, paths: &Paths, config: Option<&Config>) -> Vec<(String, Option<Ask>)> {
    if !paths.is_older() {
        // A stream that is not there yet is told as a folder that is missing.
        let known = streams(worker);
        let named = config.into_iter().flat_map(Config::streams);
        let deciding = named.filter(|(stream, it)| it.decides() && known.contains(stream));
        let deciders = deciding.map(|(stream, _)| (Layer::Decider, Some(stream.clone())));
        let layers = [(Layer::Narrator, None), (Layer::Decider, None)].into_iter();
        let asked = layers.chain(deciders).map(|(layer, stream)| {
            let ask = ask(layer, None, None).map(|ask| Ask { stream, ..ask });
            (paths.template(worker, layer), ask)
        });
        return asked.collect();
    }
    let layers = [Layer::Narrator, Layer::Observers, Layer::Decider].into_iter();
    let lists = layers.flat_map(|layer| {
        let lists = older::lists(worker, paths, layer).into_iter();
        lists.map(move |(role, file)| (file.to_string(), ask(layer, role, None)))
    });
    lists.collect()
}

/// Where a requirement stands in that is not there yet. No file of the exchange is called so.
fn sample(paths: &Paths, layer: Layer) -> String {
    format!("{}/{SAMPLE_ID}.{layer}.yml", &paths.requirements)
}

/// The files with a requirement for each of the two layers that wait for one, so that their prompts are tried as well.
fn with_samples(trees: &Trees, paths: &Paths, artefacts: &Artefacts) -> Trees {
    let labels = label_names(&trees.worker, paths);
    let mut trees = trees.clone();
    for layer in [Layer::Planner, Layer::Implementer] {
        let analysis = layer == Layer::Planner;
        let mut requirements = artefacts.of_kinds(&[ArtefactKind::Requirement]);
        let waits = !requirements.any(|it| it.wants_analysis() == analysis);
        let path = sample(paths, layer).parse().ok();
        if let (true, Some(label), Some(path)) = (waits, labels.first(), path) {
            let text = format!(
                "id: \"{SAMPLE_ID}\"\nlabel: {label}\nrequires_deep_analysis: {analysis}\n"
            );
            Arc::make_mut(&mut trees.worker).put(path, Entry::text(text));
        }
    }
    trees
}

/// The enabled roles of the schedule, with the named stream that they work in.
fn scheduled(
    config: Option<&Config>,
) -> impl Iterator<Item = (Layer, Option<&StreamName>, &Scheduled)> {
    let rows = config.into_iter().flat_map(|config| {
        let row = |layer| move |it| (layer, None, it);
        let observers = config.observers.iter().map(row(Layer::Observers));
        let innovators = config.innovators.iter().map(row(Layer::Innovators));
        let named = config.streams().flat_map(|(stream, settings)| {
            let observers = settings.observers.iter();
            observers.map(move |it| (Layer::Observers, Some(stream), it))
        });
        observers.chain(innovators).chain(named)
    });
    rows.filter(|(_, _, it)| it.enabled)
}

/// The schedules of the older generation can be read, and each agent that they enable has a list of files, which is of that stream.
fn older_agents(report: &mut Report, worker: &Tree, paths: &Paths) {
    let agents = match of_older(worker, paths) {
        Ok(agents) => agents,
        Err(faults) => {
            for fault in faults {
                report.add(Rule::Config, &fault.file, fault.line, fault.what);
            }
            return;
        }
    };
    for it in agents.iter().filter(|it| it.runs) {
        let enabled = it.observers.iter().filter(|role| role.enabled);
        let observers = enabled.map(|role| (Layer::Observers, &role.name, role.line));
        let decider = match &it.decider {
            DecidedBy::Role(role) => Some((Layer::Decider, role, 1)),
            DecidedBy::Layer | DecidedBy::Off => None,
        };
        for (layer, role, line) in observers.chain(decider) {
            let listed = older::listed(worker, paths, layer);
            let what = match listed.iter().find(|(name, _)| name == role) {
                None => no_role(layer, role, listed.iter().map(|(name, _)| name)),
                Some((_, Some(of))) if *of != it.stream => {
                    format!("the list of the role `{role}` is of the stream `{of}`")
                }
                Some(_) => continue,
            };
            report.add(Rule::ScheduledRole, &schedule_file(&it.stream), line, what);
        }
    }
}

/// Each role of the schedule is there: the user's own, or one that comes with Gaffer.
pub(super) fn scheduled_roles(report: &mut Report, target: &Tree, config: Option<&Config>) {
    for (layer, _, it) in scheduled(config) {
        let roles = roles(target, layer);
        if !roles.contains(&it.name) {
            let what = no_role(layer, &it.name, roles.iter());
            report.add(Rule::ScheduledRole, CONFIG, it.line, what);
        }
    }
}

fn no_role<'a>(layer: Layer, role: &RoleName, known: impl Iterator<Item = &'a RoleName>) -> String {
    let offer = meant(role.as_str(), known.map(RoleName::as_str));
    format!("the layer {layer} has no role `{role}`{offer}")
}

/// A request as the pipeline would make it, with ids that stand in for fresh ones.
fn ask(layer: Layer, role: Option<RoleName>, requirement: Option<TreePath>) -> Option<Ask> {
    let ids = (0..ids_wanted(layer)).map(|n| format!("{n:06}").parse().ok());
    let repository: RepoName = REPOSITORY.parse().ok()?;
    Some(Ask {
        layer,
        role,
        stream: None,
        task: None,
        requirement,
        repository,
        target_branch: BranchName::main(),
        worker_branch: BranchName::main(),
        range_description: String::new(),
        ids: ids.collect::<Option<Vec<ArtefactId>>>()?,
        records: Records::default(),
    })
}

/// Why a prompt cannot be put together, at the place that the error names. What other rules tell is left to them.
fn refused(report: &mut Report, file: &str, error: &PromptError) {
    match error {
        PromptError::Template { file, line, what } => report.add(Rule::Prompt, file, *line, what),
        PromptError::Include { file, line, why } => {
            report.add(Rule::Prompt, file, *line, why.to_string());
        }
        PromptError::List(fault) => report.add(Rule::Prompt, file, fault.line, &fault.what),
        PromptError::UnknownLabel { .. }
        | PromptError::RequirementId(_)
        | PromptError::NoMark(_) => {}
        // Whatever else there is about the layout is told where it is read.
        PromptError::Layout(error @ LayoutError::NoStream { .. }) => {
            report.add(Rule::Prompt, file, 1, error.to_string());
        }
        PromptError::Layout(_) => {}
        PromptError::RoleWanted { .. }
        | PromptError::RoleUnwanted(_)
        | PromptError::UnknownRole { .. }
        | PromptError::TaskUnwanted(_)
        | PromptError::UnknownTask { .. }
        | PromptError::RequirementWanted(_)
        | PromptError::RequirementUnwanted(_)
        | PromptError::RequirementOutside { .. }
        | PromptError::RequirementMissing { .. }
        | PromptError::Requirement(_)
        | PromptError::NotReady(_)
        | PromptError::Ready(_)
        | PromptError::Ids { .. }
        | PromptError::NoTemplate(_)
        | PromptError::NoList(_)
        | PromptError::NoOutput(_)
        | PromptError::TooLong { .. } => report.add(Rule::Prompt, file, 1, error.to_string()),
    }
}

/// Events that no prompt of their decider has room for.
fn oversized(report: &mut Report, prompt: &Prompt) {
    for event in &prompt.oversized {
        let what = "no prompt of a decider has room for the event: shorten it";
        report.add(Rule::Prompt, event.as_str(), 1, what);
    }
}

/// A file that is in a prompt twice, or a long paragraph that is.
fn doubled(report: &mut Report, file: &str, prompt: &Prompt) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for included in &prompt.included {
        *seen.entry(included.path.as_str()).or_default() += 1;
    }
    let paragraphs = paragraphs(&prompt.text);
    for paragraph in &paragraphs {
        if paragraph.chars().count() >= BLOCK_CHARS_MIN {
            *seen.entry(paragraph).or_default() += 1;
        }
    }
    for (block, _) in seen.into_iter().filter(|(_, count)| *count > 1) {
        let first = block.lines().next().unwrap_or_default();
        let what = format!("the prompt holds twice what begins with `{first}`");
        report.add(Rule::DoubledBlock, file, 1, what);
    }
}

/// The paragraphs of a prompt, without what is fenced: sessions may well say the same thing twice.
fn paragraphs(prompt: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut fence: Option<&str> = None;
    for line in prompt.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None if ticks >= FENCE_TICKS_MIN => {
                fence = Some(&line[..ticks]);
                paragraphs.push(String::new());
            }
            None if line.is_empty() || line == "---" => paragraphs.push(String::new()),
            None => {
                if let Some(last) = paragraphs.last_mut() {
                    last.push_str(line);
                    last.push('\n');
                }
            }
        }
    }
    paragraphs
}

/// Orders to read a file of the pipeline, in what every session of a layer is told.
fn orders(report: &mut Report, tree: &Tree, paths: &Paths) {
    let folders = Layer::ALL.map(|layer| paths.layer(tree, layer));
    let told = tree.below(SYSTEM).map(|(path, _)| path.as_str());
    let told = told.filter(|path| {
        let of_layer = folders.iter().any(|folder| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.starts_with('/') && !rest.starts_with("/schemas/"))
        });
        of_layer || *path == paths.rules
    });
    for file in told {
        let lines = (1..).zip(tree.text(file).unwrap_or_default().lines());
        for (line, _) in lines.filter(|(_, text)| is_order(text)) {
            let what = "the line orders to read a file that can be included";
            report.add(Rule::ReadOrder, file, line, what);
        }
    }
}

/// Whether a line names a file of the pipeline after a word that orders to read.
fn is_order(line: &str) -> bool {
    let line = line.to_lowercase();
    let order = ORDERS.iter().filter_map(|word| {
        let at = line.find(word)?;
        let before = line[..at].chars().next_back();
        before
            .is_none_or(|c| !c.is_alphanumeric())
            .then_some(at + word.len())
    });
    let names_file = |rest: &str| {
        INCLUDABLE.iter().any(|folder| rest.contains(folder)) || rest.contains("event files")
    };
    order.into_iter().any(|at| names_file(&line[at..]))
}
