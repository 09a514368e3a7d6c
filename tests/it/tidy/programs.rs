//! Nothing that an agent wrote is executed: what handles their texts starts no program.

use super::Finding;
use super::code::{code, lines_with};
use super::shape::{is_rust, is_test};

/// What may start a program: the command line, for a person; the sandbox and deploying, for those who develop.
const STARTERS: [&str; 5] = ["cli", "demo", "deploy", "sandbox", "xtask"];

/// What starts a program.
const WORDS: [&str; 3] = ["process::Command", "Command::new", "libc::exec"];

/// No other crate and no function starts a program.
pub(super) fn started(path: &str, text: &str) -> Vec<Finding> {
    let may = |name: &&str| path.starts_with(&format!("crates/{name}/"));
    let is_shipped = path.starts_with("crates/") || path.starts_with("functions/");
    if !is_rust(path) || is_test(path) || !is_shipped || STARTERS.iter().any(may) {
        return Vec::new();
    }
    let code = code(text);
    let lines = WORDS.iter().flat_map(|word| lines_with(&code, word));
    let advice = "it handles texts of agents and starts no program: leave that to `cli`";
    lines.map(|line| Finding::new(path, line, advice)).collect()
}

#[test]
fn a_program_that_is_started_is_found_but_where_people_type() {
    let text = "fn f() {\n    std::process::Command::new(\"sh\");\n}\n";
    for path in ["crates/engine/src/a.rs", "functions/dispatcher/src/a.rs"] {
        let lines: Vec<_> = started(path, text).iter().map(|it| it.line).collect();
        assert_eq!(lines, [2, 2], "{path}");
    }
    for path in [
        "crates/cli/src/a.rs",
        "crates/engine/src/tests.rs",
        "xtask/src/a.rs",
    ] {
        assert_eq!(started(path, text), [], "{path}");
    }
}
