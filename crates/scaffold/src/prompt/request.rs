//! What is asked of an agent, checked against the files: its stream, its role, its requirement and its ids.

use std::borrow::Cow;
use std::collections::BTreeSet;

use domain::layer::{Cast, Layer};

use super::material::AskedRequirement;
use super::{Ask, PromptError, Trees, ids_wanted, older, roles};
use crate::layout::{Layout, Paths, stream_of};
use crate::tree::Tree;

/// The paths that an agent works with: those of the stream that it was asked about, that its list names, or that its requirement lies
/// in.
pub(crate) fn paths_of(trees: &Trees, ask: &Ask) -> Result<Cow<'static, Paths>, PromptError> {
    let worker = &trees.worker;
    let paths = Layout::paths(worker)?;
    let stream = match ask.layer {
        Layer::Observers | Layer::Decider if paths.is_older() => {
            let list = older::List::read(worker, paths, ask.layer, ask.role.as_ref())?;
            list.stream(ask.stream.as_ref())?
        }
        Layer::Observers | Layer::Decider => ask.stream.clone(),
        Layer::Planner | Layer::Implementer => ask.requirement.as_ref().map(stream_of),
        Layer::Narrator | Layer::Innovators => None,
    };
    Ok(paths.in_stream(worker, &stream.unwrap_or_default())?)
}

/// The requirement, if one is asked about; refuses whatever its layer would not work on.
pub(crate) fn checked(
    trees: &Trees,
    ask: &Ask,
    paths: &Paths,
) -> Result<Option<AskedRequirement>, PromptError> {
    checked_ids(ask)?;
    checked_role(trees, ask, paths)?;
    requirement(&trees.worker, paths, ask)
}

fn checked_ids(ask: &Ask) -> Result<(), PromptError> {
    let wanted = ids_wanted(ask.layer);
    let distinct: BTreeSet<_> = ask.ids.iter().collect();
    if distinct.len() != ask.ids.len() || ask.ids.len() < wanted {
        return Err(PromptError::Ids {
            wanted,
            given: distinct.len(),
        });
    }
    Ok(())
}

/// A layer of roles has one that is known, and no other layer has any.
fn checked_role(trees: &Trees, ask: &Ask, paths: &Paths) -> Result<(), PromptError> {
    let layer = ask.layer;
    match (layer.cast(), &ask.role) {
        // There a layer of one agent may have roles, and its list is found or asked for by name.
        (_, role) if paths.is_older() => {
            older::List::read(&trees.worker, paths, layer, role.as_ref()).map(|_| ())
        }
        (Cast::Single, None) => Ok(()),
        (Cast::Single, Some(_)) => Err(PromptError::RoleUnwanted(layer)),
        (Cast::Multi, role) => {
            let roles = roles(&trees.target, layer);
            match role {
                Some(role) if roles.contains(role) => Ok(()),
                Some(role) => Err(PromptError::UnknownRole {
                    layer,
                    role: role.clone(),
                    roles,
                }),
                None => Err(PromptError::RoleWanted { layer, roles }),
            }
        }
    }
}

fn requirement(
    tree: &Tree,
    paths: &Paths,
    ask: &Ask,
) -> Result<Option<AskedRequirement>, PromptError> {
    match (ask.layer, &ask.requirement) {
        (Layer::Planner | Layer::Implementer, Some(path)) => {
            AskedRequirement::read(tree, paths, ask, path).map(Some)
        }
        (Layer::Planner | Layer::Implementer, None) => {
            Err(PromptError::RequirementWanted(ask.layer))
        }
        (Layer::Narrator | Layer::Observers | Layer::Decider | Layer::Innovators, None) => Ok(None),
        (Layer::Narrator | Layer::Observers | Layer::Decider | Layer::Innovators, Some(_)) => {
            Err(PromptError::RequirementUnwanted(ask.layer))
        }
    }
}
