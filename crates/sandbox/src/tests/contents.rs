//! Sessions and people in a repository with files.

use std::path::Path;
use std::process::Command;

use jiff::SignedDuration;
use serde_json::json;

use super::stand::{Stand, string};
use crate::github::{DEFAULT_TOKEN, NewPull, PullState, RepoSetup};
use crate::jules::AccountSetup;
use crate::story::{Step, Story, Writing};
use crate::{DEFAULT_REPO, Error, ManualClock, Options, Sandbox, Scenario};

const FILES: [(&str, &str); 3] = [
    ("README.md", "Shop\n"),
    ("src/cart.rs", "fn cart() {}\n"),
    ("src/old.rs", "fn old() {}\n"),
];

fn scenario(steps: Vec<Step>) -> Scenario {
    let repo = RepoSetup {
        protected_branches: vec!["main".to_owned()],
        first_number: 101,
        ..RepoSetup::new(DEFAULT_REPO).with_files(FILES)
    };
    Scenario {
        repos: vec![repo],
        accounts: vec![AccountSetup::default()],
        default_story: Story {
            steps,
            ..Story::default()
        },
        ..Scenario::default()
    }
}

fn git(folder: &Path, args: &[&str]) -> (bool, String) {
    let output = Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "user.name=ann", "-c", "user.email=ann@example.com"])
        .args(args)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

fn writing() -> Writing {
    Writing {
        branch: Some("feat/cart".to_owned()),
        files: [("src/new.rs".to_owned(), "fn new() {}\n".to_owned())].into(),
        moves: vec![("src/old.rs".to_owned(), "src/older.rs".to_owned())],
        removals: vec!["README.md".to_owned()],
        ..Writing::default()
    }
}

fn open() -> Step {
    Step::OpenPull {
        after: SignedDuration::ZERO,
        files: Vec::new(),
        draft: false,
    }
}

fn complete() -> Step {
    Step::Complete {
        after: SignedDuration::ZERO,
        no_change: false,
    }
}

#[tokio::test]
async fn a_folder_that_git_refuses_keeps_the_sandbox_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".git"), "gitdir: /nowhere\n").unwrap();
    let mut scenario = scenario(Vec::new());
    scenario.repos[0].folder = Some(folder.path().to_owned());
    let clock = ManualClock::new("2026-11-20T10:00:00Z".parse().unwrap());
    let options = Options::manual(&clock, scenario);
    let error = Sandbox::start(options).await.err().unwrap();
    assert!(matches!(&error, Error::Git { repo, .. } if repo == DEFAULT_REPO));
    assert!(error.to_string().contains("git ls-files"), "{error}");
}

/// A session that was created with this prompt, after a minute.
async fn played(scenario: Scenario, prompt: &str) -> (Stand, String) {
    let stand = Stand::new(scenario).await;
    let body = json!({
        "prompt": prompt,
        "title": "Add a cart",
        "automationMode": "AUTO_CREATE_PR",
        "sourceContext": {
            "source": format!("sources/github/{DEFAULT_REPO}"),
            "githubRepoContext": { "startingBranch": "main" },
        },
    });
    let id = stand.post("/sessions", &body).await.id();
    stand.pass(60_000);
    (stand, id)
}

#[tokio::test]
async fn a_session_writes_one_commit_which_its_pull_request_offers() {
    let again = Writing {
        files: [("src/new.rs".to_owned(), "fn newer() {}\n".to_owned())].into(),
        ..Writing::default()
    };
    let steps = vec![
        Step::Write(writing()),
        open(),
        Step::Write(again),
        complete(),
    ];
    let (stand, id) = played(scenario(steps), "Add a cart").await;
    let github = stand.sandbox.github();
    let [number] = github.pulls(DEFAULT_REPO)[..] else {
        panic!("{:?}", github.pulls(DEFAULT_REPO))
    };
    assert_eq!(number, 101);
    let pull = github.pull(DEFAULT_REPO, number).unwrap();
    assert_eq!(
        (pull.head_ref.as_str(), pull.base_ref.as_str()),
        ("feat/cart", "main")
    );
    assert!(!pull.conflicts);
    let texts = github.texts(DEFAULT_REPO, "feat/cart").unwrap();
    let paths: Vec<_> = texts.keys().map(String::as_str).collect();
    assert_eq!(paths, ["src/cart.rs", "src/new.rs", "src/older.rs"]);
    assert_eq!(texts["src/new.rs"], "fn newer() {}\n");
    let folder = github.folder(DEFAULT_REPO).unwrap();
    let (_, commits) = git(&folder, &["log", "--format=%an %s", "main..feat/cart"]);
    assert_eq!(commits, "google-labs-jules[bot] Add a cart\n".repeat(2));
    let session = stand.get(&format!("/sessions/{id}")).await.json();
    let patch = string(&session["outputs"][1]["changeSet"]["gitPatch"]["unidiffPatch"]);
    assert!(patch.contains("+fn newer() {}"), "{patch}");
    let merged = github.merge_by_hand(stand.clock.now(), DEFAULT_REPO, number, "octo-owner");
    assert!(merged, "a merge may move a protected branch");
    assert_eq!(github.texts(DEFAULT_REPO, "main"), Some(texts));
    let (_, files) = git(&folder, &["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files, "src/cart.rs\nsrc/new.rs\nsrc/older.rs\n");
}

#[tokio::test]
async fn what_cannot_be_committed_fails_the_session() {
    let odd = Writing {
        removals: vec!["gone".to_owned()],
        ..Writing::default()
    };
    let (stand, id) = played(scenario(vec![Step::Write(odd), open(), complete()]), "x").await;
    let session = stand.get(&format!("/sessions/{id}")).await.json();
    assert_eq!(session["state"], "FAILED");
    assert!(stand.sandbox.github().pulls(DEFAULT_REPO).is_empty());
}

#[tokio::test]
async fn a_made_up_change_is_a_real_commit_there() {
    let (stand, _) = played(scenario(vec![open(), complete()]), "Add a cart").await;
    let github = stand.sandbox.github();
    let now = stand.clock.now();
    let other = NewPull {
        title: "Add a cart".to_owned(),
        head_branch: "other".to_owned(),
        author_login: "ann".to_owned(),
        files: vec![crate::github::ChangedFile::modified("src/cart.rs")],
        ..NewPull::default()
    };
    let same = NewPull {
        title: "Another".to_owned(),
        head_branch: "same".to_owned(),
        ..other.clone()
    };
    let numbers = [other, same].map(|pull| github.open_pull(now, DEFAULT_REPO, pull));
    let texts = github.texts(DEFAULT_REPO, "other").unwrap();
    assert_eq!(texts["src/cart.rs"], "fn cart() {}\nAdd a cart\n");
    assert!(github.merge_by_hand(now, DEFAULT_REPO, numbers[0], "octo-owner"));
    let pull = github.pull(DEFAULT_REPO, numbers[1]).unwrap();
    assert!(pull.conflicts, "both put a line at the same place");
    assert!(!github.merge_by_hand(now, DEFAULT_REPO, numbers[1], "octo-owner"));
    github.push(now, DEFAULT_REPO, "same", "Settle it", "ann");
    assert!(!github.pull(DEFAULT_REPO, numbers[1]).unwrap().conflicts);
    assert!(github.merge_by_hand(now, DEFAULT_REPO, numbers[1], "octo-owner"));
    let folder = github.folder(DEFAULT_REPO).unwrap();
    assert!(git(&folder, &["fsck", "--strict"]).0);
}

/// Their owner and the time are the same, too.
#[tokio::test]
async fn repositories_with_equal_files_have_equal_commits_in_a_git_of_their_own() {
    let mut scenario = scenario(Vec::new());
    let twin = format!("{DEFAULT_REPO}-twin");
    scenario.repos.push(RepoSetup {
        full_name: twin.clone(),
        ..scenario.repos[0].clone()
    });
    let stand = Stand::new(scenario).await;
    let (github, now) = (stand.sandbox.github(), stand.clock.now());
    let heads = [DEFAULT_REPO, twin.as_str()].map(|repo| {
        let pull = NewPull {
            title: "Add a cart".to_owned(),
            head_branch: "cart".to_owned(),
            author_login: "ann".to_owned(),
            files: vec![crate::github::ChangedFile::modified("src/cart.rs")],
            ..NewPull::default()
        };
        let number = github.open_pull(now, repo, pull);
        let head = github.pull(repo, number).unwrap().head_sha;
        assert!(github.merge_by_hand(now, repo, number, "octo-owner"));
        let texts = github.texts(repo, "main").unwrap();
        assert_eq!(texts["src/cart.rs"], "fn cart() {}\nAdd a cart\n", "{repo}");
        head
    });
    assert_eq!(heads[0], heads[1]);
}

#[tokio::test]
async fn a_push_from_outside_is_seen_at_the_next_beat() {
    let steps = vec![Step::Write(writing()), open(), complete()];
    let (stand, _) = played(scenario(steps), "Add a cart").await;
    let github = stand.sandbox.github();
    let number = github.pulls(DEFAULT_REPO)[0];
    let before = github.pull(DEFAULT_REPO, number).unwrap().head_sha;
    let folder = github.folder(DEFAULT_REPO).unwrap();
    let home = tempfile::tempdir().unwrap();
    let clone = home.path().join("clone");
    let from = folder.to_str().unwrap();
    let to = clone.to_str().unwrap();
    assert!(git(home.path(), &["clone", "--branch", "feat/cart", from, to]).0);
    std::fs::write(clone.join("by-hand"), "x\n").unwrap();
    assert!(git(&clone, &["add", "."]).0);
    assert!(git(&clone, &["commit", "-m", "By hand"]).0);
    let (pushed, said) = git(
        &clone,
        &["push", "origin", "feat/cart", "HEAD:refs/heads/other"],
    );
    assert!(pushed, "{said}");
    assert_eq!(github.branch_exists(DEFAULT_REPO, "other"), Some(false));
    stand.pass(1_000);
    let (_, head) = git(&clone, &["rev-parse", "HEAD"]);
    let pull = github.pull(DEFAULT_REPO, number).unwrap();
    assert_ne!(pull.head_sha, before);
    assert_eq!(pull.head_sha, head.trim());
    assert_eq!(github.branch(DEFAULT_REPO, "other"), Some(pull.head_sha));
    assert!(git(&clone, &["push", "--delete", "origin", "feat/cart"]).0);
    stand.pass(1_000);
    let pull = github.pull(DEFAULT_REPO, number).unwrap();
    assert_eq!(pull.state, PullState::Closed, "its branch is gone");

    let (pushed, said) = git(&clone, &["push", "origin", "HEAD:refs/heads/main"]);
    assert!(!pushed && said.contains("GH013"), "{said}");
}

#[tokio::test]
async fn a_protected_branch_is_moved_by_merges_only() {
    let stand = Stand::new(scenario(Vec::new())).await;
    let base = stand.sandbox.github_base();
    let main = stand.sandbox.github().branch(DEFAULT_REPO, "main").unwrap();
    let refs = format!("{base}/repos/{DEFAULT_REPO}/git/refs");
    let post = |name: &str| {
        let body = json!({ "ref": format!("refs/heads/{name}"), "sha": main });
        let request = stand.http.post(&refs).bearer_auth(DEFAULT_TOKEN);
        request.json(&body).send()
    };
    assert_eq!(post("free").await.unwrap().status(), 201);
    assert_eq!(post("free").await.unwrap().status(), 422);
    let told = post("free/below").await.unwrap().status();
    assert_eq!(told, 422, "a branch is no folder");
    stand.sandbox.github().change_repo(DEFAULT_REPO, |setup| {
        setup.protected_branches = vec!["kept".to_owned(), "free".to_owned()];
    });
    assert_eq!(post("kept").await.unwrap().status(), 422);
    let delete = stand.http.delete(format!("{refs}/heads/free"));
    let deleted = delete.bearer_auth(DEFAULT_TOKEN).send().await.unwrap();
    assert_eq!(deleted.status(), 422);
}

#[tokio::test]
async fn a_layer_with_nothing_to_report_ends_without_a_pull_request() {
    let story = Story {
        matches: String::new(),
        ..Story::layer()
    };
    let prompt = "# Your layer\nlayer: planner\n---\n# Output\n\nYou work on the branch `main` of acme/shop.\n\n- `gone.yml`\n\nName your branch `jules-planner-1`.\n";
    let (stand, id) = played(scenario(story.steps), prompt).await;
    let session = stand.get(&format!("/sessions/{id}")).await.json();
    assert_eq!(session["state"], "COMPLETED");
    assert!(stand.sandbox.github().pulls(DEFAULT_REPO).is_empty());
    assert!(prompt.contains(&Story::layer().matches));
}

#[tokio::test]
async fn a_layer_works_from_its_prompt_and_offers_the_branch_that_it_names() {
    let requirement = "id: aa0001\ntitle: Say more\nrequires_deep_analysis: true\nrisks: []\n";
    let mut scenario = scenario(Vec::new());
    let path = ".jules/exchange/requirements/aa0001-say-more.yml";
    scenario.repos[0]
        .files
        .insert(path.to_owned(), requirement.to_owned());
    // It is what such a prompt gets, unless a story says otherwise.
    scenario.default_story = Story::default();
    let prompt = format!(
        "# Your layer\nlayer: planner\n---\n# Output\n\nYou work on the branch `main` of {DEFAULT_REPO}.\n\n- `{path}`\n\nName your branch `jules-planner-aa0002`.\n"
    );
    let (stand, _) = played(scenario, &prompt).await;
    let github = stand.sandbox.github();
    let pull = github.pull(DEFAULT_REPO, 101).unwrap();
    assert_eq!(pull.head_ref, "jules-planner-aa0002");
    let texts = github.texts(DEFAULT_REPO, &pull.head_ref).unwrap();
    assert_eq!(
        texts[path],
        "id: aa0001\ntitle: Say more\nrequires_deep_analysis: false\nrisks:\n  - \"Readers know the old name.\"\n"
    );
}
