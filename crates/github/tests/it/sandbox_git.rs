//! The adapter against a repository of the sandbox that is real git, and the agents of a pipeline's layers in it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use domain::failure::FailureClass;
use domain::ids::{ArtefactId, BranchName, CommitSha, PullRef, RepoName, RoleName};
use domain::layer::Layer;
use domain::policy::MergeMethod;
use engine::ports::{
    CommitRange, Edit, GitRead, GitWrite, IssuesRead, NewCommit, NewIssue, NewPull, NewStatus,
    PullsRead, PullsWrite, StatusState,
};
use github::{Client, Reader, Writer};
use sandbox::Scenario;
use sandbox::github::{DEFAULT_TOKEN, PullState, RepoSetup};
use sandbox::jules::layer_agent;
use scaffold::doctor::{self, Circumstances};
use scaffold::prompt::{Ask, Records, Trees, assemble, ids_wanted};
use scaffold::scope::ChangeKind;
use scaffold::tree::{Entry, Mode, Tree};

use crate::stage::SandboxStage;

pub(crate) const REPO: &str = "acme/shop";
const TODAY: &str = "2026-11-21";

/// A sandbox with one repository of files, and the adapter over it.
pub(crate) struct Stage {
    at: SandboxStage,
    pub(crate) client: Client,
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
    pub(crate) repo: RepoName,
}

impl Deref for Stage {
    type Target = SandboxStage;

    fn deref(&self) -> &SandboxStage {
        &self.at
    }
}

impl Stage {
    pub(crate) async fn new(files: &[(&str, &str)]) -> Self {
        let at = SandboxStage::new(Scenario {
            repos: vec![RepoSetup::new(REPO).with_files(files.iter().copied())],
            ..Scenario::default()
        })
        .await;
        let client = at.client(DEFAULT_TOKEN, None);
        Self {
            at,
            reader: Reader::new(client.clone()),
            writer: Writer::new(client.clone()),
            client,
            repo: REPO.parse().unwrap(),
        }
    }

    pub(crate) fn pass(&self) {
        self.at.pass(2);
    }

    pub(crate) async fn tip(&self, branch: &str) -> CommitSha {
        let tip = self.reader.tip(&self.repo, &name(branch)).await.unwrap();
        tip.unwrap()
    }

    pub(crate) async fn commit(&self, on: &CommitSha, edits: Vec<Edit>) -> CommitSha {
        self.pass();
        let commit = NewCommit {
            parents: vec![on.clone()],
            files_of: on.clone(),
            edits,
            kept: Vec::new(),
            message: "Change files\n\nAs asked.".to_owned(),
            names_tree: false,
        };
        self.writer.commit(&self.repo, &commit).await.unwrap()
    }

    pub(crate) async fn propose(&self, head: &str, base: &str) -> PullRef {
        let pull = NewPull {
            head: name(head),
            base: name(base),
            title: "Change files".to_owned(),
            body: "As asked.".to_owned(),
        };
        self.writer.open_pull(&self.repo, &pull).await.unwrap()
    }
}

pub(crate) fn name(branch: &str) -> BranchName {
    branch.parse().unwrap()
}

pub(crate) fn write(path: &str, text: &str) -> Edit {
    Edit::Write(path.parse().unwrap(), text.to_owned())
}

fn take(path: &str, commit: &CommitSha) -> Edit {
    Edit::TakeFolder(path.parse().unwrap(), commit.clone())
}

fn paths(tree: &Tree) -> Vec<&str> {
    tree.iter().map(|(path, _)| path.as_str()).collect()
}

pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

const FILES: [(&str, &str); 4] = [
    (".jlo/config.toml", "[run]\n"),
    ("src/a.rs", "fn a() {}\nfn b() {}\nfn c() {}\n"),
    ("src/b.rs", ""),
    ("README.md", "Shop\n"),
];

#[tokio::test]
async fn files_are_read_and_written_through_real_git() {
    let stage = Stage::new(&FILES).await;
    let (reader, writer, repo) = (&stage.reader, &stage.writer, &stage.repo);
    reader.identify(repo).await.unwrap();
    let main = stage.tip("main").await;
    assert_eq!(reader.tip(repo, &name("jules")).await.unwrap(), None);
    let tree = reader.tree(repo, &main, &[".jules", ".jlo"]).await.unwrap();
    assert_eq!(paths(&tree), [".jlo/config.toml"]);
    assert_eq!(tree.text(".jlo/config.toml"), Some("[run]\n"));

    // The worker branch: the system's folder, nothing else of its own.
    let edits = vec![
        write(".jules/JULES.md", "Rules\n"),
        write(".jules/exchange/x/.gitkeep", ""),
    ];
    let worker = stage.commit(&main, edits).await;
    for _ in 0..2 {
        let made = writer.create_branch(repo, &name("jules"), &worker).await;
        made.unwrap();
    }
    let again = writer.create_branch(repo, &name("jules"), &main).await;
    assert_eq!(again.unwrap_err().class, FailureClass::Conflict);
    assert_eq!(stage.tip("jules").await, worker);
    let tree = reader
        .tree(repo, &worker, &[".jules", ".jlo"])
        .await
        .unwrap();
    assert_eq!(
        paths(&tree),
        [
            ".jlo/config.toml",
            ".jules/JULES.md",
            ".jules/exchange/x/.gitkeep"
        ]
    );

    // A file is moved and another removed; a folder comes from the worker branch, with a file written into it.
    let text = "fn a() {}\nfn b() {}\nfn c() {}\n";
    let edits = vec![
        write("src/deep/er.rs", text),
        Edit::Remove("src/a.rs".parse().unwrap()),
        Edit::Remove("README.md".parse().unwrap()),
        take(".jules", &worker),
        write(".jules/new.yml", "a: 1\n"),
        take(".jlo", &main),
    ];
    let head = stage.commit(&main, edits).await;
    let between = |base, head| CommitRange { base, head };
    let compared = reader.compare(repo, between(&main, &head)).await.unwrap();
    assert_eq!(compared.merge_base, main);
    assert_eq!(compared.commits.len(), 1);
    assert_eq!(compared.commits[0].subject, "Change files");
    let changes: Vec<_> = compared
        .files
        .iter()
        .map(|it| (it.path.as_str(), it.old_path.as_deref(), it.kind, it.mode))
        .collect();
    let file = Some(Mode::File);
    assert_eq!(
        changes,
        [
            (".jules/JULES.md", None, ChangeKind::Added, file),
            (".jules/exchange/x/.gitkeep", None, ChangeKind::Added, file),
            (".jules/new.yml", None, ChangeKind::Added, file),
            ("README.md", None, ChangeKind::Removed, None),
            ("src/deep/er.rs", Some("src/a.rs"), ChangeKind::Added, file),
        ]
    );
    let log = reader.log(repo, &head, 5).await.unwrap();
    let subjects: Vec<_> = log.iter().map(|it| it.subject.as_str()).collect();
    assert_eq!(subjects, ["Change files", "Initial commit"]);
    proposed_and_merged(&stage, &head).await;
}

/// A branch of a commit, its pull request, what is put beside it, and its merge.
async fn proposed_and_merged(stage: &Stage, head: &CommitSha) {
    let (reader, writer, repo) = (&stage.reader, &stage.writer, &stage.repo);
    let branch = name("gaffer/sync");
    assert_eq!(reader.pull_of(repo, &branch).await.unwrap(), None);
    stage.pass();
    writer.create_branch(repo, &branch, head).await.unwrap();
    let pull = stage.propose("gaffer/sync", "main").await;
    let twice = NewPull {
        head: branch.clone(),
        base: name("main"),
        title: "Again".to_owned(),
        body: String::new(),
    };
    let twice = writer.open_pull(repo, &twice).await.unwrap_err();
    assert_eq!(twice.class, FailureClass::Conflict);
    let found = reader.pull_of(repo, &branch).await.unwrap().unwrap();
    assert_eq!(
        (&found.pull, &found.head, found.is_open),
        (&pull, head, true)
    );
    stage.pass();
    let status = NewStatus {
        context: "jules/doctor".to_owned(),
        state: StatusState::Success,
        description: "Nothing is wrong.".to_owned(),
    };
    writer.set_status(repo, head, &status).await.unwrap();
    stage.pass();
    let facts = reader
        .facts(&pull, crate::server::common(), stage.clock.now())
        .await
        .unwrap();
    let checks = facts.checks.known().unwrap();
    assert_eq!(checks[0].name, "jules/doctor");
    assert_eq!(facts.files.known().unwrap().len(), 5 + 1, "old names count");
    for colour in ["d73a4a", "0e8a16"] {
        stage.pass();
        let put = writer.put_label(repo, "bugs", colour, "Broken");
        put.await.unwrap();
    }
    opened_issue(stage).await;
    stage.pass();
    let merged = writer
        .merge(&pull, head, MergeMethod::Merge, None)
        .await
        .unwrap();
    assert_eq!(stage.tip("main").await, merged);
    let view = stage.sandbox.github().pull(REPO, pull.number).unwrap();
    assert_eq!(view.state, PullState::Merged);
    stage.pass();
    writer.delete_branch(repo, &branch).await.unwrap();
    assert_eq!(reader.tip(repo, &branch).await.unwrap(), None);
    let after = reader.pull_of(repo, &branch).await.unwrap().unwrap();
    assert!(!after.is_open);
    cloned(stage, &merged);
}

/// An issue of ours, and one of another person with a marker like ours.
async fn opened_issue(stage: &Stage) {
    let (writer, repo) = (&stage.writer, &stage.repo);
    stage.pass();
    let new = NewIssue {
        title: "A title".to_owned(),
        body: "A body".to_owned(),
        label: "innovator/recruiter".to_owned(),
        marker: "proposal:abc123:00".to_owned(),
    };
    let issue = writer.open_issue(repo, &new).await.unwrap();
    let issue = stage.sandbox.github().issue(REPO, issue).unwrap();
    assert_eq!(
        (&issue.title, &issue.labels[..]),
        (&new.title, &[new.label.clone()][..])
    );
    let theirs = sandbox::github::NewIssue {
        title: "Mine".to_owned(),
        body: "<!-- gaffer:proposal:def456:00 -->".to_owned(),
        author_login: "mallory".to_owned(),
        labels: vec![new.label.clone()],
    };
    let now = stage.clock.now();
    stage.sandbox.github().open_issue(now, REPO, theirs);
    let ours = stage.reader.own_markers(repo, &new.label).await;
    assert_eq!(ours.unwrap(), [new.marker.as_str()]);
}

/// The repository as a person clones it.
fn cloned(stage: &Stage, main: &CommitSha) {
    let folder = stage.sandbox.github().folder(REPO).unwrap();
    let home = tempfile::tempdir().unwrap();
    git(
        home.path(),
        &["clone", "--quiet", folder.to_str().unwrap(), "clone"],
    );
    let clone = home.path().join("clone");
    git(&clone, &["fsck", "--strict"]);
    git(&folder, &["fsck", "--strict"]);
    assert_eq!(git(&clone, &["rev-parse", "HEAD"]).trim(), main.as_str());
    assert_eq!(
        git(&clone, &["ls-files"]),
        ".jlo/config.toml\n.jules/JULES.md\n.jules/exchange/x/.gitkeep\n.jules/new.yml\nsrc/b.rs\nsrc/deep/er.rs\n"
    );
    let branches = git(&folder, &["for-each-ref", "--format=%(refname:short)"]);
    assert_eq!(branches, "jules\nmain\n");
}

#[tokio::test]
async fn what_is_not_there_is_refused() {
    let stage = Stage::new(&FILES).await;
    let main = stage.tip("main").await;
    let nowhere: CommitSha = "0".repeat(40).parse().unwrap();
    let tree = stage.reader.tree(&stage.repo, &nowhere, &[".jlo"]).await;
    assert_eq!(tree.unwrap_err().class, FailureClass::NotFound);
    let commit = NewCommit {
        parents: vec![main.clone()],
        files_of: main.clone(),
        edits: vec![Edit::Remove("gone".parse().unwrap())],
        kept: Vec::new(),
        message: "Remove".to_owned(),
        names_tree: false,
    };
    let made = stage.writer.commit(&stage.repo, &commit).await;
    assert_eq!(made.unwrap_err().class, FailureClass::Conflict);
    stage.pass();
    let nothing = NewPull {
        head: name("same"),
        base: name("main"),
        title: "Nothing".to_owned(),
        body: String::new(),
    };
    stage
        .writer
        .create_branch(&stage.repo, &name("same"), &main)
        .await
        .unwrap();
    let opened = stage.writer.open_pull(&stage.repo, &nothing).await;
    assert_eq!(opened.unwrap_err().class, FailureClass::Conflict);
}

/// The trees of a repository after its bootstrap, with code.
fn bootstrapped() -> BTreeMap<String, String> {
    let assets = scaffold::assets::system().into_iter();
    let control = scaffold::assets::control().into_iter();
    let mut files: BTreeMap<String, String> = assets
        .chain(control)
        .map(|asset| (asset.path.to_string(), asset.text.to_owned()))
        .collect();
    files.insert("src/cart.rs".to_owned(), "fn cart() {}\n".to_owned());
    files
}

fn tree_of(files: &BTreeMap<String, String>, root: &str) -> Arc<Tree> {
    let below = files.iter().filter(|(path, _)| path.starts_with(root));
    let tree: Tree = below
        .map(|(path, text)| (path.parse().unwrap(), Entry::text(text)))
        .collect();
    Arc::new(tree)
}

fn trees(files: &BTreeMap<String, String>) -> Trees {
    Trees {
        target: tree_of(files, ".jlo/"),
        worker: tree_of(files, ".jules/"),
    }
}

/// Lets the agent of a layer work on its prompt, and answers the branch.
fn work(
    files: &mut BTreeMap<String, String>,
    layer: Layer,
    (role, requirement): (Option<&str>, Option<&str>),
    run: usize,
) -> String {
    let ids = (0..ids_wanted(layer)).map(|n| {
        let id = format!("{run:02}{n:04}");
        id.parse::<ArtefactId>().unwrap()
    });
    let ask = Ask {
        stream: None,
        layer,
        role: role.map(|role| role.parse::<RoleName>().unwrap()),
        task: None,
        requirement: requirement.map(|path| path.parse().unwrap()),
        repository: REPO.parse().unwrap(),
        target_branch: name("main"),
        worker_branch: name("jules"),
        range_description: "1a2b3c4 Close the file".to_owned(),
        ids: ids.collect(),
        records: Records::default(),
    };
    let prompt = assemble(&trees(files), &ask).unwrap().text;
    let writing = layer_agent(&prompt, files, TODAY).unwrap();
    for (from, to) in &writing.moves {
        let text = files.remove(from).unwrap();
        files.insert(to.clone(), text);
    }
    for path in &writing.removals {
        files.remove(path).unwrap();
    }
    files.extend(writing.files);
    let circumstances = Circumstances {
        today: TODAY.parse().unwrap(),
        version: files[".jlo/.jlo-version"].trim().to_owned(),
    };
    let findings = doctor::examine(&trees(files), &circumstances);
    let findings: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings, [""; 0], "{layer}: {prompt}");
    writing.branch.unwrap()
}

fn one_below<'a>(files: &'a BTreeMap<String, String>, folder: &str) -> &'a str {
    let mut below = files.keys().filter(|path| {
        path.strip_prefix(folder)
            .is_some_and(|name| name.ends_with(".yml") && !name.contains('/'))
    });
    let found = below.next().unwrap();
    assert_eq!(below.next(), None);
    found
}

#[test]
fn each_layers_prompt_is_enough_for_what_the_doctor_accepts() {
    let mut files = bootstrapped();
    files
        .entry(".jlo/.jlo-version".to_owned())
        .or_insert("0.1.0".to_owned());
    let alone = (None, None);
    assert!(work(&mut files, Layer::Narrator, alone, 1).starts_with("jules-narrator-"));
    work(&mut files, Layer::Observers, (Some("taxonomy"), None), 2);
    let event = one_below(&files, ".jules/exchange/events/pending/").to_owned();
    work(&mut files, Layer::Decider, alone, 3);
    assert!(!files.contains_key(&event));
    one_below(&files, ".jules/exchange/events/decided/");
    let requirement = one_below(&files, ".jules/exchange/requirements/").to_owned();
    assert!(files[&requirement].contains("requires_deep_analysis: true"));
    let about = (None, Some(requirement.as_str()));
    work(&mut files, Layer::Planner, about, 4);
    assert!(files[&requirement].contains("requires_deep_analysis: false"));
    let branch = work(&mut files, Layer::Implementer, about, 5);
    assert!(branch.starts_with("jules-implementer-"), "{branch}");
    assert!(files["src/cart.rs"].starts_with("fn cart() {}\n// "));
    work(
        &mut files,
        Layer::Innovators,
        (Some("leverage_architect"), None),
        6,
    );
    let proposals = files
        .keys()
        .filter(|path| path.starts_with(".jules/exchange/proposals/") && path.ends_with(".yml"));
    assert_eq!(proposals.count(), 3);
}
