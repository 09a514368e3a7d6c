//! The real git in a temporary folder, without the settings of the machine.
//!
//! Diffs, trees and contents of all cases come from a few processes; only what is judged takes one for each case.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use weave::tree::{BlobId, Contents, Entry, Mode, Tree};

use crate::index;

/// What git makes of a tree, or what it says.
pub(crate) type Said = Result<Tree, String>;

/// Two trees by their ids.
pub(crate) type Pair = (String, String);

/// The mark of the first commit in a stream: no case has as many contents.
const FIRST_COMMIT: usize = 10_000_000;

/// A bare repository that goes away with the value.
pub(crate) struct Git {
    folder: TempDir,
}

impl Git {
    pub(crate) fn new() -> Self {
        let git = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        git.succeed(&["init", "-q", "--bare", "."], b"");
        git
    }

    /// One that reads the objects of another repository too, and writes none there.
    pub(crate) fn beside(objects: &Path) -> Self {
        let git = Self::new();
        let alternates = git.folder().join("objects/info/alternates");
        std::fs::write(alternates, format!("{}\n", objects.display())).unwrap();
        git
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn index(&self) -> PathBuf {
        self.folder().join("index-of-a-case")
    }

    /// Runs git on some input, whatever comes of it.
    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(self.folder())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_INDEX_FILE", self.index())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        // Git answers while it is still asked.
        std::thread::scope(|scope| {
            // A git that fails early reads no more; what it says is seen below.
            scope.spawn(move || stdin.write_all(input));
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).unwrap();
            let output = child.wait_with_output().unwrap();
            Output {
                stdout: bytes,
                ..output
            }
        })
    }

    pub(crate) fn succeed(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let output = self.run(arguments, input);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        output.stdout
    }

    /// Stores trees with their contents, and gives their ids.
    pub(crate) fn store(&self, trees: &[Tree], contents: &Contents) -> Vec<String> {
        let mut stream = Vec::new();
        let mut marks = BTreeMap::new();
        for (mark, (id, content)) in (1..).zip(contents) {
            marks.insert(*id, mark);
            stream.extend(format!("blob\nmark :{mark}\ndata {}\n", content.len()).into_bytes());
            stream.extend(content);
            stream.push(b'\n');
        }
        for (mark, tree) in (FIRST_COMMIT..).zip(trees) {
            stream.extend(commit(mark, tree, &marks).into_bytes());
        }
        let file = self.folder().join("marks");
        let export = format!("--export-marks={}", file.display());
        self.succeed(&["fast-import", "--quiet", &export], &stream);
        let commits: BTreeMap<usize, String> = std::fs::read_to_string(file)
            .unwrap()
            .lines()
            .filter_map(|line| line.strip_prefix(':')?.split_once(' '))
            .map(|(mark, id)| (mark.parse().unwrap(), id.to_owned()))
            .collect();
        self.trees_of(commits.range(FIRST_COMMIT..).map(|(_, id)| id.as_str()))
    }

    /// The ids of the trees of some commits.
    pub(crate) fn trees_of<'c>(&self, commits: impl Iterator<Item = &'c str>) -> Vec<String> {
        let asked: String = commits.map(|id| format!("{id}^{{tree}}\n")).collect();
        let format = "--batch-check=%(objectname)";
        let told = self.succeed(&["cat-file", format], asked.as_bytes());
        let told = String::from_utf8(told).unwrap();
        told.lines().map(str::to_owned).collect()
    }

    /// What lies at some paths of a tree that is stored.
    pub(crate) fn entries<'p>(&self, id: &str, paths: impl Iterator<Item = &'p str>) -> Tree {
        let paths: Vec<&str> = paths.collect();
        let told = self.succeed(&[&["ls-tree", "-z", id, "--"], &paths[..]].concat(), b"");
        let told = String::from_utf8(told).unwrap();
        told.split('\0').filter_map(listed).collect()
    }

    /// Contents that are stored; a submodule's commit has none.
    pub(crate) fn contents<'i>(&self, ids: impl Iterator<Item = &'i str>) -> Contents {
        let asked: String = ids.map(|id| format!("{id}\n")).collect();
        let told = self.succeed(&["cat-file", "--batch"], asked.as_bytes());
        let mut rest = &told[..];
        let mut contents = Contents::new();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = std::str::from_utf8(&rest[..end]).unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            rest = &rest[end + 1..];
            if let [id, "blob", size] = words[..] {
                let (content, after) = rest.split_at(size.parse().unwrap());
                contents.insert(id.parse().unwrap(), content.to_vec());
                rest = &after[1..];
            }
        }
        contents
    }

    /// The diff of each pair, in one process.
    pub(crate) fn diffs(&self, pairs: &[Pair], style: &[&str]) -> Vec<Vec<u8>> {
        let head = |(from, to): &Pair| format!("{from} {to}\n");
        let asked: String = pairs.iter().map(head).collect();
        let arguments = [
            "diff-tree",
            "--stdin",
            "-r",
            "-p",
            "--binary",
            "--full-index",
        ];
        let told = self.succeed(&[&arguments, style].concat(), asked.as_bytes());
        let mut heads = pairs.iter().map(head).peekable();
        let mut diffs: Vec<Vec<u8>> = Vec::new();
        // No line of a diff is like a head: each begins with a space, a sign or a word.
        for line in told.split_inclusive(|byte| *byte == b'\n') {
            match heads.next_if(|head| head.as_bytes() == line) {
                Some(_) => diffs.push(Vec::new()),
                None => diffs.last_mut().unwrap().extend(line),
            }
        }
        assert_eq!(diffs.len(), pairs.len());
        diffs
    }

    /// What `git apply` makes of a tree. What `--check` says is the same, or the two would differ here.
    pub(crate) fn apply(&self, tree: &Tree, patch: &[u8]) -> Said {
        let checked = self.applied(tree, patch, &["--check", "--cached"]);
        checked.and_then(|_| self.applied(tree, patch, &["--cached"]))
    }

    /// What `git apply --3way` makes of a tree without conflicts.
    pub(crate) fn merge(&self, tree: &Tree, patch: &[u8]) -> Said {
        self.applied(tree, patch, &["--3way", "--cached"])
    }

    fn applied(&self, tree: &Tree, patch: &[u8], options: &[&str]) -> Said {
        // Some patches make git itself crash, which leaves its lock: that counts as refused.
        let _ = std::fs::remove_file(self.folder().join("index-of-a-case.lock"));
        std::fs::write(self.index(), index::written(tree)).unwrap();
        let output = self.run(&[&["apply"], options, &["-"]].concat(), patch);
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let file = std::fs::read(self.index()).unwrap();
        index::read(&file).ok_or_else(|| "no tree of ours holds what came of it".to_owned())
    }
}

/// A commit of nothing but a tree, as `git fast-import` reads it.
fn commit(mark: usize, tree: &Tree, marks: &BTreeMap<BlobId, i32>) -> String {
    let head = "commit refs/heads/cases\n";
    let mut text = format!("{head}mark :{mark}\ncommitter A <a@b> 0 +0000\ndata 0\ndeleteall\n");
    for (path, entry) in tree.iter() {
        let name = match entry.mode {
            Mode::Submodule => entry.id.to_string(),
            Mode::File | Mode::Executable | Mode::Symlink => format!(":{}", marks[&entry.id]),
        };
        let quoted = path.replace('\\', "\\\\").replace('"', "\\\"");
        let quoted = quoted.replace('\n', "\\n");
        text.push_str(&format!("M {} {name} \"{quoted}\"\n", entry.mode.octal()));
    }
    text.push('\n');
    text
}

/// An entry of a listing, `MODE TYPE ID<tab>PATH`, if it is no folder.
fn listed(line: &str) -> Option<(String, Entry)> {
    let (meta, path) = line.split_once('\t')?;
    let words: Vec<&str> = meta.split(' ').collect();
    let mode = Mode::from_octal(words[0])?;
    let id = words[2].parse().unwrap();
    Some((path.to_owned(), Entry { mode, id }))
}
