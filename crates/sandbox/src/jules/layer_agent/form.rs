//! Schemas filled in line by line, as an agent would that copies one.

/// What is known of the values.
pub(super) struct Form {
    subject: String,
    values: Vec<(&'static str, String)>,
}

impl Form {
    /// A form whose sentences are about something.
    pub(super) fn about(subject: &str) -> Self {
        Self {
            subject: subject.to_owned(),
            values: Vec::new(),
        }
    }

    /// The same with the value of a key; several lines are several items of a list.
    pub(super) fn with(mut self, key: &'static str, value: &str) -> Self {
        self.values.push((key, value.to_owned()));
        self
    }

    /// The schema with every field filled in.
    pub(super) fn fill(&self, schema: &str) -> String {
        let mut filled = String::new();
        let mut key = "";
        for line in schema.lines() {
            let rest = line.trim_start_matches([' ', '-']);
            let lead = line.strip_suffix(rest).unwrap_or_default();
            match rest.split_once(':').filter(|(name, _)| is_key(name)) {
                Some((name, value)) => {
                    key = name;
                    let value = self.value(name, value.trim());
                    let gap = if value.is_empty() { "" } else { " " };
                    filled.push_str(&format!("{lead}{name}:{gap}{value}\n"));
                }
                None => {
                    for item in self.items(key) {
                        filled.push_str(&format!("{lead}{}\n", quoted(&item)));
                    }
                }
            }
        }
        filled
    }

    fn value(&self, key: &str, shown: &str) -> String {
        if shown.is_empty() {
            return String::new();
        }
        match self.known(key) {
            Some(value) if matches!(value, "true" | "false") => value.to_owned(),
            Some(value) => quoted(value),
            None if shown.starts_with("\"<") => quoted(&self.sentence(key)),
            None => match shown.split('|').collect::<Vec<_>>()[..] {
                ["true", "false"] => "false".to_owned(),
                [_, middle, _] => middle.to_owned(),
                // A number, an empty text or an empty list.
                _ => shown.to_owned(),
            },
        }
    }

    fn items(&self, key: &str) -> Vec<String> {
        match self.known(key) {
            Some(values) => values.lines().map(str::to_owned).collect(),
            None => vec![self.sentence(key)],
        }
    }

    fn known(&self, key: &str) -> Option<&str> {
        let mut values = self.values.iter().rev();
        values
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value.as_str())
    }

    fn sentence(&self, key: &str) -> String {
        let words = key.replace('_', " ");
        format!(
            "This is the {words} of {} as the code shows it.",
            self.subject
        )
    }
}

fn is_key(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn quoted(text: &str) -> String {
    // A text of JSON is one of YAML too.
    serde_json::Value::from(text).to_string()
}

/// The value of a key at the left margin, without quotes.
pub(super) fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        rest.strip_prefix(':')
    })?;
    Some(rest.trim().trim_matches(['"', '\'']))
}

/// The same text with another value of a key at the left margin.
pub(super) fn set(text: &str, key: &str, value: &str) -> String {
    let start = format!("{key}:");
    let lines = text.lines().map(|line| {
        if line.starts_with(&start) {
            format!("{key}: {value}\n")
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}
