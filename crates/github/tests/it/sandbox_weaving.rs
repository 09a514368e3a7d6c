//! The weaver's reads and writes against a repository of the sandbox that is real git.

use domain::failure::FailureClass;
use engine::ports::{CommitRange, Edit, GitRead, GitWrite, PullsWrite};
use engine::weaving::{Ask, Skip, Skipped, Weaver};
use github::Reader;
use sandbox::{Fault, FaultKind, Service};
use weave::patch::parse;
use weave::tree::{BlobId, Entry, Mode};
use weave::weave::Order;

use crate::sandbox_git::{REPO, Stage, git, name, write};

const FILES: [(&str, &str); 4] = [
    ("README.md", "Shop\n"),
    ("src/a.rs", "fn a() {}\nfn b() {}\nfn c() {}\n"),
    ("src/deep/er/b.rs", "b\n"),
    ("z.txt", "z\n"),
];

#[tokio::test]
async fn what_is_put_and_placed_is_what_git_has() {
    let stage = Stage::new(&FILES).await;
    let (reader, repo) = (&stage.reader, &stage.repo);
    let main = stage.tip("main").await;
    let before = reader.entries(repo, &main).await.unwrap();
    let bytes = vec![0_u8, 255, b'\r', b'\n'];
    let readme = before.get("README.md").unwrap();
    let edits = vec![
        Edit::Remove("z.txt".parse().unwrap()),
        Edit::Put("bin/logo".parse().unwrap(), Mode::Executable, bytes.clone()),
        Edit::Put("link".parse().unwrap(), Mode::Symlink, b"src/a.rs".to_vec()),
        Edit::Place("COPY.md".parse().unwrap(), readme),
        Edit::Place(
            "other".parse().unwrap(),
            Entry {
                mode: Mode::Submodule,
                id: main.as_str().parse().unwrap(),
            },
        ),
    ];
    let made = stage.commit(&main, edits).await;
    let after = reader.entries(repo, &made).await.unwrap();
    let changes = after.changes_since(&before);
    let logo = BlobId::from_content(&bytes).unwrap();
    let kinds: Vec<_> = changes
        .iter()
        .map(|(path, entry)| (path.as_str(), entry.map(|entry| entry.mode)))
        .collect();
    assert_eq!(
        kinds,
        [
            ("COPY.md", Some(Mode::File)),
            ("bin/logo", Some(Mode::Executable)),
            ("link", Some(Mode::Symlink)),
            ("other", Some(Mode::Submodule)),
            ("z.txt", None),
        ]
    );
    assert_eq!(changes["COPY.md"].unwrap().id, readme.id);
    assert_eq!(changes["bin/logo"].unwrap().id, logo);
    assert_eq!(reader.blob(repo, logo).await.unwrap(), bytes);
    let unknown = reader
        .blob(repo, BlobId::from_content(b"unknown").unwrap())
        .await;
    assert_eq!(unknown.unwrap_err().class, FailureClass::NotFound);
    assert_eq!(
        reader.commit_details(repo, &made).await.unwrap().message,
        "Change files\n\nAs asked."
    );
    let folder = stage.sandbox.github().folder(REPO).unwrap();
    git(&folder, &["fsck", "--strict"]);
    assert_eq!(
        git(&folder, &["ls-tree", made.as_str(), "bin/logo"]),
        format!("100755 blob {logo}\tbin/logo\n")
    );
}

#[tokio::test]
async fn a_tree_that_is_cut_off_comes_whole_all_the_same() {
    let stage = Stage::new(&FILES).await;
    let main = stage.tip("main").await;
    let whole = stage.reader.entries(&stage.repo, &main).await.unwrap();
    assert_eq!(whole.len(), FILES.len());
    for most in [3, 2] {
        let github = stage.sandbox.github();
        github.change_repo(REPO, |setup| setup.tree_entries_max = most);
        // The other one has it from before.
        let reader = Reader::new(stage.client.clone());
        let read = reader.entries(&stage.repo, &main).await.unwrap();
        assert_eq!(read, whole, "{most}");
    }
}

#[tokio::test]
async fn a_diff_is_read_between_pinned_commits_whatever_the_branches_do() {
    let stage = Stage::new(&FILES).await;
    let (reader, writer, repo) = (&stage.reader, &stage.writer, &stage.repo);
    let main = stage.tip("main").await;
    let text = "fn a() {}\nfn two() {}\nfn c() {}\n";
    let head = stage.commit(&main, vec![write("src/a.rs", text)]).await;
    let other = stage
        .commit(&main, vec![write("README.md", "Shops\n")])
        .await;
    let range = |base, head| CommitRange { base, head };
    let parted = reader.merge_base(repo, range(&other, &head)).await;
    assert_eq!(parted.unwrap(), main);
    let diff = reader.diff(repo, range(&main, &head)).await;
    let diff = diff.unwrap().unwrap();
    let patch = parse(&diff).unwrap();
    assert_eq!(
        patch.changed().into_iter().collect::<Vec<_>>(),
        ["src/a.rs"]
    );
    // Twenty thousand lines are too many.
    let long = "x\n".repeat(20_001);
    let large = stage.commit(&main, vec![write("long", &long)]).await;
    let diff = reader.diff(repo, range(&main, &large)).await;
    assert_eq!(diff.unwrap(), None);

    // A branch goes forward only.
    stage.pass();
    writer
        .create_branch(repo, &name("weave"), &head)
        .await
        .unwrap();
    let back = writer.move_branch(repo, &name("weave"), &other).await;
    assert_eq!(back.unwrap_err().class, FailureClass::Conflict);
    assert_eq!(stage.tip("weave").await, head);
    let next = stage.commit(&head, vec![write("new", "x\n")]).await;
    writer
        .move_branch(repo, &name("weave"), &next)
        .await
        .unwrap();
    assert_eq!(stage.tip("weave").await, next);
    let none = writer.move_branch(repo, &name("none"), &next).await;
    assert_eq!(none.unwrap_err().class, FailureClass::Conflict);

    // Its pull request says something else, and loses its label.
    stage.pass();
    let pull = stage.propose("weave", "main").await;
    writer
        .edit_pull(&pull, "Woven", "Three changes.")
        .await
        .unwrap();
    let view = stage.sandbox.github().pull(REPO, pull.number).unwrap();
    assert_eq!(
        (view.title.as_str(), view.body.as_str()),
        ("Woven", "Three changes.")
    );
    stage.pass();
    writer.label(&pull, "conflict").await.unwrap();
    for _ in 0..2 {
        stage.pass();
        writer.unlabel(&pull, "conflict").await.unwrap();
    }
    let view = stage.sandbox.github().pull(REPO, pull.number).unwrap();
    assert_eq!(view.labels, [""; 0]);
}

#[tokio::test]
async fn a_head_that_moved_is_seen_before_anything_is_pushed() {
    let stage = Stage::new(&FILES).await;
    let (reader, writer, repo) = (&stage.reader, &stage.writer, &stage.repo);
    let main = stage.tip("main").await;
    let mut numbers = Vec::new();
    for branch in ["one", "two"] {
        let head = stage.commit(&main, vec![write(branch, "x\n")]).await;
        writer
            .create_branch(repo, &name(branch), &head)
            .await
            .unwrap();
        numbers.push(stage.propose(branch, "main").await.number);
    }
    let weaver = Weaver {
        pulls: reader,
        git: reader,
        with_drafts: false,
    };
    let ask = Ask {
        repo: repo.clone(),
        base: name("main"),
        numbers: numbers.clone(),
        order: Order::Planned,
        known: std::collections::BTreeMap::new(),
    };
    let woven = weaver.weave(&ask, stage.clock.now()).await.unwrap();
    assert_eq!(woven.woven.tree.len(), FILES.len() + 2);
    let moved = weaver.moved(repo, &woven, stage.clock.now()).await;
    assert_eq!(moved, Ok(Vec::new()));
    let head = stage.tip("two").await;
    let next = stage.commit(&head, vec![write("more", "x\n")]).await;
    writer.move_branch(repo, &name("two"), &next).await.unwrap();
    stage.pass();
    let moved = weaver.moved(repo, &woven, stage.clock.now()).await;
    let skipped = Skipped {
        number: numbers[1],
        skip: Skip::HeadMoved,
    };
    assert_eq!(moved, Ok(vec![skipped]));
}

#[tokio::test]
async fn members_that_began_at_several_commits_come_in_their_order_and_each_tree_is_read_once() {
    let stage = Stage::new(&FILES).await;
    let (reader, writer, repo) = (&stage.reader, &stage.writer, &stage.repo);
    let first = stage.tip("main").await;
    let next = stage
        .commit(&first, vec![write("README.md", "Shops\n")])
        .await;
    writer
        .move_branch(repo, &name("main"), &next)
        .await
        .unwrap();
    let mut numbers = Vec::new();
    for (branch, began) in [("one", &next), ("two", &first), ("three", &next)] {
        let head = stage.commit(began, vec![write(branch, "x\n")]).await;
        writer
            .create_branch(repo, &name(branch), &head)
            .await
            .unwrap();
        numbers.push(stage.propose(branch, "main").await.number);
    }
    let weaver = Weaver {
        pulls: reader,
        git: reader,
        with_drafts: false,
    };
    let ask = Ask {
        repo: repo.clone(),
        base: name("main"),
        numbers: numbers.clone(),
        order: Order::Given,
        known: std::collections::BTreeMap::new(),
    };
    let before = stage.sandbox.requests().len();
    let weave = weaver.weave(&ask, stage.clock.now()).await.unwrap();
    let requests = stage.sandbox.requests();
    let trees = requests[before..].iter();
    let trees = trees.filter(|it| it.path.contains("/git/trees/")).count();
    assert_eq!(trees, 5, "of both commits and of three heads");
    let tried: Vec<u64> = weave.woven.outcomes.iter().map(|it| it.number).collect();
    assert_eq!(tried, numbers);
    assert_eq!(weave.woven.tree.len(), FILES.len() + 3);
    let readme = weave.woven.tree.get("README.md").unwrap();
    assert_eq!(Some(readme.id), BlobId::from_content(b"Shops\n"));
}

#[tokio::test]
async fn a_change_that_can_never_be_read_is_not_held_and_holds_up_no_weave() {
    let stage = Stage::new(&FILES).await;
    let (reader, repo) = (&stage.reader, &stage.repo);
    let main = stage.tip("main").await;
    let both = "fn a() {}\nfn one() {}\nfn two() {}\nfn c() {}\n";
    let joined = stage.commit(&main, vec![write("src/a.rs", both)]).await;
    let two = "fn a() {}\nfn two() {}\nfn c() {}\n";
    let left = stage.commit(&main, vec![write("src/a.rs", two)]).await;
    stage
        .writer
        .create_branch(repo, &name("joined"), &joined)
        .await
        .unwrap();
    let weaver = Weaver {
        pulls: reader,
        git: reader,
        with_drafts: false,
    };
    let ask = Ask {
        repo: repo.clone(),
        base: name("main"),
        numbers: vec![stage.propose("joined", "main").await.number],
        order: Order::Planned,
        known: std::collections::BTreeMap::new(),
    };
    let weave = weaver.weave(&ask, stage.clock.now()).await.unwrap();
    let held = async || {
        // The other one has what it read before.
        let git = Reader::new(stage.client.clone());
        let weaver = Weaver {
            pulls: reader,
            git: &git,
            with_drafts: false,
        };
        let held = weaver
            .holds(
                repo,
                &weave,
                CommitRange {
                    base: &main,
                    head: &left,
                },
            )
            .await;
        held.map_err(|failure| failure.class)
    };
    assert_eq!(held().await, Ok(true));
    let faults = stage.sandbox.faults();
    for path in ["/compare/", "/git/trees/", "/git/blobs/"] {
        for (code, expected) in [(451, Ok(false)), (503, Err(FailureClass::Unavailable))] {
            let kind = FaultKind::status(code);
            faults.add(Fault::new(Service::GitHub, path, kind));
            assert_eq!(held().await, expected, "{path} {code}");
            faults.clear();
        }
    }
}
