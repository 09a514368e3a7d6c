//! What is refused before a step is planned.

use scaffold::tree::Entry;

use super::*;

#[test]
fn without_settings_nothing_is_planned_as_the_doctor_says() {
    let version = (pin::PIN.parse().unwrap(), Entry::text("0.0.1\n"));
    let files: Tree = [version].into_iter().collect();
    let refused = settings_in(&files, (&BranchName::main(), &BranchName::jules()));
    let why = "`.jlo/config.toml` is not there: make it with `gaffer scaffold init`";
    assert!(refused.is_err_and(|said| said.starts_with(why)));
}
