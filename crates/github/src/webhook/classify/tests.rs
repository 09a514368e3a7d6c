//! Shapes one by one; the whole set of GitHub's examples is checked by the integration tests.

use super::*;
use crate::webhook::WAKEUP_BYTES_MAX;

const SHA: &str = "1111111111111111111111111111111111111111";

fn look(json: &str) -> Vec<Wakeup> {
    match classify(json.as_bytes(), Timestamp::UNIX_EPOCH) {
        Classified::Look(wakeups) => wakeups,
        other @ (Classified::Ignored { .. } | Classified::Unreadable) => {
            panic!("{json} was {other:?}")
        }
    }
}

fn ignored(json: &str) -> bool {
    matches!(
        classify(json.as_bytes(), Timestamp::UNIX_EPOCH),
        Classified::Ignored { .. }
    )
}

fn check(pulls: &str) -> String {
    format!(
        r#"{{"check_run":{{"head_sha":"{SHA}","pull_requests":{pulls}}},"repository":{{"id":5,"full_name":"o/r"}}}}"#
    )
}

fn numbers(wakeups: &[Wakeup]) -> Vec<Option<u64>> {
    wakeups.iter().map(|wakeup| wakeup.number).collect()
}

#[test]
fn what_happened_to_checks_is_told_and_what_is_not_known_is_a_change() {
    let news_of = |json: String| look(&json)[0].news;
    let repository = r#""repository":{"id":5,"full_name":"o/r"}"#;
    let check = |kind: &str, action: &str| {
        news_of(format!(
            r#"{{"action":{action},"{kind}":{{"head_sha":"{SHA}"}},{repository}}}"#
        ))
    };
    let rows = [
        ("check_run", r#""created""#, DeliveryHint::CheckBegan),
        ("check_run", r#""completed""#, DeliveryHint::CheckEnded),
        ("check_run", r#""complet\u0065d""#, DeliveryHint::CheckEnded),
        ("check_run", r#""rerequested""#, DeliveryHint::UnderWay),
        ("check_suite", r#""requested""#, DeliveryHint::UnderWay),
        ("check_suite", r#""completed""#, DeliveryHint::SuiteEnded),
        ("workflow_run", r#""in_progress""#, DeliveryHint::UnderWay),
        ("workflow_run", r#""completed""#, DeliveryHint::SuiteEnded),
    ];
    for (kind, action, news) in rows {
        assert_eq!(check(kind, action), news, "{kind} {action}");
    }
    for odd in [
        r#""new""#,
        "null",
        "7",
        "-1",
        "1.5",
        "true",
        r#"{"completed":1}"#,
        r#"["completed"]"#,
    ] {
        assert_eq!(check("check_run", odd), DeliveryHint::Changed, "{odd}");
    }
    let status = |state: &str| {
        news_of(format!(
            r#"{{"sha":"{SHA}","state":"{state}","context":"ci",{repository}}}"#
        ))
    };
    assert_eq!(status("pending"), DeliveryHint::UnderWay);
    for ended in ["success", "failure", "error"] {
        assert_eq!(status(ended), DeliveryHint::CheckEnded);
    }
    let push = format!(r#"{{"ref":"refs/heads/x","before":"{SHA}","after":"{SHA}",{repository}}}"#);
    assert_eq!(news_of(push), DeliveryHint::UnderWay);
    let pull = format!(r#"{{"action":"completed","pull_request":{{"number":7}},{repository}}}"#);
    assert_eq!(news_of(pull), DeliveryHint::Changed);
    let pushed = |more: &str| {
        news_of(format!(
            r#"{{"action":"synchronize","pull_request":{{"number":7}}{more},{repository}}}"#
        ))
    };
    assert_eq!(pushed(""), DeliveryHint::Pushed);
    assert_eq!(pushed(r#","review":{}"#), DeliveryHint::Changed);
}

#[test]
fn a_check_wakes_every_pull_request_it_names_or_else_its_commit() {
    assert_eq!(
        numbers(&look(&check(r#"[{"number":9},{"number":4},{"number":9}]"#))),
        [Some(4), Some(9)]
    );
    for none in ["[]", "null", "[null]", r#"[{"number":0}]"#] {
        let wakeups = look(&check(none));
        assert_eq!(numbers(&wakeups), [None]);
        assert_eq!(wakeups[0].sha.as_ref().unwrap().as_str(), SHA);
    }
}

#[test]
fn a_check_that_names_too_many_is_looked_up_by_its_commit() {
    let list = |n: usize| {
        (1..=n)
            .map(|i| format!(r#"{{"number":{i}}}"#))
            .collect::<Vec<_>>()
            .join(",")
    };
    assert_eq!(
        look(&check(&format!("[{}]", list(WAKEUPS_MAX)))).len(),
        WAKEUPS_MAX
    );
    assert_eq!(
        numbers(&look(&check(&format!("[{}]", list(WAKEUPS_MAX + 1))))),
        [None]
    );
}

#[test]
fn a_pull_request_of_another_repository_is_not_taken_for_ours() {
    let pulls = r#"[{"number":3,"base":{"repo":{"id":6}}},{"number":4,"base":{"repo":{"id":5}}}]"#;
    assert_eq!(numbers(&look(&check(pulls))), [Some(4)]);
}

#[test]
fn a_push_counts_only_on_branches_and_a_deleted_branch_has_no_commit() {
    let push = |reference: &str, after: &str| {
        format!(
            r#"{{"ref":"{reference}","before":"{SHA}","after":"{after}","repository":{{"full_name":"o/r"}}}}"#
        )
    };
    let moved = look(&push("refs/heads/main", SHA));
    assert_eq!((moved[0].kind, moved[0].number), (WebhookKind::Push, None));
    assert_eq!(moved[0].sha.as_ref().unwrap().as_str(), SHA);
    assert_eq!(look(&push("refs/heads/main", &"0".repeat(40)))[0].sha, None);
    assert!(ignored(&push("refs/tags/v1", SHA)));
}

#[test]
fn threads_and_deployments_are_told_from_what_they_carry() {
    let pull = r#""pull_request":{"number":7},"repository":{"full_name":"o/r"}"#;
    assert_eq!(
        look(&format!(r#"{{"thread":{{}},{pull}}}"#))[0].kind,
        WebhookKind::Review
    );
    assert_eq!(
        look(&format!(r#"{{"thread":null,{pull}}}"#))[0].kind,
        WebhookKind::PullRequest
    );
    assert!(ignored(&format!(
        r#"{{"deployment":{{}},"workflow_run":{{"head_sha":"{SHA}"}},{pull}}}"#
    )));
}

#[test]
fn what_is_not_in_githubs_form_is_unreadable() {
    let bom = "\u{feff}{}";
    let twice = r#"{"repository":{"full_name":"o/r"},"repository":{"full_name":"o/s"}}"#;
    let path = r#"{"issue":{"number":1},"repository":{"full_name":"../../admin"}}"#;
    let header = r#"{"issue":{"number":1},"repository":{"full_name":"o/r\r\nX-Evil: 1"}}"#;
    for odd in [
        "",
        "null",
        "[]",
        "{",
        "eyJ9",
        bom,
        twice,
        path,
        header,
        r#"{"repository":"o/r"}"#,
    ] {
        assert_eq!(
            classify(odd.as_bytes(), Timestamp::UNIX_EPOCH),
            Classified::Unreadable,
            "{odd:?}"
        );
    }
}

#[test]
fn deep_nesting_costs_no_stack() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let skipped =
        format!(r#"{{"x":{deep},"issue":{{"number":1}},"repository":{{"full_name":"o/r"}}}}"#);
    assert_eq!(numbers(&look(&skipped)), [Some(1)]);
    let needed = format!(r#"{{"issue":{deep},"repository":{{"full_name":"o/r"}}}}"#);
    assert_eq!(
        classify(needed.as_bytes(), Timestamp::UNIX_EPOCH),
        Classified::Unreadable
    );
}

#[test]
fn the_largest_wakeup_fits_a_queue_message() {
    let repo = format!("{}/{}", "o".repeat(100), "r".repeat(100));
    let sha = "f".repeat(64);
    let body = format!(
        r#"{{"check_suite":{{"head_sha":"{sha}","pull_requests":[{{"number":{}}}]}},"repository":{{"full_name":"{repo}"}}}}"#,
        u64::MAX
    );
    let Classified::Look(wakeups) = classify(body.as_bytes(), Timestamp::MAX) else {
        panic!("{body}")
    };
    let text = serde_json::to_string(&wakeups[0]).unwrap();
    assert!(text.len() <= WAKEUP_BYTES_MAX, "{}", text.len());
    assert_eq!(
        WAKEUP_BYTES_MAX, 4_096,
        "what a queue message is promised to hold at most"
    );
    assert_eq!(serde_json::from_str::<Wakeup>(&text).unwrap(), wakeups[0]);
}
