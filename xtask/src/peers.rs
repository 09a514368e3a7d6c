//! Other people's programs that exercise ours in tests: clients, inspectors and verifiers of protocols that we speak and
//! files that we write.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::tools::{self, python};

type Fetch = fn(&Path) -> Result<PathBuf>;

/// Under which name a test finds the folder of each.
const PEERS: [(&str, Fetch); 7] = [
    ("GAFFER_PEER_MCP", python::mcp),
    ("GAFFER_PEER_SCHEMATHESIS", python::schemathesis),
    ("GAFFER_PEER_WEBHOOKS_PYTHON", python::standard_webhooks),
    ("GAFFER_PEER_WEBHOOKS_NODE", tools::standard_webhooks),
    ("GAFFER_PEER_INSPECTOR", tools::mcp_inspector),
    ("GAFFER_PEER_ACTIONLINT", tools::actionlint),
    ("GAFFER_PEER_SHELLCHECK", python::shellcheck),
];

/// Where each of them is; those that are not there yet are fetched.
pub(crate) fn places(root: &Path) -> Result<Vec<(&'static str, String)>> {
    let place = |(name, fetch): (&'static str, Fetch)| {
        fetch(root).map(|folder| (name, folder.display().to_string()))
    };
    PEERS.into_iter().map(place).collect()
}
