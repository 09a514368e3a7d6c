//! Roles as people arrange them: those there are, those that are scheduled, and what adding or deleting one changes.
//!
//! Every change is a text in place of another one: whatever of the settings has nothing to do with it stays, byte for byte.

mod schedule;
#[cfg(test)]
mod tests;

use domain::ids::RoleName;
use domain::layer::{Cast, Layer};
use domain::nearest::nearest;

use crate::assets;
use crate::config::{self, Config, Scheduled};
use crate::doctor::{self, Finding, Level};
use crate::fault::Fault;
use crate::layout::{CONFIG, own_role};
use crate::prompt;
use crate::tree::{Tree, TreePath};

/// Why roles stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoleError {
    /// The layer is one agent.
    #[error("the layer {0} is one agent and has no roles: observers and innovators have")]
    SingleLayer(Layer),
    /// There is no such role.
    #[error("the layer {layer} has no role `{role}`: {offer}")]
    Unknown {
        /// The layer.
        layer: Layer,
        /// What was asked for.
        role: RoleName,
        /// The nearest one, or all.
        offer: String,
    },
    /// There is one of that name.
    #[error(
        "the layer {layer} has a role `{role}`: add it with `gaffer role add {layer} {role}`, or choose another name"
    )]
    There {
        /// The layer.
        layer: Layer,
        /// What was asked for.
        role: RoleName,
    },
    /// The settings name it already.
    #[error("{CONFIG}:{line}: `{role}` is there already; `enabled` says whether it takes part")]
    Scheduled {
        /// What was asked for.
        role: RoleName,
        /// Its line.
        line: usize,
    },
    /// It has no file, and the settings do not name it.
    #[error("the role `{0}` has no file of its own, and the settings do not name it")]
    Nothing(RoleName),
    /// The settings cannot be used.
    #[error("{}", lines(.0))]
    Config(Vec<Fault>),
    /// The settings are written in a way that is not changed here.
    #[error(
        "{CONFIG}: the roles of the layer {0} are written in a way that only a person can change: do it by hand"
    )]
    ByHand(Layer),
}

fn lines(faults: &[Fault]) -> String {
    let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

/// A role and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its layer.
    pub layer: Layer,
    /// Its name, which may be one that only the schedule has.
    pub role: RoleName,
    /// Whether it has a file in the repository.
    pub is_own: bool,
    /// Whether one comes with Gaffer.
    pub is_built_in: bool,
    /// Whether it is on the schedule, and enabled there.
    pub scheduled: Option<bool>,
}

/// The layers that have roles.
pub const LAYERS: [Layer; 2] = [Layer::Observers, Layer::Innovators];

/// Every role that there is or that is scheduled, in order of layer and name.
pub fn list(target: &Tree, config: &Config) -> Vec<Row> {
    let rows = LAYERS.into_iter().flat_map(|layer| {
        let scheduled = scheduled(config, layer);
        let mut names = prompt::roles(target, layer);
        names.extend(scheduled.iter().map(|it| it.name.clone()));
        names.sort();
        names.dedup();
        names.into_iter().map(move |role| {
            let scheduled = scheduled.iter().find(|it| it.name == role);
            Row {
                layer,
                is_own: target.has(&own_role(layer, Some(&role))),
                is_built_in: assets::role(layer, &role).is_some(),
                scheduled: scheduled.map(|it| it.enabled),
                role,
            }
        })
    });
    rows.collect()
}

/// The focus of a role as a prompt has it: the user's own, else the built-in one.
pub fn show(target: &Tree, layer: Layer, role: &RoleName) -> Result<String, RoleError> {
    must_be_known(target, layer, role)?;
    let own = target.text(&own_role(layer, Some(role)));
    let text = own.or_else(|| assets::role(layer, role));
    Ok(text.unwrap_or_default().to_owned())
}

/// What is wrong with the file of a role. Nothing is wrong with a built-in one.
pub fn validate(target: &Tree, layer: Layer, role: &RoleName) -> Result<Vec<Finding>, RoleError> {
    must_be_known(target, layer, role)?;
    Ok(doctor::role(target, layer, role))
}

/// Why a role is sent to no work: the first error in its file.
pub fn unusable(target: &Tree, layer: Layer, role: &RoleName) -> Option<String> {
    let found = doctor::role(target, layer, role);
    let error = found.iter().find(|it| it.level == Level::Error)?;
    let Finding {
        file, line, what, ..
    } = error;
    Some(format!("{file}:{line}: {what}: {}", error.remedy))
}

/// The settings with a role on the schedule that is there already, built in or the user's own.
pub fn add(
    target: &Tree,
    config: &str,
    layer: Layer,
    role: &RoleName,
) -> Result<String, RoleError> {
    must_be_known(target, layer, role)?;
    let settings = parsed(config)?;
    if let Some(it) = on_schedule(&settings, layer, role) {
        let (role, line) = (role.clone(), it.line);
        return Err(RoleError::Scheduled { role, line });
    }
    changed(config, layer, schedule::add(config, layer, role), |names| {
        names.push(role.clone())
    })
}

/// The file of a new role, with the places to fill in. It is put on the schedule by itself, once it says something.
pub fn create(
    target: &Tree,
    layer: Layer,
    role: &RoleName,
) -> Result<(TreePath, String), RoleError> {
    must_have_roles(layer)?;
    let taken = prompt::roles(target, layer).contains(role);
    let path = own_role(layer, Some(role)).parse().ok();
    let Some(path) = path.filter(|path| !taken && target.get(path).is_none()) else {
        let role = role.clone();
        return Err(RoleError::There { layer, role });
    };
    let text = assets::role_form().replace("<role>", role.as_str());
    Ok((path, text.replace("<layer>", layer.name())))
}

/// What is left when a role is deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// The settings without it.
    pub config: String,
    /// Its file, if it has one in the repository.
    pub file: Option<TreePath>,
}

/// Takes a role off the schedule, and its file out of the repository. A built-in one can be added again.
pub fn delete(
    target: &Tree,
    config: &str,
    layer: Layer,
    role: &RoleName,
) -> Result<Deleted, RoleError> {
    must_have_roles(layer)?;
    let settings = parsed(config)?;
    let file: Option<TreePath> = own_role(layer, Some(role)).parse().ok();
    let file = file.filter(|path| target.get(path).is_some());
    if on_schedule(&settings, layer, role).is_none() {
        return match file {
            Some(_) => Ok(Deleted {
                config: config.to_owned(),
                file,
            }),
            None => {
                must_be_known(target, layer, role)?;
                Err(RoleError::Nothing(role.clone()))
            }
        };
    }
    let config = changed(
        config,
        layer,
        schedule::remove(config, layer, role),
        |names| names.retain(|name| name != role),
    )?;
    Ok(Deleted { config, file })
}

fn must_have_roles(layer: Layer) -> Result<(), RoleError> {
    match layer.cast() {
        Cast::Single => Err(RoleError::SingleLayer(layer)),
        Cast::Multi => Ok(()),
    }
}

fn must_be_known(target: &Tree, layer: Layer, role: &RoleName) -> Result<(), RoleError> {
    must_have_roles(layer)?;
    let roles = prompt::roles(target, layer);
    if roles.contains(role) {
        return Ok(());
    }
    let names: Vec<_> = roles.iter().map(RoleName::as_str).collect();
    let offer = match nearest(role.as_str(), names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.join(", ")),
    };
    let role = role.clone();
    Err(RoleError::Unknown { layer, role, offer })
}

fn parsed(config: &str) -> Result<Config, RoleError> {
    config::parse(CONFIG, config).map_err(RoleError::Config)
}

fn scheduled(config: &Config, layer: Layer) -> &[Scheduled] {
    match layer {
        Layer::Observers => &config.observers,
        Layer::Innovators => &config.innovators,
        Layer::Narrator | Layer::Decider | Layer::Planner | Layer::Implementer => &[],
    }
}

fn on_schedule<'a>(config: &'a Config, layer: Layer, role: &RoleName) -> Option<&'a Scheduled> {
    let mut rows = scheduled(config, layer).iter();
    rows.find(|it| it.name == *role)
}

/// The changed settings, if they say exactly what was wanted: there are more ways to write a list than are changed here.
fn changed(
    before: &str,
    layer: Layer,
    after: Option<String>,
    change: impl FnOnce(&mut Vec<RoleName>),
) -> Result<String, RoleError> {
    let rows = |config: &Config, layer| -> Vec<(RoleName, bool)> {
        let rows = scheduled(config, layer).iter();
        rows.map(|it| (it.name.clone(), it.enabled)).collect()
    };
    let before = parsed(before)?;
    let mut names: Vec<_> = rows(&before, layer).into_iter().map(|it| it.0).collect();
    change(&mut names);
    let settings = after
        .as_deref()
        .and_then(|text| config::parse(CONFIG, text).ok());
    let as_wanted = settings.is_some_and(|settings| {
        LAYERS.into_iter().all(|other| {
            let now = rows(&settings, other);
            let kept = rows(&before, other);
            if other != layer {
                return now == kept;
            }
            let enabled = |name: &RoleName| {
                let row = kept.iter().find(|row| row.0 == *name);
                row.is_none_or(|row| row.1)
            };
            now.iter().map(|it| &it.0).eq(&names) && now.iter().all(|it| it.1 == enabled(&it.0))
        })
    });
    match after {
        Some(text) if as_wanted => Ok(text),
        Some(_) | None => Err(RoleError::ByHand(layer)),
    }
}
