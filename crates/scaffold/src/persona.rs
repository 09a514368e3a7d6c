//! The personas of sprints: one file each, with what the persona is and what it does.
//!
//! A file begins with a few lines of YAML between `---`, and the rest is the prompt, in which three places are filled in.

#[cfg(test)]
mod tests;

use domain::fence::encoded_len;
use domain::ids::PersonaName;
use domain::outgoing_text::PERSONA_BYTES_MAX;
use domain::redact::{holds_secret, presentable};
use serde::Serialize;

use crate::fault::{Fault, shown};
use crate::layout::PERSONAS;
use crate::tree::{Content, Entry, Tree};
use crate::yaml::{self, Node};

/// The name of a persona's file in its folder.
const FILE: &str = "prompt.md";

/// The name of a template that other tools read in its place.
const TEMPLATE: &str = "prompt.md.j2";

/// The line before and after what a file says about its persona.
const RULER: &str = "---";

/// The persona that reads pull requests instead of making one. Gaffer does not send mail as it, so it is none of its own.
const REVIEWER: &str = "reviewer";

/// What is kept of an emoji, in characters: the longest that people use are joined from seven.
const EMOJI_CHARS_MAX: usize = 8;

/// What is kept of a description, in characters.
const DESCRIPTION_CHARS_MAX: usize = 200;

/// A persona as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PersonaFile {
    /// Its id, which is the name of its folder.
    pub id: PersonaName,
    /// A sign to find it by in lists, or nothing.
    pub emoji: String,
    /// What it does, on one line, or nothing.
    pub description: String,
    /// Whether it takes part in sprints. It does unless the file says `false`.
    pub scheduled: bool,
    /// Its prompt, with the places to fill in.
    pub body: String,
}

impl PersonaFile {
    /// Reads the text of the file in the folder of that name.
    pub fn parse(id_of_folder: &str, text: &str) -> Result<Self, Fault> {
        let file = path_of(id_of_folder);
        let (head, body) = split(&file, text)?;
        let node = yaml::parse(&file, head.as_bytes())?;
        let id = id(&file, id_of_folder, &node)?;
        let body_line = head.lines().count() + 2;
        Ok(Self {
            id,
            emoji: line(&file, &node, "emoji", EMOJI_CHARS_MAX)?,
            description: line(&file, &node, "description", DESCRIPTION_CHARS_MAX)?,
            scheduled: scheduled(&file, &node)?,
            body: checked_body(&file, body_line, body)?,
        })
    }

    /// The prompt with its three places filled in; any other brace stays.
    pub fn fill(&self, sprint: &str, repo: &str) -> String {
        let places = [
            ("{persona_id}", self.id.as_str()),
            ("{sprint}", sprint),
            ("{repo}", repo),
        ];
        let (mut filled, mut rest) = (String::with_capacity(self.body.len()), self.body.as_str());
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let place = places.iter().find(|(place, _)| rest.starts_with(place));
            let (place, value) = place.copied().unwrap_or(("{", "{"));
            filled.push_str(value);
            rest = &rest[place.len()..];
        }
        filled + rest
    }

    /// Whether it starts when a sprint does. Those that Gaffer works as, the reviewer and people never do.
    pub fn is_in_batch(&self) -> bool {
        let id = &self.id;
        self.scheduled && !id.is_own() && !id.is_human() && id.as_str() != REVIEWER
    }
}

/// The personas of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Personas {
    /// Those whose file can be used, in order of id.
    pub files: Vec<PersonaFile>,
    /// What is wrong with the other files, in order of path.
    pub faults: Vec<Fault>,
}

impl Personas {
    /// Those that start when a sprint does, in order of id.
    pub fn batch(&self) -> impl Iterator<Item = &PersonaFile> {
        self.files.iter().filter(|persona| persona.is_in_batch())
    }

    /// The persona of this id.
    pub fn get(&self, id: &PersonaName) -> Option<&PersonaFile> {
        self.files.iter().find(|persona| persona.id == *id)
    }
}

/// Reads the personas of a tree.
pub fn read(tree: &Tree) -> Personas {
    let mut personas = Personas::default();
    for (path, entry) in tree.below(PERSONAS) {
        let read = match id_of_path(path.as_str()) {
            Some(id) => text(path.as_str(), entry).and_then(|text| PersonaFile::parse(id, text)),
            None if is_lone_template(tree, path.as_str()) => Err(Fault::new(
                path.as_str(),
                1,
                format!("templates of personas are not read: write `{FILE}` beside it"),
            )),
            None => continue,
        };
        match read {
            Ok(persona) => personas.files.push(persona),
            Err(fault) => personas.faults.push(fault),
        }
    }
    personas.files.sort_by(|a, b| a.id.cmp(&b.id));
    personas
}

/// Where the file of a persona lies.
pub fn path_of(id: &str) -> String {
    format!("{PERSONAS}/{id}/{FILE}")
}

/// The folder's name, if a path is that of a persona's file.
pub fn id_of_path(path: &str) -> Option<&str> {
    folder_with(path, FILE)
}

fn folder_with<'p>(path: &'p str, file: &str) -> Option<&'p str> {
    let below = path.strip_prefix(PERSONAS)?.strip_prefix('/')?;
    let (folder, name) = below.split_once('/')?;
    (name == file && !folder.is_empty()).then_some(folder)
}

/// Whether other tools would read this file, and nothing is there for Gaffer.
fn is_lone_template(tree: &Tree, path: &str) -> bool {
    folder_with(path, TEMPLATE).is_some_and(|folder| !tree.has(&path_of(folder)))
}

fn text<'t>(path: &str, entry: &'t Entry) -> Result<&'t str, Fault> {
    let what = match (&entry.content, entry.mode.is_regular()) {
        (Content::Text(text), true) => return Ok(text),
        (_, false) => "a link or another repository lies here: put a regular file in its place",
        (Content::NotText, true) => "the file is not UTF-8: save it as UTF-8",
        (Content::TooLarge, true) => "the file is too large: shorten it",
    };
    Err(Fault::new(path, 1, what))
}

/// What the file says about its persona, with the first ruler so that lines count right, and the prompt.
fn split<'t>(file: &str, text: &'t str) -> Result<(&'t str, &'t str), Fault> {
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_ruler = line.trim_end() == RULER;
        if number == 0 && !is_ruler {
            break;
        }
        if number > 0 && is_ruler {
            return Ok((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    let what = format!(
        "the file does not begin with lines between `{RULER}` and `{RULER}` that say `id`, `emoji`, `description` and \
         `scheduled`: add them"
    );
    Err(Fault::new(file, 1, what))
}

/// The id, which is that of the folder: one persona, one mailbox, one file.
fn id(file: &str, folder: &str, node: &Node) -> Result<PersonaName, Fault> {
    let fault = |line, what: String| Err(Fault::new(file, line, what));
    let written = node.get("id");
    let Some((text, line)) = written.and_then(|id| Some((id.text()?, id.line))) else {
        let line = written.map_or(1, |id| id.line);
        return fault(
            line,
            format!("there is no `id`: add `id: {}`", shown(folder)),
        );
    };
    match text.parse::<PersonaName>() {
        Err(invalid) => fault(line, format!("`id`: {invalid}")),
        Ok(id) if id.as_str() != folder => {
            let (id, folder) = (shown(text), shown(folder));
            let what = format!("`id` is `{id}` in the folder `{folder}`: give both the same name");
            fault(line, what)
        }
        Ok(id) => Ok(id),
    }
}

/// A text fit for a line of a list, or nothing where the key is not there.
fn line(file: &str, node: &Node, key: &str, chars_max: usize) -> Result<String, Fault> {
    match node.get(key) {
        Some(value) if !value.is_null() => match value.text() {
            Some(text) => Ok(presentable(&text.trim().replace('\n', " "), chars_max)),
            None => Err(Fault::new(
                file,
                value.line,
                format!("`{key}` is a list or a map: write one line of text"),
            )),
        },
        Some(_) | None => Ok(String::new()),
    }
}

fn scheduled(file: &str, node: &Node) -> Result<bool, Fault> {
    match node.get("scheduled") {
        Some(value) if !value.is_null() => value.boolean().ok_or_else(|| {
            let text = shown(value.text().unwrap_or_default());
            let what = format!("`scheduled` is `{text}`: write `true` or `false`");
            Fault::new(file, value.line, what)
        }),
        Some(_) | None => Ok(true),
    }
}

/// The prompt, if a job would take it.
fn checked_body(file: &str, line: usize, body: &str) -> Result<String, Fault> {
    let body = body.trim();
    let bytes = encoded_len(body);
    let what = if body.is_empty() {
        format!("there is no prompt below the second `{RULER}`: say what the persona does")
    } else if bytes > PERSONA_BYTES_MAX {
        format!(
            "the prompt has {bytes} bytes as JSON, at most {PERSONA_BYTES_MAX}: put the rest into a file of the repository"
        )
    } else if holds_secret(body) {
        "the prompt holds what looks like a secret: take it out, and replace the secret where it is used".to_owned()
    } else {
        return Ok(body.to_owned());
    };
    Err(Fault::new(file, line, what))
}
