//! What the base branch demands, from rulesets and from classic protection.

use domain::facts::{Demands, Fact, RequiredCheck, UnreadReason};
use engine::ports::PullsRead;
use github::Reader;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::server::{Asked, Backend, Reply, Server, TOKEN, common, now, pull};
use crate::world::*;

const COMPARE: &str =
    "GET /repos/acme/shop/compare/main...1111111111111111111111111111111111111111?per_page=1";

async fn demands(rules: Reply, protection: Reply) -> Fact<Demands> {
    let script = move |asked: &Asked| match asked.line().as_str() {
        RULES => rules.clone(),
        PROTECTION => protection.clone(),
        COMPARE => Reply::ok(&json!({ "ahead_by": 1, "behind_by": 3, "commits": [] })),
        _ => green(asked),
    };
    Server::start(script).await.facts().await.unwrap().demands
}

fn none() -> Reply {
    Reply::refusal(404, "Branch not protected")
}

fn status_rule(strict: bool) -> Value {
    json!({ "type": "required_status_checks", "parameters": {
        "strict_required_status_checks_policy": strict,
        "required_status_checks": [{ "context": "build", "integration_id": ACTIONS }, { "context": "lint" }],
    }})
}

fn required(name: &str, app: Option<u64>) -> RequiredCheck {
    RequiredCheck {
        name: name.to_owned(),
        app,
    }
}

#[tokio::test]
async fn rules_are_added_up() {
    let rules = json!([
        { "type": "deletion" },
        status_rule(false),
        status_rule(false),
        { "type": "pull_request", "parameters": { "required_approving_review_count": 1 } },
        { "type": "pull_request", "parameters": { "required_approving_review_count": 2 } },
        { "type": "merge_queue", "parameters": {} },
    ]);
    let expected = Demands {
        checks: vec![required("build", Some(ACTIONS)), required("lint", None)],
        approvals: 2,
        up_to_date: false,
        merge_queue: true,
        behind_by: None,
        unread: None,
    };
    assert_eq!(
        demands(Reply::ok(&rules), none()).await,
        Fact::Known(expected)
    );
}

#[tokio::test]
async fn the_base_is_compared_only_when_the_head_must_contain_it() {
    let strict = demands(Reply::ok(&json!([status_rule(true)])), none()).await;
    let strict = strict.known().unwrap().clone();
    assert_eq!((strict.up_to_date, strict.behind_by), (true, Some(3)));
    let loose = demands(Reply::ok(&json!([status_rule(false)])), none()).await;
    assert_eq!(loose.known().unwrap().behind_by, None);
}

#[tokio::test]
async fn a_comparison_that_fails_leaves_the_demands_unknown() {
    let script = |asked: &Asked| match asked.line().as_str() {
        RULES => Reply::ok(&json!([status_rule(true)])),
        COMPARE => Reply::refusal(500, "boom"),
        _ => green(asked),
    };
    let facts = Server::start(script).await.facts().await.unwrap();
    assert!(matches!(facts.demands, Fact::Unknown { why } if why.contains("comparing")));
}

#[tokio::test]
async fn classic_protection_is_joined() {
    let protection = json!({
        "required_status_checks": { "strict": false, "contexts": ["e2e", "old"], "checks": [{ "context": "e2e", "app_id": 12 }, { "context": "any", "app_id": -1 }] },
        "required_pull_request_reviews": { "required_approving_review_count": 3 },
        "enforce_admins": { "enabled": true },
    });
    let both = demands(
        Reply::ok(&json!([status_rule(false)])),
        Reply::ok(&protection),
    )
    .await;
    let expected = [
        required("build", Some(ACTIONS)),
        required("lint", None),
        required("e2e", Some(12)),
        required("any", None),
        required("old", None),
    ];
    let both = both.known().unwrap().clone();
    assert_eq!(
        (both.checks.as_slice(), both.approvals),
        (expected.as_slice(), 3)
    );
}

#[tokio::test]
async fn protection_that_may_not_be_read_is_said_to_be_missing_beside_the_rules_that_may() {
    let missing = Some(UnreadReason::Forbidden {
        permission: "Administration: read".to_owned(),
    });
    let refusals = [
        Reply::refusal(403, "Resource not accessible by integration"),
        Reply::refusal(403, "Resource not accessible by personal access token"),
        // A credential without administration rights gets a 404 in other words than where nothing is protected.
        Reply::refusal(404, "Not Found"),
    ];
    for refusal in refusals {
        for rules in [json!([]), json!([status_rule(false)])] {
            let demands = demands(Reply::ok(&rules), refusal.clone()).await;
            let demands = demands.known().unwrap();
            assert_eq!(demands.unread, missing, "{refusal:?}");
            assert_eq!(demands.checks.len(), rules.as_array().unwrap().len() * 2);
        }
    }
    let broken = demands(Reply::ok(&json!([])), Reply::refusal(500, "boom")).await;
    let unread = broken.known().unwrap().unread.clone();
    assert!(
        matches!(unread, Some(UnreadReason::Unknown { .. })),
        "{unread:?}"
    );
    let gone = demands(
        Reply::ok(&json!([])),
        Reply::refusal(404, "Branch not found"),
    )
    .await;
    let unread = gone.known().unwrap().unread.clone();
    assert!(
        matches!(unread, Some(UnreadReason::Unknown { .. })),
        "{unread:?}"
    );
    let known = demands(Reply::ok(&json!([])), none()).await;
    assert_eq!(known, Fact::Known(Demands::default()));
}

#[tokio::test]
async fn a_plan_without_rulesets_and_protection_demands_nothing() {
    let plan = || {
        Reply::refusal(
            403,
            "Upgrade to GitHub Pro or make this repository public to enable this feature.",
        )
    };
    assert_eq!(
        demands(plan(), plan()).await,
        Fact::Known(Demands::default())
    );
}

#[tokio::test]
async fn rules_that_cannot_be_read_leave_the_demands_unknown() {
    let odd = json!([{ "type": "required_status_checks", "parameters": { "required_status_checks": null } }]);
    assert!(
        matches!(demands(Reply::ok(&odd), none()).await, Fact::Unknown { why } if why.contains("required_status_checks"))
    );
    assert!(matches!(
        demands(Reply::refusal(500, "boom"), none()).await,
        Fact::Unknown { .. }
    ));
}

#[tokio::test]
async fn a_base_with_a_slash_stays_one_segment() {
    let script = |asked: &Asked| {
        let mut body = pull_json();
        body["base"]["ref"] = json!("release/1.x");
        match asked.line().as_str() {
            PULL => Reply::ok(&body),
            "GET /repos/acme/shop/rules/branches/release%2F1.x" => Reply::ok(&json!([])),
            "GET /repos/acme/shop/branches/release%2F1.x/protection" => none(),
            _ => green(asked),
        }
    };
    let facts = Server::start(script).await.facts().await.unwrap();
    assert_eq!(facts.demands, Fact::Known(Demands::default()));
}

/// The demands of two readings when the list of protected branches is this, and how often the branch itself was asked.
async fn read_twice(list: Reply, protection: Reply) -> ([Fact<Demands>; 2], usize) {
    let script = move |asked: &Asked| match asked.line().as_str() {
        PROTECTED => list.clone(),
        PROTECTION => protection.clone(),
        _ => green(asked),
    };
    let server = Server::start(script).await;
    let reader = server.reader();
    let read = async || {
        reader
            .facts(&pull(), common(), now())
            .await
            .unwrap()
            .demands
    };
    let read = [read().await, read().await];
    let lines = server.lines();
    let asked = lines.iter().filter(|line| *line == PROTECTION).count();
    (read, asked)
}

#[tokio::test]
async fn a_branch_without_protection_is_asked_again_only_when_it_is_listed() {
    let nothing = || {
        [
            Fact::Known(Demands::default()),
            Fact::Known(Demands::default()),
        ]
    };
    // A ruleset's branch is listed without classic protection.
    let ruled = json!([{ "name": "main", "protection": { "enabled": false } }]);
    for list in [json!([]), json!([{ "name": "main2" }]), ruled] {
        let found = read_twice(Reply::ok(&list), none()).await;
        assert_eq!(found, (nothing(), 1), "{list}");
    }
    for list in [
        Reply::ok(&json!([{ "name": "main" }])),
        Reply::ok(&json!([{ "name": "main", "protection": { "enabled": true } }])),
        Reply::ok(&json!([{ "name": "main", "protection": {} }])),
        Reply::refusal(403, "Resource not accessible by integration"),
        Reply::refusal(500, "boom"),
    ] {
        assert_eq!(read_twice(list, none()).await, (nothing(), 2));
    }
}

#[tokio::test]
async fn a_list_stands_in_for_no_permission() {
    let forbidden = Reply::refusal(403, "Resource not accessible by integration");
    let (demands, asked) = read_twice(Reply::ok(&json!([])), forbidden).await;
    for demands in demands {
        let unread = demands.known().unwrap().unread.clone();
        assert!(
            matches!(unread, Some(UnreadReason::Forbidden { .. })),
            "{unread:?}"
        );
    }
    assert_eq!(asked, 2);
}

/// The pull request when GitHub says this of it.
fn pull_that_is(word: &Value) -> Reply {
    let mut body = pull_json();
    body["mergeable_state"] = word.clone();
    Reply::ok(&body)
}

/// Readings of one server, one after another.
struct Readings {
    backend: Backend,
    reader: Reader,
    server: Server,
}

impl Readings {
    async fn of(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let server = Server::start(script).await;
        let backend = Backend::new(TOKEN);
        Self {
            reader: Reader::new(backend.client(&server, None)),
            backend,
            server,
        }
    }

    /// Reads so many minutes after the last one; answers how often the list and the branch itself were asked so far.
    async fn after(&self, minutes: i64) -> (Fact<Demands>, [usize; 2]) {
        self.backend.pass(SignedDuration::from_mins(minutes));
        let facts = self.reader.facts(&pull(), common(), now()).await.unwrap();
        let lines = self.server.lines();
        let asked = |wanted: &str| lines.iter().filter(|line| *line == wanted).count();
        (facts.demands, [asked(PROTECTED), asked(PROTECTION)])
    }
}

/// The list of protected branches where only a ruleset protects the base.
fn ruled() -> Reply {
    Reply::ok(&json!([{ "name": "main", "protection": { "enabled": false } }]))
}

/// The same where classic protection does.
fn protected() -> Reply {
    Reply::ok(&json!([{ "name": "main", "protection": { "enabled": true } }]))
}

#[tokio::test]
async fn the_list_without_the_base_is_read_each_time() {
    let script = |asked: &Asked| match asked.line().as_str() {
        PULL => pull_that_is(&json!("clean")),
        PROTECTED if asked.before == 2 => protected(),
        PROTECTED => Reply::ok(&json!([])),
        PROTECTION if asked.before == 0 => none(),
        PROTECTION => one_approval(),
        _ => green(asked),
    };
    let readings = Readings::of(script).await;
    for asked in [[0, 1], [1, 1], [2, 1], [3, 2], [3, 3]] {
        let found = readings.after(0).await;
        let approvals = found.0.known().unwrap().approvals;
        assert_eq!((found.1, approvals), (asked, u32::from(asked[0] == 3)));
    }
}

#[tokio::test]
async fn of_a_clean_pull_request_it_is_believed_for_a_while_that_only_rulesets_protect_its_base() {
    let script = |asked: &Asked| match asked.line().as_str() {
        PULL => pull_that_is(&json!("clean")),
        PROTECTED => ruled(),
        _ => green(asked),
    };
    let readings = Readings::of(script).await;
    for (minutes, asked) in [
        (0, [0, 1]),
        (0, [1, 1]),
        (59, [1, 1]),
        (1, [2, 1]),
        (59, [2, 1]),
        (1, [3, 1]),
    ] {
        let found = readings.after(minutes).await;
        assert_eq!(found, (Fact::Known(Demands::default()), asked));
    }
}

#[tokio::test]
async fn of_a_pull_request_that_is_not_clean_the_list_is_read_each_time() {
    let words = [
        "blocked", "behind", "unstable", "unknown", "dirty", "draft", "Clean", "",
    ];
    let words = words.into_iter().map(Value::from).chain([Value::Null]);
    for word in words {
        let said = word.clone();
        let script = move |asked: &Asked| match asked.line().as_str() {
            PULL => pull_that_is(&said),
            PROTECTED => ruled(),
            _ => green(asked),
        };
        let readings = Readings::of(script).await;
        for asked in [[0, 1], [1, 1], [2, 1]] {
            let found = readings.after(0).await;
            assert_eq!(found.1, asked, "{word}");
        }
    }
}

/// Classic protection that wants one approval.
fn one_approval() -> Reply {
    let reviews = json!({ "required_approving_review_count": 1 });
    Reply::ok(&json!({ "required_pull_request_reviews": reviews }))
}

#[tokio::test]
async fn a_word_that_changes_while_the_rest_is_read_counts_for_nothing() {
    // Each reading asks for the pull request twice; in the third one the branch becomes protected in between.
    let script = |asked: &Asked| match asked.line().as_str() {
        PULL if asked.before < 5 => pull_that_is(&json!("clean")),
        PULL => pull_that_is(&json!("blocked")),
        PROTECTED if asked.before == 0 => ruled(),
        PROTECTED => protected(),
        PROTECTION if asked.before == 0 => none(),
        PROTECTION => one_approval(),
        _ => green(asked),
    };
    let readings = Readings::of(script).await;
    for _ in 0..2 {
        let (found, _) = readings.after(0).await;
        assert_eq!(found, Fact::Known(Demands::default()));
    }
    let (third, asked) = readings.after(0).await;
    assert_eq!((third.known().unwrap().approvals, asked), (1, [2, 2]));
}

#[tokio::test]
async fn protection_that_was_found_is_read_for_every_pull_request() {
    // Clean at first, then blocked by what is asked for, and clean again once it is there.
    let script = |asked: &Asked| match asked.line().as_str() {
        PULL if matches!(asked.before, 4 | 5) => pull_that_is(&json!("blocked")),
        PULL => pull_that_is(&json!("clean")),
        PROTECTED if asked.before == 0 => ruled(),
        PROTECTED => protected(),
        PROTECTION if asked.before == 0 => none(),
        PROTECTION => one_approval(),
        _ => green(asked),
    };
    let readings = Readings::of(script).await;
    for (approvals, times) in [(0, 1), (0, 1), (1, 2), (1, 3)] {
        let (found, [_, asked]) = readings.after(0).await;
        assert_eq!(
            (found.known().unwrap().approvals, asked),
            (approvals, times)
        );
    }
}
