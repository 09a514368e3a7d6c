//! What can be ordered of a job, and where.

/// What can be ordered of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Send a message to its session.
    Say,
    /// Approve its plan.
    Approve,
    /// Merge its pull request.
    Merge,
    /// Call it off.
    Cancel,
    /// Give it another session.
    Retry,
    /// Watch it, and store notes about it.
    Register,
}

impl Verb {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Say,
        Self::Approve,
        Self::Merge,
        Self::Cancel,
        Self::Retry,
        Self::Register,
    ];

    /// Where it is ordered: with a slash, and with a colon.
    pub(crate) const fn paths(self) -> (&'static str, &'static str) {
        match self {
            Self::Say => ("/jobs/{job}/messages", "/jobs/{job}:say"),
            Self::Approve => ("/jobs/{job}/approve", "/jobs/{job}:approve"),
            Self::Merge => ("/jobs/{job}/merge", "/jobs/{job}:merge"),
            Self::Cancel => ("/jobs/{job}/cancel", "/jobs/{job}:cancel"),
            Self::Retry => ("/jobs/{job}/retry", "/jobs/{job}:retry"),
            Self::Register => ("/jobs/{job}/register", "/jobs/{job}:register"),
        }
    }

    /// The word after the colon.
    pub(crate) fn word(self) -> &'static str {
        let (_, colon) = self.paths();
        colon.rsplit_once(':').map_or("", |(_, word)| word)
    }
}
