//! The real git in a temporary folder, without the settings of the machine.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use weave::tree::{BlobId, Contents, Entry, Mode, Tree};

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

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs git on some input, whatever comes of it.
    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(self.folder())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_INDEX_FILE", self.folder().join("index-of-a-case"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A git that fails early reads no more; what it says is seen below.
        let _ = stdin.write_all(input);
        drop(stdin);
        child.wait_with_output().unwrap()
    }

    pub(crate) fn succeed(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let output = self.run(arguments, input);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        output.stdout
    }

    /// Stores trees with their contents, and gives their names, in one process for all.
    pub(crate) fn store(&self, trees: &[Tree], contents: &Contents) -> Vec<String> {
        let mut stream = Vec::new();
        let mut marks = std::collections::BTreeMap::new();
        for (mark, (id, content)) in (1..).zip(contents) {
            marks.insert(*id, mark);
            stream.extend(format!("blob\nmark :{mark}\ndata {}\n", content.len()).into_bytes());
            stream.extend(content);
            stream.push(b'\n');
        }
        for (at, tree) in trees.iter().enumerate() {
            let head = format!("commit refs/cases/{at}\ncommitter A <a@b> 0 +0000\ndata 0\n");
            stream.extend(head.into_bytes());
            for (path, entry) in tree.iter() {
                let name = match entry.mode {
                    Mode::Submodule => entry.id.to_string(),
                    Mode::File | Mode::Executable | Mode::Symlink => {
                        format!(":{}", marks[&entry.id])
                    }
                };
                let quoted = path.replace('\\', "\\\\").replace('"', "\\\"");
                stream
                    .extend(format!("M {} {name} \"{quoted}\"\n", entry.mode.octal()).into_bytes());
            }
            stream.push(b'\n');
        }
        self.succeed(&["fast-import", "--quiet"], &stream);
        (0..trees.len())
            .map(|at| format!("refs/cases/{at}"))
            .collect()
    }

    /// What `git apply` makes of a tree, or what it says.
    pub(crate) fn apply(&self, tree: &str, patch: &[u8]) -> Result<Tree, String> {
        // Some patches make git itself crash, which leaves its lock: that counts as refused.
        let _ = std::fs::remove_file(self.folder().join("index-of-a-case.lock"));
        self.succeed(&["read-tree", tree], b"");
        let output = self.run(&["apply", "--cached", "-"], patch);
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(listed(&self.succeed(&["ls-files", "-s", "-z"], b"")))
    }
}

/// The entries of a listing `MODE ID STAGE<tab>PATH`.
fn listed(listing: &[u8]) -> Tree {
    let text = std::str::from_utf8(listing).unwrap();
    let lines = text.split('\0').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (meta, path) = line.split_once('\t').unwrap();
            let mut words = meta.split(' ');
            let mode = Mode::from_octal(words.next().unwrap()).unwrap();
            let id: BlobId = words.next().unwrap().parse().unwrap();
            (path.to_owned(), Entry { mode, id })
        })
        .collect()
}
