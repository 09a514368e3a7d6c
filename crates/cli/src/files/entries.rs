//! A list of jobs as people and programs write it: a JSON array, JSON lines, or ids alone.

use domain::fence::clip;
use domain::ids::{AgentName, JobId, RepoName, SessionId};
use serde_json::{Map, Value};

/// Longest entry that an error repeats, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The number of its line, or its place in the array, from 1.
    pub(super) at: usize,
    /// The job or session.
    pub(super) names: Name,
    /// The repository of a session.
    pub(super) repo: Option<RepoName>,
    /// Who is woken for an adopted session.
    pub(super) agent: Option<AgentName>,
    /// Free notes about it.
    pub(super) metadata: Map<String, Value>,
}

/// What an entry names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// A job of ours.
    Job(JobId),
    /// A session.
    Session(SessionId),
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Job(job) => job.fmt(f),
            Self::Session(session) => session.fmt(f),
        }
    }
}

/// An entry that says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The number of its line, or its place in the array, from 1.
    pub(super) at: usize,
    /// What is wrong with it.
    pub(super) what: String,
}

/// Reads a list. Lines with nothing on them are no entries.
pub(super) fn read(bytes: &[u8]) -> Vec<Result<Entry, Wrong>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(Value::Array(items)) = serde_json::from_slice(bytes) {
        let entries = (1..).zip(items);
        return entries.map(|(at, item)| of_value(at, &item)).collect();
    }
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    lines.filter_map(|(at, line)| of_line(at, line)).collect()
}

fn of_line(at: usize, line: &[u8]) -> Option<Result<Entry, Wrong>> {
    let Ok(line) = std::str::from_utf8(line) else {
        let what = "it is not UTF-8".to_owned();
        return Some(Err(Wrong { at, what }));
    };
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    // An id alone may be taken for a number, and is none. Without quotes a word may be anything.
    let is_number = line.bytes().all(|byte| byte.is_ascii_digit());
    let names = name(line).filter(|name| is_number || matches!(name, Name::Job(_)));
    if let Some(names) = names {
        return Some(Ok(bare(at, names)));
    }
    Some(match serde_json::from_str(line) {
        Ok(value) => of_value(at, &value),
        Err(error) => Err(wrong(at, line, &format!("it is no JSON: {error}"))),
    })
}

fn of_value(at: usize, value: &Value) -> Result<Entry, Wrong> {
    let told = value.to_string();
    let fields = match value {
        Value::Object(fields) => fields,
        Value::String(_) | Value::Number(_) => {
            let names = id(value).ok_or_else(|| wrong(at, &told, NO_ID))?;
            return Ok(bare(at, names));
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => {
            return Err(wrong(at, &told, "it is neither an object nor an id"));
        }
    };
    let named = ["job_id", "session_id", "id"];
    let given = named.iter().find_map(|name| fields.get(*name));
    let given = given.ok_or_else(|| wrong(at, &told, "it has no `job_id`"))?;
    let names = id(given).ok_or_else(|| wrong(at, &told, &format!("`job_id`: {NO_ID}")))?;
    let metadata = match fields.get("metadata") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(_) => return Err(wrong(at, &told, "`metadata` is no object")),
    };
    let read = Read {
        at,
        told: &told,
        fields,
        metadata: &metadata,
    };
    Ok(Entry {
        at,
        names,
        repo: read.text("repo")?,
        agent: read.text("agent")?,
        metadata,
    })
}

const NO_ID: &str = "a job id has 26 characters of a-z and 0-9, a session id is a number";

/// Where to find a field of an entry.
struct Read<'a> {
    at: usize,
    told: &'a str,
    fields: &'a Map<String, Value>,
    metadata: &'a Map<String, Value>,
}

impl Read<'_> {
    /// A field of the entry's own, which has to be valid; or one of the free notes, if it is.
    fn text<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, Wrong> {
        match self.fields.get(name) {
            None | Some(Value::Null) => {
                let noted = self.metadata.get(name).and_then(Value::as_str);
                Ok(noted.and_then(|noted| noted.parse().ok()))
            }
            Some(Value::String(text)) => {
                let refuse = |why: T::Err| wrong(self.at, self.told, &format!("`{name}`: {why}"));
                text.parse().map(Some).map_err(refuse)
            }
            Some(_) => Err(wrong(self.at, self.told, &format!("`{name}` is no text"))),
        }
    }
}

fn bare(at: usize, names: Name) -> Entry {
    Entry {
        at,
        names,
        repo: None,
        agent: None,
        metadata: Map::new(),
    }
}

fn id(value: &Value) -> Option<Name> {
    match value {
        Value::String(text) => name(text),
        Value::Number(number) => name(&number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An id, also as Jules writes it in names of resources.
fn name(text: &str) -> Option<Name> {
    let text = text.strip_prefix("sessions/").unwrap_or(text);
    let job = text.parse().ok().map(Name::Job);
    job.or_else(|| text.parse().ok().map(Name::Session))
}

fn wrong(at: usize, entry: &str, why: &str) -> Wrong {
    let what = format!("`{}`: {why}", clip(entry, SHOWN_CHARS_MAX));
    Wrong { at, what }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const JOB: &str = "01j00000000000000000000000";

    fn names(text: &str) -> Vec<(usize, String)> {
        let entries = read(text.as_bytes()).into_iter().map(|entry| match entry {
            Ok(entry) => (entry.at, entry.names.to_string()),
            Err(wrong) => (wrong.at, "wrong".to_owned()),
        });
        entries.collect()
    }

    #[test]
    fn arrays_lines_and_bare_ids_are_read_alike() {
        let one = json!({ "job_id": JOB, "metadata": { "task": "x" } });
        let array = json!([one, JOB, "31", 31, { "session_id": "sessions/31" }]).to_string();
        let lines = format!("\u{feff}{one}\r\n\"{JOB}\"\n\n{JOB}\n31\n\"sessions/31\"\n\"31\"");
        let of = |at, name: &str| (at, name.to_owned());
        let wanted = [
            of(1, JOB),
            of(2, JOB),
            of(3, "31"),
            of(4, "31"),
            of(5, "31"),
        ];
        assert_eq!(names(&array), wanted);
        let wanted = [1, 2, 4].map(|at| of(at, JOB));
        let wanted = [wanted, [5, 6, 7].map(|at| of(at, "31"))].concat();
        assert_eq!(names(&lines), wanted);
        assert_eq!(names(""), []);
        assert_eq!(names("[]"), []);
    }

    #[test]
    fn what_is_wrong_is_counted_and_the_rest_goes_on() {
        let lines = "{\"job_id\": \n{}\nnull\n[31]\n{\"job_id\": true}\n\u{7}\n../x\n\
                     {\"job_id\": 31, \"metadata\": 7}\n{\"job_id\": 31, \"repo\": \"acme\"}\n31";
        let read = names(lines);
        assert_eq!(read.len(), 10, "{read:?}");
        assert!(
            read[..9].iter().all(|(_, name)| name == "wrong"),
            "{read:?}"
        );
        assert_eq!(read[9], (10, "31".to_owned()));
        assert_eq!(super::read(b"\xff\xfe\n31").len(), 2);
    }

    #[test]
    fn the_repository_stands_beside_the_id_or_in_the_metadata() {
        let of = |entry: Value| {
            of_value(1, &entry)
                .unwrap()
                .repo
                .map(|repo| repo.to_string())
        };
        let shop = Some("acme/shop".to_owned());
        assert_eq!(of(json!({ "job_id": 31, "repo": "acme/shop" })), shop);
        let noted = json!({ "repo": "acme/shop" });
        assert_eq!(of(json!({ "job_id": 31, "metadata": noted })), shop);
        // Free notes may be anything.
        let noted = json!({ "repo": "none yet" });
        assert_eq!(of(json!({ "job_id": 31, "metadata": noted })), None);
    }
}
