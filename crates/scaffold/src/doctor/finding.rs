//! What the doctor finds: one rule broken in one line of one file, and what to do about it.

use std::fmt;

use domain::redact::presentable;
use serde::Serialize;

/// How much a sentence may hold, in characters: what it repeats of a file is never longer.
const SENTENCE_CHARS_MAX: usize = 500;

/// Whether a finding stops the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing goes on with it.
    Error,
    /// Worth a look; stops only where the caller is strict.
    Warning,
}

/// Declares the rules with their level and their remedy, each in one place.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident, $id:literal, $level:ident, $remedy:literal;)*) => {
        /// A rule of the doctor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Rule {
            $($(#[$doc])* #[serde(rename = $id)] $name,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in reports.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            /// How much breaking it matters.
            pub fn level(self) -> Level {
                match self { $(Self::$name => Level::$level,)* }
            }

            /// What to do about it.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$name => $remedy,)* }
            }
        }
    };
}

rules! {
    /// The tree has no generation of layouts, both, or one that is not read.
    Layout, "layout", Error, "keep one generation of layouts, and bootstrap where there is none";
    /// A file or a folder of the system is not there.
    MissingSystem, "missing-system-file", Error, "let the doctor fix it, or bootstrap again";
    /// A file of the system is on the target branch.
    StraySystem, "stray-system-file", Error, "take it off the target branch with `git rm`, and commit: only the worker branch has it";
    /// A file of the user's folder is not there.
    MissingControl, "missing-control-file", Error, "set the repository up with init";
    /// The repository was set up by a newer Gaffer, or its version cannot be read.
    Version, "version", Error, "use the newer Gaffer, or write the version that wrote these files";
    /// A link or another repository lies there.
    Irregular, "irregular-file", Error, "put a regular file in its place";
    /// A file is not UTF-8, or too large.
    NotText, "not-text", Error, "save it as UTF-8 with at most 64 KB, or take it away";
    /// A path cannot be worked with.
    Path, "path", Error, "rename the file";
    /// Two paths differ only in the case of letters.
    CaseTwins, "case-twins", Error, "rename one of the two";
    /// The file of secrets is tracked.
    TrackedSecrets, "tracked-secrets", Error, "take it out of git, and replace the secrets in it";
    /// A text looks like a secret.
    Secret, "secret", Error, "take it out, and replace the secret where it is used";
    /// A YAML or JSON file cannot be read.
    Unreadable, "unreadable", Error, "correct the line";
    /// A key that the schema does not have.
    UnknownKey, "unknown-key", Error, "use the keys of the schema";
    /// A key of the schema is not there.
    MissingKey, "missing-key", Error, "copy the key from the schema, and fill it in";
    /// A place of the schema was not filled in.
    Placeholder, "placeholder", Error, "fill it in";
    /// A value is not of the wanted kind.
    Value, "value", Error, "write a value that the schema allows";
    /// A date is none.
    Date, "date", Error, "write it as YYYY-MM-DD";
    /// An id is none.
    Id, "id", Error, "use six characters of a-z and 0-9";
    /// A list has too few or too many entries.
    Entries, "entries", Error, "add or take away entries";
    /// An event says something else than its folder.
    State, "state", Error, "move the file, or correct its requirement";
    /// A label that the repository does not have.
    Label, "label", Error, "use a label of github-labels.json";
    /// Deep analysis is wanted without a reason.
    Reason, "reason", Error, "say what has to be found out";
    /// Not three proposals of one persona and day.
    ProposalCount, "proposal-count", Error, "keep three proposals of one run, or none";
    /// A file name that does not follow the rules.
    FileName, "file-name", Error, "name it in lower case with hyphens, ending in .yml";
    /// Contracts that belong to another layer.
    Contracts, "contracts", Error, "bootstrap again, which puts back the system's file";
    /// A role that says it is another one.
    Role, "role", Error, "make role and layer those of its folders";
    /// One id for two artefacts.
    TwinId, "twin-id", Error, "give one of them a fresh id";
    /// A link whose other end is missing or says otherwise.
    Link, "link", Error, "make both ends name each other";
    /// One event in two requirements.
    SharedEvent, "shared-event", Error, "leave it in one requirement";
    /// The settings cannot be used.
    Config, "config", Error, "correct the line";
    /// A role is scheduled that is not there.
    ScheduledRole, "scheduled-role", Error, "add the role, or take it out of the settings";
    /// A prompt cannot be put together.
    Prompt, "prompt", Error, "correct what the sentence names";
    /// An event waits for a decision.
    Waiting, "waiting", Warning, "run the decider, or delete the event";
    /// A text says too little.
    ShortText, "short-text", Warning, "say it in a whole sentence";
    /// A command that is to show something was left open.
    Vague, "vague-verification", Warning, "write what can be run or seen";
    /// A pending event about the same thing as another one, or as an open requirement.
    SimilarEvents, "similar-events", Warning, "delete the event if the other file says it";
    /// A text tells the agent to read a file that could be included.
    ReadOrder, "read-order", Warning, "include the file in the template instead";
    /// A prompt holds a block twice.
    DoubledBlock, "doubled-block", Warning, "keep one of the two";
}

/// What to do about the system's files in the older layout.
const MOVE_FIRST: &str = "move the repository to the newer layout with `gaffer scaffold migrate`";

/// One rule broken in one line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The file, or the folder that misses one.
    pub file: String,
    /// The line, from 1; 1 for a whole file.
    pub line: usize,
    /// The rule.
    pub rule: Rule,
    /// Whether it stops the work.
    pub level: Level,
    /// What is wrong, in a sentence.
    pub what: String,
    /// What to do about it.
    pub remedy: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Error => "ERROR",
            Level::Warning => "WARN",
        };
        write!(
            f,
            "[{level}] {}:{}: {} ({}): {}",
            self.file,
            self.line,
            self.what,
            self.rule.id(),
            self.remedy
        )
    }
}

/// Findings while they are gathered.
#[derive(Debug, Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
}

impl Report {
    /// Notes a broken rule. What the sentence repeats of a file loses its secrets and hidden characters.
    pub(super) fn add(&mut self, rule: Rule, file: &str, line: usize, what: impl AsRef<str>) {
        self.findings.push(Finding {
            file: presentable(file, SENTENCE_CHARS_MAX),
            line: line.max(1),
            rule,
            level: rule.level(),
            what: presentable(what.as_ref(), SENTENCE_CHARS_MAX).replace('\n', " "),
            remedy: rule.remedy(),
        });
    }

    /// Names what moves an older layout, in place of remedies that write into the newer one only.
    pub(super) fn move_first(&mut self) {
        for finding in &mut self.findings {
            if matches!(finding.rule, Rule::MissingSystem | Rule::Contracts) {
                finding.remedy = MOVE_FIRST;
            }
        }
    }

    /// All of them in order of file and line, each once.
    pub(super) fn sorted(mut self) -> Vec<Finding> {
        self.findings.sort();
        self.findings.dedup();
        self.findings
    }
}
