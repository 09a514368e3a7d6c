//! A repository small enough to be written down, and members that change it.

use super::super::*;
use crate::verdict::Conflict;

/// A tree with all contents that anything names.
pub(super) struct Shop {
    pub(super) base: Tree,
    /// The tree that members start from.
    start: Tree,
    pub(super) contents: Contents,
}

/// Lines with their numbers from zero.
pub(super) fn numbered(count: usize) -> String {
    (0..count).map(|line| format!("{line}\n")).collect()
}

impl Shop {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let mut shop = Self {
            base: Tree::default(),
            start: Tree::default(),
            contents: Contents::new(),
        };
        for (path, text) in files {
            shop.target(path, Some(text));
        }
        shop.start = shop.base.clone();
        shop
    }

    pub(super) fn entry(&mut self, mode: Mode, text: &str) -> Entry {
        let id = BlobId::from_content(text.as_bytes()).unwrap();
        self.contents.insert(id, text.as_bytes().to_vec());
        Entry { mode, id }
    }

    /// Moves the target on; members still start from where it was.
    pub(super) fn target(&mut self, path: &str, text: Option<&str>) {
        let entry = text.map(|text| self.entry(Mode::File, text));
        self.base.set(path, entry);
    }

    /// A member of which both trees are known, and no patch.
    pub(super) fn trees(&mut self, number: u64, edits: &[(&str, Option<&str>)]) -> Member {
        let mut member = Member {
            number,
            was_in: None,
            work: Work::Trees {
                changed: BTreeMap::new(),
                patch: None,
            },
            refused: Vec::new(),
            target_renamed: BTreeSet::new(),
            begins_on_woven: false,
        };
        for (path, text) in edits {
            let after = text.map(|text| self.entry(Mode::File, text));
            set(&mut member, path, self.start.get(path), after);
        }
        member
    }

    /// A member with its patch; renames are deletions and new files in it.
    pub(super) fn patched(&mut self, number: u64, edits: &[(&str, Option<&str>)]) -> Member {
        let member = self.trees(number, edits);
        let mut text = String::new();
        for (path, after) in edits {
            text += &self.diff(path, *after);
        }
        with_patch(member, &text)
    }

    fn diff(&self, path: &str, after: Option<&str>) -> String {
        let content = |id| String::from_utf8(self.contents[&id].clone()).unwrap();
        let before = self
            .start
            .get(path)
            .map(|entry| (entry.id, content(entry.id)));
        let (old_id, old) = before.clone().unwrap_or((BlobId::ZERO, String::new()));
        let new_id = after.map_or(BlobId::ZERO, |text| {
            BlobId::from_content(text.as_bytes()).unwrap()
        });
        let patch = diffy::create_patch(&old, after.unwrap_or_default()).to_string();
        let hunks = patch.split_inclusive('\n').skip(2).collect::<String>();
        let (extra, mode) = match (&before, after) {
            (None, _) => ("new file mode 100644\n", ""),
            (_, None) => ("deleted file mode 100644\n", ""),
            (Some(_), Some(_)) => ("", " 100644"),
        };
        let name = |there, side| {
            if there {
                format!("{side}/{path}")
            } else {
                "/dev/null".to_owned()
            }
        };
        let (from, to) = (name(before.is_some(), "a"), name(after.is_some(), "b"));
        format!(
            "diff --git a/{path} b/{path}\n{extra}index {old_id}..{new_id}{mode}\n--- {from}\n+++ {to}\n{hunks}"
        )
    }

    /// Weaves with no more loaded than what is said to be needed.
    pub(super) fn weave(&self, members: &[Member]) -> Woven {
        let needed = needs(Start::at(&self.base), members);
        let loaded = self.contents.iter().filter(|(id, _)| needed.contains(id));
        let loaded = loaded.map(|(id, content)| (*id, content.clone())).collect();
        weave(Start::at(&self.base), members, Order::Planned, &loaded).unwrap()
    }

    /// Weaves them in their order.
    pub(super) fn in_order(&self, members: &[Member]) -> Woven {
        weave(Start::at(&self.base), members, Order::Given, &self.contents).unwrap()
    }

    /// A text of what came out.
    pub(super) fn text(&self, woven: &Woven, path: &str) -> String {
        let id = woven.tree.get(path).unwrap().id;
        let content = woven
            .made
            .get(&id)
            .or_else(|| self.contents.get(&id))
            .unwrap();
        String::from_utf8(content.clone()).unwrap()
    }

    /// All of what came out: paths with their texts.
    pub(super) fn shown(&self, woven: &Woven) -> String {
        let text = |id| woven.made.get(&id).or_else(|| self.contents.get(&id));
        let shown = woven.tree.iter().map(|(path, entry)| {
            let text = text(entry.id).map(|it| String::from_utf8_lossy(it).trim_end().to_owned());
            format!("{path}={} ", text.unwrap_or_else(|| "?".to_owned()))
        });
        shown.collect()
    }
}

pub(super) fn set(member: &mut Member, path: &str, before: Option<Entry>, after: Option<Entry>) {
    if let Work::Trees { changed, .. } = &mut member.work
        && before != after
    {
        changed.insert(path.to_owned(), Change { before, after });
    }
}

pub(super) fn with_patch(mut member: Member, text: &str) -> Member {
    if let Work::Trees { patch, .. } = &mut member.work {
        *patch = Some(text.as_bytes().to_vec());
    }
    member
}

pub(super) fn verdict(woven: &Woven, number: u64) -> &Verdict {
    &woven
        .outcomes
        .iter()
        .find(|it| it.number == number)
        .unwrap()
        .verdict
}

pub(super) fn out(woven: &Woven, number: u64) -> &Conflict {
    match verdict(woven, number) {
        Verdict::Out(conflict) => conflict,
        other @ (Verdict::In { .. } | Verdict::Unreadable(_)) => {
            panic!("{number} is not out: {other:?}")
        }
    }
}
