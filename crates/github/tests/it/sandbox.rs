//! The whole adapter against the sandbox's GitHub, whose counters are the witnesses.

use std::ops::Deref;

use domain::facts::{Check, CheckOutcome, Fact, PullFacts, PullState};
use domain::failure::FailureClass;
use domain::ids::PullRef;
use domain::policy::MergeMethod;
use engine::ports::{PullsRead, PullsWrite};
use github::{Client, Reader, Writer};
use sandbox::Scenario;
use sandbox::github::{
    APP_ID, Access, ChangedFile, CheckSetup, CiSetup, DEFAULT_TOKEN, InstallationSetup, NewPull,
    Outcome, Permissions, RepoSetup, RequiredCheck, Resource, TokenSetup,
};

use crate::server::common;
use crate::stage::SandboxStage;

const REPO: &str = "acme/shop";

/// A sandbox with one pull request, whose head branch has a slash.
struct Stage {
    at: SandboxStage,
    pull: PullRef,
}

impl Deref for Stage {
    type Target = SandboxStage;

    fn deref(&self) -> &SandboxStage {
        &self.at
    }
}

impl Stage {
    async fn new(setup: RepoSetup, pull: NewPull) -> Self {
        let at = SandboxStage::new(Scenario {
            repos: vec![setup],
            ..Scenario::default()
        })
        .await;
        let github = at.sandbox.github();
        let pull = PullRef {
            repo: REPO.parse().unwrap(),
            number: github.open_pull(at.clock.now(), REPO, pull),
        };
        Self { at, pull }
    }

    /// What a reader reads of it now.
    async fn facts(&self, reader: &Reader) -> PullFacts {
        let facts = reader.facts(&self.pull, common(), self.clock.now());
        facts.await.unwrap()
    }
}

fn checks(outcomes: &[(&str, Outcome)]) -> CiSetup {
    let checks = outcomes
        .iter()
        .map(|(name, outcome)| CheckSetup::new(name, *outcome))
        .collect();
    CiSetup {
        checks,
        required: vec![RequiredCheck::any("build")],
        strict: true,
        ..CiSetup::default()
    }
}

fn cart() -> NewPull {
    NewPull {
        title: "Add a cart".to_owned(),
        head_branch: "feat/cart".to_owned(),
        author_login: "google-labs-jules[bot]".to_owned(),
        author_id: 161_369_871,
        files: vec![ChangedFile::modified("src/cart.rs")],
        draft: true,
        ..NewPull::default()
    }
}

/// A stage on which everything is green once a minute has passed, and a reader and a writer with a classic token.
async fn green_stage() -> (Stage, Client, Reader, Writer) {
    let ci = checks(&[("build", Outcome::Success), ("lint", Outcome::Neutral)]);
    let stage = Stage::new(RepoSetup::new(REPO).with_ci(ci), cart()).await;
    let client = stage.client(DEFAULT_TOKEN, None);
    let (reader, writer) = (Reader::new(client.clone()), Writer::new(client.clone()));
    (stage, client, reader, writer)
}

#[tokio::test]
async fn a_draft_becomes_ready_and_green() {
    let (stage, client, reader, writer) = green_stage().await;
    let first = stage.facts(&reader).await;
    assert!(first.draft && first.state == PullState::Open);
    let pending = |check: &Check| check.outcome == CheckOutcome::Pending;
    assert!(first.checks.known().unwrap().iter().all(pending));
    assert_eq!(first.files, Fact::Known(vec!["src/cart.rs".to_owned()]));
    let demands = first.demands.known().unwrap();
    assert_eq!(demands.checks[0].name, "build");
    assert_eq!((demands.up_to_date, demands.behind_by), (true, Some(0)));

    writer
        .mark_ready(&stage.pull, &first.node_id)
        .await
        .unwrap();
    stage.pass(1);
    writer.label(&stage.pull, "gaffer").await.unwrap();
    stage.pass(1);
    writer
        .comment(&stage.pull, "Looking.", "look")
        .await
        .unwrap();
    assert!(reader.has_comment(&stage.pull, "look").await.unwrap());
    stage.pass(60);
    let green = stage.facts(&reader).await;
    assert!(!green.draft && green.labels == ["gaffer"]);
    let passed = |check: &Check| matches!(check.outcome, CheckOutcome::Passed(_));
    assert!(green.checks.known().unwrap().iter().all(passed));
    assert_eq!(green.mergeable, Fact::Known(true));

    let counters = stage.sandbox.counters();
    assert_eq!(
        (
            counters.comments,
            counters.labels,
            counters.ready_for_review
        ),
        (1, 1, 1)
    );
    assert_eq!(client.usage().requests, counters.github_calls);
    assert_eq!(client.usage().not_modified, counters.github_not_modified);
    assert!(counters.github_not_modified > 0);
}

#[tokio::test]
async fn only_the_judged_head_is_merged_and_only_once() {
    let (stage, _, reader, writer) = green_stage().await;
    let draft = stage.facts(&reader).await;
    writer
        .mark_ready(&stage.pull, &draft.node_id)
        .await
        .unwrap();
    stage.pass(60);
    let stale = "4444444444444444444444444444444444444444".parse().unwrap();
    let merge = async |sha| {
        stage.pass(1);
        writer
            .merge(&stage.pull, sha, MergeMethod::Squash, None)
            .await
    };
    assert_eq!(
        merge(&stale).await.unwrap_err().class,
        FailureClass::Conflict
    );
    let commit = merge(&draft.head.sha).await.unwrap();
    let merged = stage.facts(&reader).await;
    assert_eq!(
        merged.state,
        PullState::Merged {
            commit: Some(commit)
        }
    );
    assert_eq!(
        merge(&draft.head.sha).await.unwrap_err().class,
        FailureClass::Conflict
    );
    assert_eq!(stage.sandbox.counters().merges, 1);
}

#[tokio::test]
async fn a_branch_is_deleted_once() {
    let (stage, _, reader, writer) = green_stage().await;
    let (repo, branch) = (&stage.pull.repo, "feat/cart".parse().unwrap());
    let there = reader.branch(repo, &branch).await.unwrap();
    assert!(there.sha.is_some() && there.based_on_it == 0);
    for _ in 0..2 {
        stage.pass(1);
        writer.delete_branch(repo, &branch).await.unwrap();
    }
    assert_eq!(reader.branch(repo, &branch).await.unwrap().sha, None);
    assert_eq!(stage.sandbox.counters().branch_deletes, 1);
}

#[tokio::test]
async fn a_failed_check_shows_its_log() {
    let setup = RepoSetup::new(REPO).with_ci(checks(&[("build", Outcome::Failure)]));
    let stage = Stage::new(setup, cart()).await;
    stage.pass(60);
    let reader = Reader::new(stage.client(DEFAULT_TOKEN, None));
    let facts = stage.facts(&reader).await;
    assert_eq!(
        facts.checks.known().unwrap()[0].outcome,
        CheckOutcome::Failed
    );
    let logs = reader.check_logs(&facts).await.unwrap();
    assert_eq!(logs.len(), 1);
    assert!(
        logs[0].name == "build" && !logs[0].tail.is_empty(),
        "{logs:?}"
    );
}

#[tokio::test]
async fn a_workflow_that_waits_for_a_person_is_a_clue() {
    let setup = RepoSetup::new(REPO).with_ci(checks(&[("build", Outcome::ApprovalPending)]));
    let stage = Stage::new(setup, cart()).await;
    stage.pass(60);
    let facts = stage
        .facts(&Reader::new(stage.client(DEFAULT_TOKEN, None)))
        .await;
    assert_eq!(facts.checks, Fact::Known(Vec::new()));
    assert!(facts.ci.unwrap().approval_pending);
}

#[tokio::test]
async fn a_token_without_the_permission_is_told_so() {
    let stage = Stage::new(
        RepoSetup::new(REPO).with_ci(checks(&[("build", Outcome::Success)])),
        cart(),
    )
    .await;
    let permissions = Permissions::all().with(Resource::Checks, Access::None);
    let token = "ghp_blind".to_owned();
    stage.sandbox.github().add_token(TokenSetup {
        token: token.clone(),
        permissions,
        ..TokenSetup::default()
    });
    let facts = stage.facts(&Reader::new(stage.client(&token, None))).await;
    assert_eq!(
        facts.checks,
        Fact::Forbidden {
            permission: "Checks: read".to_owned()
        }
    );
}

#[tokio::test]
async fn an_app_signs_in() {
    let stage = Stage::new(
        RepoSetup::new(REPO).with_ci(checks(&[("build", Outcome::Success)])),
        cart(),
    )
    .await;
    let reader = Reader::new(stage.client(include_str!("keys/app.pem"), Some(APP_ID)));
    let facts = stage.facts(&reader).await;
    assert_eq!(facts.checks.known().unwrap().len(), 1);
}

#[tokio::test]
async fn a_branch_that_is_behind_is_updated() {
    let stage = Stage::new(
        RepoSetup::new(REPO).with_ci(checks(&[("build", Outcome::Success)])),
        cart(),
    )
    .await;
    stage.sandbox.github().push(
        stage.clock.now(),
        REPO,
        "main",
        "someone else's work",
        "octo-owner",
    );
    let client = stage.client(DEFAULT_TOKEN, None);
    let reader = Reader::new(client.clone());
    let behind = stage.facts(&reader).await;
    assert_eq!(behind.demands.known().unwrap().behind_by, Some(1));
    Writer::new(client)
        .update_branch(&stage.pull, &behind.head.sha)
        .await
        .unwrap();
    stage.pass(60);
    let updated = stage.facts(&reader).await;
    assert_eq!(updated.demands.known().unwrap().behind_by, Some(0));
    assert_ne!(updated.head.sha, behind.head.sha);
}

fn installed_at(id: u64, owner: &str, suspended: bool) -> InstallationSetup {
    InstallationSetup {
        id,
        owner: Some(owner.to_owned()),
        suspended,
    }
}

#[tokio::test]
async fn an_app_works_in_each_repository_as_its_own_installation() {
    let stage = Stage::new(RepoSetup::new(REPO), cart()).await;
    let github = stage.sandbox.github();
    for repo in ["other/till", "asleep/bed", "stranger/den"] {
        let made = github.add_repo(stage.clock.now(), RepoSetup::new(repo));
        made.unwrap();
    }
    github.set_installations(vec![
        installed_at(1, "acme", false),
        installed_at(2, "other", false),
        installed_at(3, "asleep", true),
    ]);
    let client = stage.client(include_str!("keys/app.pem"), Some(APP_ID));
    let reader = Reader::new(client);
    let named = |repo: &str| repo.parse().unwrap();
    for repo in [REPO, "other/till", REPO] {
        reader.identify(&named(repo)).await.unwrap();
    }
    let owners = reader.budgets().into_iter().map(|it| it.owner);
    assert_eq!(
        owners.collect::<Vec<_>>(),
        ["installation 1", "installation 2"]
    );
    for (repo, words) in [
        ("asleep/bed", "suspended"),
        ("stranger/den", "not installed"),
    ] {
        let failure = reader.identify(&named(repo)).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Forbidden);
        assert!(failure.message.contains(words), "{failure}");
    }
}

#[tokio::test]
async fn a_repository_that_goes_to_another_owner_is_followed_by_whoever_is_installed_there() {
    let stage = Stage::new(RepoSetup::new(REPO), cart()).await;
    let github = stage.sandbox.github();
    github.set_installations(vec![
        installed_at(1, "acme", false),
        installed_at(2, "other", false),
    ]);
    let client = stage.client(include_str!("keys/app.pem"), Some(APP_ID));
    let (reader, writer) = (Reader::new(client.clone()), Writer::new(client));
    let before = reader.identify(&stage.pull.repo).await.unwrap();
    github.rename_repo(REPO, "other/store");
    // The installation of a repository is cached for ten minutes.
    stage.pass(600);
    let after = reader.identify(&stage.pull.repo).await.unwrap();
    assert_eq!((after.id, after.name.as_str()), (before.id, "other/store"));
    writer.label(&stage.pull, "gaffer").await.unwrap();
    let pull = github.pull("other/store", stage.pull.number).unwrap();
    assert_eq!(pull.labels, ["gaffer"]);
}
