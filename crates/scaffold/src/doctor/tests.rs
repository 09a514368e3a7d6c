//! A repository at work in which nothing is wrong, and each rule broken once.

mod any;
mod merging;
mod older;
mod planted;
mod repository;
mod streams;

use std::sync::Arc;

use super::*;
use crate::assets;
use repository::{Repository, TODAY};

fn circumstances() -> Circumstances {
    Circumstances {
        today: TODAY,
        version: "1.2.3".to_owned(),
    }
}

impl Repository {
    fn examine(&self) -> Vec<Finding> {
        examine(&self.trees(), &circumstances())
    }
}

/// Findings as rule, file and line.
fn places(findings: &[Finding]) -> Vec<(Rule, &str, usize)> {
    findings
        .iter()
        .map(|it| (it.rule, it.file.as_str(), it.line))
        .collect()
}

#[test]
fn nothing_is_wrong_with_a_repository_at_work() {
    let listed: Vec<_> = Repository::at_work()
        .examine()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(listed, [""; 0]);
}

#[test]
fn nothing_is_wrong_with_a_repository_after_bootstrap() {
    assert_eq!(Repository::new().examine(), []);
}

/// As after init, and with an exchange of both generations.
#[test]
fn a_misspelled_role_is_found_also_where_there_is_no_pipeline_yet() {
    let misspelled = Repository::new().replaced(repository::CONFIG, "taxonomy", "taxonmy");
    let target = Arc::new(misspelled.tree);
    let older = ".jules/workstreams/generic/events/pending/a.yml";
    let both = Repository::new().with(older, "").tree;
    for worker in [Tree::default(), both] {
        let trees = Trees {
            target: Arc::clone(&target),
            worker: Arc::new(worker),
        };
        let found = examine(&trees, &circumstances());
        let places = places(&found);
        assert!(places.contains(&(Rule::Layout, ".jules", 1)), "{places:?}");
        let role = (Rule::ScheduledRole, repository::CONFIG, 7);
        assert!(places.contains(&role), "{places:?}");
    }
}

/// Their files are whole, and a prompt of each fits.
#[test]
fn every_built_in_role_can_be_scheduled() {
    let mut settings = String::new();
    let mut own = Tree::default();
    for layer in [Layer::Observers, Layer::Innovators] {
        let mut rows = Vec::new();
        for name in assets::roles(layer) {
            let text = assets::role(layer, &name).unwrap();
            let path = own_role(layer, Some(&name)).parse().unwrap();
            own.put(path, crate::tree::Entry::text(text));
            assert_eq!(role(&own, layer, &name), [], "{name}");
            rows.push(format!("{{ name = \"{name}\" }}"));
        }
        settings.push_str(&format!("[{layer}]\nroles = [{}]\n", rows.join(", ")));
    }
    let scheduled = Repository::new().with(repository::CONFIG, &settings);
    assert_eq!(scheduled.examine(), []);
    assert_eq!(own.len(), 23);
}

#[test]
fn the_older_names_and_forms_are_read_too() {
    let repository = Repository::at_work()
        .replaced(repository::PENDING, "requirement_id:", "issue_id:")
        .replaced(
            repository::PENDING,
            "confidence: high\n",
            "confidence: high\ntags: [io]\n",
        )
        .replaced(repository::PENDING, "2026-02-17", "2026-02-17T08:00:00Z")
        .replaced(repository::DECIDED, "requirement_id:", "issue_id:")
        .replaced(
            repository::REQUIREMENT,
            "verification_commands:",
            "verification_criteria:",
        )
        .replaced(
            repository::REQUIREMENT,
            "requires_deep_analysis: false",
            "implementation_ready: true",
        )
        .replaced(repository::PROPOSALS[0], "persona:", "role:")
        .with(".jules/exchange/changes.yml", repository::OLDER_CHANGES);
    assert_eq!(places(&repository.examine()), []);
}

#[test]
fn a_command_with_brackets_of_its_own_is_not_left_open() {
    for command in [
        "sort < in.txt > out.txt",
        "test Vec<u8> alone",
        "run 2>&1 <in >out",
    ] {
        let whole = Repository::at_work();
        let whole = whole.replaced(repository::REQUIREMENT, "cargo test -p read", command);
        assert_eq!(whole.examine(), [], "{command}");
    }
}

#[test]
fn a_proposal_without_its_persona_or_its_day_is_counted_for_none() {
    let [first, second, third] = repository::PROPOSALS;
    for line in [
        "persona: leverage_architect\n",
        "created_at: \"2026-02-17\"\n",
    ] {
        let two = Repository::at_work().without(third);
        let broken = two.replaced(first, line, "").replaced(second, line, "");
        let findings = broken.examine();
        let rules: Vec<_> = findings.iter().map(|it| it.rule).collect();
        assert!(!rules.is_empty(), "{line}");
        assert!(!rules.contains(&Rule::ProposalCount), "{findings:?}");
    }
}

#[test]
fn a_finding_says_where_what_and_what_to_do() {
    let broken = Repository::at_work().replaced(repository::PENDING, "high", "certain");
    let listed: Vec<_> = broken.examine().iter().map(ToString::to_string).collect();
    let expected = format!(
        "[ERROR] {}:6: `confidence` is `certain`, not one of low, medium, high (value): write a value that the schema allows",
        repository::PENDING
    );
    assert_eq!(listed, [expected]);
}

#[test]
fn a_finding_repeats_no_secret() {
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    let broken = Repository::at_work().replaced(repository::PENDING, "high", &secret);
    let findings = broken.examine();
    let found: Vec<_> = findings.iter().map(|it| it.rule).collect();
    assert_eq!(found, [Rule::Secret, Rule::Value]);
    assert!(findings.iter().all(|it| !it.to_string().contains("A1b2")));
}

#[test]
fn errors_stop_the_work_and_warnings_only_where_the_caller_is_strict() {
    let finding = |rule: Rule| {
        let mut report = Report::default();
        report.add(rule, "a", 1, "b");
        report.sorted()
    };
    let codes = |findings: &[Finding]| [false, true].map(|strict| exit_code(findings, strict));
    assert_eq!(codes(&[]), [0, 0]);
    assert_eq!(codes(&finding(Rule::Waiting)), [0, 2]);
    assert_eq!(codes(&finding(Rule::Secret)), [1, 1]);
    let both = [finding(Rule::Waiting), finding(Rule::Secret)].concat();
    assert_eq!(codes(&both), [1, 1]);
}

#[test]
fn the_doctor_fixes_what_is_missing_of_the_systems_files_and_nothing_else() {
    let whole = Repository::at_work();
    assert_eq!(fixes(&whole.tree, &[]), []);
    let broken = Repository::at_work()
        .without(".jules/JULES.md")
        .without(".jules/roles/planner/contracts.yml")
        .without(".jules/workstations/.gitkeep")
        .without(".jules/exchange/requirements/.gitkeep")
        .without(repository::REQUIREMENT)
        .without(repository::PENDING)
        .without(".jlo/config.toml");
    let fixed: Vec<_> = fixes(&broken.tree, &[])
        .into_iter()
        .map(|it| it.path.to_string())
        .collect();
    assert_eq!(
        fixed,
        [
            ".jules/JULES.md",
            ".jules/exchange/requirements/.gitkeep",
            ".jules/roles/planner/contracts.yml",
        ]
    );
}

#[test]
fn bootstrap_writes_every_file_of_the_system_and_none_of_the_exchange() {
    let paths = |tree: &Tree| -> Vec<String> {
        let files = system(tree, &[]).unwrap().into_iter();
        files.map(|it| it.path.to_string()).collect()
    };
    let all = assets::system().len();
    assert_eq!(paths(&Tree::default()).len(), all);
    let at_work = Repository::at_work().without(".jules/exchange/requirements/.gitkeep");
    let written = paths(&at_work.tree);
    assert_eq!(written.len(), all - 1, "the folder has a requirement");
    assert!(
        written
            .iter()
            .all(|it| it.ends_with(".gitkeep") || !it.contains("/exchange/"))
    );
    let older = Repository::at_work().with(".jules/workstreams/a/issues/bugs/a.yml", "");
    assert!(system(&older.tree, &[]).is_err());
}

#[test]
fn a_layer_that_lies_elsewhere_is_not_missing() {
    let moved = |path: &str| {
        path.replace(".jules/roles/decider/schemas/", ".jules/schemas/decider/")
            .replace(".jules/roles/", ".jules/layers/")
    };
    let files = Repository::at_work().tree;
    let files = files.iter().map(|(path, entry)| {
        let path = moved(path.as_str()).parse().unwrap();
        (path, entry.clone())
    });
    let repository = Repository {
        tree: files.collect(),
    };
    assert_eq!(places(&repository.examine()), []);
    assert_eq!(fixes(&repository.tree, &[]), []);
    let files = system(&repository.tree, &[]).unwrap().into_iter();
    let mut layers = files.filter(|it| it.path.below(".jules/roles").is_some());
    assert_eq!(layers.next(), None);
}

#[test]
fn a_requirement_that_fits_no_prompt_is_found_among_others() {
    let long = format!("summary: {}", "long ".repeat(7_000));
    let broken = Repository::at_work();
    let text = broken.tree.text(repository::REQUIREMENT).unwrap();
    let text = text.replace("cc22dd", "aa00aa").replace("bb11cc", "zz99zz");
    for (name, text) in [
        ("aa00aa-first", text.clone()),
        ("zz00zz-last", text.replace("aa00aa", "zz00zz")),
    ] {
        let other = format!(".jules/exchange/requirements/{name}.yml");
        let long = text.replace("summary: The file is closed after it was read.", &long);
        let findings = Repository::at_work().with(&other, &long).examine();
        assert!(
            places(&findings).contains(&(Rule::Prompt, &other, 1)),
            "{name}"
        );
    }
}

#[test]
fn a_full_exchange_is_in_order() {
    let mut repository = Repository::at_work();
    let copies = |path: &str, own: &str| -> Vec<_> {
        let text = repository.tree.text(path).unwrap();
        let copy = |n: usize| {
            let fresh = |text: &str| {
                let text = text.replace("cc22dd", &format!("r{n:05}"));
                text.replace("bb11cc", &format!("e{n:05}"))
            };
            let path = path.replace(own, &format!("{n:05}"));
            (path.parse().unwrap(), crate::tree::Entry::text(fresh(text)))
        };
        (0..100).map(copy).collect()
    };
    let decided = copies(repository::DECIDED, "bb11cc");
    let requirements = copies(repository::REQUIREMENT, "cc22dd");
    repository
        .tree
        .extend(decided.into_iter().chain(requirements));
    assert_eq!(repository.examine(), []);
}

#[test]
fn ten_thousand_files_beside_the_pipelines_are_not_read() {
    let mut repository = Repository::at_work();
    let files = (0..10_000).map(|n| {
        let path = format!("src/{n}/lib.rs").parse().unwrap();
        (path, crate::tree::Entry::text("todo: [<open>"))
    });
    repository.tree.extend(files);
    assert_eq!(repository.examine(), []);
}

#[test]
fn contracts_say_their_layer_and_its_branches() {
    let file = ".jules/roles/decider/contracts.yml";
    for (old, new) in [
        ("layer: decider", "layer: planner"),
        (
            "branch_prefix: jules-decider-",
            "branch_prefix: jules-planner-",
        ),
        ("purpose:", "use:"),
    ] {
        let found = Repository::new().replaced(file, old, new).examine();
        let rules: Vec<_> = found.iter().map(|it| (it.rule, it.file.as_str())).collect();
        assert_eq!(rules, [(Rule::Contracts, file)], "{new}");
    }
}

#[test]
fn two_events_about_one_thing_are_warned_about() {
    let path = repository::PENDING.replace("aa11bb", "ff66aa");
    let whole = Repository::at_work();
    let text = whole.tree.text(repository::PENDING).unwrap();
    let twin = text.replace("id: aa11bb", "id: ff66aa");
    let found = whole.with(&path, &twin).examine();
    let [found] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (found.rule, found.level),
        (Rule::SimilarEvents, Level::Warning)
    );
    for (title, place, is_told) in [
        ("In aa11bb a file stays open", "src/read.rs", true),
        ("In aa11bb a file stays open", "src/write.rs", false),
        ("A lock is held in aa11bb", "src/read.rs", false),
        // The open requirement is about it.
        ("To close the file", "src/read.rs", true),
        ("To close the file", "src/write.rs", false),
    ] {
        let other = twin.replace("A file stays open in aa11bb", title);
        let other = other.replace("src/read.rs", place);
        let found = Repository::at_work().with(&path, &other).examine();
        let told: Vec<_> = found.iter().map(|it| (it.rule, it.file.as_str())).collect();
        let wanted = (Rule::SimilarEvents, path.as_str());
        assert_eq!(told, Vec::from_iter(is_told.then_some(wanted)), "{title}");
    }
}
