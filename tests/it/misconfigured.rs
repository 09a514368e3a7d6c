//! Misconfigurations that touch merging: none of them is reported as late checks.

use domain::ids::JobId;
use domain::policy::{MergeMethod as Ours, Source};
use sandbox::Scenario;
use sandbox::github::{
    Access, CiSetup, MergeMethod, Permissions, Protection, RepoSetup, RequiredCheck, Resource,
    TokenSetup,
};
use tests::world::{MINUTE, REPO, World, ci, green_checks, hour, on_green};

/// What `job why` says of checks that are still to come.
const PENDING: [&str; 2] = ["checks_pending", "no_checks_yet"];

/// One way to misconfigure, and a code that `job why` has to give for it.
struct Case {
    name: &'static str,
    make: fn(&mut RepoSetup, &mut Source),
    token: Option<fn(TokenSetup) -> TokenSetup>,
    gives: &'static str,
}

fn case(name: &'static str, gives: &'static str, make: fn(&mut RepoSetup, &mut Source)) -> Case {
    Case {
        name,
        make,
        token: None,
        gives,
    }
}

fn with_token(
    name: &'static str,
    gives: &'static str,
    token: fn(TokenSetup) -> TokenSetup,
) -> Case {
    Case {
        name,
        make: |_, _| {},
        token: Some(token),
        gives,
    }
}

fn without(resource: Resource) -> Permissions {
    Permissions::all().with(resource, Access::None)
}

fn cases() -> Vec<Case> {
    vec![
        case("no_ci", "ci_never_started", |repo, _| {
            repo.ci = CiSetup::default()
        }),
        case("check_never_runs", "required_missing", |repo, _| {
            repo.ci.required = vec![RequiredCheck::any("lint")];
        }),
        case(
            "check_never_runs, by the source",
            "required_missing",
            |_, source| {
                source.policy.required_checks = vec!["lint".to_owned()];
            },
        ),
        case("check_wrong_app", "required_missing", |repo, _| {
            repo.ci.required = vec![RequiredCheck {
                context: "build".to_owned(),
                app_id: Some(77),
            }];
        }),
        case("nobody_approves", "approvals_missing", |repo, _| {
            repo.reviews_required = 2
        }),
        case(
            "approvals_needed, by classic protection",
            "approvals_missing",
            |repo, _| {
                repo.protection = Protection::Classic;
                repo.reviews_required = 1;
            },
        ),
        case("merge_queue", "merge_queue", |repo, _| {
            repo.merge_queue = true
        }),
        case("method_off", "merge_refused", |repo, source| {
            repo.merge_methods = vec![MergeMethod::Rebase];
            source.policy.merge_method = Ours::Squash;
        }),
        case("repo_archived", "effect_failed", |repo, _| {
            repo.admin.archived = true
        }),
        with_token("checks_forbidden", "forbidden", |token| TokenSetup {
            permissions: without(Resource::Checks),
            ..token
        }),
        with_token("protection_unknown", "forbidden", |token| TokenSetup {
            permissions: without(Resource::Administration),
            ..token
        }),
        // A credential that may not read a pull request sees none of its checks.
        with_token("read_forbidden", "github_blocked", |token| TokenSetup {
            permissions: without(Resource::PullRequests),
            ..token
        }),
        with_token("cannot_write", "effect_failed", |token| TokenSetup {
            permissions: Permissions::all().with(Resource::Contents, Access::Read),
            ..token
        }),
        with_token("repo_absent", "github_missing", |token| TokenSetup {
            repos: Some(Vec::new()),
            ..token
        }),
    ]
}

async fn played(case: &Case) -> (World, JobId) {
    let mut repo = RepoSetup::new(REPO).with_ci(ci(green_checks()));
    let mut source = on_green();
    (case.make)(&mut repo, &mut source);
    let token = case.token.map(|change| {
        change(TokenSetup {
            token: "ghp_narrow".to_owned(),
            ..TokenSetup::default()
        })
    });
    let scenario = Scenario {
        repos: vec![repo],
        tokens: token.into_iter().collect(),
        ..Scenario::default()
    };
    let world = World::of(scenario, source).await;
    let job = world.submit("Add a test").await;
    world.pass(MINUTE * 20).await;
    (world, job)
}

#[tokio::test]
async fn no_misconfiguration_is_told_as_pending_checks() {
    let mut told = String::new();
    let mut wrong = String::new();
    for case in cases() {
        let (world, job) = played(&case).await;
        let why = world.why(&job).await;
        let state = world.state(&job).await;
        told.push_str(&format!("{}: {state} {why:?}\n", case.name));
        let pending = why.iter().any(|code| PENDING.contains(&code.as_str()));
        if pending || !why.iter().any(|code| code == case.gives) {
            wrong.push_str(&format!(
                "{}: wanted {}, got {state} {why:?}\n",
                case.name, case.gives
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}\nall:\n{told}");
}

#[tokio::test]
async fn checks_that_are_merely_late_are_told_so() {
    // The rule above would hold of a `why` that never says "pending".
    let case = case("late", "checks_pending", |repo, _| {
        let checks = repo.ci.checks.iter_mut();
        checks.for_each(|check| check.takes = hour(2));
    });
    let (world, job) = played(&case).await;
    world.must_give(&job, case.gives).await;
}
