//! Where a process is killed: in front of which kind of effect, and at which of three places of its life.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use domain::effect::{Action, JulesAction, PullAction};

/// What is done outside: a row of the table of kills each, in the order of a job's life.
///
/// The rows are derived from this enum, and [`Kind::of`] names every action: a new action cannot be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Kind {
    /// A session is created.
    Create,
    /// A message is sent to a session.
    Say,
    /// A plan is approved.
    Approve,
    /// A wake is delivered to its agent.
    Wake,
    /// A draft is marked ready.
    MarkReady,
    /// A branch is brought up to date with its base.
    UpdateBranch,
    /// A pull request that is blocked is commented on.
    Comment,
    /// A pull request that is blocked gets a label.
    Label,
    /// A pull request is merged.
    Merge,
    /// A merged branch is deleted.
    DeleteBranch,
    /// The pull request of a cancelled job is closed.
    ClosePull,
    /// A session is put away.
    Archive,
    /// A session besides the job's own is put away: both came from one create whose answer was lost.
    ArchiveDuplicate,
}

impl Kind {
    pub(crate) fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// The kind of an effect. Whether a session that is put away is a duplicate, only its job knows. Deliveries are
    /// not played here, nor are pipelines, so what only they do has none.
    pub(crate) fn of(action: &Action) -> Option<Self> {
        Some(match action {
            Action::Jules(action) => Self::of_session(action),
            Action::Pull(action) => Self::of_pull(action),
            Action::Repo(_) | Action::Tracker(_) => return None,
        })
    }

    fn of_session(action: &JulesAction) -> Self {
        match action {
            JulesAction::CreateSession { .. } => Self::Create,
            JulesAction::Say { .. } => Self::Say,
            JulesAction::ApprovePlan { .. } => Self::Approve,
            JulesAction::Archive { .. } => Self::Archive,
        }
    }

    fn of_pull(action: &PullAction) -> Self {
        match action {
            PullAction::Merge { .. } => Self::Merge,
            PullAction::MarkReady { .. } => Self::MarkReady,
            PullAction::UpdateBranch { .. } => Self::UpdateBranch,
            PullAction::Comment { .. } => Self::Comment,
            PullAction::Label { .. } => Self::Label,
            PullAction::ClosePull { .. } => Self::ClosePull,
            PullAction::DeleteBranch { .. } => Self::DeleteBranch,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_possible_value() {
            Some(value) => f.write_str(value.get_name()),
            None => Ok(()),
        }
    }
}

/// A place in the life of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KillPlace {
    /// Its start is saved and its call is not made.
    Before,
    /// Its call was answered and the outcome is not saved.
    After,
    /// The world was read about its unknown outcome, and the finding is not saved. For a wake: its attempt's lease has lapsed, and the
    /// next is not saved.
    Settling,
}

impl KillPlace {
    /// All of them, in the order of an effect's life.
    pub(crate) const ALL: [Self; 3] = [Self::Before, Self::After, Self::Settling];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::Settling => "settling",
        }
    }
}

/// A moment at which a process is killed, written `create:before`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// What it is about to do, or has done.
    pub(crate) kind: Kind,
    /// How far it is with it.
    pub(crate) place: KillPlace,
}

impl Moment {
    /// Every cell of the table.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let of = |kind: &Kind| KillPlace::ALL.map(|place| Self { kind: *kind, place });
        Kind::all().iter().flat_map(of)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.place.word())
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all()
            .find(|moment| moment.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no moment, such as `create:before`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_reads_as_it_is_written() {
        assert_eq!(Moment::all().count(), Kind::all().len() * 3);
        for moment in Moment::all() {
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
        assert!("create".parse::<Moment>().is_err());
    }
}
