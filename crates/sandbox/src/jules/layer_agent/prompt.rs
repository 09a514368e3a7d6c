//! A prompt taken apart: its sections, what is fenced in them, and what the last one says about the output.

/// A prompt of a layer.
pub(super) struct Prompt<'a> {
    sections: Vec<Section<'a>>,
}

/// One section with its heading.
pub(super) struct Section<'a> {
    name: &'a str,
    pub(super) text: &'a str,
}

/// A fenced text and the path that stands beside its fence.
pub(super) struct Fenced<'a> {
    pub(super) path: &'a str,
    pub(super) body: String,
}

/// What the section Output says.
pub(super) struct Output<'a> {
    text: &'a str,
    /// The role that the agent plays, in a layer of roles.
    pub(super) role: Option<&'a str>,
    /// The branch to make.
    pub(super) branch: &'a str,
    /// The schema to copy.
    pub(super) schema: Option<&'a str>,
    /// Ids to use.
    pub(super) ids: Vec<&'a str>,
}

/// Follows fences, line by line.
#[derive(Default)]
struct Fences {
    open: Option<String>,
}

impl Fences {
    /// Whether a line stands inside a fence, or is one.
    fn holds(&mut self, line: &str) -> bool {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &self.open {
            Some(open) if line.trim_end() == open => self.open = None,
            Some(_) => {}
            None if ticks.len() >= 3 => self.open = Some(ticks),
            None => return false,
        }
        true
    }
}

impl<'a> Prompt<'a> {
    /// Finds the sections. A heading inside a fence is none.
    pub(super) fn read(text: &'a str) -> Self {
        let mut fences = Fences::default();
        let mut starts: Vec<(usize, &'a str)> = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if !fences.holds(line)
                && let Some(name) = line.strip_prefix("# ")
            {
                starts.push((at, name.trim_end()));
            }
            at += line.len();
        }
        let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
        let sections = starts.iter().zip(ends).map(|((at, name), end)| {
            let body = text.get(*at..end).unwrap_or_default();
            let body = body.split_once('\n').map_or("", |(_, body)| body);
            let body = body.trim_end();
            Section {
                name,
                text: body.strip_suffix("\n---").unwrap_or(body),
            }
        });
        Self {
            sections: sections.collect(),
        }
    }

    /// The last section of a name.
    pub(super) fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().rev().find(|it| it.name == name)
    }

    /// The layer that the contract names.
    pub(super) fn layer(&self) -> Option<&'a str> {
        let contract = self.section("Your layer")?.text;
        contract
            .lines()
            .find_map(|line| line.strip_prefix("layer: "))
    }

    /// The first of the labels that the prompt shows.
    pub(super) fn label(&self) -> Option<&'a str> {
        let (_, labels) = self
            .section("Labels")?
            .text
            .split_once("\"issue_labels\"")?;
        let (_, first) = labels.split_once('{')?;
        first.split('"').nth(1)
    }

    pub(super) fn output(&self) -> Option<Output<'a>> {
        let text = self.section("Output")?.text;
        let mut lines = text.lines();
        let place = lines.find(|line| line.starts_with("You work on the branch "))?;
        let role = place.split_once("as the role ");
        let branch = lines.find_map(|line| line.strip_prefix("Name your branch "))?;
        let ids = text.lines().find(|line| line.starts_with("Ids for your "));
        let schema = text.split_once("```yaml\n");
        let schema = schema.and_then(|(_, rest)| rest.split_once("```"));
        Some(Output {
            text,
            role: role.and_then(|(_, role)| code(role)),
            branch: code(branch)?,
            schema: schema.map(|(schema, _)| schema),
            ids: ids.map(codes).unwrap_or_default(),
        })
    }
}

impl<'a> Section<'a> {
    pub(super) fn fences(&self) -> Vec<Fenced<'a>> {
        let mut fences = Fences::default();
        let mut found: Vec<Fenced<'a>> = Vec::new();
        for line in self.text.lines() {
            let was_open = fences.open.is_some();
            fences.holds(line);
            match (was_open, fences.open.is_some()) {
                (false, true) => {
                    let words = line.trim_start_matches('`');
                    let path = words.split_once(' ').map_or("", |(_, path)| path);
                    found.push(Fenced {
                        path: path.trim(),
                        body: String::new(),
                    });
                }
                (true, true) => {
                    if let Some(last) = found.last_mut() {
                        last.body.push_str(line);
                        last.body.push('\n');
                    }
                }
                (true | false, false) => {}
            }
        }
        found
    }
}

impl<'a> Output<'a> {
    /// The paths that the agent may touch, in the order of the list.
    pub(super) fn paths(&self) -> Vec<&'a str> {
        let list = self.text.lines().filter(|line| line.starts_with("- "));
        list.filter_map(code).collect()
    }
}

/// The first text between backticks.
fn code(line: &str) -> Option<&str> {
    line.split('`').nth(1)
}

/// All texts between backticks.
fn codes(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}
