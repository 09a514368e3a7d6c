//! How cargo is started here.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// How every stage compiles. A whole run compiles everything once, and what a later change could reuse of it takes 20 GB.
/// Without it a command compiles the workspace once more for itself.
pub(crate) const WHOLE: (&str, &str) = ("CARGO_INCREMENTAL", "0");

/// Takes away what `cargo run` told us about our own package.
///
/// Build scripts that watch those variables (ring's does) would otherwise run again, and all that
/// depends on them compile again, each time a person changes between `cargo` and `cargo xtask`.
pub(crate) fn forget_outer_package(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if is_about_our_package(&name) {
            command.env_remove(&name);
        }
    }
}

fn is_about_our_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cargo_run_said_of_this_package_is_forgotten() {
        for name in [
            "CARGO_PKG_NAME",
            "CARGO_MANIFEST_DIR",
            "CARGO_MANIFEST_PATH",
        ] {
            assert!(is_about_our_package(OsStr::new(name)), "{name}");
        }
        for name in [
            "CARGO",
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_TERM_COLOR",
            "PATH",
        ] {
            assert!(!is_about_our_package(OsStr::new(name)), "{name}");
        }
    }
}
