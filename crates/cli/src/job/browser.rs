//! Opens a page in the person's browser.

use std::process::{Command, Stdio};

use domain::web_page::WebPage;

/// What opens addresses on this platform.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens a page, and returns whether a program for it was started. Its outcome is not checked.
pub(crate) fn open(page: &WebPage) -> bool {
    let mut opener = Command::new(OPENER);
    opener
        .arg(page.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    opener.spawn().is_ok()
}
