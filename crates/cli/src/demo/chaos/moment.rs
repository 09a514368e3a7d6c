//! Where a process is killed: in front of which kind of effect, and at which of three places of its life.

use std::fmt;
use std::str::FromStr;

use domain::effect::Action;

/// What is done outside. Comments and labels are left out because nothing wishes for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A session is created.
    Create,
    /// A message is sent to a session.
    Say,
    /// A plan is approved.
    Approve,
    /// A session is put away.
    Archive,
    /// A pull request is merged.
    Merge,
    /// A draft is marked ready.
    Ready,
    /// A branch is brought up to date with its base.
    Update,
    /// A merged branch is deleted.
    Unbranch,
    /// A wake is delivered to its agent.
    Wake,
}

impl Kind {
    /// All of them, in the order of a job's life.
    pub(crate) const ALL: [Self; 9] = [
        Self::Create,
        Self::Say,
        Self::Approve,
        Self::Wake,
        Self::Ready,
        Self::Update,
        Self::Merge,
        Self::Unbranch,
        Self::Archive,
    ];

    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Say => "say",
            Self::Approve => "approve",
            Self::Archive => "archive",
            Self::Merge => "merge",
            Self::Ready => "mark-ready",
            Self::Update => "update-branch",
            Self::Unbranch => "delete-branch",
            Self::Wake => "wake",
        }
    }

    /// The kind of an effect.
    pub(super) fn of(action: &Action) -> Option<Self> {
        match action {
            Action::CreateSession { .. } => Some(Self::Create),
            Action::Say { .. } => Some(Self::Say),
            Action::ApprovePlan { .. } => Some(Self::Approve),
            Action::Archive { .. } => Some(Self::Archive),
            Action::Merge { .. } => Some(Self::Merge),
            Action::MarkReady { .. } => Some(Self::Ready),
            Action::UpdateBranch { .. } => Some(Self::Update),
            Action::DeleteBranch { .. } => Some(Self::Unbranch),
            Action::Comment { .. } | Action::Label { .. } => None,
        }
    }
}

/// A place in the life of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Its start is saved and its call is not made.
    Before,
    /// Its call was answered and the outcome is not saved.
    After,
    /// The world was read about its unknown outcome and what was found is not saved. A wake has nothing to read: its held try has lapsed and the next is not saved.
    Settling,
}

impl Place {
    /// All of them, in the order of an effect's life.
    pub(crate) const ALL: [Self; 3] = [Self::Before, Self::After, Self::Settling];

    /// The word for it.
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
    pub(crate) place: Place,
}

impl Moment {
    /// Every cell of the table.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Kind::ALL
            .into_iter()
            .flat_map(|kind| Place::ALL.map(|place| Self { kind, place }))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.word(), self.place.word())
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
        assert_eq!(Moment::all().count(), 27);
        for moment in Moment::all() {
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
        assert!("create".parse::<Moment>().is_err());
    }
}
