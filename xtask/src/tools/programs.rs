//! Programs of this machine that nothing here fetches: looked for before anything is built, and named all at once where they are missing.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Result, ensure};

/// A program of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// What people call it.
    name: &'static str,
    /// Commands of which one succeeds where it is there.
    signs: &'static [&'static str],
    /// The package of Debian that brings it.
    package: &'static str,
}

pub(crate) const NODE: Program = Program::new("Node.js 20 or later", &["node --version"], "nodejs");
pub(crate) const NPM: Program = Program::new("npm", &["npm --version"], "npm");
pub(crate) const PIP: Program = Program::new(
    "Python 3.11 or later with pip",
    &["python3 -m pip --version"],
    "python3-pip",
);
pub(crate) const JAVA: Program = Program::new(
    "Java 17 or later",
    &["java -version"],
    "openjdk-17-jre-headless",
);
pub(crate) const GIT: Program = Program::new("git", &["git --version"], "git");
pub(crate) const CURL: Program = Program::new("curl", &["curl --version"], "curl");
pub(crate) const VALGRIND: Program = Program::new("valgrind", &["valgrind --version"], "valgrind");
pub(crate) const CMAKE: Program = Program::new("cmake", &["cmake --version"], "cmake");
pub(crate) const MAKE: Program = Program::new("make", &["make --version"], "make");
pub(crate) const AUTOCONF: Program = Program::new("autoconf", &["autoconf --version"], "autoconf");
pub(crate) const AUTOMAKE: Program = Program::new("automake", &["automake --version"], "automake");
pub(crate) const LIBTOOL: Program = Program::new("libtool", &["libtoolize --version"], "libtool");
pub(crate) const CPP: Program = Program::new(
    "a C++ compiler",
    &["c++ --version", "g++ --version", "clang++ --version"],
    "g++",
);

impl Program {
    const fn new(
        name: &'static str,
        signs: &'static [&'static str],
        package: &'static str,
    ) -> Self {
        Self {
            name,
            signs,
            package,
        }
    }

    fn is_there(&self) -> bool {
        self.signs.iter().any(|command| succeeds(command))
    }
}

/// Refuses to begin while programs are missing, and names them all.
pub(crate) fn must_be_there(wanted: &[Program]) -> Result<()> {
    let missing: Vec<&Program> = wanted.iter().filter(|it| !it.is_there()).collect();
    ensure!(missing.is_empty(), "{}", advice(&missing));
    Ok(())
}

fn advice(missing: &[&Program]) -> String {
    let names = each(missing, |it| it.name).join(", ");
    let packages = each(missing, |it| it.package).join(" ");
    format!(
        "this needs programs that are missing here: {names} (on Debian: apt-get install {packages}). Install them and run this again"
    )
}

/// What each of them has, once.
fn each(of: &[&Program], what: impl Fn(&Program) -> &'static str) -> Vec<&'static str> {
    let all: BTreeSet<_> = of.iter().copied().map(what).collect();
    all.into_iter().collect()
}

/// Whether a command can be started and ends well.
fn succeeds(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return false;
    };
    let output = Command::new(program).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every machine with a shell has it.
    const THERE: &str = "sh -c true";

    #[test]
    fn all_that_is_missing_is_named_in_one_error() {
        let valgrind = Program::new("valgrind", &["no-such-valgrind --version"], "valgrind");
        let cmake = Program::new(
            "cmake",
            &["no-such-cmake --version", "sh -c false"],
            "cmake",
        );
        let shell = Program::new("a shell", &[THERE], "dash");
        let error = must_be_there(&[valgrind, shell, cmake, valgrind]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "this needs programs that are missing here: cmake, valgrind (on Debian: apt-get install cmake valgrind). Install them and run this again"
        );
    }

    #[test]
    fn one_of_several_commands_is_enough() {
        let compiler = Program::new("a C++ compiler", &["no-such-c++ --version", THERE], "g++");
        must_be_there(&[compiler]).unwrap();
    }
}
