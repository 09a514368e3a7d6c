//! The credential for GitHub: tokens and Apps.

use expect_test::expect;
use sandbox::github::{
    APP_ID, Access, AppSetup, Permissions, RequiredCheck, Resource, TokenKind, TokenSetup,
};
use sandbox::{Fault, FaultKind, Scenario, Service, Times};

use super::clinic::{APP_KEY, Clinic};
use crate::world::{HeldPort, KEY, Told};

/// A token of this kind that may do this.
fn with_token(token: &str, kind: TokenKind, permissions: Permissions) -> Clinic {
    let setup = TokenSetup {
        token: token.to_owned(),
        kind,
        permissions,
        ..TokenSetup::default()
    };
    let scenario = Scenario {
        tokens: vec![setup],
        ..Scenario::default()
    };
    Clinic::with_scenario(scenario).set("GITHUB_TOKEN", token)
}

fn as_app(app: AppSetup) -> Clinic {
    let clinic = Clinic::new()
        .set("GITHUB_APP_ID", APP_ID.to_string())
        .set("GITHUB_APP_KEY", APP_KEY);
    clinic.github().set_app(app);
    clinic
}

#[test]
fn there_is_none() {
    let clinic = Clinic::new().set("GITHUB_TOKEN", "");
    expect![[r#"
        error    github_missing  GitHub credential: it is not kept and GITHUB_TOKEN is not set | cause: without a credential for GitHub no pull request can be read or merged | mend: set GITHUB_TOKEN to a classic token with the scope `repo`, or run `gaffer github setup` for an App
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_key_of_googles_is_the_token() {
    let clinic = Clinic::new().set("GITHUB_TOKEN", KEY);
    expect![[r#"
        error    github_kind  GitHub credential: what is kept is a key of Google's | cause: what stands there is no credential of GitHub's of the kind that is expected; it was not sent to GitHub | mend: set GITHUB_TOKEN to a token of GitHub's (or GITHUB_APP_KEY to the App's private key when GITHUB_APP_ID is set), and replace the credential that stood there
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn github_refuses_the_token() {
    let clinic = Clinic::new().set("GITHUB_TOKEN", "ghp_wrong");
    expect![[r#"
        error    github_refused  GitHub credential: asking GitHub whose the token is: GitHub answered 401: Bad credentials; the GitHub credential does not work: store another token or App key | cause: GitHub does not accept the token: it expired, was revoked, or was cut while it was copied | mend: make a new token at https://github.com/settings/tokens with the scope `repo` and set GITHUB_TOKEN
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn it_is_the_token_of_a_workflow_run() {
    let clinic = with_token("ghs_run", TokenKind::Actions, Permissions::all());
    expect![[r#"
        error    github_actions_token  GitHub credential: it is a token of an installation, as workflow runs get it | cause: a token of a workflow run or of an installation ends within the hour, and merges with the Actions token start no workflows | mend: set GITHUB_TOKEN to a classic token with the scope `repo`, or run `gaffer github setup` for an App
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
    // The same without the beginning that gives it away.
    let clinic = with_token("sandboxrun", TokenKind::Actions, Permissions::all());
    expect![[r#"
        error    github_actions_token  GitHub credential: GitHub knows it as an installation's, not as a person's | cause: a token of a workflow run or of an installation ends within the hour, and merges with the Actions token start no workflows | mend: set GITHUB_TOKEN to a classic token with the scope `repo`, or run `gaffer github setup` for an App
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_token_has_no_scope() {
    let setup = TokenSetup {
        token: "ghp_gists".to_owned(),
        scopes: "gist, read:user".to_owned(),
        ..TokenSetup::default()
    };
    let scenario = Scenario {
        tokens: vec![setup],
        ..Scenario::default()
    };
    let clinic = Clinic::with_scenario(scenario).set("GITHUB_TOKEN", "ghp_gists");
    expect![[r#"
        error    github_scope  GitHub credential: its scopes are `gist`, `read:user` | cause: the token has no scope that lets it read and merge pull requests | mend: open https://github.com/settings/tokens, give the token the scope `repo`, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_token_may_only_read() {
    let permissions = Permissions::all()
        .with(Resource::Contents, Access::Read)
        .with(Resource::Administration, Access::Read);
    let clinic = with_token("ghp_reader", TokenKind::Classic, permissions);
    expect![[r#"
        error    cannot_write  acme/shop: GitHub says that the credential may read and not push | cause: the credential may read the repository and not write to it, so it can neither merge nor comment | mend: give the token's owner the role `Write` in acme/shop, or use a token of a person who has it
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_fine_grained_token_cannot_read_checks() {
    let permissions = Permissions::all().with(Resource::Checks, Access::None);
    let clinic = with_token("github_pat_11", TokenKind::FineGrained, permissions);
    expect![[r#"
        error    checks_forbidden  acme/shop: `Checks: read` is missing | cause: the credential may not read check runs, and what cannot be read is never merged; fine-grained tokens cannot have this permission | mend: set GITHUB_TOKEN to a classic token with the scope `repo`, or run `gaffer github setup` for an App with `Checks: read`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_token_cannot_read_pull_requests() {
    let permissions = Permissions::all().with(Resource::PullRequests, Access::None);
    let clinic = with_token("ghp_blind", TokenKind::Classic, permissions);
    expect![[r#"
        error    read_forbidden  acme/shop: `Pull requests: read` is missing | cause: the credential may not read something that a merge depends on, and what cannot be read is never merged | mend: give the token or the App this permission
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn what_protects_the_branch_cannot_be_known() {
    let permissions = Permissions::all().with(Resource::Administration, Access::None);
    let clinic = with_token("ghp_writer", TokenKind::Classic, permissions);
    expect![[r#"
        error    protection_unknown  acme/shop: `Administration: read` is missing | cause: the credential may not read the classic protection of the base branch and the source lists no checks, so what is demanded is unknown and nothing is merged | mend: run `gaffer source set acme/shop --required-check NAME` for each check that must pass, or give the token's owner the role `Admin` (an App `Administration: read`)
    "#]].assert_eq(&clinic.ills(&[]));
    // What rulesets require does not stand in for it: nothing would ever be merged.
    clinic.repo(|repo| repo.ci.required = vec![RequiredCheck::any("build")]);
    clinic.ok(&["source", "set", "acme/shop", "--merge", "on-green"]);
    assert!(clinic.ills(&[]).contains("  protection_unknown  "));
    // Checks that the source lists do.
    clinic.ok(&["source", "set", "acme/shop", "--required-check", "build"]);
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn github_cannot_be_reached() {
    let closed = HeldPort::take();
    let base = format!("http://{}", closed.address());
    let clinic = Clinic::new().set("GITHUB_API_BASE", base);
    expect![[r#"
        error    github_unreachable  GitHub credential: asking GitHub whose the token is: GitHub cannot be reached: Connection refused (os error 111) | cause: no usable answer came from GitHub: the network, a proxy, or the address in GITHUB_API_BASE | mend: check the network, and unset GITHUB_API_BASE unless you mean it
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

/// GitHub answers this wherever the path contains that.
fn answers(clinic: &Clinic, path: &str, code: u16, body: Option<&str>) {
    clinic.sandbox.faults().add(Fault {
        service: Service::GitHub,
        path_contains: path.to_owned(),
        method: None,
        body_contains: String::new(),
        kind: FaultKind::Status {
            code,
            retry_after_secs: None,
            body: body.map(|message| serde_json::json!({ "message": message })),
        },
        times: Times::Always,
    });
}

#[test]
fn github_is_in_trouble() {
    let clinic = Clinic::new();
    answers(&clinic, "/user", 502, None);
    expect![[r#"
        warning  github_trouble  GitHub credential: asking GitHub whose the token is: GitHub answered 502: Bad Gateway | cause: GitHub answered with an error that may pass by itself | mend: run `gaffer doctor` again in a few minutes
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]]
    .assert_eq(&clinic.ills(&[]));
}

#[test]
fn github_is_asked_too_often() {
    let clinic = Clinic::new();
    let limit =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    answers(&clinic, "", 403, Some(limit));
    let ills = clinic.ills(&[]);
    ills.tells(&["  github_trouble  ", "  repo_unseen  "]);
}

#[test]
fn nothing_is_shown_of_the_repository() {
    let clinic = Clinic::new();
    answers(&clinic, "/repos/acme/shop", 500, None);
    expect![[r#"
        error    repo_unseen  acme/shop: looking at acme/shop: GitHub answered 500: Internal Server Error | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]]
    .assert_eq(&clinic.ills(&[]));
}

#[test]
fn what_was_not_seen_is_not_said_to_be_fine() {
    let mut told = String::new();
    for path in [
        "/rules/branches/",
        "/protection",
        "/check-runs",
        "/pulls",
        "/shop/branches/main",
        "/actions/workflows",
        "/labels/jules",
        "/hooks",
    ] {
        let clinic = Clinic::new();
        answers(&clinic, path, 500, None);
        told.push_str(&clinic.ills(&[]));
    }
    expect![[r#"
        warning  not_looked_at  acme/shop: what rulesets demand could not be seen: reading the rules of acme/shop's branch main: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: what classic protection demands could not be seen: reading the protection of acme/shop's branch main: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: what reports checks could not be seen: looking for checks on a commit of acme/shop: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: its pull requests could not be seen: listing the newest pull requests of acme/shop: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: whether its base branch is there could not be seen: looking for acme/shop's branch main: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: what classic protection demands could not be seen: reading the protection of acme/shop's branch main: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: its workflows could not be seen: listing the workflows of acme/shop: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: whether it has a label `jules` could not be seen: looking for the label `jules` in acme/shop: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
        warning  not_looked_at  acme/shop: its webhooks could not be seen: listing the webhooks of acme/shop: GitHub answered 500: Internal Server Error | cause: what could not be seen may be wrong all the same, and nothing else is said of it | mend: mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again
    "#]]
    .assert_eq(&told);
}

/// A private repository of a free plan has no rules, which a merge knows too.
#[test]
fn the_plan_has_no_rules() {
    let clinic = Clinic::new();
    let plan = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
    answers(&clinic, "/rules/branches/", 403, Some(plan));
    answers(&clinic, "/protection", 403, Some(plan));
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn an_app_signs_in() {
    let clinic = as_app(AppSetup::default());
    let (told, code) = clinic.report(&[]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("it is the App `gaffer-sandbox`"), "{told}");
}

#[test]
fn the_apps_key_is_of_another_app() {
    let clinic = as_app(AppSetup::default()).set("GITHUB_APP_ID", "99");
    expect![[r#"
        error    app_key_mismatch  GitHub credential: asking GitHub which App this is: GitHub answered 401: A JSON web token could not be decoded; the GitHub credential does not work: store another token or App key | cause: GitHub does not take the App's signature: the private key belongs to another App, was deleted, or the id is wrong | mend: open the App's settings on GitHub, compare its App ID with GITHUB_APP_ID, and make a new private key there
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_token_is_the_apps_key() {
    let clinic = as_app(AppSetup::default()).set("GITHUB_APP_KEY", "ghp_token");
    expect![[r#"
        error    github_kind  GitHub credential: App 4100001 is to sign in, and what is kept is a token of GitHub's | cause: what stands there is no credential of GitHub's of the kind that is expected; it was not sent to GitHub | mend: set GITHUB_TOKEN to a token of GitHub's (or GITHUB_APP_KEY to the App's private key when GITHUB_APP_ID is set), and replace the credential that stood there
        error    repo_unseen  acme/shop: GitHub was not asked about it; what stands in the way is told of the credential | cause: nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there | mend: mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_app_is_not_installed_there() {
    let clinic = as_app(AppSetup {
        repos: Some(vec!["acme/other".to_owned()]),
        ..AppSetup::default()
    });
    expect![[r#"
        error    app_not_installed  acme/shop: GitHub shows no installation there | cause: the GitHub App has no access to the repository | mend: open the App's page on GitHub, choose `Install App`, and give it access to acme/shop
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_app_is_suspended() {
    let clinic = as_app(AppSetup {
        suspended: true,
        ..AppSetup::default()
    });
    expect![[r#"
        error    app_suspended  acme/shop: the installation there is suspended | cause: the App's installation is suspended: GitHub refuses all its calls | mend: open https://github.com/settings/installations (or the organization's) and choose `Unsuspend`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_app_lacks_permissions() {
    let permissions = Permissions::all()
        .with(Resource::Checks, Access::None)
        .with(Resource::Contents, Access::Read);
    let clinic = as_app(AppSetup {
        permissions,
        ..AppSetup::default()
    });
    expect![[r#"
        error    app_permission  acme/shop: it lacks `checks: read`, `contents: write` | cause: the App lacks permissions that Gaffer needs | mend: open the App's settings on GitHub, add them under `Permissions & events`, and accept the change for the installation
    "#]].assert_eq(&clinic.ills(&[]));
}
