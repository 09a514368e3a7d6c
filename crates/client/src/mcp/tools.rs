//! The tools in the order of the list.

mod further;
mod usual;

use std::sync::LazyLock;

use super::tool::Tool;

/// All of them: first those that are always listed.
pub(super) fn all() -> impl Iterator<Item = &'static Tool> {
    usual::TOOLS.iter().chain(&further::TOOLS)
}

/// The tool of a name.
pub(super) fn named(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

/// The descriptions of all tools, in the order of [`all`], made once.
pub(super) fn described() -> &'static [rmcp::model::Tool] {
    static ALL: LazyLock<Vec<rmcp::model::Tool>> =
        LazyLock::new(|| all().map(Tool::described).collect());
    &ALL
}
