//! Parameters in the query and the headers of a call.

use client::wire::{
    ARTIFACTS_PAGE_MAX, DELIVERIES_LIMIT, DELIVERIES_LIMIT_MAX, EVENTS_LIMIT, EVENTS_LIMIT_MAX,
    IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_BYTES_MAX, JOBS_LIMIT, JOBS_LIMIT_MAX, MAIL_LOG_PAGE_MAX,
    MAILBOX_LIMIT_MAX, PIPELINES_LIMIT, PIPELINES_LIMIT_MAX, SPRINTS_LIMIT, SPRINTS_LIMIT_MAX,
    TRANSCRIPT_PAGE_MAX, WAIT_SECONDS_MAX,
};

use crate::deliveries::NEEDS;

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// A number from one to another, and what is meant without it.
    Number {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
        /// What is meant without it.
        default: u32,
    },
    /// A text that matches a form of the document.
    Form(&'static str),
    /// What a job is called by.
    Job,
    /// States of a job, separated by commas.
    States,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text that an earlier answer held.
    Cursor,
    /// Yes or no, in digits or words.
    Switch,
    /// Names of sets of tools, with commas between them.
    Toolsets,
    /// A name in a header, of visible ASCII characters.
    Name {
        /// Its length at most, in bytes.
        longest: usize,
    },
}

/// One parameter of a query, or a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Whether it is a header.
    pub in_header: bool,
    /// The type of its value.
    pub takes: ParameterType,
    /// Its meaning, in a sentence.
    pub means: &'static str,
}

const fn query(name: &'static str, takes: ParameterType, means: &'static str) -> Parameter {
    Parameter {
        name,
        in_header: false,
        takes,
        means,
    }
}

const fn number(
    name: &'static str,
    min: u32,
    max: u32,
    default: u32,
    means: &'static str,
) -> Parameter {
    query(name, ParameterType::Number { min, max, default }, means)
}

/// The name of an order.
pub(super) const KEY: Parameter = Parameter {
    name: IDEMPOTENCY_KEY,
    in_header: true,
    takes: ParameterType::Name {
        longest: IDEMPOTENCY_KEY_BYTES_MAX,
    },
    means: "Names the order: the same name with the same body is carried out once.",
};

/// Whether to read Jules first.
pub(super) const FRESH: Parameter = query(
    "fresh",
    ParameterType::Switch,
    "Whether Jules is looked at first: what the job then is, is answered.",
);

/// Additional tools to list.
pub(super) const TOOLSETS: Parameter = query(
    "toolsets",
    ParameterType::Toolsets,
    "Which tools are shown besides those that always are.",
);

/// The cursor of a conversation.
pub(super) const SAID: Parameter = query(
    "cursor",
    ParameterType::Cursor,
    "Goes on where an earlier answer ended: its `next_cursor`.",
);

/// Which piece of a patch is wanted.
pub(super) const PIECE: Parameter = number(
    "page",
    0,
    ARTIFACTS_PAGE_MAX,
    0,
    "Which piece of the patch: the first is read afresh, a further one is of the reading before and named by its `next_page`.",
);

/// Which page of a transcript is wanted.
pub(super) const TRANSCRIPT_PAGE: Parameter = number(
    "page",
    1,
    TRANSCRIPT_PAGE_MAX,
    1,
    "Which page: a further one is named by the `next_page` of the one before.",
);

/// What a mailbox takes.
pub(super) const MAILBOX: [Parameter; 3] = [
    query(
        "unread",
        ParameterType::Switch,
        "Only messages that are not read.",
    ),
    query(
        "after",
        ParameterType::Cursor,
        "Goes on behind the message of this number.",
    ),
    number(
        "limit",
        1,
        MAILBOX_LIMIT_MAX,
        MAILBOX_LIMIT_MAX,
        "How many at most.",
    ),
];

/// Which page of a log of mail is wanted.
pub(super) const MAIL_LOG_PAGE: [Parameter; 1] = [number(
    "page",
    0,
    MAIL_LOG_PAGE_MAX,
    0,
    "Which page: a further one is named by the `next_page` of the one before.",
)];

/// What `GET /pulls` takes.
pub(super) const PULLS: [Parameter; 1] = [query(
    "repo",
    ParameterType::Form("RepoName"),
    "Only pull requests of this repository.",
)];

/// What `GET /jobs` takes.
pub(super) const JOBS: [Parameter; 4] = [
    query(
        "repo",
        ParameterType::Form("RepoName"),
        "Only jobs of this repository.",
    ),
    query(
        "state",
        ParameterType::States,
        "Only jobs in one of these states, with commas between them.",
    ),
    number("limit", 1, JOBS_LIMIT_MAX, JOBS_LIMIT, "How many at most."),
    query(
        "cursor",
        ParameterType::Cursor,
        "Goes on where an earlier answer ended: its `next_cursor`.",
    ),
];

/// What `GET /api/deliveries` takes.
pub(super) const DELIVERIES: [Parameter; 6] = [
    query(
        "phase",
        ParameterType::Word(&[
            "intake",
            "plan",
            "implement",
            "review",
            "verify",
            "deploy",
            "observe",
            "close",
        ]),
        "Only deliveries in this phase.",
    ),
    query(
        "repo",
        ParameterType::Form("RepoName"),
        "Only deliveries of this repository.",
    ),
    query(
        "needs",
        ParameterType::Word(&NEEDS),
        "Only deliveries that wait for a person, or for an agent.",
    ),
    query(
        "open",
        ParameterType::Switch,
        "Only deliveries that are not over.",
    ),
    number(
        "limit",
        1,
        DELIVERIES_LIMIT_MAX,
        DELIVERIES_LIMIT,
        "How many at most.",
    ),
    query(
        "after",
        ParameterType::Cursor,
        "Goes on where an earlier answer ended: its `next`.",
    ),
];

/// What is about one repository.
pub(super) const OF_REPO: [Parameter; 1] = [query(
    "repo",
    ParameterType::Form("RepoName"),
    "The repository; it has to be given.",
)];

/// What `GET /api/pipelines` takes.
pub(super) const PIPELINES: [Parameter; 2] = [
    OF_REPO[0],
    number(
        "limit",
        1,
        PIPELINES_LIMIT_MAX,
        PIPELINES_LIMIT,
        "How many at most.",
    ),
];

/// What `GET /api/sprints/{owner}/{name}` takes.
pub(super) const SPRINTS: [Parameter; 1] = [number(
    "limit",
    1,
    SPRINTS_LIMIT_MAX,
    SPRINTS_LIMIT,
    "How many at most.",
)];

/// What `GET /api/deliveries/{delivery}/events` takes: the same without a job.
pub(super) const DELIVERY_EVENTS: [Parameter; 4] = [EVENTS[0], EVENTS[2], EVENTS[3], EVENTS[4]];

/// What `GET /events` takes.
pub(super) const EVENTS: [Parameter; 5] = [
    query(
        "after",
        ParameterType::Cursor,
        "The `cursor` of an earlier answer; without it the newest events are listed.",
    ),
    query("job", ParameterType::Job, "Only events of this job."),
    query(
        "open",
        ParameterType::Switch,
        "Only open events: not acknowledged, and no question that was answered; without `after` the oldest first, and of what belongs to no open job or delivery only those among the newest 100.",
    ),
    number(
        "limit",
        0,
        EVENTS_LIMIT_MAX,
        EVENTS_LIMIT,
        "How many at most; 0 returns only the present cursor.",
    ),
    number(
        "wait_seconds",
        0,
        WAIT_SECONDS_MAX,
        0,
        "How long an empty answer may be held open, in seconds; on Lambda it never is.",
    ),
];
