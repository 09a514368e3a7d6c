//! Samples of settings, of accounts and sources, and of their counters.

use std::collections::BTreeMap;

use domain::account::{self, Account, Health, ListWeight, Pace, PollCounters, Spent};
use domain::effect::RestoreGap;
use domain::failure::FailureClass;
use domain::github_access::{
    AccessProblem, AccessProblemKind, CredentialAccess, GitHubBudget, GitHubUsage, MissingPull,
    RenamedRepository, RepositoryAccess,
};
use domain::governor::{LearnedLimit, Limits, Slots, Throttled};
use domain::ids::{EffectId, RepoId};
use domain::policy::{MergeMethod, MergePolicy, PlanApproval, Policy, Source, Timing};
use domain::pull::Lane;
use domain::redelivery::{
    DeliveryId, FailedDelivery, HookId, LogPosition, LogStatus, RedeliveryState, WebhookLog,
};
use domain::token::{Rights, Scope, Token};
use domain::wake::{Channel, Notify};
use domain::webhook_activity::WebhookActivity;
use engine::import::Importing;
use engine::keys;
use engine::settings::{
    Agent, AppSetup, Budgets, Disabled, Installation, MadeApp, Merges, Switches, Upstreams,
};
use engine::usage::{Allowance, Consumption, Used};
use engine::webhook_logs::HookLogs;

use super::{AT, REPO_ID, Samples, job_id, pull_ref, session_id};

pub(super) fn put(samples: &mut Samples) {
    put_switches(samples);
    for agent in agents() {
        samples.put(keys::agent(&agent.name), &agent);
    }
    for token in tokens() {
        samples.put(keys::token(&token.name), &token);
    }
    for setup in app_setups() {
        samples.put(keys::app_setup(), &setup);
    }
    for source in sources() {
        samples.put(keys::source(&source.repo), &source);
    }
    put_accounts(samples);
    put_reaches(samples);
    samples.put(
        keys::allowance(),
        &Allowance {
            dollars_a_day: Some(0.5),
        },
    );
    put_github(samples);
    put_hooks(samples);
    let merges = Merges {
        at: BTreeMap::from([(EffectId::from_name("merge:acme/shop#7@aaaa"), AT)]),
        exchange: BTreeMap::from([(EffectId::from_name("merge:acme/shop#8@bbbb"), AT)]),
    };
    samples.put(keys::merges(&pull_ref().repo), &merges);
    let used = Used {
        read_halves: 7,
        write_halves: 4,
        queue_requests: 3,
        invocations: 2,
        mb_ms: 2_560,
    };
    let usage = Consumption::default().with(used, AT);
    samples.put(keys::usage("poller"), &usage);
    let lane = Lane {
        holder: pull_ref(),
        until: AT,
        waiting: vec![pull_ref()],
    };
    samples.put(keys::lane(&pull_ref().repo, "main"), &lane);
    for next_at in [Some(AT), None] {
        let lease = domain::tick::Lease {
            generation: 7,
            at: Some(AT),
            next_at,
        };
        samples.put(keys::tick(), &lease);
    }
}

fn put_switches(samples: &mut Samples) {
    let installation = Installation {
        id: "home".parse().expect("an id"),
        since: AT,
    };
    samples.put(keys::installation(), &installation);
    let gap = RestoreGap {
        from: AT,
        until: AT,
    };
    samples.put(keys::restore_gap(), &gap);
    let switches = Switches {
        paused_since: Some(AT),
        ..Switches::default()
    };
    samples.put(keys::switches(), &switches);
    let importing = Importing {
        from: AT,
        records: 40,
    };
    samples.put(keys::importing(), &importing);
    samples.put(
        keys::webhook_activity(&pull_ref().repo),
        &WebhookActivity { webhook_at: AT },
    );
    let upstreams = Upstreams {
        jules_base: Some("http://127.0.0.1:4190/jules/v1alpha".to_owned()),
        github_base: Some("http://127.0.0.1:4190/github".to_owned()),
        github_app_id: Some(7),
    };
    samples.put(keys::upstreams(), &upstreams);
}

fn tokens() -> [Token; 4] {
    let random = [7; 32];
    let token = |name: &str, scope| {
        let name = name.parse().expect("a name");
        Token::new(name, Rights::new(scope, None), AT, None, random).0
    };
    let expires_at = Some(AT);
    let read = Token {
        expires_at,
        ..token("dashboard", Scope::Read)
    };
    let revoked_at = Some(AT);
    let write = Token {
        agent: Some("zai".parse().expect("a name")),
        revoked_at,
        ..token("bot", Scope::Write)
    };
    let bound = Token {
        persona: Some("curator".parse().expect("a name")),
        ..token("curator", Scope::Write)
    };
    [read, write, bound, token("root", Scope::Admin)]
}

fn agents() -> [Agent; 3] {
    let agent = Agent {
        name: "helper".parse().expect("a name"),
        url: "https://agents.example.com/wake".parse().ok(),
        channels: vec![Channel::Http, Channel::Inbox],
        disabled: None,
        resume: Some("7f3a2b".parse().expect("a resume id")),
        notify: None,
    };
    let person = Agent {
        url: None,
        channels: Vec::new(),
        notify: Some(Notify::Slack),
        ..agent.clone()
    };
    let disabled = Agent {
        url: None,
        channels: Vec::new(),
        disabled: Some(Disabled {
            at: AT,
            why: "it answered 410".to_owned(),
        }),
        ..agent.clone()
    };
    [agent, disabled, person]
}

fn app_setups() -> [AppSetup; 3] {
    let app = || MadeApp {
        id: 7,
        slug: "gaffer-acme".to_owned(),
        page: "https://github.com/apps/gaffer-acme".to_owned(),
    };
    let asked = AppSetup::Asked {
        state: "0123456789abcdef".to_owned(),
        port: 4_191,
    };
    [asked, AppSetup::Made(app()), AppSetup::Stored(app())]
}

pub(super) fn sources() -> [Source; 3] {
    use {MergeMethod as Method, MergePolicy as Merging, PlanApproval as Plans};
    let source = Source {
        repo: pull_ref().repo,
        account: "default".parse().expect("a name"),
        agent: Some("helper".parse().expect("a name")),
        paused: true,
        branch: Some("main".parse().expect("a branch")),
        policy: Policy {
            other_merge_methods: vec![Method::Merge],
            required_checks: vec!["build".to_owned()],
            blocked_label: Some("needs-human".to_owned()),
            ..Policy::default()
        },
        timing: Timing::default(),
        pipeline: None,
        sprints: domain::sprint::SprintRules::default(),
        deliveries: super::deliveries::rules()[1].clone(),
    };
    let with = |merge, merge_method, plan_approval| Source {
        policy: Policy {
            merge,
            merge_method,
            plan_approval,
            ..source.policy.clone()
        },
        ..source.clone()
    };
    [
        with(Merging::Human, Method::Squash, Plans::Human),
        with(Merging::OnGreen, Method::Merge, Plans::Auto),
        with(Merging::Integration, Method::Rebase, Plans::Agent),
    ]
}

fn put_accounts(samples: &mut Samples) {
    let healths = [
        Health::Working,
        Health::Throttled { streak: 2 },
        Health::Unreachable {
            streak: 3,
            since: AT,
        },
        Health::Unauthorized { since: AT },
    ];
    for health in healths {
        let account = account(health);
        samples.put(keys::account(&account.name), &account);
    }
    let slots = Slots {
        taken: BTreeMap::from([(job_id(), AT)]),
        created: vec![AT],
        creating: Some(job_id()),
        learned: Some(LearnedLimit {
            concurrent: 2,
            until: AT,
        }),
        throttled: Some(Throttled { at: AT, until: AT }),
        ..Slots::free("default".parse().expect("a name"))
    };
    samples.put(keys::slots(&slots.account), &slots);
}

fn account(health: Health) -> Account {
    Account {
        name: "default".parse().expect("a name"),
        limits: Limits::default(),
        agent: Some("helper".parse().expect("a name")),
        pace: Pace::default(),
        health,
        next_poll: AT,
        list: ListWeight {
            bytes_per_session: Some(900),
            sessions: 3,
        },
        activity_reads: BTreeMap::from([(session_id(), AT)]),
        passed_over: BTreeMap::from([(session_id(), 2)]),
        counters: PollCounters {
            last: Some(AT),
            polls: 40,
            failed: vec![(FailureClass::Throttled, 2)],
            backoff_secs: 90,
            listed: Some(AT),
            linked: Some(AT),
        },
        budget: account::Budget {
            requests_a_day: Some(9_000),
            dear_until: Some(AT),
            spent: Some(Spent {
                day: AT,
                requests: 40,
                last: 2,
                told: true,
                told_money: true,
            }),
        },
    }
}

fn trouble(obstacle: AccessProblemKind) -> AccessProblem {
    AccessProblem {
        obstacle,
        since: AT,
        said: "404".to_owned(),
        told: true,
    }
}

fn put_reaches(samples: &mut Samples) {
    let elsewhere = || "acme/store".parse().expect("a repository");
    let obstacles = [
        AccessProblemKind::SignIn,
        AccessProblemKind::Blocked,
        AccessProblemKind::Missing,
        AccessProblemKind::Replaced {
            by: RepoId(1_296_270),
            was: REPO_ID,
        },
        AccessProblemKind::Moved { to: elsewhere() },
    ];
    let gone = MissingPull {
        since: AT,
        told: false,
    };
    for obstacle in obstacles {
        let reach = RepositoryAccess {
            id: Some(REPO_ID),
            renamed: Some(RenamedRepository {
                to: elsewhere(),
                since: AT,
            }),
            trouble: Some(trouble(obstacle)),
            lost: BTreeMap::from([(7, gone.clone())]),
            ..RepositoryAccess::new(pull_ref().repo)
        };
        samples.put(keys::repository_access(&reach.repo), &reach);
    }
}

fn put_hooks(samples: &mut Samples) {
    let logs = HookLogs {
        looked_at: Some(AT),
    };
    samples.put(keys::hook_logs(), &logs);
    let failed = FailedDelivery {
        guid: "72d3162e-cc78-11e3-81ab-4c9367dc0958"
            .parse()
            .expect("a GUID"),
        id: DeliveryId(12_345_678),
        hook: Some(HookId(42)),
        at: AT,
        asks: 1,
        asked_at: Some(AT),
    };
    let standings = [
        LogStatus::Read,
        LogStatus::NoHook,
        LogStatus::Forbidden { since: AT },
        LogStatus::Unread { since: AT },
    ];
    let of_app = RedeliveryState::new(WebhookLog::App);
    samples.put(keys::hook_log(&of_app.log), &of_app);
    for standing in standings {
        let repair = RedeliveryState {
            looked_at: Some(AT),
            status: standing,
            seen: Some(LogPosition {
                at: AT,
                id: DeliveryId(12_345_679),
            }),
            failed: vec![failed.clone()],
            unanswered_since: Some(AT),
            asked_at: Some(AT),
            left: 1,
            asked: 3,
            given_up: 2,
            ..RedeliveryState::new(WebhookLog::Repo(pull_ref().repo))
        };
        samples.put(keys::hook_log(&repair.log), &repair);
    }
}

fn put_github(samples: &mut Samples) {
    samples.put(keys::repository(REPO_ID), &pull_ref().repo);
    let access = CredentialAccess {
        trouble: Some(trouble(AccessProblemKind::SignIn)),
    };
    samples.put(keys::credential_access(), &access);
    let budget = GitHubBudget {
        owner: "token".to_owned(),
        resource: "core".to_owned(),
        limit: 5_000,
        remaining: 4_990,
        reset: AT,
        stay_away: Some(AT),
    };
    let budgets = Budgets {
        at: Some(AT),
        budgets: vec![budget],
        usage: GitHubUsage {
            requests: 9,
            not_modified: 4,
        },
    };
    samples.put(keys::budgets(), &budgets);
}
