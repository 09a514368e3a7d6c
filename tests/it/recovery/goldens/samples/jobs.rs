//! Samples of jobs and of their records.

use domain::conversation::{Message, Role};
use domain::delivery::IssueRef;
use domain::event::Audience;
use domain::ids::ActivityId;
use domain::job::{
    ActivityMark, AgentMessage, Announced, Announcement, AnnouncementCounters, Attention,
    EndReason, Ending, Job, JobPhase, Nudged, Order, OrderRecord, Origin, PendingPlan,
    RefusedApproval, RepeatedAnnouncement, Reply, Retry, SentAnswer, SessionLog, Turn, Watch,
};
use domain::notes::Notes;
use domain::policy::{Answerer, Automation, Terms};
use domain::session::SessionState;
use engine::jobs::IdempotentOrder;
use engine::jobs::adoption::Adoption;
use engine::keys;
use engine::readings::{ReadCounter, ReadIssue, ReadMessages, SessionCheck};
use engine::settings::{PatchPage, ReadArtifacts};

use super::{AT, Samples, event_id, job_id, plan, pull_ref, session_id, sha};

pub(super) fn put(samples: &mut Samples) {
    let mut phases = vec![
        JobPhase::Queued {
            since: AT,
            not_before: AT,
            refusals: 1,
        },
        JobPhase::Creating {
            since: AT,
            refusals: 0,
        },
    ];
    let watch = |watch| JobPhase::Watching(Box::new(watch));
    phases.extend(attentions().into_iter().map(|attention| {
        watch(Watch {
            attention,
            ..watched(SessionState::InProgress)
        })
    }));
    phases.extend(STATES.map(|name| watch(watched(SessionState::from(name.to_owned())))));
    for who in [Answerer::Agent, Answerer::Nudge, Answerer::Human] {
        phases.push(watch(full(who)));
    }
    phases.extend(endings().into_iter().map(JobPhase::Ended));
    for phase in phases {
        samples.put(keys::job(&job_id()), &job(Origin::Created, phase));
    }
    let adopted = job(Origin::Adopted, watch(watched(SessionState::InProgress)));
    samples.put(keys::job(&job_id()), &adopted);
    put_what_belongs_to_one(samples);
}

fn put_what_belongs_to_one(samples: &mut Samples) {
    samples.put(keys::job_listed(&job_id()), &job_id());
    samples.put(keys::session(&session_id()), &job_id());
    let carried = IdempotentOrder {
        order: "fedcba9876543210".to_owned(),
        job: job_id(),
    };
    samples.put(keys::once("0123456789abcdef"), &carried);
    let wanted = Adoption {
        session: session_id(),
        repo: pull_ref().repo,
        agent: None,
        take_over: false,
        delivery: None,
        by: None,
        asked_at: AT,
        refused: None,
    };
    let refused = Adoption {
        agent: Some("helper".parse().expect("a name")),
        take_over: true,
        delivery: None,
        refused: Some(("foreign".to_owned(), "it is somebody else's".to_owned())),
        ..wanted.clone()
    };
    for adoption in [wanted, refused] {
        samples.put(keys::adoption(&job_id()), &adoption);
    }
    let artifacts = ReadArtifacts {
        read_at: AT,
        pull_urls: vec!["https://github.com/acme/shop/pull/7".to_owned()],
        patch: Some("diff --git a/a b/a\n".to_owned()),
        patch_cut: true,
        patch_bytes: 26,
        further: 1,
        base_commit: Some(sha('b').to_string()),
        suggested_message: Some("Add a search box".to_owned()),
        failure: Some("429".to_owned()),
    };
    samples.put(keys::artifacts(&job_id()), &artifacts);
    let piece = PatchPage {
        read_at: AT,
        patch: "+more\n".to_owned(),
    };
    samples.put(keys::artifacts_page(&job_id(), 1), &piece);
    readings(samples);
}

/// Readings on request, and notes.
fn readings(samples: &mut Samples) {
    let message = |id: &str, role| Message {
        id: id.parse().expect("an id"),
        role,
        at: AT,
        text: "Which database?".to_owned(),
    };
    let page = ReadMessages {
        read_at: AT,
        session: Some(session_id()),
        messages: vec![message("a1", Role::Assistant), message("a2", Role::User)],
        next: format!("m1.{}.1771000000000000000.a2", session_id()),
        more: true,
        failure: Some("429".to_owned()),
    };
    samples.put(keys::messages(&job_id(), "0123456789abcdef"), &page);
    let looked = SessionCheck {
        read_at: AT,
        failure: Some("429".to_owned()),
    };
    samples.put(keys::session_check(&job_id()), &looked);
    let readings = ReadCounter {
        since: AT,
        times: 3,
    };
    samples.put(keys::readings(&job_id()), &readings);
    let pull = pull_ref();
    let issue = IssueRef {
        repo: pull.repo,
        number: 12,
    };
    let read = ReadIssue {
        read_at: AT,
        is_open: true,
        is_pull: false,
        summary: "GitHub Issue #12: Add search".to_owned(),
        description: Some("A box.".to_owned()),
        acceptance_criteria: vec!["finds by name".to_owned()],
        failure: Some("GitHub did not answer".to_owned()),
    };
    samples.put(keys::issue_read(&issue), &read);
    let noted = serde_json::json!({ "task": "login", "tries": 1 });
    let kept = noted.as_object().cloned().unwrap_or_default();
    samples.put(keys::notes(&job_id()), &Notes { kept });
}

/// The states in Jules's spelling, and one that no version knows.
const STATES: [&str; 10] = [
    "",
    "QUEUED",
    "PLANNING",
    "AWAITING_PLAN_APPROVAL",
    "AWAITING_USER_FEEDBACK",
    "IN_PROGRESS",
    "PAUSED",
    "FAILED",
    "COMPLETED",
    "DREAMING",
];

/// An approval that is tried again.
pub(super) fn approval_refused() -> RefusedApproval {
    RefusedApproval {
        plan: "64c79f68daa204a9a10aefc6cd33f5a9".parse().expect("an id"),
        why: "it is not the time".to_owned(),
        at: AT,
        again_at: Some(AT),
    }
}

pub(super) fn job(origin: Origin, phase: JobPhase) -> Job {
    Job {
        part: None,
        delivery: Some("0123456789ab".parse().expect("an id")),
        collected: false,
        id: job_id(),
        installation: "home".parse().expect("an id"),
        account: "default".parse().expect("a name"),
        repo: pull_ref().repo,
        branch: "main".parse().expect("a branch"),
        title: "Add a search box".to_owned(),
        prompt: "Add a search box to the shop".to_owned(),
        agent: Some("helper".parse().expect("a name")),
        resume: Some("7f3a2b".parse().expect("a resume id")),
        priority: 7.try_into().expect("a priority"),
        terms: Terms {
            require_plan_approval: Some(true),
            automation: Automation::AutomationModeUnspecified,
        },
        message_sent: Some(2),
        message_refused: Some(2),
        approval_refused: Some(approval_refused()),
        order_log: vec![OrderRecord {
            order: Order::Say,
            by: "token zai".to_owned(),
            at: AT,
        }],
        origin,
        created_at: AT,
        attempt: 2,
        earlier: vec!["10236777772164977101".parse().expect("a session")],
        again: Some(Retry {
            ended: "It failed: the machine ran out of disk.".to_owned(),
            reason: Some("Use the large machine.".to_owned()),
        }),
        nudges: 2,
        phase,
    }
}

fn watched(state: SessionState) -> Watch {
    Watch {
        session: session_id(),
        url: None,
        since: AT,
        missing_since: None,
        state,
        state_since: AT,
        progress_at: AT,
        log: SessionLog::default(),
        attention: Attention::None,
        announced: Announced::default(),
        pull: None,
        unconfirmed_since: None,
        announcements: AnnouncementCounters::default(),
        pushed_at: None,
    }
}

fn attentions() -> Vec<Attention> {
    let (event, since) = (event_id(1), AT);
    vec![
        Attention::None,
        Attention::Expecting { since },
        Attention::Question {
            event: event.clone(),
            since,
            text: Some("Which database?".to_owned()),
        },
        Attention::Plan {
            event,
            since,
            plan: Some(plan()),
        },
        Attention::Answered { since },
    ]
}

/// An announcement with every field set.
fn announcement(who: Answerer) -> Announcement {
    Announcement {
        key: "9552c5ca7d58bf9fc3cef382e2605d17".to_owned(),
        event: event_id(1),
        at: AT,
        without_text: false,
        shown: true,
        after: Some(AT),
        through: Some(AT),
        to: Some(Audience::Agent),
        later: vec![RepeatedAnnouncement {
            event: event_id(3),
            to: Audience::Human,
            at: AT,
        }],
        turn: Some(Turn {
            who,
            place: 2,
            until: Some(AT),
        }),
        suppressed: true,
        sent: vec![
            SentAnswer {
                at: AT,
                reply: Reply::Words {
                    cause: "api:01k".to_owned(),
                    digest: "9552c5ca7d58bf9fc3cef382e2605d17".to_owned(),
                    start: "Red.".to_owned(),
                },
            },
            SentAnswer {
                at: AT,
                reply: Reply::Approval { plan: plan().id },
            },
        ],
    }
}

/// A session with every field set.
fn full(who: Answerer) -> Watch {
    let told = announcement(who);
    Watch {
        url: Some("https://jules.google.com/session/11430824456154075364".to_owned()),
        missing_since: Some(AT),
        log: talk(),
        announced: Announced {
            question: Some(told.clone()),
            plan: Some(told),
            unreviewed_plan: Some(plan().id),
            approved_plan: Some(plan().id),
            completed_event: Some(event_id(2)),
            completed_at: Some(AT),
            completed: Some(mark()),
            completed_without_text: true,
            completed_pull: Some(pull_ref()),
            completed_after: Some(AT),
            stuck_at: Some(AT),
            stuck_announcements: 2,
            stuck_sent: vec![SentAnswer {
                at: AT,
                reply: Reply::Approval { plan: plan().id },
            }],
            resumed_at: Some(AT),
            nudged: Some(Nudged {
                event: event_id(1),
                through: Some(AT),
            }),
            reminded: Some(AT),
        },
        announcements: AnnouncementCounters {
            questions: 1,
            plans: 2,
            completions: 3,
            silences: 4,
            failed_orders: 5,
        },
        pull: Some(pull_ref()),
        unconfirmed_since: Some(AT),
        pushed_at: Some(AT),
        ..watched(SessionState::Completed)
    }
}

fn talk() -> SessionLog {
    SessionLog {
        through: Some(AT),
        recent: vec![mark()],
        agent: Some(AgentMessage {
            id: activity(),
            at: AT,
            text: "Which database?".to_owned(),
        }),
        user_at: Some(AT),
        plan: Some(shown_plan()),
        approved_plan: Some(shown_plan()),
        plan_approved_at: Some(AT),
        completed: Some(mark()),
        failed: Some("no space left".to_owned()),
        failed_at: Some(AT),
        last_words: Some("said it is done".to_owned()),
        worked_at: Some(AT),
    }
}

fn shown_plan() -> PendingPlan {
    PendingPlan {
        at: AT,
        plan: plan(),
        cut: true,
        worked_on: true,
    }
}

fn activity() -> ActivityId {
    let id = "d53b0024f1e3315778fd4d9cdae5deae";
    id.parse().expect("an activity")
}

fn mark() -> ActivityMark {
    ActivityMark {
        id: activity(),
        at: AT,
    }
}

fn endings() -> Vec<Ending> {
    let reason = || "it would not".to_owned();
    let hows = [
        EndReason::Merged { sha: sha('a') },
        EndReason::Woven { into: pull_ref() },
        EndReason::PullClosed,
        EndReason::Completed,
        EndReason::Failed { reason: reason() },
        EndReason::Lost,
        EndReason::Refused { reason: reason() },
        EndReason::Left,
        EndReason::Cancelled {
            by: "a person".to_owned(),
        },
    ];
    let ending = |how| Ending {
        at: AT,
        session: Some(session_id()),
        pull: Some(pull_ref()),
        plan_unreviewed: how == EndReason::Completed,
        how,
    };
    hows.map(ending).to_vec()
}
