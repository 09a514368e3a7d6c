//! Stories: the behaviour of a session after its creation, as a list of timed steps.
//! Durations are friendly text such as `2s`, `1500ms` or `1h 30m`; the scenario's pace multiplies them.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::github::ChangedFile;

/// What sessions of one kind do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Story {
    /// Sessions whose title or prompt contains this play the story; empty matches none.
    #[serde(rename = "match")]
    pub matches: String,
    /// How long the session stays `QUEUED` before it is `PLANNING`.
    pub queued_for: SignedDuration,
    /// Delay before Jules approves a plan itself, when the session needs no approval.
    pub approved_after: SignedDuration,
    /// What happens, in order; each step's `after` counts from the end of the one before.
    pub steps: Vec<Step>,
    /// What happens after a message that no step waited for.
    pub on_message: Vec<Step>,
}

/// One step of a story, in JSON for example `{ "ask": { "after": "2s", "text": "Which one?" } }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Writes a plan; continues once it is approved, by Jules itself unless approval is required.
    Plan {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// Titles of the plan's steps.
        #[serde(default)]
        steps: Vec<String>,
    },
    /// Works: a `progressUpdated` activity, state `IN_PROGRESS`.
    Progress {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// Title; often empty on the live service.
        #[serde(default)]
        title: String,
        /// Description.
        #[serde(default)]
        description: String,
        /// Files changed so far, shown as a change set artifact.
        #[serde(default)]
        files: Vec<ChangedFile>,
        /// A command run, shown as a `bashOutput` artifact where that switch is on.
        #[serde(default)]
        command: Option<String>,
        /// Bytes of a screenshot before base64; 0 takes none.
        #[serde(default)]
        media_bytes: usize,
    },
    /// Asks, state `AWAITING_USER_FEEDBACK`, and continues after a message.
    Ask {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// The question.
        text: String,
    },
    /// Writes a message and changes nothing else, so that a question may hide in any state.
    Say {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// Its text.
        text: String,
    },
    /// Nothing happens until a message comes, and without one for ever.
    Stall {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
    },
    /// Opens a pull request, if the session may and has not yet.
    OpenPull {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// What its commit changes; one made-up file when empty.
        #[serde(default)]
        files: Vec<ChangedFile>,
        /// Whether it opens as a draft.
        #[serde(default)]
        draft: bool,
    },
    /// Makes one commit of files, which the session's pull request then offers. Only in a repository with files.
    Write(Writing),
    /// Does what the prompt of a pipeline's layer says, and knows nothing else but the checked-out branch. Where there is
    /// nothing to report the work ends here, without a pull request.
    Layer {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
    },
    /// Pushes a commit to the branch of the session's pull request, if it has one.
    Push {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// Commit message.
        #[serde(default)]
        message: String,
        /// What its commit changes, which becomes part of the session's work.
        #[serde(default)]
        files: Vec<ChangedFile>,
        /// Paths that it reverts to their state at the beginning of the branch.
        #[serde(default)]
        reverts: Vec<String>,
    },
    /// Ends the work: `sessionCompleted`, state `COMPLETED`, outputs.
    Complete {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// Nothing was changed: no outputs are attached.
        #[serde(default)]
        no_change: bool,
    },
    /// Fails: `sessionFailed`, state `FAILED`.
    Fail {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// The reason.
        #[serde(default)]
        reason: String,
    },
    /// A user pauses the session in the web product.
    Pause {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
    },
    /// Enters a state by its raw name, known or not.
    State {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// The state's name.
        state: String,
    },
    /// Writes an activity with these raw members, known or not; name, id and time are filled in.
    Activity {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
        /// The members.
        activity: Map<String, Value>,
    },
    /// The outputs vanish from reads.
    DropOutputs {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
    },
    /// `sessionCompleted` with outputs, but the state stays `IN_PROGRESS` whatever messages come.
    Hang {
        /// Delay before the step.
        #[serde(default)]
        after: SignedDuration,
    },
}

/// Files that a session writes in one commit: first the moves, then the removals, then the texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Writing {
    /// Delay before the step.
    pub after: SignedDuration,
    /// The branch that is made for it; one named after the session's title where there is none.
    pub branch: Option<String>,
    /// Texts of files by path.
    pub files: BTreeMap<String, String>,
    /// Files that get another path: the old one and the new one.
    pub moves: Vec<(String, String)>,
    /// Files that go away.
    pub removals: Vec<String>,
}

impl Step {
    /// Works and changes no file.
    #[must_use]
    pub fn progress(after: SignedDuration, title: &str) -> Self {
        Self::Progress {
            after,
            title: title.to_owned(),
            description: String::new(),
            files: Vec::new(),
            command: None,
            media_bytes: 0,
        }
    }

    /// Writes a plan of these steps.
    #[must_use]
    pub fn plan(after: SignedDuration, steps: &[&str]) -> Self {
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        Self::Plan { after, steps }
    }

    /// Asks.
    #[must_use]
    pub fn ask(after: SignedDuration, text: &str) -> Self {
        let text = text.to_owned();
        Self::Ask { after, text }
    }

    /// Opens the pull request with one made-up file.
    #[must_use]
    pub fn open_pull(after: SignedDuration, draft: bool) -> Self {
        let files = Vec::new();
        Self::OpenPull {
            after,
            files,
            draft,
        }
    }

    /// Ends the session with what it changed.
    #[must_use]
    pub fn complete(after: SignedDuration) -> Self {
        let no_change = false;
        Self::Complete { after, no_change }
    }

    /// Delay before the step, at pace 1.
    #[must_use]
    pub fn after(&self) -> SignedDuration {
        match self {
            Self::Plan { after, .. }
            | Self::Progress { after, .. }
            | Self::Ask { after, .. }
            | Self::Say { after, .. }
            | Self::Stall { after }
            | Self::OpenPull { after, .. }
            | Self::Write(Writing { after, .. })
            | Self::Layer { after }
            | Self::Push { after, .. }
            | Self::Complete { after, .. }
            | Self::Fail { after, .. }
            | Self::Pause { after }
            | Self::State { after, .. }
            | Self::Activity { after, .. }
            | Self::DropOutputs { after }
            | Self::Hang { after } => *after,
        }
    }
}

impl Story {
    /// What sessions play whose title or prompt contains a text.
    #[must_use]
    pub fn new(matches: &str, steps: Vec<Step>) -> Self {
        Self {
            matches: matches.to_owned(),
            steps,
            ..Self::default()
        }
    }

    /// The built-in story `layer`: it works on the prompts of a pipeline's layers and on nothing else, in about five seconds.
    #[must_use]
    pub fn layer() -> Self {
        let steps = vec![
            Step::plan(STEP, &["Do what the section Output says"]),
            Step::Layer { after: STEP },
            Step::open_pull(STEP, false),
            Step::complete(STEP),
        ];
        Self::new(LAYER_PROMPT, steps)
    }
}

/// What every prompt of a layer has, and no other one.
const LAYER_PROMPT: &str = "# Output\n\nYou work on the branch ";

/// The default story: plan, work, pull request, done, in about seven seconds.
impl Default for Story {
    fn default() -> Self {
        let plan = ["Look around", "Make the change", "Run the tests"];
        Self {
            matches: String::new(),
            queued_for: SignedDuration::from_millis(500),
            approved_after: SignedDuration::from_millis(500),
            steps: vec![
                Step::plan(SignedDuration::from_secs(1), &plan),
                Step::progress(STEP, "Looking around"),
                Step::progress(STEP, "Making the change"),
                Step::open_pull(STEP, false),
                Step::complete(STEP),
            ],
            on_message: vec![
                Step::progress(STEP, "Reading the message"),
                Step::Push {
                    after: STEP,
                    message: "Address the message".to_owned(),
                    files: Vec::new(),
                    reverts: Vec::new(),
                },
                Step::complete(STEP),
            ],
        }
    }
}

/// What a prompt says that asks for the verdict of a review.
const ASKS_FOR_VERDICT: &str = "Your last message is this JSON in a fence marked `json`";

/// The verdict of the default review.
const PASSES: &str =
    "```json\n{\"verdict\": \"pass\", \"summary\": \"The change does what was asked.\"}\n```";

impl Story {
    /// What a session plays by default whose prompt asks for the verdict of a review: the change passes.
    pub(crate) fn review() -> Self {
        let says = Step::Say {
            after: STEP,
            text: PASSES.to_owned(),
        };
        let ends = Step::Complete {
            after: STEP,
            no_change: true,
        };
        Self {
            steps: vec![Step::progress(STEP, "Reviewing the change"), says, ends],
            ..Self::default()
        }
    }
}

/// Whether a prompt asks for the verdict of a review.
pub(crate) fn asks_for_verdict(prompt: &str) -> bool {
    prompt.contains(ASKS_FOR_VERDICT)
}

/// Delay between the default story's steps.
const STEP: SignedDuration = SignedDuration::from_millis(1_250);
