//! The modules of each crate: what they declare and import, and in which module what a path names is declared.
//!
//! An approximation: a module inside a file counts as its file, and a name that a module does not declare in sight is one of its macros.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, shipped};
use super::tree::File;

/// A path that leads over more re-exports than this is not followed.
const FOLLOWED_MAX: usize = 16;

/// Words after which the name of an item comes.
const DECLARING: [&str; 9] = [
    "const",
    "enum",
    "fn",
    "macro_rules",
    "static",
    "struct",
    "trait",
    "type",
    "union",
];

/// The files of a crate that are built without its tests.
pub(super) struct Crate<'a> {
    /// Its folder.
    pub(super) home: &'a str,
    /// By their paths below `src`, without the ending; the root's is empty.
    pub(super) modules: BTreeMap<&'a str, Module<'a>>,
}

/// A file as a module of its crate.
pub(super) struct Module<'a> {
    pub(super) file: &'a File,
    /// Its tokens, without those of imports.
    pub(super) body: Vec<Token<'a>>,
    imports: Vec<Import<'a>>,
    children: Vec<&'a str>,
    items: BTreeSet<&'a str>,
}

/// One name that a `use` brings into a module; `*` for all.
struct Import<'a> {
    path: Path<'a>,
    name: &'a str,
    is_shared: bool,
}

/// The steps of a path, with the byte offset of one of them.
#[derive(Clone)]
struct Path<'a> {
    steps: Vec<&'a str>,
    at: usize,
}

/// A place where a module names what another declares.
pub(super) struct Use<'a> {
    pub(super) by: &'a str,
    pub(super) of: &'a str,
    /// As it is written there.
    pub(super) path: String,
    /// The byte offset in the file.
    pub(super) at: usize,
}

/// What a path names: a module, or an item in one.
enum Found<'a> {
    Module(&'a str),
    Item(&'a str),
}

/// How a name is looked up in a module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// By the module itself: it may come from elsewhere.
    Own,
    /// Behind the module's name: it is there.
    Named,
    /// Among what the module exports, for an import of all.
    Shared,
}

/// The crates whose files these are.
pub(super) fn crates(files: &[File]) -> Vec<Crate<'_>> {
    let mut homes: BTreeMap<&str, BTreeMap<&str, &File>> = BTreeMap::new();
    for file in files {
        let Some((home, within)) = file.path.split_once("/src/") else {
            continue;
        };
        if let Some(key) = within.strip_suffix(".rs") {
            homes.entry(home).or_default().insert(key, file);
        }
    }
    let crates = homes.into_iter().map(|(home, files)| {
        let modules = modules(&files);
        Crate { home, modules }
    });
    crates.collect()
}

/// The root and all that is declared below it.
fn modules<'a>(files: &BTreeMap<&'a str, &'a File>) -> BTreeMap<&'a str, Module<'a>> {
    let root = files.get("lib").or_else(|| files.get("main"));
    let mut open: Vec<(&'a str, &'a File)> = Vec::new();
    open.extend(root.map(|file| ("", *file)));
    let mut found = BTreeMap::new();
    while let Some((key, file)) = open.pop() {
        let module = Module::read(file);
        for name in &module.children {
            let child = files.get_key_value(child(key, name).as_str());
            open.extend(child.map(|(key, file)| (*key, *file)));
        }
        found.insert(key, module);
    }
    found
}

impl<'a> Crate<'a> {
    /// Each place where a module names what another declares; a mere re-export is none.
    pub(super) fn uses(&self) -> Vec<Use<'a>> {
        let mut uses = Vec::new();
        for (&by, module) in &self.modules {
            for path in module.paths() {
                let of = self.declaring(by, &path.steps).filter(|of| *of != by);
                uses.extend(of.map(|of| Use {
                    by,
                    of,
                    path: path.steps.join("::"),
                    at: path.at,
                }));
            }
        }
        uses
    }

    fn declaring(&self, by: &'a str, steps: &[&'a str]) -> Option<&'a str> {
        if let [source @ .., "*"] = steps {
            return match self.find(by, source, FOLLOWED_MAX)? {
                Found::Module(of) | Found::Item(of) => Some(of),
            };
        }
        match self.find(by, steps, FOLLOWED_MAX)? {
            Found::Item(of) => Some(of),
            Found::Module(_) => None,
        }
    }

    /// What a path names where it stands in the module `by`.
    fn find(&self, by: &'a str, steps: &[&'a str], left: usize) -> Option<Found<'a>> {
        let is_anchor = |step: &&&str| matches!(**step, "crate" | "self" | "super");
        let (anchors, names) = steps.split_at(steps.iter().take_while(is_anchor).count());
        let from = anchors.iter().fold(by, |at, step| match *step {
            "crate" => "",
            "super" => parent(at),
            _ => at,
        });
        let lookup = if anchors.is_empty() {
            Lookup::Own
        } else {
            Lookup::Named
        };
        self.look_up(from, names, lookup, left)
    }

    fn look_up(
        &self,
        at: &'a str,
        names: &[&'a str],
        lookup: Lookup,
        left: usize,
    ) -> Option<Found<'a>> {
        let left = left.checked_sub(1)?;
        let Some((name, rest)) = names.split_first() else {
            return Some(Found::Module(at));
        };
        if let Some((&inner, _)) = self.modules.get_key_value(child(at, name).as_str()) {
            return self.look_up(inner, rest, Lookup::Named, left);
        }
        let module = self.modules.get(at)?;
        if module.items.contains(name) {
            return Some(Found::Item(at));
        }
        if let Some(import) = module.seen(lookup).find(|it| it.name == *name) {
            let steps = [import.path.steps.as_slice(), rest].concat();
            let is_crate = import.path.steps == [*name];
            return if is_crate {
                None
            } else {
                self.find(at, &steps, left)
            };
        }
        let mut wholes = module.seen(lookup).filter(|it| it.name == "*");
        let found = wholes.find_map(|import| {
            let (_, source) = import.path.steps.split_last()?;
            match self.find(at, source, left)? {
                Found::Module(of) if of != at => self.look_up(of, names, Lookup::Shared, left),
                Found::Module(_) | Found::Item(_) => None,
            }
        });
        found.or_else(|| (lookup == Lookup::Named).then_some(Found::Item(at)))
    }
}

impl<'a> Module<'a> {
    fn read(file: &'a File) -> Self {
        let (body, imports) = parted(&shipped(&file.text));
        let (mut children, mut items) = (Vec::new(), BTreeSet::new());
        let text = |at: usize| body.get(at).map_or("", |it| it.text);
        let mut depth = 0_usize;
        for (at, token) in body.iter().enumerate() {
            match token.text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "mod" if text(at + 2) == ";" => children.push(text(at + 1)),
                word if depth == 0 && DECLARING.contains(&word) => {
                    let is_macro = text(at + 1) == "!";
                    items.insert(text(at + 1 + usize::from(is_macro)));
                }
                _ => {}
            }
        }
        Self {
            file,
            body,
            imports,
            children,
            items,
        }
    }

    fn seen(&self, lookup: Lookup) -> impl Iterator<Item = &Import<'a>> {
        let imports = self.imports.iter();
        imports.filter(move |it| lookup != Lookup::Shared || it.is_shared)
    }

    /// The paths that the module needs itself.
    fn paths(&self) -> Vec<Path<'a>> {
        let is_said = |name: &str| name != "*" && self.body.iter().any(|it| it.text == name);
        let imports = self.imports.iter();
        let needed = imports.filter(|it| !it.is_shared || is_said(it.name));
        let mut paths: Vec<_> = needed.map(|it| it.path.clone()).collect();
        let mut before = "";
        for (index, token) in self.body.iter().enumerate() {
            if token.is_word() && !matches!(before, "::" | ".") {
                paths.extend(path(&self.body[index..]));
            }
            before = token.text;
        }
        paths
    }
}

/// The path at the start, if it has more than one step.
fn path<'a>(tokens: &[Token<'a>]) -> Option<Path<'a>> {
    let (first, mut rest) = tokens.split_first()?;
    if rest.first()?.text != "::" {
        return None;
    }
    let (mut steps, at) = (vec![first.text], first.at);
    while let [sign, step, after @ ..] = rest {
        if sign.text != "::" || !step.is_word() {
            break;
        }
        steps.push(step.text);
        rest = after;
    }
    (steps.len() > 1).then_some(Path { steps, at })
}

/// The tokens of a file without its imports, and those.
fn parted<'a>(tokens: &[Token<'a>]) -> (Vec<Token<'a>>, Vec<Import<'a>>) {
    let (mut body, mut imports): (Vec<Token<'a>>, _) = (Vec::new(), Vec::new());
    let mut rest = tokens;
    while let [token, after @ ..] = rest {
        // In a type, `use<'a>` imports nothing.
        if token.text == "use" && after.first().is_some_and(|it| it.text != "<") {
            let before = body.last().map(|it| it.text);
            let is_shared = matches!(before, Some("pub" | ")"));
            let end = after.iter().position(|it| it.text == ";");
            let (imported, others) = after.split_at(end.unwrap_or(after.len()));
            imports.extend(leaves(imported, is_shared));
            rest = others;
        } else {
            body.push(*token);
            rest = after;
        }
    }
    (body, imports)
}

/// The imports of one `use`, whose groups may hold groups.
fn leaves<'a>(imported: &[Token<'a>], is_shared: bool) -> Vec<Import<'a>> {
    let mut found = Vec::new();
    let (mut steps, mut at, mut renamed) = (Vec::new(), 0, None);
    let mut groups = vec![0];
    let mut tokens = imported.iter();
    loop {
        let token = tokens.next();
        match token.map(|it| it.text) {
            Some("::") => {}
            Some("{") => groups.push(steps.len()),
            Some("as") => renamed = tokens.next().map(|it| it.text),
            Some("," | "}") | None => {
                if steps.len() > groups.last().copied().unwrap_or_default() {
                    let path = Path {
                        steps: steps.clone(),
                        at,
                    };
                    found.extend(Import::new(path, renamed.take(), is_shared));
                }
                if token.is_some_and(|it| it.text == "}") {
                    groups.pop();
                }
                steps.truncate(groups.last().copied().unwrap_or_default());
            }
            Some(step) => {
                steps.push(step);
                at = token.map_or(at, |it| it.at);
            }
        }
        if token.is_none() {
            return found;
        }
    }
}

impl<'a> Import<'a> {
    fn new(mut path: Path<'a>, renamed: Option<&'a str>, is_shared: bool) -> Option<Self> {
        if path.steps.len() > 1 && path.steps.last() == Some(&"self") {
            path.steps.pop();
        }
        let name = renamed.or_else(|| path.steps.last().copied())?;
        Some(Self {
            path,
            name,
            is_shared,
        })
    }
}

fn child(key: &str, name: &str) -> String {
    if key.is_empty() {
        name.to_owned()
    } else {
        format!("{key}/{name}")
    }
}

fn parent(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(parent, _)| parent)
}
