//! The facts of a pull request: complete, or honest about what is missing.

use domain::facts::{
    Check, CheckOutcome, CiClues, Fact, Pass, PullFacts, PullState, ReadDepth, Review,
    ReviewVerdict,
};
use domain::failure::{Failure, FailureClass};
use domain::ids::{RepoId, RepositoryIdentity};
use engine::ports::{PullsRead, Reading};
use github::Reader;
use serde_json::{Value, json};

use crate::server::{Asked, Backend, Reply, Server, TOKEN, common, now, pull};
use crate::world::*;

/// The facts when one line is answered otherwise.
async fn facts_with(line: &'static str, reply: Reply) -> Result<PullFacts, Failure> {
    facts_of(move |asked| {
        if asked.line() == line {
            reply.clone()
        } else {
            green(asked)
        }
    })
    .await
}

async fn facts_of(
    script: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> Result<PullFacts, Failure> {
    Server::start(script).await.facts().await
}

fn why<T: std::fmt::Debug>(fact: &Fact<T>) -> &str {
    match fact {
        Fact::Unknown { why } => why,
        Fact::Known(_) | Fact::Forbidden { .. } => panic!("{fact:?} is not unknown"),
    }
}

fn check(name: &str, app: Option<u64>, outcome: CheckOutcome, id: Option<u64>) -> Check {
    Check {
        name: name.to_owned(),
        app,
        outcome,
        id,
    }
}

#[tokio::test]
async fn a_green_pull_request_is_known_whole() {
    let facts = facts_of(green).await.unwrap();
    assert_eq!(facts.read_at, now());
    assert_eq!(facts.state, PullState::Open);
    assert_eq!(
        (facts.head.sha.as_str(), facts.head.branch.as_str()),
        (HEAD, "feat/cart")
    );
    assert_eq!(
        (facts.base.sha.as_str(), facts.base.branch.as_str()),
        (TIP, "main")
    );
    assert_eq!(facts.mergeable, Fact::Known(true));
    assert_eq!((facts.author.id, facts.body.as_str()), (161_369_871, ""));
    let build = check(
        "build",
        Some(ACTIONS),
        CheckOutcome::Passed(Pass::Success),
        Some(1),
    );
    assert_eq!(facts.checks, Fact::Known(vec![build]));
    assert_eq!(facts.reviews, Fact::Known(Vec::new()));
    assert_eq!(facts.files, Fact::Known(vec!["src/cart.rs".to_owned()]));
    assert_eq!(
        facts.demands,
        Fact::Known(domain::facts::Demands::default())
    );
    assert_eq!(facts.ci, None);
}

#[tokio::test]
async fn an_outline_is_one_request_and_knows_nothing_else() {
    let server = Server::start(green).await;
    let outline = Reading {
        depth: ReadDepth::Outline,
        ..common()
    };
    let facts = server
        .reader()
        .facts(&pull(), outline, now())
        .await
        .unwrap();
    assert_eq!(server.lines(), [PULL]);
    assert_eq!(
        (facts.depth, facts.state),
        (ReadDepth::Outline, PullState::Open)
    );
    for unread in [
        why(&facts.checks),
        why(&facts.reviews),
        why(&facts.files),
        why(&facts.demands),
    ] {
        assert!(unread.contains("only the pull request itself"), "{unread}");
    }
}

#[tokio::test]
async fn clues_to_missing_checks_are_read_only_when_they_are_asked_for() {
    let without = |asked: &Asked| match asked.line().as_str() {
        RUNS => Reply::ok(&json!({ "total_count": 0, "check_runs": [] })),
        STATUS => Reply::ok(&statuses(&[])),
        _ => green(asked),
    };
    let server = Server::start(without).await;
    let whole = Reading {
        depth: ReadDepth::Whole,
        ..common()
    };
    let facts = server.reader().facts(&pull(), whole, now()).await.unwrap();
    assert_eq!(
        (&facts.checks, &facts.ci),
        (&Fact::Known(Vec::new()), &None)
    );
    assert!(!server.lines().iter().any(|line| line.contains("/actions/")));
    let facts = server.facts().await.unwrap();
    assert_eq!(facts.ci.unwrap().workflows, Some(2));
}

#[tokio::test]
async fn every_call_stays_below_the_base_path_and_names_itself() {
    let server = Server::start(green).await;
    server.facts().await.unwrap();
    for asked in server.asked() {
        assert!(!asked.path.starts_with("OUTSIDE"), "{asked:?}");
        assert_eq!(
            asked.header("authorization"),
            Some(format!("Bearer {TOKEN}").as_str())
        );
        assert_eq!(asked.header("accept"), Some("application/vnd.github+json"));
        assert_eq!(asked.header("x-github-api-version"), Some("2022-11-28"));
        assert!(asked.header("user-agent").is_some());
    }
}

#[tokio::test]
async fn every_conclusion_has_its_outcome() {
    let rows = [
        (
            "completed",
            Some("success"),
            CheckOutcome::Passed(Pass::Success),
        ),
        (
            "completed",
            Some("neutral"),
            CheckOutcome::Passed(Pass::Neutral),
        ),
        (
            "completed",
            Some("skipped"),
            CheckOutcome::Passed(Pass::Skipped),
        ),
        (
            "completed",
            Some("action_required"),
            CheckOutcome::ActionRequired,
        ),
        ("completed", Some("failure"), CheckOutcome::Failed),
        ("completed", Some("cancelled"), CheckOutcome::Failed),
        ("completed", Some("timed_out"), CheckOutcome::Failed),
        ("completed", Some("stale"), CheckOutcome::Failed),
        ("completed", Some("startup_failure"), CheckOutcome::Failed),
        ("completed", Some("brand_new"), CheckOutcome::Failed),
        ("queued", None, CheckOutcome::Pending),
        ("in_progress", None, CheckOutcome::Pending),
        ("waiting", None, CheckOutcome::Pending),
        ("requested", None, CheckOutcome::Pending),
        ("pending", None, CheckOutcome::Pending),
    ];
    let list: Vec<Value> = (1..)
        .zip(rows)
        .map(|(id, (status, conclusion, _))| run(id, &format!("c{id:02}"), status, conclusion))
        .collect();
    let facts = facts_with(RUNS, Reply::ok(&runs(&list))).await.unwrap();
    let outcomes: Vec<CheckOutcome> = facts
        .checks
        .known()
        .unwrap()
        .iter()
        .map(|check| check.outcome)
        .collect();
    assert_eq!(outcomes, rows.map(|(_, _, outcome)| outcome));
}

#[tokio::test]
async fn statuses_are_checks_too_and_unknown_states_are_failures() {
    let status = |id: u64, context: &str, state: &str| json!({ "id": id, "context": context, "state": state });
    let list = [
        status(1, "a", "success"),
        status(2, "b", "pending"),
        status(3, "c", "error"),
        status(4, "d", "failure"),
        status(5, "e", "odd"),
    ];
    let facts = facts_with(STATUS, Reply::ok(&statuses(&list)))
        .await
        .unwrap();
    let checks = facts.checks.known().unwrap();
    let outcome = |name: &str| {
        checks
            .iter()
            .find(|check| check.name == name && check.app.is_none())
            .unwrap()
            .outcome
    };
    assert_eq!(outcome("a"), CheckOutcome::Passed(Pass::Success));
    assert_eq!(outcome("b"), CheckOutcome::Pending);
    assert_eq!(
        [outcome("c"), outcome("d"), outcome("e")],
        [CheckOutcome::Failed; 3]
    );
    assert_eq!(checks.len(), 6);
}

#[tokio::test]
async fn the_newest_of_a_name_and_app_counts() {
    let foreign = json!({ "id": 3, "name": "build", "head_sha": HEAD, "status": "completed", "conclusion": "failure", "app": { "id": 99 } });
    let list = [
        run(5, "build", "completed", Some("failure")),
        run(2, "build", "completed", Some("success")),
        foreign,
    ];
    let facts = facts_with(RUNS, Reply::ok(&runs(&list))).await.unwrap();
    let expected = [
        check("build", Some(99), CheckOutcome::Failed, Some(3)),
        check("build", Some(ACTIONS), CheckOutcome::Failed, Some(5)),
    ];
    assert_eq!(facts.checks.known().unwrap()[..], expected);
}

#[tokio::test]
async fn our_own_check_runs_are_left_out() {
    let ours = json!({ "id": 9, "name": "gaffer", "head_sha": HEAD, "status": "in_progress", "conclusion": null, "app": { "id": 4242 } });
    let list = [ours, run(1, "build", "completed", Some("success"))];
    let script = move |asked: &Asked| match asked.line().as_str() {
        RUNS => Reply::ok(&runs(&list)),
        "GET /repos/acme/shop/installation" => Reply::ok(&json!({ "id": 1 })),
        "POST /app/installations/1/access_tokens" => Reply::json(
            201,
            &json!({ "token": "ghs_x", "expires_at": "2026-11-21T13:00:00Z" }),
        ),
        _ => green(asked),
    };
    let server = Server::start(script).await;
    let client = Backend::new(include_str!("keys/app.pem")).client(&server, Some(4242));
    let facts = Reader::new(client)
        .facts(&pull(), common(), now())
        .await
        .unwrap();
    let names: Vec<&str> = facts
        .checks
        .known()
        .unwrap()
        .iter()
        .map(|check| check.name.as_str())
        .collect();
    assert_eq!(names, ["build"]);
}

#[tokio::test]
async fn what_cannot_be_read_is_unknown_and_says_why() {
    let runs_cut =
        json!({ "total_count": 2, "check_runs": [run(1, "build", "completed", Some("success"))] });
    let mut half = runs(&[run(1, "build", "completed", Some("success"))]).to_string();
    half.truncate(half.len() / 2);
    let rows = [
        (RUNS, Reply::ok(&runs_cut), "1 of 2 came"),
        (RUNS, Reply::text(200, &half), "could not be read"),
        (
            RUNS,
            Reply::text(200, "<html>oops</html>"),
            "could not be read",
        ),
        (
            RUNS,
            Reply::ok(&runs(&[run(1, "build", "completed", None)])),
            "completed without a conclusion",
        ),
        (RUNS, Reply::ok(&json!({ "check_runs": [] })), "total_count"),
        (
            RUNS,
            Reply::ok(&json!({ "total_count": 1, "check_runs": [{ "id": 1, "name": null }] })),
            "could not be read",
        ),
        (RUNS, Reply::refusal(500, "boom"), "500"),
        (RUNS, Reply::refusal(404, "Not Found"), "404"),
        (
            RUNS,
            Reply::refusal(403, "Repository access blocked"),
            "403",
        ),
        (
            STATUS,
            Reply::ok(&json!({ "total_count": 3, "statuses": [] })),
            "0 of 3 came",
        ),
        (STATUS, Reply::refusal(502, "bad gateway"), "502"),
    ];
    for (line, reply, words) in rows {
        let facts = facts_with(line, reply).await.unwrap();
        assert!(
            why(&facts.checks).contains(words),
            "{words}: {:?}",
            facts.checks
        );
        assert_eq!(
            facts.ci, None,
            "clues are for pull requests that have no checks, not for unknown ones"
        );
    }
}

#[tokio::test]
async fn a_check_run_of_another_commit_spoils_the_list() {
    let mut stray = run(2, "late", "completed", Some("success"));
    stray["head_sha"] = json!(OTHER);
    let facts = facts_with(RUNS, Reply::ok(&runs(&[stray]))).await.unwrap();
    assert!(why(&facts.checks).contains(OTHER));
}

#[tokio::test]
async fn a_missing_permission_is_named_and_never_pending() {
    let refusal = || Reply::refusal(403, "Resource not accessible by personal access token");
    let permission = |fact: Fact<()>| match fact {
        Fact::Forbidden { permission } => permission,
        Fact::Known(()) | Fact::Unknown { .. } => panic!("{fact:?}"),
    };
    let empty = |fact: Fact<Vec<Check>>| match fact {
        Fact::Known(_) => Fact::Known(()),
        Fact::Forbidden { permission } => Fact::Forbidden { permission },
        Fact::Unknown { why } => Fact::Unknown { why },
    };
    assert_eq!(
        permission(empty(facts_with(RUNS, refusal()).await.unwrap().checks)),
        "Checks: read"
    );
    assert_eq!(
        permission(empty(facts_with(STATUS, refusal()).await.unwrap().checks)),
        "Commit statuses: read"
    );
    let reviews = facts_with(REVIEWS, refusal()).await.unwrap().reviews;
    assert_eq!(
        reviews,
        Fact::Forbidden {
            permission: "Pull requests: read".to_owned()
        }
    );
    let files = facts_with(FILES, refusal()).await.unwrap().files;
    assert_eq!(
        files,
        Fact::Forbidden {
            permission: "Pull requests: read".to_owned()
        }
    );
}

#[tokio::test]
async fn limits_and_refused_credentials_fail_the_whole_reading() {
    let limited = facts_with(REVIEWS, Reply::refusal(429, "slow down"))
        .await
        .unwrap_err();
    assert_eq!(limited.class, FailureClass::Throttled);
    let refused = facts_with(FILES, Reply::refusal(401, "Bad credentials"))
        .await
        .unwrap_err();
    assert_eq!(refused.class, FailureClass::Unauthorized);
}

#[tokio::test]
async fn reviews_keep_their_order_and_unknown_kinds_are_comments() {
    let review = |id: u64, state: &str| {
        let user = json!({ "login": format!("x{id}"), "id": id, "type": "User" });
        json!({ "user": user, "state": state, "author_association": "MEMBER", "commit_id": OTHER })
    };
    let list = json!([
        review(1, "APPROVED"),
        review(2, "CHANGES_REQUESTED"),
        review(1, "DISMISSED"),
        review(3, "COMMENTED"),
        review(4, "NEW")
    ]);
    let facts = facts_with(REVIEWS, Reply::ok(&list)).await.unwrap();
    let expected = [
        (1, ReviewVerdict::Approved),
        (2, ReviewVerdict::ChangesRequested),
        (1, ReviewVerdict::Dismissed),
        (3, ReviewVerdict::Comment),
        (4, ReviewVerdict::Comment),
    ];
    assert_eq!(
        facts.reviews,
        Fact::Known(
            expected
                .map(|(reviewer, verdict)| Review {
                    reviewer,
                    person: Some(format!("x{reviewer}")),
                    commit: OTHER.parse().ok(),
                    verdict,
                })
                .to_vec()
        )
    );
    let of_nobody = facts_with(
        REVIEWS,
        Reply::ok(&json!([{ "user": null, "state": "APPROVED" }])),
    )
    .await
    .unwrap();
    assert!(why(&of_nobody.reviews).contains("no author"));
}

#[tokio::test]
async fn only_those_who_belong_to_the_repository_have_a_say() {
    // All of GitHub's associations, and one that it may invent.
    let inside = ["OWNER", "MEMBER", "COLLABORATOR"];
    let outside = [
        "CONTRIBUTOR",
        "FIRST_TIMER",
        "FIRST_TIME_CONTRIBUTOR",
        "MANNEQUIN",
        "NONE",
        "NEW",
    ];
    let review = |association: &str, kind: &str, state: &str| json!({ "user": { "login": "x", "id": 1, "type": kind }, "state": state, "author_association": association });
    let verdicts =
        async |list: Value| match facts_with(REVIEWS, Reply::ok(&list)).await.unwrap().reviews {
            Fact::Known(reviews) => reviews.into_iter().map(|it| it.verdict).collect::<Vec<_>>(),
            unread @ (Fact::Forbidden { .. } | Fact::Unknown { .. }) => panic!("{unread:?}"),
        };
    let both = |association: &str, kind: &str| {
        json!([
            review(association, kind, "APPROVED"),
            review(association, kind, "CHANGES_REQUESTED")
        ])
    };
    let counts = [ReviewVerdict::Approved, ReviewVerdict::ChangesRequested];
    for association in inside {
        assert_eq!(verdicts(both(association, "User")).await, counts);
    }
    for association in outside {
        let spoken = verdicts(both(association, "User")).await;
        assert_eq!(
            spoken,
            [ReviewVerdict::Comment, ReviewVerdict::Comment],
            "{association}"
        );
        // An App reviews only where it was installed.
        assert_eq!(verdicts(both(association, "Bot")).await, counts);
    }
    // What GitHub does not tell holds a merge up at most.
    let untold = [ReviewVerdict::Comment, ReviewVerdict::ChangesRequested];
    assert_eq!(verdicts(both("", "User")).await, untold);
    // A reviewer who leaves GitHub cannot hold up anything by that.
    let gone =
        json!([{ "user": null, "state": "CHANGES_REQUESTED", "author_association": "NONE" }]);
    assert_eq!(verdicts(gone).await, []);
}

#[tokio::test]
async fn a_rename_changes_both_paths_and_a_short_list_is_unknown() {
    let renamed = json!([{ "filename": "src/ci.yml", "previous_filename": ".github/ci.yml" }]);
    let facts = facts_with(FILES, Reply::ok(&renamed)).await.unwrap();
    assert_eq!(
        facts.files,
        Fact::Known(vec!["src/ci.yml".to_owned(), ".github/ci.yml".to_owned()])
    );
    let none = facts_with(FILES, Reply::ok(&json!([]))).await.unwrap();
    assert!(why(&none.files).contains("0 of 1 came"));
}

#[tokio::test]
async fn three_thousand_files_may_be_more() {
    let script = |asked: &Asked| {
        if asked.path == "/repos/acme/shop/pulls/7/files" {
            let page: usize = asked
                .query
                .rsplit_once("&page=")
                .map_or(1, |(_, page)| page.parse().unwrap());
            let files: Vec<Value> = (0..100)
                .map(|i| json!({ "filename": format!("f{page}-{i}") }))
                .collect();
            let next = format!(
                "<{}{}?per_page=100&page={}>; rel=\"next\"",
                asked.base,
                asked.path,
                page + 1
            );
            let reply = Reply::ok(&json!(files));
            return if page < 30 {
                reply.with("link", next)
            } else {
                reply
            };
        }
        let mut body = pull_json();
        body["changed_files"] = json!(3_000);
        if asked.line() == PULL {
            Reply::ok(&body)
        } else {
            green(asked)
        }
    };
    let facts = facts_of(script).await.unwrap();
    assert!(
        why(&facts.files).contains("no more than 3000"),
        "{:?}",
        facts.files
    );
}

#[tokio::test]
async fn mergeable_is_unknown_while_it_is_null() {
    let mut body = pull_json();
    body["mergeable"] = json!(null);
    let facts = facts_with(PULL, Reply::ok(&body)).await.unwrap();
    assert!(why(&facts.mergeable).contains("not worked out"));
}

#[tokio::test]
async fn a_head_or_base_that_moves_meanwhile_is_a_conflict() {
    for (field, value) in [("/head/sha", OTHER), ("/base/ref", "release")] {
        let script = move |asked: &Asked| {
            let mut body = pull_json();
            if asked.line() == PULL && asked.before > 0 {
                *body.pointer_mut(field).unwrap() = json!(value);
            }
            if asked.line() == PULL {
                Reply::ok(&body)
            } else {
                green(asked)
            }
        };
        let failure = facts_of(script).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Conflict);
        assert!(
            failure.message.contains("moved while reading"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn the_later_reading_of_the_pull_request_counts() {
    let script = |asked: &Asked| {
        let mut body = pull_json();
        body["labels"] = if asked.before > 0 {
            json!([{ "name": "do-not-merge" }])
        } else {
            json!([])
        };
        if asked.line() == PULL {
            Reply::ok(&body)
        } else {
            green(asked)
        }
    };
    assert_eq!(facts_of(script).await.unwrap().labels, ["do-not-merge"]);
}

#[tokio::test]
async fn without_checks_there_are_clues() {
    let none = facts_with(RUNS, Reply::ok(&runs(&[]))).await.unwrap();
    assert_eq!(none.checks, Fact::Known(Vec::new()));
    assert_eq!(
        none.ci,
        Some(CiClues {
            approval_pending: false,
            workflows: Some(2)
        })
    );
    let waiting = facts_of(|asked| match asked.line().as_str() {
        RUNS => Reply::ok(&runs(&[])),
        ACTION_RUNS => Reply::ok(
            &json!({ "total_count": 1, "workflow_runs": [{ "conclusion": "action_required" }] }),
        ),
        WORKFLOWS => Reply::refusal(403, "Resource not accessible by integration"),
        _ => green(asked),
    });
    assert_eq!(
        waiting.await.unwrap().ci,
        Some(CiClues {
            approval_pending: true,
            workflows: None
        })
    );
}

#[tokio::test]
async fn a_closed_or_merged_pull_request_costs_one_call() {
    let mut body = pull_json();
    body["state"] = json!("closed");
    let closed = body.clone();
    body["merged"] = json!(true);
    body["merged_by"] = json!({ "login": "ann", "id": 5, "type": "User" });
    let expected = [
        (closed, PullState::Closed),
        (
            body,
            PullState::Merged {
                commit: Some(OTHER.parse().unwrap()),
            },
        ),
    ];
    for (body, state) in expected {
        let server = Server::start(move |_: &Asked| Reply::ok(&body)).await;
        let facts = server.facts().await.unwrap();
        assert_eq!(facts.state, state);
        assert!(why(&facts.checks).contains("not open"));
        assert_eq!(server.lines(), [PULL]);
    }
}

#[tokio::test]
async fn a_deleted_fork_and_a_deleted_author_are_readable() {
    let mut body = pull_json();
    body["head"]["repo"] = json!(null);
    body["user"] = json!(null);
    let facts = facts_with(PULL, Reply::ok(&body)).await.unwrap();
    assert_eq!(
        (facts.head.repo, facts.author.login.as_str()),
        (None, "ghost")
    );
}

#[tokio::test]
async fn an_answer_about_another_repository_is_not_believed() {
    for (field, value) in [
        ("/base/repo/full_name", json!("no name")),
        ("/base/repo/id", json!("5")),
        ("/number", json!(8)),
        ("/head/sha", json!("abc")),
        ("/base/repo", json!(null)),
    ] {
        let mut body = pull_json();
        *body.pointer_mut(field).unwrap() = value;
        let failure = facts_with(PULL, Reply::ok(&body)).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Garbled, "{field}");
    }
}

#[tokio::test]
async fn which_repository_answered_is_told_by_its_number() {
    let facts = facts_with(PULL, Reply::ok(&pull_json())).await.unwrap();
    let here = RepositoryIdentity {
        id: RepoId(5),
        name: "Acme/Shop".parse().unwrap(),
    };
    assert_eq!(
        (&facts.repo, facts.is_from_base_repository()),
        (&here, true)
    );

    let mut renamed = pull_json();
    for end in ["/head/repo/full_name", "/base/repo/full_name"] {
        *renamed.pointer_mut(end).unwrap() = json!("acme/store");
    }
    let facts = facts_with(PULL, Reply::ok(&renamed)).await.unwrap();
    assert_eq!(facts.repo.name.as_str(), "acme/store");
    assert!(
        facts.is_from_base_repository(),
        "the head lives in the same repository"
    );

    // A fork that came to bear the name of the repository it was forked from.
    let mut fork = pull_json();
    fork["head"]["repo"] = json!({ "id": 6, "full_name": "acme/shop" });
    let facts = facts_with(PULL, Reply::ok(&fork)).await.unwrap();
    assert!(!facts.is_from_base_repository());
    let glance = async |body: serde_json::Value| {
        let server = Server::start(move |_: &Asked| Reply::ok(&body)).await;
        server.reader().glance(&pull()).await.unwrap().same_repo
    };
    assert!(!glance(fork).await);
    assert!(glance(renamed).await);
}

#[tokio::test]
async fn the_place_in_a_stack_is_known_and_an_untold_one_is_not_the_bottom() {
    let placed = async |stack: Value| {
        let mut pull = pull_json();
        pull["stack"] = stack;
        facts_with(PULL, Reply::ok(&pull)).await.unwrap().stack
    };
    assert_eq!(placed(Value::Null).await, None);
    let base = json!({ "ref": "main", "sha": TIP });
    let bottom = json!({ "id": 1, "number": 6, "size": 2, "position": 1, "base": base });
    assert_eq!(placed(bottom).await, Some(1));
    assert_eq!(placed(json!({ "position": 3 })).await, Some(3));
    assert_eq!(placed(json!({ "base": base })).await, Some(2));
}

/// `cancel-in-progress` cancels an older run of the same head for the sake of a newer one.
#[tokio::test]
async fn a_cancelled_check_run_is_replaced_by_a_newer_one_of_its_name_and_app() {
    let in_suite = |suite: u64, mut run: Value| {
        run["check_suite"] = json!({ "id": suite });
        run
    };
    let outcomes = async |list: Vec<Value>| {
        let facts = facts_with(RUNS, Reply::ok(&runs(&list))).await.unwrap();
        let known = facts.checks.known().unwrap().clone();
        known.iter().map(|it| it.outcome).collect::<Vec<_>>()
    };
    let old = |word| in_suite(1, run(1, "build", "completed", Some(word)));
    let new = |status, word| in_suite(2, run(2, "build", status, word));
    let (passed, failed) = (CheckOutcome::Passed(Pass::Success), CheckOutcome::Failed);
    let green = new("completed", Some("success"));
    assert_eq!(
        outcomes(vec![green.clone(), old("cancelled")]).await,
        [passed]
    );
    let runs_again = vec![old("cancelled"), new("in_progress", None)];
    assert_eq!(outcomes(runs_again).await, [CheckOutcome::Pending]);
    let red = vec![old("cancelled"), new("completed", Some("failure"))];
    assert_eq!(outcomes(red).await, [failed]);
    // What failed stays, and so does a newer run that was cancelled.
    assert_eq!(
        outcomes(vec![old("failure"), green.clone()]).await,
        [failed, passed]
    );
    let newer = in_suite(3, run(3, "build", "completed", Some("cancelled")));
    assert_eq!(outcomes(vec![newer, green.clone()]).await, [passed, failed]);
    // Another App's run of that name, one of an unknown App, and another name replace nothing.
    let mut foreign = green.clone();
    foreign["app"] = json!({ "id": 666 });
    let mut nameless = green.clone();
    nameless["app"] = Value::Null;
    let mut other = green;
    other["name"] = json!("lint");
    for beside in [foreign, nameless, other] {
        let mut both = outcomes(vec![old("cancelled"), beside]).await;
        both.sort_by_key(|outcome| *outcome == failed);
        assert_eq!(both, [passed, failed]);
    }
}
