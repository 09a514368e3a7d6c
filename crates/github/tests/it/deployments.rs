//! What deploys: dispatched workflows, deployments and the checks of a merged commit.

use domain::delivery::ProviderReport;
use domain::failure::{CallEffect, Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, RepoName};
use engine::ports::{AwaitedRun, IssuesRead, IssuesWrite, PullsRead};
use github::{Reader, Writer};
use jiff::Timestamp;
use sandbox::Scenario;
use sandbox::github::{
    Access, CheckSetup, CheckState, CiSetup, Conclusion, DEFAULT_TOKEN, DeploymentState, Outcome,
    Permissions, RepoSetup, Resource, TokenSetup,
};
use serde_json::{Value, json};

use crate::server::{Asked, Reply, Server};
use crate::stage::SandboxStage;
use crate::world::{HEAD, OTHER, TIP, run, runs, statuses};

const REPO: &str = "acme/shop";

const BEGAN: &str = "2026-11-21T11:00:00Z";

fn repo() -> RepoName {
    REPO.parse().unwrap()
}

fn main() -> BranchName {
    "main".parse().unwrap()
}

fn head() -> CommitSha {
    HEAD.parse().unwrap()
}

fn bad(report: &ProviderReport) -> &str {
    match report {
        ProviderReport::Bad(why) => why,
        other @ (ProviderReport::Nothing | ProviderReport::Running | ProviderReport::Good) => {
            panic!("{other:?}")
        }
    }
}

/// A run since a time, of whatever commit.
fn awaited<'a>(file: &'a str, branch: &'a BranchName, since: Timestamp) -> AwaitedRun<'a> {
    AwaitedRun {
        file,
        branch,
        since,
        merge: None,
    }
}

/// A run that was dispatched on `main`.
fn dispatched(id: u64, status: &str, conclusion: Option<&str>) -> Value {
    json!({
        "id": id, "event": "workflow_dispatch", "head_branch": "main", "head_sha": OTHER,
        "status": status, "conclusion": conclusion, "created_at": BEGAN,
    })
}

async fn report(list: Vec<Value>) -> Result<ProviderReport, Failure> {
    let body = json!({ "total_count": list.len(), "workflow_runs": list });
    let server = Server::start(move |_: &Asked| Reply::ok(&body)).await;
    let since = "2026-11-21T11:00:00.7Z".parse().unwrap();
    let read = server
        .reader()
        .workflow_run(&repo(), awaited("a b.yml", &main(), since))
        .await;
    assert_eq!(
        server.lines(),
        [
            "GET /repos/acme/shop/actions/workflows/a%20b.yml/runs?branch=main&event=workflow_dispatch&created=%3E%3D2026-11-21T10%3A59%3A58Z"
        ]
    );
    read
}

#[tokio::test]
async fn a_dispatched_run_is_known_by_its_time() {
    let done = |id, conclusion| dispatched(id, "completed", Some(conclusion));
    assert_eq!(report(vec![]).await.unwrap(), ProviderReport::Nothing);
    for under_way in ["queued", "in_progress", "waiting", "something new"] {
        let list = vec![dispatched(1, under_way, None), done(2, "failure")];
        assert_eq!(report(list).await.unwrap(), ProviderReport::Running);
    }
    let list = vec![done(3, "cancelled"), done(2, "success"), done(1, "failure")];
    assert_eq!(report(list).await.unwrap(), ProviderReport::Good);
    let list = vec![done(2, "timed_out"), done(1, "failure")];
    let failed = report(list).await.unwrap();
    assert_eq!(bad(&failed), "run 2 of `a b.yml` ended as `timed_out`");

    let with = |field: &str, value: Value| {
        let mut odd = done(1, "success");
        odd[field] = value;
        odd
    };
    for other in [
        with("event", json!("push")),
        with("head_branch", json!("next")),
        with("head_branch", Value::Null),
        with("created_at", json!("2026-11-21T10:59:57Z")),
    ] {
        let read = report(vec![other.clone()]).await.unwrap();
        assert_eq!(read, ProviderReport::Nothing, "{other}");
    }
}

/// The merge that is awaited, and heads around it.
const MERGE: &str = HEAD;
const LATER: &str = OTHER;
const OLDER: &str = TIP;
const ASIDE: &str = "4444444444444444444444444444444444444444";
const GONE: &str = "5555555555555555555555555555555555555555";
const BROKEN: &str = "6666666666666666666666666666666666666666";

/// What is read of the runs of these heads, the newest first; and what was compared with the merge.
async fn report_of_merge(heads: &[(&str, &str)]) -> (Result<ProviderReport, Failure>, Vec<String>) {
    let ids = (1..).zip(heads.iter().rev());
    let list = ids.map(|(id, (head, end))| {
        let mut run = match *end {
            "running" => dispatched(id, "in_progress", None),
            end => dispatched(id, "completed", Some(end)),
        };
        run["head_sha"] = json!(head);
        run
    });
    let list: Vec<Value> = list.collect();
    let body = json!({ "total_count": list.len(), "workflow_runs": list });
    let server = Server::start(move |asked: &Asked| {
        let status = match asked.path.rsplit_once("...").map(|(_, head)| head) {
            None => return Reply::ok(&body),
            Some(LATER) => "ahead",
            Some(ASIDE) => "diverged",
            Some(GONE) => return Reply::refusal(404, "Not Found"),
            Some(BROKEN) => return Reply::refusal(500, "Server Error"),
            Some(_) => "behind",
        };
        Reply::ok(&json!({ "status": status }))
    })
    .await;
    let (reader, merge) = (server.reader(), head());
    let main = main();
    let run = AwaitedRun {
        merge: Some(&merge),
        ..awaited("deploy.yml", &main, BEGAN.parse().unwrap())
    };
    let read = reader.workflow_run(&repo(), run).await;
    let line = |head: &str| format!("GET /repos/acme/shop/compare/{MERGE}...{head}?per_page=1");
    let mut lines = server.lines().into_iter();
    assert!(lines.next().unwrap().contains("/runs?"));
    let compared = lines.map(|asked| {
        let head = asked.rsplit_once("...").unwrap().1;
        let head = head.split_once('?').unwrap().0.to_owned();
        assert_eq!(asked, line(&head));
        head
    });
    (read, compared.collect())
}

#[tokio::test]
async fn a_run_counts_only_if_its_head_holds_the_merge() {
    let (good, running) = (ProviderReport::Good, ProviderReport::Running);
    let nothing = ProviderReport::Nothing;
    let failed = |id| ProviderReport::Bad(format!("run {id} of `deploy.yml` ended as `failure`"));
    let (success, failure, runs) = ("success", "failure", "running");
    for (heads, expected, compared) in [
        (vec![(MERGE, success)], &good, vec![]),
        (vec![(MERGE, runs)], &running, vec![]),
        (vec![(LATER, success)], &good, vec![LATER]),
        (vec![(ASIDE, success)], &good, vec![ASIDE]),
        // That of another delivery, whatever became of it.
        (vec![(OLDER, success)], &nothing, vec![OLDER]),
        (vec![(OLDER, runs)], &nothing, vec![OLDER]),
        (vec![(OLDER, failure)], &nothing, vec![OLDER]),
        (vec![(GONE, success)], &nothing, vec![GONE]),
        // One success is enough, else one that runs, else the newest.
        (
            vec![(LATER, failure), (MERGE, success), (OLDER, success)],
            &good,
            vec![LATER],
        ),
        (
            vec![(LATER, failure), (OLDER, runs), (MERGE, runs)],
            &running,
            vec![LATER, OLDER],
        ),
        (
            vec![(OLDER, success), (LATER, failure), (MERGE, failure)],
            &failed(2),
            vec![OLDER, LATER],
        ),
        // Each head is compared once.
        (vec![(LATER, runs), (LATER, success)], &good, vec![LATER]),
        (
            vec![(OLDER, failure), (OLDER, runs), (OLDER, success)],
            &nothing,
            vec![OLDER],
        ),
    ] {
        let (read, asked) = report_of_merge(&heads).await;
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let read = read.unwrap();
        assert_eq!((&read, asked), (expected, compared), "{heads:?}");
    }
    let (read, _) = report_of_merge(&[(BROKEN, success)]).await;
    assert_eq!(read.unwrap_err().class, FailureClass::Unavailable);
}

#[tokio::test]
async fn no_more_than_ten_heads_are_compared_with_a_merge() {
    let older: Vec<String> = (100..112).map(|n| format!("{n:040}")).collect();
    let older = older.iter().map(|head| (head.as_str(), "success"));
    let mut heads: Vec<(&str, &str)> = older.collect();
    heads.push((LATER, "success"));
    let (read, compared) = report_of_merge(&heads).await;
    assert_eq!(read.unwrap(), ProviderReport::Nothing);
    assert_eq!(compared.len(), 10);
    heads.push((MERGE, "success"));
    let (read, _) = report_of_merge(&heads).await;
    assert_eq!(
        read.unwrap(),
        ProviderReport::Good,
        "it needs no comparison"
    );
}

#[tokio::test]
async fn the_time_of_a_dispatch_is_told_by_githubs_clock() {
    for (date, created) in [
        ("Sat, 21 Nov 2026 11:58:20 GMT", "2026-11-21T10%3A58%3A18Z"),
        ("Sat, 21 Nov 2026 12:01:00 GMT", "2026-11-21T11%3A00%3A58Z"),
        // A proxy that answers in its own time.
        ("Sat, 21 Nov 2026 15:00:00 GMT", "2026-11-21T10%3A59%3A58Z"),
    ] {
        let server = Server::start(move |asked: &Asked| {
            let body = match asked.path.ends_with("/runs") {
                true => json!({ "total_count": 0, "workflow_runs": [] }),
                false => json!({ "id": 5, "full_name": REPO, "default_branch": "main" }),
            };
            Reply::ok(&body).with("date", date)
        })
        .await;
        let reader = server.reader();
        reader.default_branch(&repo()).await.unwrap();
        let main = main();
        let run = awaited("deploy.yml", &main, BEGAN.parse().unwrap());
        let read = reader.workflow_run(&repo(), run).await;
        assert_eq!(read.unwrap(), ProviderReport::Nothing);
        let asked = server.lines().pop().unwrap();
        let expected = format!("created=%3E%3D{created}");
        assert!(asked.ends_with(&expected), "{date}: {asked}");
    }
}

#[tokio::test]
async fn runs_and_deployments_that_cannot_be_read_whole_are_no_answer() {
    let short =
        json!({ "total_count": 2, "workflow_runs": [dispatched(1, "completed", Some("success"))] });
    let server = Server::start(move |_: &Asked| Reply::ok(&short)).await;
    let main = main();
    let run = awaited("deploy.yml", &main, BEGAN.parse().unwrap());
    let read = server.reader().workflow_run(&repo(), run).await;
    assert_eq!(read.unwrap_err().class, FailureClass::Garbled);

    let class = async |server: &Server| {
        let reader = server.reader();
        let read = reader
            .deployment(&repo(), &head(), "production", None)
            .await;
        read.unwrap_err().class
    };
    let foreign = json!([{ "id": 1, "sha": OTHER }]);
    let server = Server::start(move |_: &Asked| Reply::ok(&foreign)).await;
    assert_eq!(class(&server).await, FailureClass::Garbled);

    let server = Server::start(|asked: &Asked| match asked.path.ends_with("/statuses") {
        true => Reply::refusal(500, "Server Error"),
        false => Reply::ok(&json!([{ "id": 1, "sha": HEAD }])),
    })
    .await;
    assert_eq!(class(&server).await, FailureClass::Unavailable);
}

#[tokio::test]
async fn the_newest_deployment_and_its_newest_status_count() {
    let of = async |states: &'static [&'static str]| {
        let server = Server::start(move |asked: &Asked| match asked.path.as_str() {
            "/repos/acme/shop/deployments/9/statuses" => {
                let ids = (1..).zip(states);
                Reply::ok(
                    &ids.map(
                        |(id, state)| json!({ "id": id, "state": state, "created_at": BEGAN }),
                    )
                    .collect(),
                )
            }
            _ => Reply::ok(&json!([{ "id": 8, "sha": HEAD }, { "id": 9, "sha": HEAD }])),
        })
        .await;
        let reader = server.reader();
        let read = reader.deployment(&repo(), &head(), "my env&x", None).await;
        let asked = format!("GET /repos/acme/shop/deployments?sha={HEAD}&environment=my+env%26x");
        assert_eq!(server.lines()[0], asked);
        read.unwrap()
    };
    assert_eq!(of(&[]).await, ProviderReport::Running);
    assert_eq!(
        of(&["failure", "something new"]).await,
        ProviderReport::Running
    );
    assert_eq!(of(&["queued", "success"]).await, ProviderReport::Good);
    assert_eq!(of(&["success", "inactive"]).await, ProviderReport::Good);
    let failed = of(&["success", "error"]).await;
    assert_eq!(bad(&failed), "deployment 9 to `my env&x` ended as `error`");
    bad(&of(&["failure", "inactive"]).await);
}

#[tokio::test]
async fn a_deployment_that_was_seen_to_fail_is_no_news() {
    let of = async |state: &'static str, failed_at: &str| {
        let server = Server::start(move |asked: &Asked| {
            let is_list = asked.path.ends_with("/deployments");
            Reply::ok(&if is_list {
                json!([{ "id": 9, "sha": HEAD }])
            } else {
                json!([{ "id": 1, "state": state, "created_at": BEGAN }])
            })
        })
        .await;
        let (reader, failed_at) = (server.reader(), failed_at.parse().unwrap());
        let (repo, head) = (repo(), head());
        let read = reader.deployment(&repo, &head, "production", Some(failed_at));
        read.await.unwrap()
    };
    let (earlier, later) = ("2026-11-21T10:59:59Z", "2026-11-21T11:00:00.5Z");
    for state in ["failure", "error", "inactive"] {
        assert_eq!(of(state, BEGAN).await, ProviderReport::Nothing, "{state}");
        assert_eq!(of(state, later).await, ProviderReport::Nothing, "{state}");
        bad(&of(state, earlier).await);
    }
    assert_eq!(of("queued", later).await, ProviderReport::Running);
    assert_eq!(of("success", later).await, ProviderReport::Good);
}

/// What a commit with these check runs and statuses answers, by a clock that is a minute ahead of ours.
async fn report_of_checks(
    (list, contexts): (Vec<Value>, Vec<Value>),
    since: Option<Timestamp>,
) -> ProviderReport {
    let server = Server::start(move |asked: &Asked| {
        let is_status = asked.path.ends_with("/status");
        let body = if is_status {
            statuses(&contexts)
        } else {
            runs(&list)
        };
        Reply::ok(&body).with("date", "Sat, 21 Nov 2026 12:01:00 GMT")
    })
    .await;
    let reader = server.reader();
    let read = reader.commit_checks(&repo(), &head(), since).await;
    read.unwrap()
}

#[tokio::test]
async fn the_checks_of_a_commit_are_bad_as_soon_as_one_is() {
    let of = async |list: Vec<Value>, contexts: Vec<Value>| {
        report_of_checks((list, contexts), None).await
    };
    let status = |state: &str| json!({ "id": 1, "context": "ci/x", "state": state });
    let green = || run(1, "build", "completed", Some("success"));
    assert_eq!(of(vec![], vec![]).await, ProviderReport::Good);
    assert_eq!(
        of(vec![green()], vec![status("success")]).await,
        ProviderReport::Good
    );
    let running = vec![green(), run(2, "lint", "in_progress", None)];
    assert_eq!(of(running, vec![]).await, ProviderReport::Running);
    assert_eq!(
        of(vec![green()], vec![status("pending")]).await,
        ProviderReport::Running
    );
    let long = format!("lint\n{}", "x".repeat(200));
    let red = vec![
        run(2, &long, "completed", Some("failure")),
        run(3, "slow", "in_progress", None),
    ];
    let report = of(red, vec![status("error")]).await;
    let told = bad(&report);
    assert!(
        told.contains("`ci/x`") && told.ends_with(" failed"),
        "{told}"
    );
    assert!(!told.contains('\n') && told.len() < 100, "{told}");
    let many = (1..9).map(|id| run(id, &format!("c{id}"), "completed", Some("failure")));
    let report = of(many.collect(), vec![]).await;
    assert!(
        bad(&report).ends_with("`c5` and 3 more failed"),
        "{report:?}"
    );
}

#[tokio::test]
async fn only_checks_that_ended_since_a_time_count_unless_their_time_is_unknown() {
    let since: Timestamp = "2026-11-21T11:00:00.7Z".parse().unwrap();
    let of = async |list: Vec<Value>, contexts: Vec<Value>| {
        report_of_checks((list, contexts), Some(since)).await
    };
    let red = || run(1, "ship", "completed", Some("failure"));
    let failed = || json!({ "id": 1, "context": "ci/x", "state": "failure" });
    for (at, is_old) in [
        (json!("2026-11-21T11:00:59Z"), true),
        // It may have ended later in the same second.
        (json!("2026-11-21T11:01:00Z"), false),
        (json!("2026-11-21T11:01:01Z"), false),
        (Value::Null, false),
        (json!("yesterday"), false),
    ] {
        let (mut of_run, mut of_status) = (red(), failed());
        of_run["completed_at"] = at.clone();
        of_status["created_at"] = at.clone();
        let of_run = of(vec![of_run], vec![]).await;
        let of_status = of(vec![], vec![of_status]).await;
        for report in [of_run, of_status] {
            let is_good = report == ProviderReport::Good;
            assert_eq!(is_good, is_old, "{at}: {report:?}");
        }
    }
    bad(&of(vec![red()], vec![]).await);
    bad(&of(vec![], vec![failed()]).await);
    let mut pending = json!({ "id": 1, "context": "ci/x", "state": "pending" });
    pending["created_at"] = json!("2026-11-21T10:00:00Z");
    let report = of(vec![], vec![pending]).await;
    assert_eq!(report, ProviderReport::Running, "it has not ended");
}

#[tokio::test]
async fn checks_of_which_only_a_part_can_be_read_are_no_answer() {
    let server = Server::start(|asked: &Asked| match asked.path.ends_with("/status") {
        true => Reply::refusal(403, "Resource not accessible by integration"),
        false => Reply::ok(&runs(&[])),
    })
    .await;
    let reader = server.reader();
    let read = reader.commit_checks(&repo(), &head(), None).await;
    assert_eq!(read.unwrap_err().class, FailureClass::Forbidden);
}

/// A sandbox whose repository has a workflow that is dispatched and hangs.
async fn stage() -> SandboxStage {
    let deploy = CheckSetup {
        workflow: "Deploy".to_owned(),
        on_dispatch: true,
        ..CheckSetup::new("deploy", Outcome::Hangs)
    };
    let ci = CiSetup {
        checks: vec![deploy],
        ..CiSetup::default()
    };
    SandboxStage::new(Scenario {
        repos: vec![RepoSetup::new(REPO).with_ci(ci)],
        ..Scenario::default()
    })
    .await
}

#[tokio::test]
async fn a_workflow_of_the_sandbox_is_dispatched_and_awaited() {
    for (conclusion, ends) in [
        (Conclusion::Success, ProviderReport::Good),
        (Conclusion::Failure, ProviderReport::Bad(String::new())),
    ] {
        let stage = stage().await;
        let (reader, writer) = stage.adapters(DEFAULT_TOKEN, None);
        let (file, branch) = ("deploy.yml", main());
        let since = stage.clock.now();
        let read = async || {
            let run = awaited(file, &branch, since);
            let read = reader.workflow_run(&repo(), run).await;
            read.unwrap()
        };
        assert_eq!(read().await, ProviderReport::Nothing);
        writer
            .dispatch_workflow(&repo(), file, &branch)
            .await
            .unwrap();
        stage.pass(5);
        assert_eq!(read().await, ProviderReport::Running);
        let github = stage.sandbox.github();
        github.finish_dispatched(stage.clock.now(), REPO, file, conclusion);
        match (read().await, ends) {
            (ProviderReport::Bad(why), ProviderReport::Bad(_)) => {
                assert!(why.contains("`failure`"), "{why}");
            }
            (read, ends) => assert_eq!(read, ends),
        }
        assert_eq!(stage.sandbox.counters().dispatches, 1);
    }
}

#[tokio::test]
async fn what_cannot_be_dispatched_certainly_did_not_start() {
    let stage = stage().await;
    let writer = Writer::new(stage.client(DEFAULT_TOKEN, None));
    let none: BranchName = "none".parse().unwrap();
    for (file, branch, class) in [
        ("none.yml", &main(), FailureClass::NotFound),
        ("deploy.yml", &none, FailureClass::Conflict),
    ] {
        let failure = writer.dispatch_workflow(&repo(), file, branch).await;
        let failure = failure.unwrap_err();
        assert_eq!((failure.class, failure.happened), (class, CallEffect::No));
        stage.pass(2);
    }
    stage.sandbox.github().add_token(TokenSetup {
        token: "narrow".to_owned(),
        permissions: Permissions::all().with(Resource::Actions, Access::Read),
        ..TokenSetup::default()
    });
    let writer = Writer::new(stage.client("narrow", None));
    let failure = writer
        .dispatch_workflow(&repo(), "deploy.yml", &main())
        .await;
    assert_eq!(failure.unwrap_err().class, FailureClass::Forbidden);
    assert_eq!(stage.sandbox.counters().dispatches, 0);
}

#[tokio::test]
async fn a_deployment_of_the_sandbox_is_followed() {
    let stage = stage().await;
    let reader = Reader::new(stage.client(DEFAULT_TOKEN, None));
    let (github, now) = (stage.sandbox.github(), stage.clock.now());
    let sha = github.branch(REPO, "main").unwrap();
    let commit: CommitSha = sha.parse().unwrap();
    let read = async || {
        let repo = repo();
        let read = reader.deployment(&repo, &commit, "production", None).await;
        read.unwrap()
    };
    assert_eq!(read().await, ProviderReport::Nothing);
    github.deploy(now, REPO, &sha, "staging");
    assert_eq!(read().await, ProviderReport::Nothing);
    let id = github.deploy(now, REPO, &sha, "production").unwrap();
    assert_eq!(read().await, ProviderReport::Running);
    github.set_deployment(now, REPO, id, DeploymentState::InProgress);
    assert_eq!(read().await, ProviderReport::Running);
    github.set_deployment(now, REPO, id, DeploymentState::Failure);
    bad(&read().await);
    let again = github.deploy(now, REPO, &sha, "production").unwrap();
    assert_eq!(read().await, ProviderReport::Running);
    github.set_deployment(now, REPO, again, DeploymentState::Success);
    assert_eq!(read().await, ProviderReport::Good);
}

#[tokio::test]
async fn the_checks_of_a_merged_commit_of_the_sandbox_are_followed() {
    let stage = stage().await;
    let reader = Reader::new(stage.client(DEFAULT_TOKEN, None));
    let (github, now) = (stage.sandbox.github(), stage.clock.now());
    let sha = github.branch(REPO, "main").unwrap();
    let commit: CommitSha = sha.parse().unwrap();
    let read = async || {
        let read = reader.commit_checks(&repo(), &commit, None).await;
        read.unwrap()
    };
    assert_eq!(read().await, ProviderReport::Good);
    let set = |state| github.set_check(now, REPO, (&sha, "smoke"), state);
    set(CheckState::InProgress);
    assert_eq!(read().await, ProviderReport::Running);
    set(CheckState::Completed(Conclusion::Success));
    assert_eq!(read().await, ProviderReport::Good);
    set(CheckState::Completed(Conclusion::Failure));
    assert_eq!(bad(&read().await), "`smoke` failed");
}
