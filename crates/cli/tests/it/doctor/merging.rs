//! What a merge needs: checks that run, people who approve, rules that hold.

use domain::policy::MergePolicy;
use expect_test::expect;
use sandbox::github::{
    CheckSetup, CiSetup, MergeMethod, NewPull, Outcome, Protection, RequiredCheck,
};

use super::clinic::{Clinic, REPO};

fn on_green() -> Clinic {
    let clinic = Clinic::new();
    let set = [
        "source",
        "set",
        REPO,
        "--merge",
        "on-green",
        "--required-check",
        "build",
    ];
    clinic.ok(&set);
    clinic
}

fn requires(clinic: &Clinic, required: RequiredCheck) {
    clinic.repo(|repo| repo.ci.required.push(required));
}

/// A pull request of Jules's under a user's name, with finished checks.
fn pull_by(clinic: &Clinic, login: &str) {
    let pull = NewPull {
        title: "Change".to_owned(),
        body: "See jules.google.com/task/14550388554331055113".to_owned(),
        head_branch: "change-14550388554331055113".to_owned(),
        author_login: login.to_owned(),
        ..NewPull::default()
    };
    clinic.github().open_pull(clinic.now(), REPO, pull);
    clinic.sandbox.advance();
}

#[test]
fn nothing_reports_checks() {
    let clinic = Clinic::new();
    clinic.repo(|repo| repo.ci = CiSetup::default());
    expect![[r#"
        error    no_ci  acme/shop: it has no workflow, and nothing reported a check lately | cause: no workflow and no app reports checks, and the source asks for some, so nothing is ever merged | mend: add a workflow that runs on `pull_request` in acme/shop under .github/workflows, or run `gaffer source set acme/shop --min-checks 0` if you want none
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_required_check_never_runs() {
    let clinic = Clinic::new();
    pull_by(&clinic, "google-labs-jules[bot]");
    requires(&clinic, RequiredCheck::any("lint"));
    expect![[r#"
        error    check_never_runs  acme/shop: `lint` must pass, and it was reported on none of the 2 newest commits that were looked at | cause: a check that must pass was not reported on any recent commit, so every pull request waits for it for ever | mend: add what reports `lint`, or take it off the branch's rules or with `gaffer source set acme/shop --required-check NAME` for those that do run
    "#]].assert_eq(&clinic.ills(&[]));
    clinic.repo(|repo| repo.protection = Protection::Classic);
    assert!(clinic.ills(&[]).contains("check_never_runs"));
    // One that runs is not complained about.
    clinic.repo(|repo| repo.ci.required = vec![RequiredCheck::any("build")]);
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn a_required_check_must_come_from_another_app() {
    let clinic = Clinic::new();
    pull_by(&clinic, "google-labs-jules[bot]");
    requires(
        &clinic,
        RequiredCheck {
            context: "build".to_owned(),
            app_id: Some(77),
        },
    );
    expect![[r#"
        error    check_wrong_app  acme/shop: `build` must come from App 77, and another one reports it | cause: the branch's rules accept the check only from another app than the one that reports it | mend: open the rules of main and choose the app that reports `build`, or `any source`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_check_of_the_source_never_runs() {
    let clinic = Clinic::new();
    pull_by(&clinic, "google-labs-jules[bot]");
    clinic.ok(&["source", "set", REPO, "--required-check", "`x`; rm -rf ~"]);
    let ills = clinic.ills(&[]);
    assert!(ills.contains("check_never_runs"), "{ills}");
}

#[test]
fn nobody_can_approve() {
    let clinic = Clinic::new();
    clinic.repo(|repo| repo.reviews_required = 2);
    expect![[r#"
        error    nobody_approves  acme/shop: approvals demanded: 2; people with write access: 1 | cause: the branch's rules demand more approvals than there are people with write access | mend: invite reviewers to acme/shop with the role `Write`, or lower the number of approvals in the rules of main
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_author_is_the_only_reviewer() {
    let clinic = Clinic::new();
    clinic.repo(|repo| repo.reviews_required = 1);
    assert_eq!(clinic.ills(&[]), "");
    pull_by(&clinic, "acme");
    expect![[r#"
        error    author_approves  acme/shop: approvals demanded: 1; Jules's pull requests there were opened by `acme` | cause: no person can approve a pull request of their own, and Jules opens them in the name of the only reviewers | mend: let Jules open pull requests as its bot (https://jules.google.com/settings), or invite another reviewer to acme/shop
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn green_alone_is_not_enough() {
    let clinic = on_green();
    clinic.repo(|repo| repo.reviews_required = 1);
    expect![[r#"
        warning  approvals_needed  acme/shop: it merges on green; approvals demanded: 1 | cause: green pull requests are merged by themselves only after a person has approved each of them | mend: approve them on GitHub, or take the approvals out of the rules of main
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_branch_merges_through_a_queue() {
    let clinic = on_green();
    clinic.repo(|repo| {
        repo.merge_queue = true;
        repo.admin.on_merge_group = true;
    });
    expect![[r#"
        error    merge_queue  acme/shop: it merges on green, and the branch merges through a queue | cause: the branch merges through a merge queue, which Gaffer does not join: it merges nothing there | mend: take `Require merge queue` out of the rules of main, or run `gaffer source set acme/shop --merge human` and queue pull requests yourself
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn no_workflow_runs_in_the_queue() {
    let clinic = Clinic::new();
    clinic.repo(|repo| repo.merge_queue = true);
    expect![[r#"
        error    merge_group_missing  acme/shop: no file under .github/workflows speaks of `merge_group` | cause: no workflow runs on `merge_group`, so the merge queue waits for checks that never start | mend: add `merge_group:` under `on:` of the workflows in acme/shop that are required
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_merge_method_is_not_allowed() {
    let clinic = Clinic::new();
    clinic.repo(|repo| repo.merge_methods = vec![MergeMethod::Rebase]);
    expect![[r#"
        error    method_off  acme/shop: it merges by `squash`, which is not allowed there | cause: the repository or the branch's rules do not allow the merge method of the source, so GitHub refuses every merge | mend: run `gaffer source set acme/shop --merge-method rebase`, or allow it in the repository's settings
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_workflow_that_deploys_is_not_there() {
    let clinic = Clinic::new();
    clinic.change_source(|source| {
        source.deliveries.endpoint = "deploy".parse().unwrap();
        source.deliveries.deploy = "workflow:deploy.yml@main".parse().unwrap();
    });
    expect![[r#"
        error    deploy_missing  acme/shop: its deliveries are deployed by `deploy.yml`, which is no active workflow | cause: the workflow that deploys does not exist or is switched off, so each delivery fails after its merge | mend: add .github/workflows/deploy.yml with `workflow_dispatch` under `on:` to acme/shop, or run `gaffer source set acme/shop --deploy none`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn merging_asks_for_no_check() {
    let clinic = Clinic::new();
    // No command sets it so; an edited export that is imported may have it.
    clinic.change_source(|source| {
        source.policy.merge = MergePolicy::OnGreen;
        source.policy.min_checks = 0;
    });
    expect![[r#"
        warning  no_minimum  acme/shop: it merges on green with `min_checks` at 0 | cause: pull requests may be merged without a single check that has run | mend: run `gaffer source set acme/shop --min-checks 1`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn merging_asks_for_any_check() {
    let clinic = Clinic::new();
    clinic.ok(&["source", "set", REPO, "--merge", "on-green"]);
    expect![[r#"
        warning  nothing_required  acme/shop: it merges on green, and neither the branch's rules nor its settings name a check | cause: pull requests are merged by themselves and no check is required by name: any one success is enough | mend: run `gaffer source set acme/shop --required-check NAME` for each check that must pass
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn protection_does_not_hold_for_the_tokens_owner() {
    let clinic = Clinic::new();
    clinic.repo(|repo| {
        repo.protection = Protection::Classic;
        repo.ci.required = vec![RequiredCheck::any("build")];
        repo.ci.on_base = true;
        repo.ci.checks = vec![CheckSetup::new("build", Outcome::Success)];
        repo.admin.admins_bypass = true;
    });
    pull_by(&clinic, "google-labs-jules[bot]");
    expect![[r#"
        warning  bypasses_protection  acme/shop: the credential's owner is an administrator there | cause: the token's owner is an administrator and the protection does not hold for administrators: GitHub itself would stop no merge of the token's | mend: open the branch protection rule of main and set `Do not allow bypassing the above settings`, or use a token of a person with the role `Write`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_token_is_on_a_bypass_list() {
    let clinic = Clinic::new();
    pull_by(&clinic, "google-labs-jules[bot]");
    requires(&clinic, RequiredCheck::any("build"));
    clinic.repo(|repo| repo.admin.ruleset_bypass = true);
    expect![[r#"
        warning  bypasses_ruleset  acme/shop: it may bypass `main rules` | cause: the credential is on the bypass list of a ruleset: GitHub itself would stop no merge of it | mend: open the ruleset in the settings of acme/shop and take the credential's owner off the bypass list
    "#]].assert_eq(&clinic.ills(&[]));
}
