//! One record of every kind and every variant, with ids and times of its own choosing, as the present version stores it.

mod deliveries;
mod jobs;
mod mail;
mod pipelines;
mod pulls;
mod settings;
mod sprints;

use domain::effect::{Action, Effect, EffectState, JulesAction, PullAction};
use domain::event::{
    Audience, DeliveryAsk, ErrorCause, Event, EventContext, FailedCheck, News, Occurrence,
};
use domain::facts::Base;
use domain::failure::{Failure, FailureClass, Hindrance};
use domain::ids::{CommitSha, EventId, JobId, PullRef, RepoId, SessionId};
use domain::job::{JobPhase, Origin};
use domain::policy::MergeMethod;
use domain::pull::{DeliveryHint, PullPhase};
use domain::redelivery::WebhookLog;
use domain::session::{Plan, PlanStep};
use domain::wake::{Channel, DeliveryOutcome, Wake};
use domain::web_page::WebPage;
use engine::keys;
use engine::ports::Key;
use engine::work::{WebhookEvent, Work};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use tests::records::{Kind, kind_of};

/// When everything in the samples happened.
const AT: Timestamp = Timestamp::constant(1_790_000_000, 250_000_000);

/// GitHub's number of the repository.
const REPO_ID: RepoId = RepoId(1_296_269);

/// Why files are not read now.
fn hindrance() -> Hindrance {
    Hindrance {
        why: "GitHub answered 503".to_owned(),
        odd_since: Some(AT),
    }
}

fn queued() -> JobPhase {
    JobPhase::Queued {
        since: AT,
        not_before: AT,
        refusals: 0,
    }
}

/// The samples, by kind.
#[derive(Default)]
pub(super) struct Samples {
    all: Vec<(Kind, Value)>,
}

impl Samples {
    /// Every sample, except evidence of merges: only the engine can make it, and a story does.
    pub(super) fn all() -> Self {
        let mut samples = Self::default();
        settings::put(&mut samples);
        jobs::put(&mut samples);
        pulls::put(&mut samples);
        deliveries::put(&mut samples);
        mail::put(&mut samples);
        let [source, ..] = settings::sources();
        let job = jobs::job(Origin::Created, queued());
        let pull = pulls::bare(PullPhase::Open);
        pipelines::put(&mut samples, &source, (&job, &pull));
        sprints::put(&mut samples, &job);
        samples.put_effects();
        samples.put_events();
        samples.put_work();
        samples
    }

    /// The samples of one kind, in their order.
    pub(super) fn of_kind(&self, kind: Kind) -> Vec<&Value> {
        let mine = self.all.iter().filter(|(it, _)| *it == kind);
        mine.map(|(_, value)| value).collect()
    }

    fn put<T: Serialize>(&mut self, key: Key, value: &T) {
        let sample = json!({ "pk": key.pk, "sk": key.sk, "it": value });
        self.all.push((kind_of(&key), sample));
    }

    fn put_effects(&mut self) {
        for action in actions() {
            let effect = Effect::new(action, AT);
            self.put(keys::effect("JOB#x", &effect.id), &effect);
        }
        let effect = |n: u32| {
            Effect::new(
                Action::Jules(JulesAction::CreateSession {
                    job: job_id(),
                    attempt: n,
                }),
                AT,
            )
        };
        let started = effect(2).start(AT).expect("a start");
        let cut = Failure::new(FailureClass::Network, "creating a session: reset");
        let states = [
            started.clone(),
            started.failed(&cut, AT),
            effect(3).done(AT),
        ];
        for effect in states {
            self.put(keys::effect("JOB#x", &effect.id), &effect);
        }
        for (n, class) in (10_u32..).zip(CLASSES) {
            let failure = Failure::new(class, "creating a session: refused")
                .after(Some(SignedDuration::from_secs(30)));
            let state = EffectState::Failed {
                at: AT,
                attempt: n,
                failure,
            };
            let effect = Effect { state, ..effect(n) };
            self.put(keys::effect("JOB#x", &effect.id), &effect);
        }
    }

    fn put_events(&mut self) {
        let causes = causes().into_iter().map(|cause| Occurrence::Error {
            cause,
            reason: "something went wrong".to_owned(),
        });
        for (n, what) in (1..).zip(occurrences().into_iter().chain(causes)) {
            let event = event(n, what);
            self.put(keys::event(&job_id(), &event.id), &event);
        }
        let helped = Event {
            seq: Some(3),
            aid: EventContext {
                session: WebPage::from_service(
                    "https://jules.google.com/session/11430824456154075364",
                ),
                pull: Some(pull_ref()),
                check: Some(FailedCheck {
                    name: "build".to_owned(),
                    output: "error: no such file".to_owned(),
                    page: WebPage::from_service("https://github.com/Acme/Shop/runs/7"),
                }),
                whole: Some(format!(
                    "/jobs/{}/messages?cursor=w1.7.1771000000000000000",
                    job_id()
                )),
                delivery: Some("0123456789ab".parse().expect("an id")),
            },
            ..event(89, occurrences().swap_remove(0))
        };
        self.put(keys::event(&job_id(), &helped.id), &helped);
        self.put(keys::event_count(&job_id()), &3u64);
        let silent = Event {
            seq: Some(4),
            audience: Audience::Nobody,
            ..event(90, occurrences().swap_remove(0))
        };
        self.put(keys::event(&job_id(), &silent.id), &silent);
        let account = Event {
            job: None,
            attempt: 0,
            last_activity: None,
            audience: Audience::Human,
            status: String::new(),
            ..event(90, occurrences().swap_remove(0))
        };
        self.put(keys::account_event(&account.account, &account.id), &account);
        let agent = || "helper".parse().expect("a name");
        let wake = |n| {
            let event = event(n, occurrences().swap_remove(1));
            Wake::new(event, agent(), Some("acme/shop".to_owned()), AT)
        };
        let sending = |n| wake(n).begin(AT).expect("a try");
        let wakes = [
            wake(91),
            sending(92),
            sending(93).tried(&DeliveryOutcome::Accepted, AT),
            sending(94).tried(&DeliveryOutcome::Acknowledged, AT),
            sending(95).tried(&DeliveryOutcome::Gone, AT),
            wake(96).by(&[Channel::Http, Channel::Inbox]),
            wake(97).by(&[Channel::Inbox]),
            Wake {
                resume: Some("7f3a2b".parse().expect("a resume id")),
                answered: true,
                ..wake(98)
            },
        ];
        for wake in wakes {
            self.put(keys::wake(&wake.agent, &wake.event.id), &wake);
        }
    }

    fn put_work(&mut self) {
        let all = works().into_iter().chain(pipelines::works());
        let all = all.chain(sprints::works());
        for (n, work) in (1..).zip(all) {
            let id = ulid::Ulid::from_parts(0, n);
            self.put(keys::out("JOB#x", &id), &work);
        }
    }
}

const CLASSES: [FailureClass; 10] = [
    FailureClass::Unauthorized,
    FailureClass::Forbidden,
    FailureClass::NotFound,
    FailureClass::Precondition,
    FailureClass::Conflict,
    FailureClass::Invalid,
    FailureClass::Throttled,
    FailureClass::Unavailable,
    FailureClass::Network,
    FailureClass::Garbled,
];

/// Every cause, and one that only a newer version knows.
fn causes() -> Vec<ErrorCause> {
    let newer = ErrorCause::from("of_a_newer_version".to_owned());
    ErrorCause::KNOWN.into_iter().chain([newer]).collect()
}

fn job_id() -> JobId {
    "01k5nx0000000000000000000a".parse().expect("a job")
}

fn session_id() -> SessionId {
    "11430824456154075364".parse().expect("a session")
}

fn pull_ref() -> PullRef {
    "Acme/Shop#7".parse().expect("a pull request")
}

fn sha(digit: char) -> CommitSha {
    let text: String = std::iter::repeat_n(digit, 40).collect();
    text.parse().expect("a SHA")
}

fn base() -> Base {
    Base {
        branch: "main".parse().expect("a branch"),
        sha: sha('b'),
    }
}

fn plan() -> Plan {
    Plan {
        id: "64c79f68daa204a9a10aefc6cd33f5a9".parse().expect("a plan"),
        steps: vec![PlanStep {
            title: "Do it".to_owned(),
            description: String::new(),
        }],
    }
}

fn event_id(n: u32) -> EventId {
    format!("evt_{n:032x}").parse().expect("an event")
}

fn event(n: u32, what: Occurrence) -> Event {
    Event {
        id: event_id(n),
        job: Some(job_id()),
        account: "default".parse().expect("a name"),
        attempt: 1,
        observed_at: AT,
        status: "IN_PROGRESS".to_owned(),
        last_activity: Some(AT),
        what,
        audience: Audience::Agent,
        seq: None,
        aid: EventContext::default(),
    }
}

fn occurrences() -> Vec<Occurrence> {
    vec![
        Occurrence::Question { text: None },
        Occurrence::Question {
            text: Some("Which database?".to_owned()),
        },
        Occurrence::PlanApproval { plan: None },
        Occurrence::PlanApproval { plan: Some(plan()) },
        Occurrence::UnreviewedPlan { plan: plan() },
        Occurrence::UnexpectedPush {
            sha: sha('a'),
            paths: vec!["src/x.rs".to_owned()],
        },
        Occurrence::Completed {
            pulls: vec![pull_ref()],
        },
        Occurrence::Stuck { last_words: None },
        Occurrence::Stuck {
            last_words: Some("Working".to_owned()),
        },
        Occurrence::Delivery {
            ask: DeliveryAsk::Review {
                pull: pull_ref(),
                head: sha('a'),
            },
            summary: "Add search".to_owned(),
        },
        Occurrence::News(News::Mail {
            repo: "acme/shop".parse().expect("a repository"),
            from: "curator".parse().expect("a persona"),
            message: "42".parse().expect("a number"),
            words: "Which database?".to_owned(),
        }),
        Occurrence::News(News::Sprint {
            repo: "acme/shop".parse().expect("a repository"),
            sprint: sprints::number(),
            words: "Sprint 50 is done.".to_owned(),
        }),
        Occurrence::News(News::Test),
    ]
}

fn actions() -> Vec<Action> {
    let (session, pull) = (session_id(), pull_ref());
    let mut actions = vec![
        Action::Jules(JulesAction::CreateSession {
            job: job_id(),
            attempt: 1,
        }),
        Action::Jules(JulesAction::Say {
            session: session.clone(),
            text: "PostgreSQL".to_owned(),
            cause: "answer".to_owned(),
        }),
        Action::Jules(JulesAction::ApprovePlan {
            session: session.clone(),
            plan: plan().id,
        }),
        Action::Jules(JulesAction::Archive { session }),
        Action::Pull(PullAction::MarkReady {
            pull: pull.clone(),
            node_id: "PR_kwDO0000000000000007".to_owned(),
            sha: sha('a'),
        }),
        Action::Pull(PullAction::UpdateBranch {
            pull: pull.clone(),
            sha: sha('a'),
        }),
        Action::Pull(PullAction::Comment {
            pull: pull.clone(),
            text: "Needs somebody".to_owned(),
            cause: "blocked".to_owned(),
        }),
        Action::Pull(PullAction::Label {
            pull: pull.clone(),
            label: "needs-human".to_owned(),
            weave: None,
        }),
        Action::Pull(PullAction::ClosePull { pull: pull_ref() }),
        Action::Pull(PullAction::DeleteBranch {
            repo: pull.repo.clone(),
            branch: "add-a-search-box".parse().expect("a branch"),
            sha: sha('a'),
        }),
    ];
    let methods = [
        (MergeMethod::Merge, 'c'),
        (MergeMethod::Squash, 'd'),
        (MergeMethod::Rebase, 'e'),
    ];
    actions.extend(methods.map(|(method, digit)| {
        Action::Pull(PullAction::Merge {
            pull: pull.clone(),
            sha: sha(digit),
            base: base(),
            method,
            title: Some("Add a search box".to_owned()),
        })
    }));
    actions
}

fn works() -> Vec<Work> {
    let (repo, repo_id) = (pull_ref().repo, REPO_ID);
    let pull = |job, received_at| Work::Pull {
        pull: pull_ref(),
        job,
        received_at,
    };
    let hooked = |news| {
        Work::Webhook(WebhookEvent {
            repo: repo.clone(),
            repo_id,
            number: Some(7),
            sha: Some(sha('a')),
            received_at: AT,
            news,
        })
    };
    let news = [
        DeliveryHint::Changed,
        DeliveryHint::CheckBegan,
        DeliveryHint::CheckEnded,
        DeliveryHint::UnderWay,
        DeliveryHint::Pushed,
        DeliveryHint::SuiteEnded,
    ];
    let mut works = vec![
        Work::Job { id: job_id() },
        pull(None, None),
        pull(Some(job_id()), Some(AT)),
        Work::Commit {
            repo: repo.clone(),
            sha: sha('a'),
            received_at: AT,
        },
        Work::Wake {
            agent: "helper".parse().expect("a name"),
            event: event_id(1),
        },
        Work::Artifacts { id: job_id() },
        Work::Messages {
            id: job_id(),
            after: "m1".to_owned(),
        },
        Work::Look {
            id: job_id(),
            pushed_at: None,
        },
        Work::Look {
            id: job_id(),
            pushed_at: Some(AT),
        },
        Work::Adopt { id: job_id() },
        Work::Watch {
            account: "default".parse().expect("a name"),
        },
        Work::Slots {
            account: "default".parse().expect("a name"),
        },
        Work::Redelivery { log: None },
        Work::Redelivery {
            log: Some(WebhookLog::App),
        },
        Work::Redelivery {
            log: Some(WebhookLog::Repo(pull_ref().repo)),
        },
    ];
    works.extend(news.map(hooked));
    works.extend(deliveries::works());
    works
}
