//! Messages by which Gaffer itself asks a session to go on.

/// How often Gaffer itself asks the sessions of one job to go on, over all attempts: a session that needs more needs
/// a person or an agent.
pub const NUDGES_MAX: u32 = 5;

/// How the causes of Gaffer's own answers begin.
pub(super) const NUDGE: &str = "nudge:";
