//! Which agents a layer has in a run.

use domain::ids::{RoleName, StreamName};
use domain::layer::Layer;
use domain::pipeline::Pipeline;
use scaffold::config::{Config, DecidedBy, StreamAgents};
use scaffold::layout::{Layout, Paths, stream_of};
use scaffold::prompt::{Trees, stream_of_role};
use scaffold::{exchange, mock};

/// One agent of a layer, as it is asked for.
#[derive(Default)]
pub(super) struct Asked {
    /// Its role, in a layer of roles.
    pub(super) role: Option<RoleName>,
    /// Its stream.
    pub(super) stream: StreamName,
    /// The file of its requirement.
    pub(super) requirement: Option<String>,
}

impl Asked {
    /// What tells it from the others of its layer.
    pub(super) fn name(&self) -> String {
        let role = self.role.as_ref().map(|role| role.as_str());
        let name = role.or(self.requirement.as_deref()).unwrap_or_default();
        match self.stream.is_generic() || self.requirement.is_some() {
            true => name.to_owned(),
            false => format!("{}/{name}", self.stream),
        }
    }

    fn of_role(role: &RoleName, stream: &StreamName) -> Self {
        Self {
            role: Some(role.clone()),
            stream: stream.clone(),
            requirement: None,
        }
    }

    /// Of a layer that is one agent.
    fn of_stream(stream: &StreamName) -> Self {
        Self {
            stream: stream.clone(),
            ..Self::default()
        }
    }

    /// The decider of a stream, unless it is switched off.
    fn decider(agents: &StreamAgents) -> Option<Self> {
        match &agents.decider {
            DecidedBy::Layer => Some(Self::of_stream(&agents.stream)),
            DecidedBy::Role(role) => Some(Self::of_role(role, &agents.stream)),
            DecidedBy::Off => None,
        }
    }

    /// Of a planner or an implementer, which work in the stream of their requirement.
    fn of_requirement(path: String) -> Self {
        let stream = path.parse().ok().as_ref().map(stream_of);
        Self {
            role: None,
            stream: stream.unwrap_or_default(),
            requirement: Some(path),
        }
    }
}

/// The observers that run: the one that was asked for, or those that are enabled, in the streams that run.
pub(super) fn observers(pipeline: &Pipeline, agents: &[StreamAgents], trees: &Trees) -> Vec<Asked> {
    let only = pipeline.ask.stream.as_ref();
    if let Some(role) = &pipeline.ask.role {
        let own = || stream_of_role(&trees.worker, Layer::Observers, role);
        let stream = only.cloned().or_else(own).unwrap_or_default();
        return vec![Asked::of_role(role, &stream)];
    }
    let running = agents.iter().filter(|it| it.runs);
    let wanted = running.filter(|it| only.is_none_or(|only| *only == it.stream));
    wanted
        .flat_map(|it| {
            let roles = exchange::enabled(&it.observers);
            roles.map(move |role| Asked::of_role(&role.name, &it.stream))
        })
        .collect()
}

/// The innovators that run: the one that was asked for, or those that the settings enable.
pub(super) fn innovators(pipeline: &Pipeline, config: &Config) -> Vec<Asked> {
    let generic = StreamName::default();
    match &pipeline.ask.role {
        Some(role) => vec![Asked::of_role(role, &generic)],
        None => exchange::enabled(&config.innovators)
            .map(|role| Asked::of_role(&role.name, &generic))
            .collect(),
    }
}

/// The deciders that run: one for each stream that has pending events, and for one that is named and not there, which fails at once.
pub(super) fn deciders(pipeline: &Pipeline, agents: &[StreamAgents], trees: &Trees) -> Vec<Asked> {
    let asked: Vec<_> = match &pipeline.ask.stream {
        // A person has it run, whatever is switched off.
        Some(only) => {
            let mut agents = agents.iter();
            let own = agents.find(|it| it.stream == *only);
            let own = own.and_then(Asked::decider);
            vec![own.unwrap_or_else(|| Asked::of_stream(only))]
        }
        None => {
            let running = agents.iter().filter(|it| it.runs);
            running.filter_map(Asked::decider).collect()
        }
    };
    let waits = |asked: &Asked| match Layout::paths_of(&trees.worker, &asked.stream) {
        Ok(paths) => has_event(pipeline, trees, &paths),
        Err(_) => true,
    };
    asked.into_iter().filter(waits).collect()
}

/// The requirements that ask to be thought through.
pub(super) fn unplanned(pipeline: &Pipeline, trees: &Trees, paths: &Paths) -> Vec<Asked> {
    let only = pipeline.ask.requirement.as_deref();
    let found: Vec<String> = match &pipeline.ask.mock {
        Some(tag) => {
            let found = mock::unplanned(&trees.worker, paths, tag).into_iter();
            found.map(|path| path.to_string()).collect()
        }
        None => {
            let found = exchange::requirements(&trees.worker, paths).into_iter();
            let found = found.filter(|it| it.needs_planning);
            found.map(|it| it.reference.path).collect()
        }
    };
    let wanted = found.into_iter();
    let wanted = wanted.filter(|path| only.is_none_or(|only| path == only));
    wanted.map(Asked::of_requirement).collect()
}

/// Whether a decider has something to decide about.
fn has_event(pipeline: &Pipeline, trees: &Trees, paths: &Paths) -> bool {
    let found = match &pipeline.ask.mock {
        Some(tag) => mock::pending(&trees.worker, paths, tag),
        None => exchange::pending(&trees.worker, paths),
    };
    !found.is_empty()
}

/// What a trial run of an implementer is asked for.
pub(super) fn trial_of_code(pipeline: &Pipeline) -> Vec<Asked> {
    let ask = &pipeline.ask;
    let only = ask.mock.as_ref().and(ask.requirement.clone());
    only.map(Asked::of_requirement).into_iter().collect()
}

/// Why a layer has nothing to do.
pub(super) fn idle(layer: Layer) -> &'static str {
    match layer {
        Layer::Narrator => "Nothing changed since the last summary",
        Layer::Observers => "No observer is enabled",
        Layer::Decider => "No pending events",
        Layer::Planner => "No requirement asks for deep analysis",
        Layer::Implementer => "Requirements are implemented by deliveries",
        Layer::Innovators => "No innovator is enabled",
    }
}
