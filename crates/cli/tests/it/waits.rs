//! Who is waited for: `top`, `job why`, `status`, `job wait` and the tools of MCP say the same of a job in every state.

use std::collections::BTreeMap;

use domain::event::{Audience, ErrorCause};
use domain::ids::{AgentName, EventId, JobId, PullRef, SessionId};
use domain::job::{
    self, Announced, Announcement, Attention, EndReason, Ending, Job, JobPhase, Reply, SentAnswer,
    Turn, Watch,
};
use domain::merge::{Judgement, Reason};
use domain::policy::{Answerer, MergeMethod, Timing};
use domain::pull::{self, Alarm, Pull, PullPhase, PullVerdict};
use domain::session::{SessionState, SessionView};
use engine::backend::{Backend, IndexEntry};
use engine::jobs::{Order, job_list};
use engine::keys;
use engine::settings::{Agent, TrackedPull};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::jobs;
use crate::mcp::Speaker;
use crate::world::World;

/// A head of a pull request.
const SHA: &str = "1111111111111111111111111111111111111111";

/// What makes the state of a pull request.
type PullEdit = Box<dyn Fn(&mut Pull)>;

/// A state of a job: what makes it, and who is waited for with what.
struct Case {
    name: &'static str,
    job: Box<dyn Fn(&mut Job)>,
    pull: Option<PullEdit>,
    who: &'static str,
    what: &'static str,
}

fn of_job(
    name: &'static str,
    job: impl Fn(&mut Job) + 'static,
    (who, what): (&'static str, &'static str),
) -> Case {
    Case {
        name,
        job: Box::new(job),
        pull: None,
        who,
        what,
    }
}

/// The session is watched.
fn of_watch(
    name: &'static str,
    edit: impl Fn(&mut Watch) + 'static,
    expected: (&'static str, &'static str),
) -> Case {
    of_job(name, move |job| edit(watched(job)), expected)
}

/// The session rests and its pull request is open.
fn of_pull(
    name: &'static str,
    edit: impl Fn(&mut Pull) + 'static,
    expected: (&'static str, &'static str),
) -> Case {
    let rests = |watch: &mut Watch| {
        watch.state = SessionState::Completed;
        watch.announced.completed_at = Some(watch.since);
    };
    Case {
        pull: Some(Box::new(edit)),
        ..of_watch(name, rests, expected)
    }
}

fn reasons(reasons: Vec<Reason>) -> impl Fn(&mut Pull) {
    move |pull| {
        judged(
            pull,
            Judgement::Refuse {
                reasons: reasons.clone(),
            },
        )
    }
}

fn judged(pull: &mut Pull, judgement: Judgement) {
    pull.verdict = Some(PullVerdict {
        at: pull.since,
        sha: SHA.parse().unwrap(),
        judgement,
        checks: Vec::new(),
    });
}

fn watched(job: &mut Job) -> &mut Watch {
    let now = job.created_at;
    if !matches!(job.phase, JobPhase::Watching(_)) {
        let started = job::start(job, now).unwrap().aggregate;
        let view = SessionView {
            id: session(&job.id),
            title: "Tidy".to_owned(),
            state: SessionState::InProgress,
            url: None,
            created_at: Some(now),
            updated_at: None,
            repo: None,
            branch: None,
            pulls: Vec::new(),
            archived: false,
        };
        *job = job::created(&started, &view, now, &Timing::default()).aggregate;
    }
    let JobPhase::Watching(watch) = &mut job.phase else {
        panic!("it is watched")
    };
    watch
}

fn session(job: &JobId) -> SessionId {
    format!("s-{job}").parse().unwrap()
}

fn announcement(at: Timestamp, who: Option<Answerer>) -> Announcement {
    Announcement {
        key: "a1".to_owned(),
        event: EventId::from_name("asked"),
        at,
        without_text: false,
        shown: true,
        after: None,
        through: None,
        to: Some(Audience::Agent),
        later: Vec::new(),
        turn: who.map(|who| Turn {
            who,
            place: 0,
            until: None,
        }),
        suppressed: false,
        sent: Vec::new(),
    }
}

fn asking(who: Answerer) -> impl Fn(&mut Watch) {
    move |watch| {
        let since = watch.since;
        watch.state = SessionState::AwaitingUserFeedback;
        watch.announced.question = Some(announcement(since, Some(who)));
        watch.attention = Attention::Question {
            event: EventId::from_name("asked"),
            since,
            text: Some("Which?".to_owned()),
        };
    }
}

fn planning(who: Answerer) -> impl Fn(&mut Watch) {
    move |watch| {
        let since = watch.since;
        watch.state = SessionState::AwaitingPlanApproval;
        watch.announced.plan = Some(announcement(since, Some(who)));
        watch.attention = Attention::Plan {
            event: EventId::from_name("asked"),
            since,
            plan: None,
        };
    }
}

fn answered(watch: &mut Watch) {
    asking(Answerer::Human)(watch);
    let at = watch.since;
    let reply = Reply::Words {
        cause: "c".to_owned(),
        digest: "d".to_owned(),
        start: "Red.".to_owned(),
    };
    let told = watch.announced.question.as_mut().unwrap();
    told.sent.push(SentAnswer { at, reply });
}

/// A session that does nothing and was announced so often.
fn still(state: &str, times: u32) -> impl Fn(&mut Watch) + use<> {
    let state = state.to_owned();
    move |watch| {
        watch.state = SessionState::from(state.clone());
        watch.announced = Announced {
            stuck_at: (times > 0).then_some(watch.progress_at),
            stuck_announcements: times,
            ..Announced::default()
        };
    }
}

fn without_agent(edit: impl Fn(&mut Watch)) -> impl Fn(&mut Job) {
    move |job| {
        job.agent = None;
        edit(watched(job));
    }
}

fn cases() -> Vec<Case> {
    let mut cases = cases_of_sessions();
    cases.extend(cases_of_rest());
    cases.extend(cases_of_pulls());
    cases
}

fn cases_of_sessions() -> Vec<Case> {
    let created = |job: &mut Job| *job = job::start(job, job.created_at).unwrap().aggregate;
    let over = |job: &mut Job| {
        job.phase = JobPhase::Ended(Ending {
            at: job.created_at,
            session: None,
            pull: None,
            how: EndReason::Completed,
            plan_unreviewed: false,
        });
    };
    vec![
        of_job("queued", |_| {}, ("gaffer", "slot")),
        of_job("starting", created, ("jules", "session")),
        of_job("ended", over, ("nobody", "ended")),
        of_watch("working", |_| {}, ("jules", "work")),
        of_watch(
            "agent asked",
            asking(Answerer::Agent),
            ("agent", "question"),
        ),
        of_job(
            "no agent",
            without_agent(asking(Answerer::Agent)),
            ("person", "question"),
        ),
        of_watch(
            "person asked",
            asking(Answerer::Human),
            ("person", "question"),
        ),
        of_watch("nudged", asking(Answerer::Nudge), ("jules", "nudged")),
        of_watch("answered", answered, ("jules", "answered")),
        of_watch(
            "answer seen",
            |watch| {
                answered(watch);
                watch.attention = Attention::Answered { since: watch.since };
            },
            ("jules", "answered"),
        ),
    ]
}

fn cases_of_rest() -> Vec<Case> {
    vec![
        of_watch("plan", planning(Answerer::Human), ("person", "plan")),
        of_watch(
            "plan for agent",
            planning(Answerer::Agent),
            ("agent", "plan"),
        ),
        of_watch(
            "words expected",
            |watch| {
                watch.attention = Attention::Expecting { since: watch.since };
            },
            ("jules", "words"),
        ),
        of_watch("silent", still("IN_PROGRESS", 1), ("agent", "silence")),
        of_watch(
            "silent for long",
            still("IN_PROGRESS", 4),
            ("person", "silence"),
        ),
        of_watch("just paused", still("PAUSED", 0), ("jules", "work")),
        of_watch("paused", still("PAUSED", 1), ("agent", "paused")),
        of_watch(
            "unknown",
            still("AWAITING_USER_INPUT", 1),
            ("agent", "unknown_state"),
        ),
        of_watch("done", still("COMPLETED", 0), ("nobody", "result")),
        of_watch(
            "unread pull",
            |watch| {
                watch.state = SessionState::Completed;
                watch.pull = Some(PullRef {
                    number: 999,
                    ..pull_of("acme/shop#1")
                });
            },
            ("gaffer", "reading"),
        ),
    ]
}

fn cases_of_pulls() -> Vec<Case> {
    let failed = || Reason::ChecksFailed {
        names: vec!["build".to_owned()],
        others_pending: false,
    };
    let pending = Reason::ChecksPending { names: Vec::new() };
    let base = Reason::WrongBase {
        is: "dev".parse().unwrap(),
        wanted: "main".parse().unwrap(),
    };
    let told_of_checks = move |pull: &mut Pull| {
        reasons(vec![failed()])(pull);
        pull.repairs.ci_sent.push(SHA.parse().unwrap());
    };
    let given_up = move |pull: &mut Pull| {
        told_of_checks(pull);
        pull.alarms.push(Alarm {
            cause: ErrorCause::CiFailed,
            sha: SHA.parse().unwrap(),
        });
    };
    let green = |pull: &mut Pull| {
        judged(
            pull,
            Judgement::Merge {
                sha: SHA.parse().unwrap(),
                method: MergeMethod::Squash,
            },
        );
    };
    let closed = |pull: &mut Pull| {
        pull.phase = PullPhase::Closed {
            sha: SHA.parse().unwrap(),
            since: pull.since,
        };
    };
    let approval = Reason::NeedsApproval;
    vec![
        of_pull("unjudged", |_| {}, ("gaffer", "reading")),
        of_pull(
            "to be approved",
            reasons(vec![approval.clone()]),
            ("person", "approval"),
        ),
        of_pull(
            "checks run",
            reasons(vec![approval.clone(), pending]),
            ("github", "checks"),
        ),
        of_pull("failed", told_of_checks, ("jules", "repair")),
        of_pull("failed for good", given_up, ("agent", "blocked")),
        of_pull(
            "unreviewed",
            reasons(vec![approval, Reason::ChangesRequested]),
            ("person", "review"),
        ),
        of_pull("wrong base", reasons(vec![base]), ("agent", "blocked")),
        of_pull("green", green, ("gaffer", "merge")),
        of_pull("closed", closed, ("person", "reopening")),
    ]
}

fn pull_of(text: &str) -> PullRef {
    text.parse().unwrap()
}

/// Writes a job in this state, and answers its id.
async fn write(backend: &Backend, number: u64, case: &Case) -> JobId {
    let order = Order {
        repo: "acme/shop".parse().unwrap(),
        branch: Some("main".parse().unwrap()),
        prompt: case.name.to_owned(),
        title: None,
        agent: Some("zai".parse().unwrap()),
        resume: None,
        priority: None,
        terms: domain::policy::Terms::default(),
    };
    let id = backend.create_job(order).await.unwrap().id;
    let found = backend.store.job(&id).await.unwrap().unwrap();
    let mut job = found.value;
    (case.job)(&mut job);
    let mut unit = backend.unit();
    if let Some(edit) = &case.pull {
        let reference = pull_of(&format!("acme/shop#{number}"));
        watched(&mut job).pull = Some(reference.clone());
        let mut pull = pull::track(
            reference.clone(),
            id.clone(),
            Some(session(&id)),
            job.created_at,
        );
        edit(&mut pull);
        let tracked = TrackedPull {
            pull,
            read_at: Some(job.created_at),
            unread: None,
        };
        let open = keys::listed(keys::OPEN_PULLS, keys::pull_pk(&reference));
        let place = IndexEntry {
            list: open.filter(|_| !tracked.pull.is_settled()),
            ..IndexEntry::default()
        };
        unit.put(keys::pull(&reference), &tracked, None, place);
    }
    let place = IndexEntry {
        list: job_list(&job),
        ..IndexEntry::default()
    };
    unit.put(keys::job(&id), &job, Some(found.version), place);
    backend.commit(unit).await.unwrap();
    id
}

async fn agent(backend: &Backend) {
    let name: AgentName = "zai".parse().unwrap();
    let agent = Agent {
        url: Some("https://zai.example.com/".parse().unwrap()),
        ..Agent::new(name.clone())
    };
    jobs::put(backend, keys::agent(&name), &agent).await;
}

/// A world with a job in each state.
fn world() -> (World, Vec<(Case, String)>) {
    let world = jobs::world();
    let backend = jobs::backend(&world);
    let runtime = crate::world::runtime();
    let written = runtime.block_on(async {
        agent(&backend).await;
        let mut written = Vec::new();
        for (number, case) in (1..).zip(cases()) {
            let id = write(&backend, number, &case).await.to_string();
            written.push((case, id));
        }
        written
    });
    (world, written)
}

/// What `job wait --until waiting` does: whether it ends at once, and whom it names.
fn waited(world: &World, id: &str) -> (bool, String) {
    let ran = world.run(&[
        "job", "wait", id, "--until", "waiting", "--within", "1s", "--json",
    ]);
    if ran.code == 0 {
        let job = ran.json()["job"].clone();
        return (
            true,
            job["waits_for"]["sentence"].as_str().unwrap().to_owned(),
        );
    }
    (false, ran.failure().error)
}

#[test]
fn every_surface_says_the_same_of_who_is_waited_for_in_every_state() {
    let (world, written) = world();
    let top = world.json(&["top", "--once"]);
    let listed: BTreeMap<&str, &Value> = top["waiting"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (job["job_id"].as_str().unwrap(), &job["waits_for"]))
        .collect();
    let mut speaker = Speaker::greeted_with(&world, &["--toolset", "insight"]);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (case, id) in &written {
        let name = case.name;
        let why = world.json(&["job", "why", id]);
        let waits = &why["waits_for"];
        assert_eq!(
            (&waits["who"], &waits["for"]),
            (&json!(case.who), &json!(case.what)),
            "{name}"
        );
        let sentence = waits["sentence"].as_str().unwrap();
        let is_decision = matches!(case.who, "person" | "agent");
        let told = listed.get(id.as_str());
        assert_eq!(told, is_decision.then_some(&waits), "{name}");
        let said = world.run(&["job", "why", id]).ok();
        let as_read = why["as_read"]["sentence"].as_str();
        let is_told = as_read.is_none_or(|as_read| {
            as_read.starts_with("As read on GitHub ") && said.says("As read on GitHub ")
        });
        let is_read = as_read.is_some() || name != "green";
        assert!(is_told && is_read, "{name}: {said:?}");
        for tool in ["jules_get_job", "jules_check", "jules_why"] {
            let answer = speaker.call(tool, json!({ "job_id": id }));
            assert_eq!(answer["waits_for"], json!(sentence), "{name}: {tool}");
        }
        let (ended, said) = waited(&world, id);
        let is_over = case.name == "ended";
        assert_eq!(ended, is_decision || is_over, "{name}: {said}");
        assert!(said.contains(sentence), "{name}: {said}");
        let is_watched = !matches!(name, "queued" | "starting" | "ended");
        *counts.entry(case.who.to_owned()).or_default() += u64::from(is_watched);
    }
    let _up = world.worked_over();
    assert_eq!(world.json(&["status"])["waits_for"], json!(counts));
}
