//! `gaffer exchange inspect`: what is committed in the exchange, as a table and for programs.

use serde_json::json;

use super::at_work::{DECIDED, PENDING, PLANNED, READY, SECOND};
use super::repository::Repository;
use crate::world::{Fields, Told};

const INSPECT: &[&str] = &["exchange", "inspect"];

#[test]
fn everything_in_the_exchange_is_listed() {
    let repository = Repository::at_work("2026-02-17");
    let before = repository.state();
    let told = repository.json(INSPECT);
    let paths = |list: &serde_json::Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|it| it["path"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(paths(&told["events"]["pending"]), [PENDING]);
    assert_eq!(paths(&told["events"]["decided"]), [DECIDED, SECOND]);
    assert_eq!(paths(&told["requirements"]), [PLANNED, READY]);
    assert_eq!(
        told["requirements"][0],
        json!({
            "path": PLANNED, "id": "cc11dd", "title": "Close the file of cc11dd", "label": "bugs",
            "requires_deep_analysis": true, "source_events": ["bb11cc"],
        })
    );
    assert_eq!(told["events"]["pending"][0]["role"], "qa");
    assert_eq!(
        told["schedule"]["observers"][0],
        json!({ "name": "taxonomy", "enabled": true })
    );
    told.holds(&json!({ "changes": null, "proposals": [] }));
    let shown = repository.run(INSPECT).ok().stdout;
    shown.tells(&[
        "taxonomy, data_arch",
        "A file stays open in aa11bb",
        "There are no proposals.",
        "wanted",
        READY,
    ]);
    assert_eq!(repository.types("jlo exchange inspect").stdout, shown);
    assert_eq!(repository.state(), before);
}

#[test]
fn another_revision_is_looked_into_and_what_does_not_fit_is_named() {
    let repository = Repository::at_work("2026-02-17");
    repository.git(&["branch", "session", "jules"]);
    repository.commit_to("session", &[(READY, Some("id: [\n")), (PENDING, None)]);
    let told = repository.json(&[INSPECT, &["--ref", "session"]].concat());
    assert_eq!(told["unreadable"], json!([READY]));
    assert_eq!(told["events"]["pending"], json!([]));
    let shown = repository
        .run(&[INSPECT, &["--ref", "session"]].concat())
        .ok();
    assert!(shown.stdout.contains("gaffer scaffold doctor"), "{shown:?}");
    for (arguments, named) in [
        (
            &["exchange", "inspect", "--ref", "nothing"][..],
            "no commit `nothing`",
        ),
        (
            &["exchange", "inspect", "--ref", "main"],
            "bootstrap the repository first",
        ),
        (&["exchange", "inspect", "more"], "more"),
        (&["exchange", "inspct"], "inspect"),
    ] {
        repository.refuses(arguments, named);
    }
    Repository::new().refuses(INSPECT, "gaffer scaffold init");
}

#[test]
fn a_worker_branch_that_lacks_commits_of_origin_is_noted_where_it_is_read() {
    let repository = Repository::at_work("2026-02-17");
    let note = "`git fetch origin jules:jules`";
    let reading = [
        INSPECT,
        &["scaffold", "doctor"],
        &["run", "decider", "--prompt-preview"],
    ];
    let fetched = |branch: &str| {
        repository.git(&["update-ref", "refs/remotes/origin/jules", branch]);
    };
    fetched("jules");
    for arguments in reading {
        let ran = repository.run(arguments);
        assert!(!ran.stderr.contains(note), "{arguments:?}: {ran:?}");
    }
    repository.git(&["branch", "ahead", "jules"]);
    repository.commit_to("ahead", &[(PENDING, None)]);
    fetched("ahead");
    for arguments in reading {
        let ran = repository.run(arguments);
        assert!(ran.stderr.contains(note), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("`--ref origin/jules`"), "{ran:?}");
    }
    let ran = repository.run(&[INSPECT, &["--ref", "origin/jules"]].concat());
    assert!(!ran.ok().stderr.contains(note));
    let refuses_to_write = |way: &str| {
        let before = repository.state();
        let refused = repository.refused(&["scaffold", "bootstrap"]);
        let told = (refused.code.as_str(), refused.exit);
        assert_eq!(told, ("behind_origin", 2), "{refused:?}");
        assert!(refused.next.contains(way), "{refused:?}");
        assert_eq!(repository.state(), before);
    };
    refuses_to_write(note);
    // Where both have commits of their own, git fetches into no branch.
    repository.commit_to_worker(&[(READY, None)]);
    let join = "`git merge origin/jules`";
    for arguments in reading {
        let ran = repository.run(arguments);
        assert!(ran.stderr.contains(join), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.contains(note), "{arguments:?}: {ran:?}");
    }
    refuses_to_write(join);
    repository.git(&["switch", "--quiet", "jules"]);
    repository.git(&["merge", "--quiet", "origin/jules"]);
    repository.git(&["switch", "--quiet", "-"]);
    repository.run(&["scaffold", "bootstrap"]).ok();
}
