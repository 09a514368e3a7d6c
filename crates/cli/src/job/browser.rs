//! Opens a page in the person's browser.

use std::process::{Command, Stdio};

use domain::page::Page;

/// What opens addresses on this platform.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Has a page opened, and returns whether something was there to open it. What becomes of it is between the person and their
/// browser.
pub(crate) fn open(page: &Page) -> bool {
    let mut opener = Command::new(OPENER);
    opener
        .arg(page.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    opener.spawn().is_ok()
}
