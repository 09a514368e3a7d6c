//! The ports: what the engine needs of the world, reading and writing kept apart.

mod agents;
mod clock;
mod dead;
mod git;
mod hooks;
mod ids;
mod issues;
mod probes;
mod pulls;
mod queue;
mod records;
mod secrets;
mod sessions;

pub use agents::{AgentsWrite, Delivered, Envelope};
pub use clock::Clock;
pub use dead::{DeadLetter, DeadLetters};
pub use git::{
    CommitDetails, CommitLine, CommitRange, Comparison, Edit, FoundPull, GitRead, GitWrite,
    NewCommit, NewIssue, NewPull, NewStatus, RootEntry, StatusState, TREE_TRAILER,
};
pub use hooks::{HooksRead, HooksWrite};
pub use ids::Ids;
pub use issues::{AwaitedRun, IssueComment, IssueFacts, IssuesRead, IssuesWrite};
pub use probes::{AgentsProbe, GithubProbe, JulesProbe};
pub use pulls::{BranchState, CheckLog, PullGlance, PullsRead, PullsWrite, Reading, Share};
pub use queue::{Delivery, Queue, QueueError, Receipt};
pub use records::{
    BODY_BYTES_MAX, COMMIT_BYTES_MAX, COMMIT_ITEMS_MAX, CommitError, DueRow, Expect, Key, ListKey,
    Member, Page, PageToken, Record, Records, RecordsError, Write, check_limits,
};
pub use secrets::{SecretName, Secrets, SecretsError};
pub use sessions::{Artifacts, NewSession, SessionPage, SessionsRead, SessionsWrite, SourceView};
