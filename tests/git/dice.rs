//! Random trees and what people do to them: few different lines, so that hunks find wrong places too.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use weave::tree::{BlobId, Contents, Entry, Mode, Tree};

/// Names that git quotes, or that lie in each other's way.
const NAMES: [&str; 16] = [
    "a.txt",
    "dir/b.txt",
    "dir/c d.txt",
    "ü.txt",
    "dir/deep/e",
    "tab\tname",
    "quote\"d",
    "dir",
    "a.txt/x",
    "z",
    "back\\slash",
    "new\nline",
    "-n",
    " a b/ c ",
    "b/a/a.txt b",
    "日本/\u{1}",
];

/// A source of cases.
pub(crate) struct Dice {
    random: StdRng,
    pub(crate) contents: Contents,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            contents: Contents::new(),
        }
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.random.random_range(0..limit.max(1))
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'p, T>(&mut self, all: &'p [T]) -> &'p T {
        &all[self.below(all.len())]
    }

    /// A line of one of some words; the fewer words, the more hunks fit in wrong places.
    fn line(&mut self, words: usize) -> Vec<u8> {
        let end = if self.chance(3) { "\r\n" } else { "\n" };
        format!(
            "{}{end}",
            "line ".repeat(self.below(2)) + &self.below(words).to_string()
        )
        .into_bytes()
    }

    pub(crate) fn text(&mut self) -> Vec<u8> {
        let words = *self.pick(&[2, 5, 1000]);
        let length = self.below(40);
        // A few lines again and again: a hunk fits as near before its place as behind it.
        let period = if self.chance(30) {
            2 + self.below(3)
        } else {
            length
        };
        let block: Vec<Vec<u8>> = (0..period).map(|_| self.line(words)).collect();
        let lines: Vec<Vec<u8>> = block.into_iter().cycle().take(length).collect();
        let mut text = if self.chance(10) {
            lines
                .concat()
                .split(|byte| *byte == b'\n')
                .collect::<Vec<_>>()
                .join(&b"\r\n"[..])
        } else {
            lines.concat()
        };
        if self.chance(20) && text.ends_with(b"\n") {
            text.pop();
        }
        text
    }

    /// A text after some edits.
    pub(crate) fn edited(&mut self, text: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = text
            .split_inclusive(|it| *it == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        for _ in 0..=self.below(3) {
            let at = self.below(lines.len() + 1);
            let end = (at + self.below(3)).min(lines.len());
            let new: Vec<Vec<u8>> = (0..self.below(4)).map(|_| self.line(5)).collect();
            lines.splice(at..end, new);
        }
        let mut text = lines.concat();
        if self.chance(10) && text.ends_with(b"\n") {
            text.pop();
        } else if self.chance(10) && !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = 1 + self.below(2_000);
        let mut bytes: Vec<u8> = (0..length).map(|_| self.random.random()).collect();
        bytes[0] = 0;
        bytes
    }

    pub(crate) fn keep(&mut self, mode: Mode, content: Vec<u8>) -> Entry {
        let id = BlobId::from_content(&content).unwrap();
        self.contents.insert(id, content);
        Entry { mode, id }
    }

    /// A commit of another repository: the id of no content here.
    fn commit(&mut self) -> BlobId {
        BlobId::from_content(format!("commit {}", self.below(4)).as_bytes()).unwrap()
    }

    fn entry(&mut self) -> Entry {
        match self.below(20) {
            0 => {
                let target = self.text();
                self.keep(Mode::Symlink, target)
            }
            1 => {
                let id = self.commit();
                Entry {
                    mode: Mode::Submodule,
                    id,
                }
            }
            2 | 3 => {
                let bytes = self.bytes();
                self.keep(Mode::File, bytes)
            }
            4 => {
                let text = self.text();
                self.keep(Mode::Executable, text)
            }
            _ => {
                let text = self.text();
                self.keep(Mode::File, text)
            }
        }
    }

    pub(crate) fn tree(&mut self) -> Tree {
        let mut tree = Tree::default();
        for _ in 0..=self.below(5) {
            let entry = self.entry();
            self.put(&mut tree, entry);
        }
        tree
    }

    fn put(&mut self, tree: &mut Tree, entry: Entry) {
        let name = *self.pick(&NAMES);
        if tree.in_the_way(name).is_none() {
            tree.set(name, Some(entry));
        }
    }

    /// A tree after a few changes of every kind.
    pub(crate) fn changed(&mut self, tree: &Tree) -> Tree {
        let mut tree = tree.clone();
        for _ in 0..=self.below(3) {
            self.change(&mut tree);
        }
        tree
    }

    fn change(&mut self, tree: &mut Tree) {
        let all: Vec<(String, Entry)> = tree
            .iter()
            .map(|(path, entry)| (path.to_owned(), entry))
            .collect();
        let entry = self.entry();
        if all.is_empty() || self.chance(8) {
            return self.put(tree, entry);
        }
        let (path, old) = self.pick(&all).clone();
        match self.below(20) {
            0 => tree.set(&path, None),
            1 | 2 => {
                tree.set(&path, None);
                let moved = self.edit(old);
                self.put(tree, moved);
            }
            3 | 4 => {
                let copied = self.edit(old);
                self.put(tree, copied);
            }
            5 if old.mode.is_file() => {
                let mode = if old.mode == Mode::File {
                    Mode::Executable
                } else {
                    Mode::File
                };
                tree.set(&path, Some(Entry { mode, ..old }));
            }
            6 => tree.set(&path, Some(entry)),
            _ => {
                let edited = self.edit(old);
                tree.set(&path, Some(edited));
            }
        }
    }

    fn edit(&mut self, old: Entry) -> Entry {
        let content = self.contents.get(&old.id).cloned().unwrap_or_default();
        if old.mode == Mode::Submodule {
            let id = self.commit();
            return Entry { id, ..old };
        }
        if self.chance(15) {
            return old;
        }
        let mut edited = self.edited(&content);
        if content.contains(&0) && !edited.contains(&0) {
            edited.push(0);
        }
        self.keep(old.mode, edited)
    }
}
