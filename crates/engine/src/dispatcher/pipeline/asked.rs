//! Which agents a layer has in a run.

use domain::ids::RoleName;
use domain::layer::Layer;
use domain::pipeline::Pipeline;
use scaffold::layout::Paths;
use scaffold::prompt::Trees;
use scaffold::{config, exchange, mock};

/// One agent of a layer, as it is asked for.
#[derive(Default)]
pub(super) struct Asked {
    /// Its role, in a layer of roles.
    pub(super) role: Option<RoleName>,
    /// The file of its requirement.
    pub(super) requirement: Option<String>,
}

impl Asked {
    /// What tells it from the others of its layer.
    pub(super) fn name(&self) -> &str {
        let role = self.role.as_ref().map(|role| role.as_str());
        role.or(self.requirement.as_deref()).unwrap_or_default()
    }
}

/// The roles of a layer that run: the one that was asked for, or those that the settings enable.
pub(super) fn roles(pipeline: &Pipeline, scheduled: &[config::Scheduled]) -> Vec<Asked> {
    let asked = |role: &RoleName| Asked {
        role: Some(role.clone()),
        requirement: None,
    };
    match &pipeline.ask.role {
        Some(role) => vec![asked(role)],
        None => exchange::enabled(scheduled)
            .map(|role| asked(&role.name))
            .collect(),
    }
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
    let asked = wanted.map(|path| Asked {
        role: None,
        requirement: Some(path),
    });
    asked.collect()
}

/// Whether a decider has nothing to decide about.
pub(super) fn has_no_event(pipeline: &Pipeline, trees: &Trees, paths: &Paths) -> bool {
    match &pipeline.ask.mock {
        Some(tag) => mock::pending(&trees.worker, paths, tag).is_empty(),
        None => exchange::pending(&trees.worker, paths).is_empty(),
    }
}

/// What a trial run of an implementer is asked for.
pub(super) fn trial_of_code(pipeline: &Pipeline) -> Vec<Asked> {
    let ask = &pipeline.ask;
    let only = ask.mock.as_ref().and(ask.requirement.clone());
    let asked = only.map(|path| Asked {
        role: None,
        requirement: Some(path),
    });
    asked.into_iter().collect()
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
