//! What the pages show, and what they never do.

use client::wire::{DeliveryCard, DeliveryView, DeliveryWhy, Problem, Why};
use domain::intake::{Intake, LastReading, ReadingResult};
use domain::pipeline::Requirement;
use domain::policy::Source;
use domain::status::Status;
use domain::wake::Wake;
use domain::webhook_activity::WebhookHealth;
use expect_test::expect_file;
use serde_json::{Value, json};

use super::*;

/// The largest board of 100 cards, in bytes.
const BOARD_BYTES_MAX: usize = 60 * 1024;

/// The largest script and style together, in bytes.
const STATIC_BYTES_MAX: usize = 25 * 1024;

/// The longest script of our own, in lines.
const LIVE_LINES_MAX: usize = 60;

/// Words that do something wherever they are taken for markup, and their beginning.
const CORPUS: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "</textarea></pre><script>alert(1)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;script&gt;",
    "javascript:alert(1)",
    "<!--<base href=//evil.example>",
];

fn frame(may_act: bool) -> Frame {
    Frame {
        now: "2026-03-01T12:00:00Z".parse().unwrap(),
        viewer: Some(Viewer {
            name: "token zai".to_owned(),
            may_act,
            form_token: "f0f0".to_owned(),
        }),
        live: Live::Hold,
    }
}

fn card(number: u64) -> Value {
    json!({
        "id": format!("{number:012x}"), "seq": number, "kind": "issue", "repo": "acme/shop",
        "summary": "Add a search box", "phase": "plan", "run_status": "running",
        "waits_for": {"who": "jules", "for": "plan", "sentence": "Jules is waited for."},
        "why": {"code": "planning", "sentence": "Its session makes a plan."},
        "issue": {"number": number, "url": format!("https://github.com/acme/shop/issues/{number}")},
        "priority": 5, "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T11:57:00Z",
    })
}

fn with(mut value: Value, changes: Value) -> Value {
    let (Value::Object(fields), Value::Object(changes)) = (&mut value, changes) else {
        panic!("no objects");
    };
    fields.extend(changes);
    value
}

fn cards(values: Vec<Value>) -> Vec<DeliveryCard> {
    serde_json::from_value(Value::Array(values)).unwrap()
}

/// A delivery whose implementation waits for a person.
pub(crate) fn view(changes: Value) -> DeliveryView {
    let view = with(
        card(7),
        json!({
            "phase": "implement", "run_status": "succeeded",
            "waits_for": {"who": "person", "for": "approval", "since": "2026-03-01T11:57:00Z", "sentence": "A person is waited for."},
            "why": {"code": "awaits_approval", "sentence": "The phase implement is done, and a person is awaited to approve it."},
            "pull_request": "acme/shop#8", "schema_version": 1,
            "description": "The shop needs one.", "acceptance_criteria": ["It finds shoes."],
            "endpoint": "verify", "checkpoints": ["plan", "implement"],
            "refs": [
                {"role": "trigger", "type": "github_issue", "label": "acme/shop#7", "url": "https://github.com/acme/shop/issues/7"},
                {"role": "output", "type": "pr", "label": "acme/shop#8", "url": "https://github.com/acme/shop/pull/8"},
            ],
            "plan": {"id": "p1", "content": "1. Add a box.\n2. Test it.", "generated_at": "2026-03-01T10:10:00Z", "model": null, "cwd": null, "target_files": ["src/search.rs"]},
            "attempt": 1, "review_round": 0, "job_id": "01k0000000000000000000000a",
            "head": "1111111111111111111111111111111111111111",
            "runs": [
                {"id": "0000000a", "mode": "plan", "executor": "agent", "performer": "jules", "status": "success", "attempt": 1,
                 "created_at": "2026-03-01T10:01:00Z", "duration_seconds": 540, "tokens": null, "cost": null, "summary": "A plan of two steps", "transcript": "kept"},
                {"id": "0000000b", "mode": "implement", "executor": "agent", "performer": "jules", "status": "failed", "attempt": 1,
                 "head": "1111111111111111111111111111111111111111", "created_at": "2026-03-01T10:11:00Z", "duration_seconds": 3900,
                 "tokens": null, "cost": null, "transcript": "none", "error": "No tests.", "analysis": {"by": "agent zai", "text": "It forgot.", "suggestion": "Write tests."}},
            ],
            "phase_runs": [
                {"phase": "intake", "run_status": "succeeded", "executor": "system", "started_at": "2026-03-01T10:00:00Z", "ended_at": "2026-03-01T10:00:00Z", "actor": "system"},
                {"phase": "plan", "run_status": "running", "executor": "agent", "started_at": "2026-03-01T10:00:00Z", "ended_at": "2026-03-01T10:10:00Z", "actor": "person ada"},
                {"phase": "implement", "run_status": "succeeded", "executor": "agent", "started_at": "2026-03-01T10:10:00Z", "actor": "system"},
            ],
            "version": 9, "legal": ["approve", "reject", "edit"], "retry_takes_reason": false,
        }),
    );
    serde_json::from_value(with(view, changes)).unwrap()
}

fn shown(view: &DeliveryView, may_act: bool) -> String {
    let told = Delivery {
        view,
        why: None,
        job: None,
        pull_why: None,
        has_moved: false,
    };
    delivery(&frame(may_act), told).unwrap().html
}

/// A page without the digests in it, so that a change of a static file changes no kept page.
fn kept(page: &Page) -> String {
    let mut html = page.html.replace(&page.etag, "ETAG");
    for asset in [assets::style(), assets::icon()]
        .into_iter()
        .chain(assets::scripts())
    {
        html = html.replace(&asset.name, "FILE");
    }
    format!("{html}\n")
}

fn board_of(cards: &[DeliveryCard], troubles: &[Trouble]) -> Page {
    let told = Board {
        cards,
        troubles,
        is_held: false,
        older: None,
    };
    board(&frame(true), told).unwrap()
}

#[test]
fn a_board_tells_phases_and_who_is_awaited() {
    let cards = cards(vec![
        card(1),
        with(
            card(2),
            json!({
                "phase": "review", "run_status": "failed", "summary": "Mend the cart", "priority": 9,
                "waits_for": {"who": "person", "for": "failed", "sentence": "A person is waited for."},
                "why": {"code": "not_pass", "sentence": "The phase review failed: three rounds did not pass."},
            }),
        ),
        with(
            card(3),
            json!({
                "phase": "plan", "run_status": "succeeded", "summary": "Sort by price",
                "waits_for": {"who": "person", "for": "approval", "sentence": "A person is waited for."},
                "why": {"code": "awaits_approval", "sentence": "The phase plan is done, and a person is awaited to approve it."},
            }),
        ),
        with(
            card(4),
            json!({
                "phase": "close", "run_status": "succeeded", "summary": "Drop the banner",
                "waits_for": {"who": "nobody", "for": "nothing", "sentence": "Nobody is waited for."},
                "why": {"code": "closed", "sentence": "It is closed: it came to its end."},
            }),
        ),
    ]);
    let troubles = [Trouble::failure(
        "acme/shop",
        "its issues could not be read: 502",
    )];
    let page = board_of(&cards, &troubles);
    expect_file!["tests/board.html"].assert_eq(&kept(&page));
}

#[test]
fn a_board_with_a_failed_delivery_does_not_say_that_none_waits() {
    let calm = "None waits for a person";
    assert!(board_of(&[], &[]).html.contains(calm));
    let failed = cards(vec![with(card(1), json!({ "run_status": "failed" }))]);
    let page = board_of(&failed, &[]).html;
    assert!(page.contains("1 failed") && !page.contains(calm), "{page}");
}

#[test]
fn a_job_that_was_cancelled_has_not_failed() {
    let cancelled = cards(vec![with(
        card(1),
        json!({
            "run_status": "failed",
            "waits_for": {"who": "nobody", "for": "ended", "sentence": "nobody: it is over"},
            "why": {"code": "canceled", "sentence": "It was cancelled."},
        }),
    )]);
    let page = board_of(&cancelled, &[]).html;
    assert!(page.contains("<b>cancelled</b>"), "{page}");
    assert!(page.contains("none failed"), "{page}");
    assert!(!page.contains("✕"), "{page}");
    assert!(!page.contains("class=\"f\""), "{page}");
}

#[test]
fn a_delivery_tells_everything_about_it() {
    let why: Why = serde_json::from_value(json!({
        "job_id": null, "pull_request": "acme/shop#8", "state": "waits",
        "as_read": {"at": "2026-03-01T11:58:00Z", "sentence": "as read 2 minutes ago"},
        "because": [{"code": "checks_running", "sentence": "2 checks run."}],
        "checks": [
            {"name": "lint", "state": "failed", "url": "javascript:alert(1)"},
            {"name": "<build>", "state": "pending", "url": "https://github.com/acme/shop/runs/7"},
        ],
        "then": [{"at": "2026-03-01T12:10:00Z", "sentence": "The checks are read again."}],
        "next_look": "2026-03-01T12:10:00Z",
    }))
    .unwrap();
    let own: DeliveryWhy = serde_json::from_value(json!({
        "delivery_id": "000000000007", "phase": "implement", "run_status": "succeeded",
        "waits_for": {"who": "person", "for": "approval", "sentence": "A person is waited for."},
        "because": [{"code": "awaits_approval", "sentence": "The phase implement is done, and a person is awaited to approve it."}],
        "then": [{"at": "2026-03-01T12:10:00Z", "sentence": "The checks are read again."}],
        "next_look": "2026-03-01T12:10:00Z", "legal": [], "retry_takes_reason": false,
    }))
    .unwrap();
    let view = view(json!({}));
    let told = Delivery {
        view: &view,
        why: Some(&own),
        job: None,
        pull_why: Some(&why),
        has_moved: false,
    };
    let page = delivery(&frame(true), told).unwrap();
    expect_file!["tests/delivery.html"].assert_eq(&kept(&page));
}

#[test]
fn a_board_of_a_hundred_cards_is_small() {
    let text = |start: &str| format!("{start} {}", "lorem ipsum dolor ".repeat(11));
    let full = |number| {
        let changes = json!({
            "summary": text("Summary"), "run_status": "failed", "repo": "a-longer-owner/a-longer-name",
            "waits_for": {"who": "person", "for": "failed", "sentence": text("Waits")},
            "why": {"code": "x", "sentence": text("Why")},
        });
        with(card(number), changes)
    };
    let page = board_of(&cards((1000..1100).map(full).collect()), &[]);
    assert!(page.html.len() <= BOARD_BYTES_MAX, "{}", page.html.len());
}

#[test]
fn what_is_static_is_small_and_named_by_its_content() {
    let all = [assets::style()].into_iter().chain(assets::scripts());
    let bytes: usize = all.map(|asset| asset.content.len()).sum();
    assert!(bytes <= STATIC_BYTES_MAX, "{bytes}");
    let live = assets::scripts()[1];
    assert!(live.content.lines().count() <= LIVE_LINES_MAX);
    assert_eq!(asset(&live.name).unwrap().content, live.content);
    assert!(asset("live.js").is_none() && asset("../lib.rs").is_none());
}

#[test]
fn text_from_outside_stays_text() {
    for words in CORPUS {
        let view = view(json!({
            "summary": words, "description": words, "acceptance_criteria": [words], "feedback": words,
            "plan": {"id": "p1", "content": words, "generated_at": "2026-03-01T10:10:00Z", "model": null, "cwd": null, "target_files": [words]},
            "why": {"code": words, "sentence": words}, "phase": words, "run_status": words, "verdict": words,
            "issue": {"number": 7, "url": words},
            "refs": [{"role": words, "type": "pr", "label": words, "url": words}],
            "legal": ["retry", "reject", words],
            "runs": [{"id": "0000000b", "mode": words, "executor": words, "performer": words, "status": "failed", "attempt": 1,
                "created_at": "2026-03-01T10:11:00Z", "duration_seconds": 1, "tokens": null, "cost": null, "transcript": "kept", "summary": words,
                "error": words, "analysis": {"by": words, "text": words, "suggestion": words}}],
        }));
        let board = board_of(
            std::slice::from_ref(&view.card),
            &[Trouble::failure(*words, *words)],
        );
        let problem = Problem::new(409, *words, words, *words);
        let typed = [("reason", *words)];
        let refusal = refusal(&frame(true), &problem, "/dashboard", &typed).unwrap();
        let delivery_id = view.card.id.clone();
        let kept = json!({
            "delivery_id": delivery_id, "run_id": "0000000b", "mode": words, "read_at": "2026-03-01T10:12:00Z", "page": 1, "pages": 2, "next_page": 2, "left_out": 3,
            "leader": [{"at": "2026-03-01T10:11:30Z", "role": words, "type": words, "text": words}],
        });
        let kept: client::wire::Transcript = serde_json::from_value(kept).unwrap();
        let told = Transcript {
            delivery: &delivery_id,
            run: &view.runs[0],
            kept: Some(&kept),
        };
        let transcript = transcript(&frame(true), told).unwrap();
        for html in [
            shown(&view, true),
            board.html,
            refusal.html,
            transcript.html,
        ] {
            for markup in [
                "<script>",
                "<img",
                "<svg",
                "<!--",
                "<base",
                "href=\"javascript",
                "49{",
            ] {
                assert!(!html.contains(markup), "{words}: {markup}: {html}");
            }
            let textareas = html.matches("<textarea").count();
            assert_eq!(html.matches("</textarea>").count(), textareas, "{words}");
        }
    }
}

#[test]
fn exactly_what_is_legal_has_a_button() {
    let all = [
        "start", "approve", "verdict", "plan", "merge", "retry", "reject", "cancel",
    ];
    let has = |html: &str, word: &str| html.contains(&format!("/00000000000{}/{word}\"", 7));
    for word in all {
        let view = view(json!({"legal": [word]}));
        let html = shown(&view, true);
        for other in all {
            assert_eq!(has(&html, other), other == word, "{word}: {other}");
        }
        let looked_at = shown(&view, false);
        assert!(!has(&looked_at, word) && looked_at.contains("may only look"));
    }
    let costs = |phase: &str| {
        let view = view(json!({"phase": phase, "legal": ["reject"]}));
        shown(&view, true).contains("costs one more Jules task")
    };
    assert!(costs("implement") && !costs("plan") && !costs("review"));
}

/// A page that was left open shows a plan which another one may have replaced since.
#[test]
fn the_approval_of_a_plan_names_the_plan_and_the_moment_that_its_page_shows() {
    let planned = json!({"phase": "plan", "legal": ["approve"]});
    let before = view(planned.clone());
    let named = r#"name="plan_id" value="p1""#;
    assert!(shown(&before, true).contains(named));
    assert!(!shown(&view(json!({})), true).contains(named));
    let mut after = view(planned);
    after.phase_runs.extend(before.phase_runs.clone());
    assert_ne!(standing(&after), standing(&before));
}

/// Such a job may go on before its approval is seen, so its phase tells nothing about what would be approved.
#[test]
fn a_job_of_no_delivery_is_approved_by_the_plan_that_its_page_shows() {
    let of_job = |changes| {
        let mut view = view(changes);
        view.card.seq = 0;
        shown(&view, true)
    };
    for phase in ["plan", "implement"] {
        let planned = json!({"phase": phase, "legal": ["approve"]});
        let html = of_job(planned.clone());
        assert!(html.contains(r#"name="plan_id" value="p1""#), "{phase}");
        let unknown = with(planned, json!({"plan": null}));
        assert!(!of_job(unknown).contains("/approve\""), "{phase}");
    }
}

#[test]
fn the_age_of_things_changes_no_etag_and_everything_else_does() {
    let cards_now = cards(vec![card(1)]);
    let page = |now: &str, cards: &[DeliveryCard]| {
        let frame = Frame {
            now: now.parse().unwrap(),
            ..frame(true)
        };
        let board_now = Board {
            cards,
            troubles: &[],
            is_held: false,
            older: None,
        };
        board(&frame, board_now).unwrap()
    };
    let (early, late) = (
        page("2026-03-01T12:00:00Z", &cards_now),
        page("2026-03-01T15:00:00Z", &cards_now),
    );
    assert_eq!(early.etag, late.etag);
    assert_ne!(early.html, late.html);
    assert!(late.html.contains(">3 h ago</time>"));
    let changed = cards(vec![with(card(1), json!({"run_status": "blocked"}))]);
    assert_ne!(page("2026-03-01T12:00:00Z", &changed).etag, early.etag);
}

#[test]
fn what_a_pause_holds_up_names_the_command_that_ends_it() {
    for (word, command) in [
        ("hold", Some("<code>gaffer resume</code>")),
        (
            "source_hold",
            Some("<code>gaffer source resume acme/shop</code>"),
        ),
        ("approval", None),
    ] {
        let waits = json!({"who": "person", "for": word, "sentence": "a person: it is paused"});
        let page = shown(&view(json!({"waits_for": waits})), true);
        let named = page.contains("<code>gaffer ");
        assert_eq!(named, command.is_some(), "{word}");
        assert!(
            command.is_none_or(|command| page.contains(command)),
            "{word}"
        );
    }
}

#[test]
fn what_could_not_be_read_is_told_beside_an_empty_board() {
    let status = status(json!({
        "paused_sources": ["acme/other"],
        "unread_issues": [{"repo": "acme/shop", "at": "2026-03-01T11:59:00Z", "sentence": "the issues of acme/shop could not be read: 502 <b>"}],
        "github": {"trouble": [{"code": "no_token", "sentence": "GitHub refuses the token."}], "budgets": [], "budgets_at": null},
    }));
    let troubles = troubles(&status);
    let page = board_of(&[], &troubles);
    for words in [
        "GitHub refuses the token.",
        "the issues of acme/shop could not be read: 502 &#60;b&#62;",
        "Jules cannot be reached",
        "is paused until `gaffer source resume acme/other`",
    ] {
        assert!(page.html.contains(words), "{words}");
    }
    assert_eq!(page.html.matches("notice failed").count(), 3);
}

#[test]
fn a_sprint_that_waits_for_the_end_of_a_pause_is_told() {
    let figures = domain::sprint::Figures::default();
    let status = |paused: &[&str]| {
        status(json!({
            "paused_sources": paused,
            "sprints": [{"repo": "acme/shop", "number": 3, "state": "working", "is_over": false, "ticks": 0, "weaves": 0, "figures": figures}],
        }))
    };
    for (paused, is_held) in [(["acme/shop"], true), (["acme/other"], false)] {
        let status = status(&paused);
        assert_eq!(status.held_sprints().count(), usize::from(is_held));
        let troubles = troubles(&status);
        let told = Board {
            cards: &[],
            troubles: &troubles,
            is_held,
            older: None,
        };
        let page = board(&frame(true), told).unwrap().html;
        let is_told = page.contains("<b>Sprint 3 of acme/shop:</b> waits for a person");
        let is_calm = page.contains("None waits for a person");
        assert_eq!((is_told, is_calm), (is_held, !is_held), "{page}");
    }
}

fn status(changes: Value) -> Status {
    let status = json!({
        "now": "2026-03-01T12:00:00Z", "paused_since": null, "observe_only": false, "jobs": {},
        "accounts": [{
            "name": "default", "health": "unreachable", "streak": 3, "since": "2026-03-01T11:00:00Z",
            "next_poll": "2026-03-01T12:01:00Z", "slots": {"used": 2, "of": 3}, "today": {"used": 1, "of": 15},
        }],
        "paused_sources": [], "queue": {"waiting": 4, "dead": 0},
        "github": {"trouble": [], "budgets": [{
            "owner": "token", "resource": "core", "limit": 5000, "remaining": 4321,
            "reset": "2026-03-01T12:30:00Z", "stay_away": null,
        }], "budgets_at": "2026-03-01T11:59:00Z"},
    });
    serde_json::from_value(with(status, changes)).unwrap()
}

fn source(result: ReadingResult) -> SourceState {
    let deliveries = domain::delivery::Rules {
        label: Some("gaffer".parse().unwrap()),
        ..Default::default()
    };
    let at = "2026-03-01T11:59:00Z".parse().unwrap();
    SourceState {
        source: Source {
            deliveries,
            ..Source::new("acme/shop".parse().unwrap(), "default".parse().unwrap())
        },
        intake: Intake {
            label: None,
            read_to: None,
            last: Some(LastReading { at, result }),
            due: None,
        },
        feed: WebhookHealth::Silent { last: at },
    }
}

#[test]
fn a_reading_that_failed_is_told_on_every_page_about_it() {
    let words = "502 <b>Bad Gateway</b>";
    let read = source(ReadingResult::Read {
        created: 2,
        closed: 1,
    });
    let failed = source(ReadingResult::Failed(words.to_owned()));
    let pages = |state: &SourceState| {
        let states = std::slice::from_ref(state);
        [
            sources(&frame(true), states).unwrap().html,
            workers(&frame(true), &status(json!({})), states)
                .unwrap()
                .html,
        ]
    };
    for html in pages(&failed) {
        assert!(html.contains("502 &#60;b&#62;Bad Gateway"), "{html}");
        assert!(html.contains("failed") && !html.contains("created"));
    }
    let [of_sources, of_workers] = pages(&read);
    assert!(of_sources.contains("read: 2 created, 1 closed") && of_workers.contains("read: 2"));
}

#[test]
fn accounts_tell_their_budgets() {
    let html = accounts(&frame(true), &status(json!({}))).unwrap().html;
    for words in [
        "Jules cannot be reached",
        "2 of 3",
        "1 of 15",
        "4321 of 5000 left",
        "in 30 min",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
}

#[test]
fn wakes_that_were_given_up_stand_out() {
    let wake = |about: Value, state: Value| {
        let event = json!({
            "id": "evt_0000000000000000000000000000005b", "job": about["job"], "aid": about["aid"], "attempt": 1,
            "account": "default", "audience": "agent", "observed_at": "2026-03-01T11:00:00Z",
            "last_activity": "2026-03-01T11:00:00Z", "status": "IN_PROGRESS", "what": {"question": {"text": "?"}},
        });
        json!({"agent": "zai", "repo": "acme/shop", "event": event, "state": state})
    };
    let all: Vec<Wake> = serde_json::from_value(json!([
        wake(
            json!({"job": "01k5nx0000000000000000000a", "aid": {}}),
            json!({"state": "dead", "at": "2026-03-01T11:30:00Z", "why": "<i>410</i>"}),
        ),
        wake(
            json!({"job": null, "aid": {"delivery": "0123456789ab"}}),
            json!({"state": "pending", "attempt": 2, "not_before": "2026-03-01T12:30:00Z"}),
        ),
    ]))
    .unwrap();
    let letters = [DeadLetter {
        id: "7".to_owned(),
        sent_at: "2026-03-01T11:00:00Z".parse().unwrap(),
        died_at: None,
        is_malformed: true,
        body: "<b>{}</b>".to_owned(),
    }];
    let told = Wakes {
        wakes: &all,
        is_cut: true,
        dead: 3,
        letters: &letters,
    };
    let html = wakes(&frame(true), told).unwrap().html;
    for words in [
        "✕ given up",
        "&#60;i&#62;410",
        "● waiting",
        "✕ 3 dead letters",
        "<code>&#60;b&#62;{}&#60;/b&#62;</code>",
        "href=\"/dashboard/deliveries/01k5nx0000000000000000000a\"",
        "href=\"/dashboard/deliveries/0123456789ab\"",
        "gaffer wake list",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
}

#[test]
fn a_phase_of_a_later_version_is_shown() {
    let cards = cards(vec![with(
        card(1),
        json!({"phase": "audit", "run_status": "musing"}),
    )]);
    let page = board_of(&cards, &[]);
    assert!(page.html.contains("Of a later version") && page.html.contains("Add a search box"));
}

#[test]
fn the_sign_in_labels_its_field_and_keeps_the_way() {
    let asked = SignIn {
        next: "/dashboard/deliveries/x?a=\"b",
        refusal: Some("the token was revoked"),
        is_from_elsewhere: true,
    };
    let frame = Frame {
        viewer: None,
        live: Live::No,
        ..frame(false)
    };
    let html = sign_in(&frame, asked).unwrap().html;
    assert!(html.contains("<label for=\"token\">") && html.contains("the token was revoked"));
    assert!(
        html.contains("value=\"/dashboard/deliveries/x?a=&#34;b\""),
        "{html}"
    );
    assert!(!html.contains("<script") && !html.contains("<nav"));
    assert!(
        entered(&frame)
            .unwrap()
            .html
            .contains("content=\"0; url=/dashboard\"")
    );
}

#[test]
fn no_template_switches_the_escaping_off() {
    for entry in std::fs::read_dir("templates").unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for odd in [
            "|safe", "| safe", "escape", "style=", "onclick", "<style", "<script>",
        ] {
            assert!(!text.contains(odd), "{odd}");
        }
    }
}

#[test]
fn the_field_of_a_retry_is_there_where_it_takes_a_reason_and_says_when_that_goes_to_jules() {
    let page = |phase: &str, takes_reason: bool| {
        let changes = json!({
            "phase": phase, "run_status": "failed", "legal": ["retry"],
            "retry_takes_reason": takes_reason,
        });
        shown(&view(changes), true)
    };
    for phase in ["implement", "review", "verify"] {
        assert!(page(phase, true).contains("is sent to Jules"), "{phase}");
    }
    // Behind used up rounds an agent's retry takes none, and that of a deployment never does.
    for phase in ["review", "deploy"] {
        assert!(!page(phase, false).contains("retry-reason"), "{phase}");
    }
}

#[test]
fn pipelines_show_each_step_and_no_text_as_markup() {
    let SourceState { mut source, .. } = source(ReadingResult::Skipped);
    source.pipeline = Some(Default::default());
    let run = json!({
        "id": "01k5nx0000000000000000000a", "repo": "acme/shop", "target": "main", "worker": "jules",
        "by": "ann", "ask": {}, "wait_minutes": 30,
        "rules": {"exchange": "human", "implement": "human", "worker": "jules"},
        "created_at": "2026-03-01T11:00:00Z", "updated_at": "2026-03-01T11:00:00Z",
        "steps": [
            {"kind": "bootstrap", "state": {"state": "done", "at": "2026-03-01T11:01:00Z"}},
            {"kind": "observers", "state": {"state": "failed", "at": "2026-03-01T11:02:00Z", "reason": "<b>no</b>"},
             "members": [{"role": "qa", "job": "01k5nx0000000000000000000b", "state": {"member": "failed", "reason": "late"}},
                {"role": "cov", "stream": "backend", "job": "01k5nx0000000000000000000c", "state": {"member": "refused", "reason": "no prompt"}}]},
        ],
    });
    let requirement = json!({
        "repo": "acme/shop", "title": "<i>Say more</i>", "label": "bugs", "attempt": 0,
        "reference": {"id": "abc123", "path": ".jules/exchange/requirements/abc123.yml"},
        "state": {"state": "ready"},
        "created_at": "2026-03-01T11:00:00Z", "updated_at": "2026-03-01T11:00:00Z",
    });
    let ready: Requirement = serde_json::from_value(requirement).unwrap();
    let state = serde_json::from_value(json!({
        "state": "removing", "by": "agent bot", "job": "01k5nx0000000000000000000d",
        "before": {"state": "ready"},
    }));
    let removing = Requirement {
        state: state.unwrap(),
        ..ready.clone()
    };
    let requirements = [ready, removing].map(|requirement| RequirementStatus {
        requirement,
        at_work: None,
    });
    let schedule = json!({"error": {"since": "2026-03-01T11:00:00Z", "reason": "no day <XYZ>"}});
    let states = PipelineStates {
        source,
        schedule: serde_json::from_value(schedule).unwrap(),
        runs: vec![serde_json::from_value(run).unwrap()],
        requirements: requirements.into(),
    };
    let html = pipelines(&frame(true), &[states]).unwrap().html;
    for words in [
        "exchange merged by people",
        "its schedule cannot be read</b> since",
        "no run begins by itself: no day &#60;XYZ&#62;",
        "bootstrap: <b>done</b>",
        "observers: <b class=\"bad\">✕ failed</b>",
        "qa, job <code>01k5nx0000000000000000000b</code>: failed: late",
        "backend/cov: failed: no prompt",
        "<code>gaffer pipeline start acme/shop --from observers</code> begins another run",
        "gaffer requirement start acme/shop abc123",
        "agent bot has its files removed by job 01k5nx0000000000000000000d",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    assert!(!html.contains("<b>no</b>"), "{html}");
    assert!(!html.contains("<i>Say"), "{html}");
    let none = pipelines(&frame(true), &[]).unwrap().html;
    assert!(none.contains("No source has a pipeline"));
}
