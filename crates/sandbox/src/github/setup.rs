//! What a test or a scenario declares: repositories, their checks and rules, tokens and new pull requests.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// Numeric id of the GitHub Actions app on github.com, the author of workflow check runs.
pub const ACTIONS_APP_ID: u64 = 15_368;

/// Slug of the GitHub Actions app.
pub const ACTIONS_APP_SLUG: &str = "github-actions";

/// The initial setup of a repository.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepoSetup {
    /// `owner/name`.
    pub full_name: String,
    /// Numeric id; zero lets the sandbox number it.
    pub id: u64,
    /// The branch that exists from the start.
    pub default_branch: String,
    /// Whether tokens need this repository in their list to see it.
    pub private: bool,
    /// The checks that start on every new head, and which of them are required.
    pub ci: CiSetup,
    /// Where the required checks and reviews can be read.
    pub protection: Protection,
    /// Approving reviews needed before a merge.
    pub reviews_required: u32,
    /// Whether a ruleset demands a merge queue, which refuses direct merges.
    pub merge_queue: bool,
    /// Merge methods the repository allows.
    pub merge_methods: Vec<MergeMethod>,
    /// Whether GitHub itself deletes the head branch after a merge.
    pub delete_branch_on_merge: bool,
    /// Permission of people other than the owner: login to `admin`, `write`, `read`.
    pub collaborators: BTreeMap<String, String>,
    /// What only administrators set.
    pub admin: super::admin::AdminSetup,
    /// The texts of files on the default branch, by path. A repository with files is a real one of git.
    pub files: BTreeMap<String, String>,
    /// A folder of this machine whose files are on the default branch, beside `files`.
    pub folder: Option<std::path::PathBuf>,
    /// Branches of a repository with files that only merges may move.
    pub protected_branches: Vec<String>,
    /// A whole tree is cut off after so many entries, as GitHub's own is after 100,000.
    pub tree_entries_max: usize,
    /// The number of its first issue or pull request.
    pub first_number: u64,
}

impl Default for RepoSetup {
    fn default() -> Self {
        Self {
            full_name: String::new(),
            id: 0,
            default_branch: "main".to_owned(),
            private: false,
            ci: CiSetup::default(),
            protection: Protection::Rulesets,
            reviews_required: 0,
            merge_queue: false,
            merge_methods: vec![MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase],
            delete_branch_on_merge: false,
            collaborators: BTreeMap::new(),
            admin: super::admin::AdminSetup::default(),
            files: BTreeMap::new(),
            folder: None,
            protected_branches: Vec::new(),
            tree_entries_max: 100_000,
            first_number: 1,
        }
    }
}

impl RepoSetup {
    /// A public repository `owner/name` without checks or rules.
    pub fn new(full_name: &str) -> Self {
        Self {
            full_name: full_name.to_owned(),
            ..Self::default()
        }
    }

    /// The same repository as a real one of git, with these files: paths and texts.
    #[must_use]
    pub fn with_files<'a>(mut self, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files = files.into_iter();
        self.files
            .extend(files.map(|(path, text)| (path.to_owned(), text.to_owned())));
        self
    }

    /// Whether git keeps it.
    pub(crate) fn is_real(&self) -> bool {
        !self.files.is_empty() || self.folder.is_some()
    }

    /// The same repository with these checks, of which none is required.
    #[must_use]
    pub fn with_checks(self, checks: impl Into<Vec<CheckSetup>>) -> Self {
        self.with_ci(CiSetup {
            checks: checks.into(),
            ..CiSetup::default()
        })
    }

    /// The same repository with these checks and rules.
    #[must_use]
    pub fn with_ci(mut self, ci: CiSetup) -> Self {
        self.ci = ci;
        self
    }
}

/// Where GitHub returns the requirements of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Nothing is required and `/protection` answers 404; `required` is enforced nowhere.
    Off,
    /// Rulesets: `/rules/branches/{branch}` returns everything, `/protection` answers 404.
    #[default]
    Rulesets,
    /// Classic protection: only `/protection` returns it, to tokens with administration access.
    Classic,
}

/// A way to merge a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MergeMethod {
    /// A merge commit with two parents.
    Merge,
    /// One new commit on the base.
    Squash,
    /// The commits replayed on the base.
    Rebase,
}

impl MergeMethod {
    /// The word of the REST API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }

    /// Reads the word of the REST API.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Merge, Self::Squash, Self::Rebase]
            .into_iter()
            .find(|method| method.as_str() == word)
    }
}

/// The checks of a repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CiSetup {
    /// What starts when a head of a pull request appears.
    pub checks: Vec<CheckSetup>,
    /// Checks that must be green before a merge.
    pub required: Vec<RequiredCheck>,
    /// Whether the head must contain the base's tip before a merge.
    pub strict: bool,
    /// Whether the same checks also start on commits that reach the default branch.
    pub on_base: bool,
    /// Whether marking a draft as ready runs the workflows again and cancels what still runs of them, as `cancel-in-progress` does.
    pub again_on_ready: bool,
}

/// One required check of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredCheck {
    /// Name of the check run or context of the commit status.
    pub context: String,
    /// The app that must have written it; none accepts any.
    #[serde(default)]
    pub app_id: Option<u64>,
}

impl RequiredCheck {
    /// A required check that any app may write.
    pub fn any(context: &str) -> Self {
        Self {
            context: context.to_owned(),
            app_id: None,
        }
    }
}

/// One check that runs on every new head.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckSetup {
    /// Name of the check run (also its job), or context of the status.
    pub name: String,
    /// The workflow this job belongs to, for checks of GitHub Actions.
    pub workflow: String,
    /// Numeric id of the app that writes it.
    pub app_id: u64,
    /// Slug of that app.
    pub app_slug: String,
    /// Check run or commit status.
    pub kind: CheckKind,
    /// From its start until its conclusion.
    pub takes: SignedDuration,
    /// Delay from the head's appearance to the check's.
    pub starts_after: SignedDuration,
    /// How long it shows `queued` before it shows `in_progress`; counted after `starts_after`.
    pub queued_for: SignedDuration,
    /// How it ends.
    pub outcome: Outcome,
    /// What the job's log says; a short default when empty.
    pub log: String,
    /// Whether it starts only when its workflow is dispatched.
    pub on_dispatch: bool,
    /// Text in the names of the branches that it runs for.
    pub on_branch: String,
}

impl Default for CheckSetup {
    fn default() -> Self {
        Self {
            name: "build".to_owned(),
            workflow: "CI".to_owned(),
            app_id: ACTIONS_APP_ID,
            app_slug: ACTIONS_APP_SLUG.to_owned(),
            kind: CheckKind::CheckRun,
            takes: SignedDuration::from_secs(2),
            starts_after: SignedDuration::ZERO,
            queued_for: SignedDuration::ZERO,
            outcome: Outcome::Success,
            log: String::new(),
            on_dispatch: false,
            on_branch: String::new(),
        }
    }
}

impl CheckSetup {
    /// A check run of GitHub Actions that ends with `outcome` after two seconds.
    pub fn new(name: &str, outcome: Outcome) -> Self {
        Self {
            name: name.to_owned(),
            outcome,
            ..Self::default()
        }
    }

    /// A commit status that ends with `outcome` after two seconds.
    pub fn status(context: &str, outcome: Outcome) -> Self {
        Self {
            name: context.to_owned(),
            kind: CheckKind::Status,
            outcome,
            ..Self::default()
        }
    }
}

/// The two ways in which GitHub shows a result on a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// A check run, written by an app.
    #[default]
    CheckRun,
    /// A commit status, the older mechanism.
    Status,
}

/// How a check ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Green.
    #[default]
    Success,
    /// Red on every head.
    Failure,
    /// Red on the first so many heads of each branch, then green.
    FailsFirst(u32),
    /// Red on the first attempt of every head, green when run again.
    Flaky,
    /// Ends `neutral`, which counts as passed.
    Neutral,
    /// Ends `skipped`, which counts as passed.
    Skipped,
    /// Ends `cancelled`.
    Cancelled,
    /// Ends `timed_out`.
    TimedOut,
    /// Never appears.
    Never,
    /// Starts and never ends.
    Hangs,
    /// The workflow waits for a person's approval: a run with `action_required` and no check run.
    ApprovalPending,
}

/// A file changed by a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChangedFile {
    /// Path in the repository.
    pub filename: String,
    /// `added`, `modified`, `removed` or `renamed`.
    pub status: String,
    /// Lines added.
    pub additions: u64,
    /// Lines removed.
    pub deletions: u64,
    /// The unified diff of this file, which GitHub leaves out for big or binary files.
    pub patch: Option<String>,
    /// The former path of a renamed file.
    pub previous_filename: Option<String>,
}

impl Default for ChangedFile {
    fn default() -> Self {
        Self {
            filename: String::new(),
            status: "modified".to_owned(),
            additions: 1,
            deletions: 0,
            patch: None,
            previous_filename: None,
        }
    }
}

impl ChangedFile {
    /// A modified file with one added line.
    pub fn modified(filename: &str) -> Self {
        Self {
            filename: filename.to_owned(),
            patch: Some("@@ -1 +1,2 @@\n line\n+another".to_owned()),
            ..Self::default()
        }
    }
}

/// A commit about to be pushed.
#[derive(Clone, Debug, Default)]
pub struct NewCommit {
    /// Commit message.
    pub message: String,
    /// Who pushes.
    pub author_login: String,
    /// Its changed files.
    pub files: Vec<ChangedFile>,
    /// Paths that it reverts to their state at the beginning of its pull request's branch.
    pub reverts: Vec<String>,
    /// Whether it also merges the base's tip, which resolves a conflict.
    pub merges_base: bool,
}

/// An issue about to be opened.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewIssue {
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Who opens it.
    pub author_login: String,
    /// Labels it has from the start.
    pub labels: Vec<String>,
}
