//! A missing permission is reported by its name, and never mistaken for pending checks.

use sandbox::github::{
    Access, CiSetup, DEFAULT_TOKEN, Permissions, Protection, RequiredCheck, Resource, TokenKind,
    TokenSetup,
};
use tests::world::{MINUTE, REPO, green_checks, hour};

use super::{access_event_count, in_review, merges, status};

/// What a pull request says that only waits for its checks.
const PENDING: [&str; 5] = [
    "checks_pending",
    "no_checks_yet",
    "ci_never_started",
    "required_missing",
    "too_few_checks",
];

#[tokio::test]
async fn every_missing_permission_is_named_and_none_is_pending_ci() {
    let needed = [
        (Resource::Checks, "Checks: read"),
        (Resource::Statuses, "Commit statuses: read"),
        (Resource::Administration, "Administration: read"),
        (Resource::Metadata, "Metadata: read"),
        (Resource::Contents, "Contents: read"),
        (Resource::PullRequests, "Pull requests: read"),
    ];
    for (resource, permission) in needed {
        let (world, job) = in_review(false).await;
        world.sandbox.github().change_repo(REPO, |setup| {
            setup.protection = Protection::Classic;
            setup.ci = CiSetup {
                checks: green_checks(),
                required: vec![RequiredCheck::any("build")],
                strict: true,
                ..CiSetup::default()
            };
        });
        let token = |permissions| TokenSetup {
            permissions,
            kind: TokenKind::Installation,
            ..TokenSetup::default()
        };
        let lacking = Permissions::all().with(resource, Access::None);
        world.sandbox.github().add_token(token(lacking));
        world.pass(MINUTE * 30).await;
        let why = world.backend.why(&job).await.expect("a why");
        for reason in &why.because {
            assert!(
                !PENDING.contains(&reason.code.as_str()),
                "{resource:?}: {why:#?}"
            );
        }
        let named = |it: &domain::reasoned::Reasoned| {
            let code = it.code == "forbidden" || it.code == "github_blocked";
            code && it.sentence.contains(permission)
        };
        assert!(why.because.iter().any(named), "{resource:?}: {why:#?}");
        assert_eq!(world.sandbox.counters().merge_calls, 0);

        world.sandbox.github().add_token(token(Permissions::all()));
        merges(&world, &job, MINUTE * 20).await;
        world.finish().await;
    }
}

#[tokio::test]
async fn a_fine_grained_token_without_checks_is_refused_with_that_reason() {
    let (world, job) = in_review(false).await;
    world.sandbox.github().add_token(TokenSetup {
        token: "github_pat_fine".to_owned(),
        kind: TokenKind::FineGrained,
        permissions: Permissions::all().with(Resource::Checks, Access::None),
        ..TokenSetup::default()
    });
    world.sandbox.github().revoke_token(DEFAULT_TOKEN);
    world.secrets.put("github", "github_pat_fine");
    world.pass(hour(1)).await;
    assert_eq!(
        (access_event_count(&world).await, status(&world).await),
        (1, vec!["github_blocked".to_owned()])
    );
    let why = world.backend.why(&job).await.expect("a why");
    let says = |it: &domain::reasoned::Reasoned| it.sentence.contains("no Checks permission");
    assert!(why.because.iter().any(says), "{why:#?}");
    assert_eq!(world.sandbox.counters().merge_calls, 0);

    world.sandbox.github().add_token(TokenSetup::default());
    world.secrets.put("github", DEFAULT_TOKEN);
    merges(&world, &job, MINUTE * 20).await;
    world.finish().await;
}

#[tokio::test]
async fn the_token_of_a_workflow_run_is_refused_before_it_merges_anything() {
    let (world, job) = in_review(false).await;
    world.sandbox.github().add_token(TokenSetup {
        token: "ghs_run".to_owned(),
        kind: TokenKind::Actions,
        ..TokenSetup::default()
    });
    world.sandbox.github().revoke_token(DEFAULT_TOKEN);
    world.secrets.put("github", "ghs_run");
    world.pass(hour(1)).await;
    assert_eq!(
        (access_event_count(&world).await, status(&world).await),
        (1, vec!["github_sign_in".to_owned()])
    );
    assert!(world.gives(&job, "github_sign_in").await);
    assert_eq!(world.sandbox.counters().merge_calls, 0);

    world.sandbox.github().add_token(TokenSetup::default());
    world.secrets.put("github", DEFAULT_TOKEN);
    merges(&world, &job, MINUTE * 20).await;
    world.finish().await;
}
