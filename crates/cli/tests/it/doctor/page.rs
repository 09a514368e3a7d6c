//! The page of all codes says what the code says.

use domain::doctor::Code;
use expect_test::expect_file;

const HEAD: &str = "# What `gaffer doctor` finds

`gaffer doctor` checks everything that this installation needs: the data folder, the clock, Jules, GitHub, each source with its branch rules, webhooks, agents, and waiting work.
It only reads, here and outside, and sends nothing.
It works whether or not `gaffer up` runs, and says first if it does not; hosts that a running one was allowed with `--allow-host` count.
Each finding has three short lines: its severity with its code and the observation, the cause, and the command or click that fixes it.
It exits with 0 when there is no error and with 1 when there is one; `--json` prints the same for programs.
`--source OWNER/REPO` checks one source, and `--webhook-url URL` says where webhooks should go.

Fix the findings from the top: later ones are often caused by earlier ones.
Words in capitals are placeholders that a finding fills in.

| code | severity | cause | fix |
| --- | --- | --- | --- |
";

/// The tests that produce them.
const TESTS: [&str; 8] = [
    include_str!("accounts.rs"),
    include_str!("agents.rs"),
    include_str!("credential.rs"),
    include_str!("machine.rs"),
    include_str!("merging.rs"),
    include_str!("repository.rs"),
    include_str!("webhooks.rs"),
    include_str!("work.rs"),
];

#[test]
fn every_misconfiguration_is_produced_by_a_test() {
    let produced = |code: &&Code| {
        // As in a report: the word, and then its subject.
        let word = format!("  {}  ", code.as_str());
        TESTS.iter().any(|test| test.contains(&word))
    };
    let missing: Vec<&Code> = Code::ALL.iter().filter(|code| !produced(code)).collect();
    assert_eq!(missing, Vec::<&Code>::new());
}

#[test]
fn the_page_lists_every_code_with_its_cause_and_remedy() {
    let rows = Code::ALL.iter().map(|code| {
        let row = code.row();
        let severity = row.severity.as_str();
        format!(
            "| `{}` | {severity} | {} | {} |\n",
            row.code, row.cause, row.mend
        )
    });
    let page = format!("{HEAD}{}", rows.collect::<String>());
    expect_file!["../../../../../docs/doctor.md"].assert_eq(&page);
}
