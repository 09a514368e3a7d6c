//! An agent for the layers of a pipeline that knows nothing but its prompt and the branch that it checked out.
//!
//! Paths, ids, schemas and the name of the branch all come from the prompt, so it ends well only if the prompt says enough.

mod form;
mod prompt;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::story::Writing;
use form::{Form, set};
use prompt::{Output, Prompt};

/// How many proposals an innovator makes.
const PROPOSALS: usize = 3;

/// How many entries a summary of changes has.
const CHANGES: usize = 5;

/// What an observer of this kind finds: always the same, so that it reports nothing twice.
const FINDING: &str = "A name says less than it could";

/// What an agent has before it.
struct Desk<'a> {
    prompt: Prompt<'a>,
    output: Output<'a>,
    files: &'a BTreeMap<String, String>,
    today: &'a str,
}

/// What a layer's agent writes on its branch; nothing where there is nothing to report, where all of it is there already, or
/// where the prompt says too little.
#[must_use]
pub fn layer_agent(prompt: &str, files: &BTreeMap<String, String>, today: &str) -> Option<Writing> {
    let prompt = Prompt::read(prompt);
    let output = prompt.output()?;
    let desk = Desk {
        prompt,
        output,
        files,
        today,
    };
    let writing = match desk.prompt.layer()? {
        "narrator" => desk.narrate(),
        "observers" => desk.observe(),
        "decider" => desk.decide(),
        "planner" => desk.plan(),
        "implementer" => desk.implement(),
        "innovators" => desk.propose(),
        _ => None,
    }?;
    let is_new = |(path, text): (&String, &String)| files.get(path) != Some(text);
    let changes = !writing.moves.is_empty() || writing.files.iter().any(is_new);
    changes.then(|| Writing {
        branch: Some(desk.output.branch.to_owned()),
        ..writing
    })
}

fn one_file(path: &str, text: String) -> Writing {
    Writing {
        files: [(path.to_owned(), text)].into(),
        ..Writing::default()
    }
}

impl Desk<'_> {
    /// Five entries, whose block in the schema is one.
    fn narrate(&self) -> Option<Writing> {
        let commits = self.prompt.section("The range of commits")?;
        commits
            .fences()
            .iter()
            .find(|it| !it.body.trim().is_empty())?;
        let (head, entry) = self.output.schema?.split_once("summaries:\n")?;
        let form = self.form("the repository");
        let mut text = format!("{}summaries:\n", form.fill(head));
        for number in 1..=CHANGES {
            let subject = format!("change {number}");
            text.push_str(&self.form(&subject).fill(entry));
        }
        Some(one_file(self.output.paths().first()?, text))
    }

    /// One event about the first file of code, and the role's perspective where there is none yet.
    fn observe(&self) -> Option<Writing> {
        let seen = ["Pending events", "Open requirements"];
        let said = |name: &&str| {
            let section = self.prompt.section(name);
            section.is_some_and(|it| it.text.contains(FINDING))
        };
        if seen.iter().any(said) {
            return None;
        }
        let role = self.output.role?;
        let code = self.code()?;
        let paths = self.output.paths();
        let event = self
            .form(code)
            .with("id", self.output.ids.first()?)
            .with("author_role", role)
            .with("title", FINDING)
            .with("path", code)
            .with("loc", "1");
        let event = event.fill(self.output.schema?);
        let path = self.named(paths.first()?, 0, "a-name-says-less")?;
        let mut writing = one_file(&path, event);
        self.remember(&mut writing, paths.get(1)?, "observer", role);
        Some(writing)
    }

    /// One requirement of the pending events that are sure, and one of the others.
    fn decide(&self) -> Option<Writing> {
        let events = self.prompt.section("Pending events")?.fences();
        let pending = events
            .iter()
            .filter_map(|it| Some((it.path, self.files.get(it.path)?)));
        let is_sure = |(_, text): &(&str, &String)| form::value(text, "confidence") == Some("high");
        let (sure, others): (Vec<_>, Vec<_>) = pending.partition(is_sure);
        let groups = [(true, sure), (false, others)].into_iter();
        let groups = groups.filter(|(_, events)| !events.is_empty());
        let mut writing = Writing::default();
        for (number, (is_sure, events)) in groups.enumerate() {
            self.require(&mut writing, number, is_sure, &events)?;
        }
        Some(writing)
    }

    /// A requirement of events, each of which is moved and names it. Where they are not sure, it asks for deep analysis.
    fn require(
        &self,
        writing: &mut Writing,
        number: usize,
        is_sure: bool,
        events: &[(&str, &String)],
    ) -> Option<()> {
        let paths = self.output.paths();
        let (decided, requirement) = (paths.first()?, paths.get(1)?);
        let id = *self.output.ids.get(number)?;
        let mut sources = Vec::new();
        for (path, text) in events {
            let (_, name) = path.rsplit_once('/')?;
            let moved = format!("{decided}/{name}");
            sources.push(form::value(text, "id")?);
            writing.moves.push(((*path).to_owned(), moved.clone()));
            writing.files.insert(moved, set(text, "requirement_id", id));
        }
        let (deep, why) = match is_sure {
            true => ("false", ""),
            false => ("true", "It is not clear which name to take."),
        };
        let form = self
            .form("what the events say")
            .with("id", id)
            .with("source_events", &sources.join("\n"))
            .with("title", &format!("Say more with the name ({id})"))
            .with("label", self.prompt.label()?)
            .with("affected_areas", self.code().unwrap_or("the whole"))
            .with("verification_commands", "git log --oneline")
            .with("requires_deep_analysis", deep)
            .with("deep_analysis_reason", why);
        let text = form.fill(self.output.schema?);
        let path = self.named(requirement, number, "say-more")?;
        writing.files.insert(path, text);
        Some(())
    }

    /// The same requirement, with what was left open.
    fn plan(&self) -> Option<Writing> {
        let path = *self.output.paths().first()?;
        let text = self.files.get(path)?;
        form::value(text, "requires_deep_analysis").filter(|it| *it == "true")?;
        let text = set(text, "requires_deep_analysis", "false");
        let text = text
            .replace(
                "\nconstraints: []",
                "\nconstraints:\n  - \"Nothing else changes.\"",
            )
            .replace(
                "\nrisks: []",
                "\nrisks:\n  - \"Readers know the old name.\"",
            );
        Some(one_file(path, text))
    }

    /// One more line in a file of code that the requirement names, or in the first there is.
    fn implement(&self) -> Option<Writing> {
        let section = self.prompt.section("The requirement")?;
        let fences = section.fences();
        let requirement = fences.first()?;
        let id = form::value(&requirement.body, "id")?;
        let title = form::value(&requirement.body, "title").unwrap_or(id);
        let named = self
            .files
            .keys()
            .find(|path| path.starts_with("src/") && requirement.body.contains(path.as_str()));
        let path = named.map_or_else(|| self.code(), |path| Some(path));
        let mark = match path.and_then(|path| path.rsplit_once('.')) {
            Some((_, "rs" | "js" | "ts" | "go" | "c" | "java" | "swift")) => "//",
            Some(_) | None => "#",
        };
        let path = path.map_or_else(|| format!("src/{id}.txt"), str::to_owned);
        let before = self.files.get(&path).map_or("", String::as_str);
        let line = format!("{mark} {title} ({id})\n");
        Some(one_file(&path, format!("{before}{line}")))
    }

    /// Three proposals, and the persona's perspective where there is none yet.
    fn propose(&self) -> Option<Writing> {
        let role = self.output.role?;
        let paths = self.output.paths();
        let mut writing = Writing::default();
        for number in 0..PROPOSALS {
            let id = self.output.ids.get(number)?;
            let subject = format!("direction {}", number + 1);
            let form = self
                .form(&subject)
                .with("id", id)
                .with("persona", role)
                .with("title", &format!("Go in direction {} ({id})", number + 1));
            let words = format!("direction-{}-{id}", number + 1);
            let path = self.named(paths.first()?, number, &words)?;
            writing.files.insert(path, form.fill(self.output.schema?));
        }
        self.remember(&mut writing, paths.get(1)?, "persona", role);
        Some(writing)
    }

    /// Writes the perspective in the form that the prompt shows, unless the role has one.
    fn remember(&self, writing: &mut Writing, path: &str, key: &'static str, role: &str) {
        let shown = self.prompt.section("Your perspective");
        let Some(shown) = shown.filter(|_| !self.files.contains_key(path)) else {
            return;
        };
        let fences = shown.fences();
        let schema = fences.first().map_or(shown.text, |it| it.body.as_str());
        let text = self.form("this repository").with(key, role).fill(schema);
        writing.files.insert(path.to_owned(), text);
    }

    fn form(&self, subject: &str) -> Form {
        Form::about(subject)
            .with("created_at", self.today)
            .with("updated_at", self.today)
            .with("at", self.today)
    }

    /// A path of the prompt with an id and some words in it.
    fn named(&self, path: &str, id: usize, words: &str) -> Option<String> {
        let id = self.output.ids.get(id)?;
        let named = path.replace("<id>", id).replace("<a-few-words>", words);
        (!named.contains('<')).then_some(named)
    }

    /// The first file of code, or any that is not the pipeline's.
    fn code(&self) -> Option<&str> {
        let mut files = self.files.keys().map(String::as_str);
        let mut others = files.clone();
        files.find(|path| path.starts_with("src/")).or_else(|| {
            others.find(|path| !path.starts_with(".jules/") && !path.starts_with(".jlo/"))
        })
    }
}
