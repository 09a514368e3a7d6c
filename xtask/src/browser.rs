//! What the stage `browser` needs: `gaffer`, a browser, and what drives it and judges its pages.

use std::path::Path;

use anyhow::Result;

use crate::{deployed, tools};

/// Where the stage's script finds everything.
pub(crate) fn places(root: &Path) -> Result<Vec<(&'static str, String)>> {
    let text = |path: &Path| path.display().to_string();
    let mut places = tools::chromium(root)?.environment()?;
    let (playwright, axe) = (tools::playwright(root)?, tools::axe(root)?);
    let built = deployed::built(root, &["gaffer"])?;
    places.extend([
        ("GAFFER_BINARY", text(&built.join("gaffer"))),
        ("GAFFER_PLAYWRIGHT", text(&playwright)),
        ("GAFFER_AXE", text(&axe)),
        ("GAFFER_SCREENSHOTS", text(&root.join("target/screenshots"))),
    ]);
    Ok(places)
}
