//! A file of the exchange with one line of it changed, and every other byte as it was.

/// An event's text with its requirement, or with none. Both names of the key are known.
pub(crate) fn with_requirement(text: &str, requirement: &str) -> Option<String> {
    let value = format!("\"{requirement}\"");
    replaced(text, "requirement_id", &value).or_else(|| replaced(text, "issue_id", &value))
}

/// A text with another value in the line of a key, which stands at the line's beginning. Every other byte stays.
pub(crate) fn replaced(text: &str, key: &str, value: &str) -> Option<String> {
    let is_line = |line: &str| {
        let rest = line.strip_prefix(key);
        rest.is_some_and(|rest| rest.starts_with(':'))
    };
    let mut found = false;
    let lines = text.split_inclusive('\n').map(|line| {
        if found || !is_line(line) {
            return line.to_owned();
        }
        found = true;
        let end = line.trim_end_matches(['\r', '\n']).len();
        format!("{key}: {value}{}", &line[end..])
    });
    let text: String = lines.collect();
    found.then_some(text)
}
