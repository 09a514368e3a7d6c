//! A source: what it names, what Jules sees, and the repository itself.

use domain::ids::{RepoId, RepoName};
use domain::pipeline::PipelineRules;
use domain::schedule::{Schedule, ScheduleError};
use expect_test::expect;
use jiff::SignedDuration;
use sandbox::Scenario;

use super::clinic::{Clinic, REPO};
use crate::deliveries::fail_reading;
use crate::jobs::save;

#[test]
fn there_is_no_source() {
    let clinic = Clinic::empty(Scenario::default(), SignedDuration::ZERO);
    clinic.ok(&["account", "add", "default"]);
    expect![[r#"
        warning  no_source  sources: there is none | cause: there is no repository to work on | mend: run `gaffer source add OWNER/REPO`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn it_names_an_account_and_an_agent_that_are_not_there() {
    let clinic = Clinic::new();
    clinic.change_source(|source| {
        source.account = "gone".parse().unwrap();
        source.agent = Some("nobody".parse().unwrap());
    });
    expect![[r#"
        error    account_unknown  acme/shop: it names the account `gone` | cause: the source names an account that is not there, so its jobs never start | mend: run `gaffer account add gone`, or `gaffer source set acme/shop --account NAME`
        error    agent_unknown  acme/shop: it names the agent `nobody` | cause: the source names an agent that is not there, so no agent is woken | mend: run `gaffer agent add nobody --url URL`, or `gaffer source set acme/shop --no-agent`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn it_is_paused_and_has_no_branch() {
    let clinic = Clinic::new();
    clinic.change_source(|source| {
        source.paused = true;
        source.branch = None;
    });
    expect![[r#"
        warning  source_paused  acme/shop: it is paused | cause: a person paused the source: nothing is written to Jules or GitHub for it | mend: run `gaffer source resume acme/shop`
        warning  no_branch  acme/shop: it names none | cause: the source has no base branch, so every job has to name one | mend: run `gaffer source set acme/shop --branch NAME`
        warning  not_looked_at  acme/shop: its repository and its rules could not be seen: the source names no branch to ask for | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn jules_is_not_connected_to_it() {
    let clinic = Clinic::new();
    clinic.sandbox.jules().disconnect(REPO);
    expect![[r#"
        error    not_connected  acme/shop: Jules shows the account `default` no repository at all | cause: Jules has no access to the repository: its GitHub App is not installed there | mend: open https://jules.google.com, choose `Connect to GitHub`, and give the Jules app access to acme/shop
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn its_branch_is_not_there() {
    let clinic = Clinic::new();
    clinic.ok(&["source", "set", REPO, "--branch", "develop"]);
    expect![[r#"
        warning  branch_not_in_jules  acme/shop: its base is `develop`, and Jules sees `main` | cause: Jules starts sessions from branches that it sees, and refuses creates from others | mend: push the branch develop to acme/shop, or run `gaffer source set acme/shop --branch NAME`
        error    base_missing  acme/shop: GitHub has no such branch | cause: the base branch does not exist on GitHub, so no pull request can go there | mend: push the branch develop to acme/shop, or run `gaffer source set acme/shop --branch NAME`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn github_shows_no_such_repository() {
    let clinic = Clinic::new();
    clinic.change_source(|source| source.paused = false);
    clinic.ok(&["source", "add", "acme/none"]);
    expect![[r#"
        error    not_connected  acme/none: Jules shows the account `default` other repositories: `acme/shop` | cause: Jules has no access to the repository: its GitHub App is not installed there | mend: open https://jules.google.com, choose `Connect to GitHub`, and give the Jules app access to acme/none
        error    repo_absent  acme/none: GitHub answers 404 | cause: GitHub shows the credential no such repository: it does not exist, or the token may not see it | mend: check the name; for a private repository give the token the scope `repo`, or authorize it for the organization (SSO) at https://github.com/settings/tokens
    "#]].assert_eq(&clinic.ills(&["--source", "acme/none"]));
}

/// Says under which number the repository was registered, as its first reading does.
fn registered(clinic: &Clinic, id: u64) {
    clinic.with_backend(async |backend| {
        let repo = REPO.parse().unwrap();
        let found = backend.store.reach(&repo).await.unwrap();
        save(backend, &repo, &found.value.meant(RepoId(id))).await;
    });
}

#[test]
fn it_was_renamed() {
    let clinic = Clinic::new();
    let number = clinic.github().repo_id(REPO).unwrap();
    clinic.github().rename_repo(REPO, "acme/store");
    expect![[r#"
        error    repo_moved  acme/shop: its name is `acme/store` now | cause: the name leads on to another one, and the repository was never read under the old one: Gaffer does not know whether it is the one that is meant, and nothing is done there | mend: run `gaffer source add acme/store` if that is the one that is meant, and `gaffer source pause acme/shop`
    "#]]
    .assert_eq(&clinic.ills(&[]));
    // The product goes on in a repository that it has read under its old name.
    registered(&clinic, number);
    expect![[r#"
        warning  repo_renamed  acme/shop: its name is `acme/store` now | cause: the repository was renamed or moved and is the same one by its number, so the jobs under way go on; what its branch demands was not looked at under the old name | mend: run `gaffer source add acme/store` with the settings of acme/shop for new jobs, and `gaffer source pause acme/shop` once its jobs are over
    "#]]
    .assert_eq(&clinic.ills(&[]));
    registered(&clinic, number + 1);
    assert!(clinic.ills(&[]).contains("  repo_replaced  "));
}

#[test]
fn another_one_bears_its_name() {
    let clinic = Clinic::new();
    let number = clinic.github().repo_id(REPO).unwrap();
    registered(&clinic, number);
    assert_eq!(clinic.ills(&[]), "");
    registered(&clinic, 77);
    let ills = clinic.ills(&[]).replace(&number.to_string(), "NEW");
    expect![[r#"
        error    repo_replaced  acme/shop: its number is NEW, and 77 was registered | cause: another repository bears the name than the one that was registered, and nothing is done there | mend: run `gaffer source set acme/shop --repository-id NEW` if the new one is meant, or `gaffer source pause acme/shop`
    "#]]
    .assert_eq(&ills);
}

#[test]
fn it_is_archived() {
    let clinic = Clinic::new();
    clinic.repo(|repo| repo.admin.archived = true);
    expect![[r#"
        error    repo_archived  acme/shop: it is archived or disabled | cause: an archived or disabled repository takes no branch, no pull request and no merge | mend: open the repository's settings on GitHub and unarchive it, or run `gaffer source pause acme/shop`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn its_issues_could_not_be_read() {
    let clinic = Clinic::new();
    clinic.ok(&["source", "set", REPO, "--label", "gaffer"]);
    assert_eq!(clinic.ills(&[]), "");
    clinic.with_backend(fail_reading);
    expect![[r#"
        warning  issues_unread  acme/shop: its issues could not be read: GitHub answers 502 | cause: the last reading of the source's issues failed, so no issue becomes a delivery until one succeeds | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer source sync acme/shop`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_schedule_of_its_pipeline_cannot_be_read() {
    let clinic = Clinic::new();
    clinic.change_source(|source| source.pipeline = Some(PipelineRules::default()));
    clinic.with_backend(async |backend| {
        let error = ScheduleError {
            since: backend.now(),
            reason: "no day is called XYZ".to_owned(),
            told: None,
        };
        let schedule = Schedule {
            error: Some(error),
            ..Schedule::default()
        };
        let repo: RepoName = REPO.parse().unwrap();
        save(backend, &repo, &schedule).await;
    });
    let told = clinic.ills(&[]);
    let wanted = "  schedule_unread  acme/shop: the schedule of its pipeline cannot be read: no day is called XYZ";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn it_has_the_label_that_starts_jules() {
    let clinic = Clinic::new();
    clinic.repo(|repo| repo.admin.labels.push("jules".to_owned()));
    expect![[r#"
        warning  jules_label  acme/shop: it has a label `jules` | cause: putting the label `jules` on an issue starts a session of Jules's own, beside Gaffer and out of the same quota | mend: use another label for work that Gaffer is to do, and rename or delete the label `jules` in acme/shop if no user means it
    "#]].assert_eq(&clinic.ills(&[]));
}
