//! A member of a sprint: what it waits for, or what it came to once the sprint is over.

use domain::job::{WaitParty, WaitsFor};
use domain::sprint::{ATTEMPTS_MAX, Against, MemberState, Sprint, SprintMember, awaited_until};
use jiff::Timestamp;

use super::MemberWhy;

/// What the job of a member tells.
pub(super) enum OfJob {
    /// Nothing: the sprint knows how far the member is.
    Nothing,
    /// It is to be made.
    Missing {
        /// Whether nothing may be written just now.
        is_held: bool,
    },
    /// What it waits for.
    Waits {
        /// That.
        waits: WaitsFor,
        /// What keeps its pull request from being woven, or blocks its merge.
        hindrance: Option<String>,
        /// When its session ended, if that made no pull request.
        rested: Option<Timestamp>,
    },
}

impl OfJob {
    fn sentence(&self) -> String {
        match self {
            Self::Nothing => "It is not through yet.".to_owned(),
            Self::Missing { is_held: false } => "Its job is about to be made.".to_owned(),
            Self::Missing { is_held: true } => {
                "Its job is made once Gaffer may write again.".to_owned()
            }
            Self::Waits { waits, .. } if waits.who == WaitParty::Nobody => {
                format!("Its sprint looks for its change: {}.", waits.what.words())
            }
            Self::Waits {
                waits, hindrance, ..
            } => {
                let waits = format!("It waits for {}.", waits.sentence());
                match hindrance {
                    None => waits,
                    Some(hindrance) => format!("{waits} {hindrance}"),
                }
            }
        }
    }

    fn rested(&self) -> Option<Timestamp> {
        match self {
            Self::Waits { rested, .. } => *rested,
            Self::Nothing | Self::Missing { .. } => None,
        }
    }

    /// More to say where a person or an agent has to act.
    fn decision(&self) -> String {
        match self {
            Self::Waits { waits, .. } if waits.is_decision() => format!(" {}", self.sentence()),
            Self::Nothing | Self::Missing { .. } | Self::Waits { .. } => String::new(),
        }
    }
}

/// Whether the job of a member tells what it waits for.
pub(super) fn is_told_by_job(member: &SprintMember, is_woven: bool) -> bool {
    match member.state {
        MemberState::Waiting | MemberState::Working | MemberState::Rerunning => true,
        MemberState::PullOpen => !is_woven || member.reading.is_some(),
        MemberState::Applied { .. } => member.reading.is_some(),
        MemberState::Pending
        | MemberState::Conflicted
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::TimedOut
        | MemberState::NoChange
        | MemberState::Skipped { .. }
        | MemberState::Withdrawn
        | MemberState::Failed { .. } => false,
    }
}

/// What a member waits for. `failing` are checks of what is woven.
pub(super) fn why(
    sprint: &Sprint,
    member: &SprintMember,
    of_job: &OfJob,
    failing: &[String],
) -> MemberWhy {
    let sentence = match sprint.is_over() {
        true => outcome(member),
        false => present(sprint, member, of_job, failing),
    };
    MemberWhy {
        persona: member.persona.clone(),
        job: member.job.clone(),
        state: sprint.word_of(member),
        sentence,
        until: awaited_until(member, of_job.rested()).filter(|_| !sprint.is_over()),
    }
}

fn present(sprint: &Sprint, member: &SprintMember, of_job: &OfJob, failing: &[String]) -> String {
    if member.reading.is_some() {
        let reads = "Its session reads mail that came after its change was ready.";
        return format!("{reads}{}", of_job.decision());
    }
    match &member.state {
        MemberState::Pending => "It begins when others are through.".to_owned(),
        MemberState::Waiting | MemberState::Working => {
            format!("{}{}", task(sprint, member, failing), of_job.sentence())
        }
        MemberState::PullOpen if !sprint.is_woven() => of_job.sentence(),
        MemberState::PullOpen => "It is ready for the next weave.".to_owned(),
        MemberState::Applied { way } => format!("It is in ({way})."),
        MemberState::Conflicted => conflict(member),
        MemberState::Rerunning => format!(
            "{} It was sent that, and has {} of {ATTEMPTS_MAX} attempts.{}",
            conflict(member),
            member.attempts,
            of_job.decision()
        ),
        MemberState::Unresolved => format!("{} Its attempts are used up.", conflict(member)),
        MemberState::Delegated if member.is_in() => "It is in, joined by the weaver.".to_owned(),
        MemberState::Delegated => {
            let has_ended = sprint.weaver().is_some_and(SprintMember::is_in);
            let weaver = match has_ended {
                true => "The weaver's change does not hold all lines of it.",
                false => "The weaver's job resolves that.",
            };
            format!("{} {weaver}", conflict(member))
        }
        MemberState::TimedOut => {
            "It is waited for no longer; a late pull request joins the next weave.".to_owned()
        }
        MemberState::NoChange => "It changed nothing.".to_owned(),
        MemberState::Skipped { reason } => format!("It is left out: {reason}."),
        MemberState::Withdrawn => "It took its change back.".to_owned(),
        MemberState::Failed { reason } => format!("Nothing comes of it: {reason}."),
    }
}

/// What the weaver's job was made for, where that is no conflict.
fn task(sprint: &Sprint, member: &SprintMember, failing: &[String]) -> String {
    let has_conflicts = sprint.delegated().next().is_some();
    match member.persona.is_weaver() && !has_conflicts && !failing.is_empty() {
        true => format!("It mends what fails together: {}. ", failing.join(", ")),
        false => String::new(),
    }
}

/// What a member came to in a sprint that is over.
fn outcome(member: &SprintMember) -> String {
    match &member.state {
        MemberState::Pending => "It was not begun.".to_owned(),
        MemberState::Waiting | MemberState::Working => {
            "It was not through: no pull request of it was ready.".to_owned()
        }
        MemberState::PullOpen => {
            "It was not through: its pull request was ready and not merged.".to_owned()
        }
        MemberState::Applied { way } => format!("It was in ({way})."),
        MemberState::Conflicted | MemberState::Rerunning | MemberState::Unresolved => {
            "It was not through: its conflict was not resolved.".to_owned()
        }
        MemberState::Delegated if member.is_in() => "It was in, joined by the weaver.".to_owned(),
        MemberState::Delegated => "Its conflict was given to the weaver's job.".to_owned(),
        MemberState::TimedOut => "It was not waited for any longer.".to_owned(),
        MemberState::NoChange => "It changed nothing.".to_owned(),
        MemberState::Skipped { reason } => format!("It was left out: {reason}."),
        MemberState::Withdrawn => "It took its change back.".to_owned(),
        MemberState::Failed { reason } => format!("Nothing came of it: {reason}."),
    }
}

fn conflict(member: &SprintMember) -> String {
    let Some(refusal) = &member.refusal else {
        return "It has not answered.".to_owned();
    };
    let files: Vec<&str> = refusal.clashes.iter().map(|it| it.path.as_str()).collect();
    let files = files.join(", ");
    match &refusal.against {
        Against::StaleBase => format!("It conflicts with the target in {files}."),
        Against::Members(with) => {
            let with: Vec<String> = with.iter().map(|number| format!("#{number}")).collect();
            format!("It conflicts with {} in {files}.", with.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::ids::{BranchName, PersonaName};
    use domain::job::WaitReason;
    use domain::sprint::{Integration, NewSprint, SprintMode, abort, start};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn begun(personas: &[&str], mode: SprintMode) -> Sprint {
        let new = NewSprint {
            repo: "acme/shop".parse().unwrap(),
            number: "50".parse().unwrap(),
            account: "default".parse().unwrap(),
            target: BranchName::main(),
            personas_at: "0".repeat(40).parse().unwrap(),
            personas: personas.iter().map(|it| it.parse().unwrap()).collect(),
            mode,
            by: "person".to_owned(),
        };
        start(new, at(0)).unwrap()
    }

    fn sentence_of(sprint: &Sprint, of_job: &OfJob) -> String {
        let failing = ["integ".to_owned()];
        why(sprint, &sprint.members[0], of_job, failing.as_slice()).sentence
    }

    fn waits(who: WaitParty, what: WaitReason) -> OfJob {
        let waits = WaitsFor {
            who,
            agent: None,
            what,
            since: None,
        };
        OfJob::Waits {
            waits,
            hindrance: None,
            rested: None,
        }
    }

    #[test]
    fn a_member_says_what_its_job_waits_for() {
        let mut sprint = begun(&["curator"], SprintMode::default());
        let missing = |is_held| OfJob::Missing { is_held };
        let made = sentence_of(&sprint, &missing(false));
        assert_eq!(made, "Its job is about to be made.");
        let held = sentence_of(&sprint, &missing(true));
        assert_eq!(held, "Its job is made once Gaffer may write again.");
        let queued = sentence_of(&sprint, &waits(WaitParty::Gaffer, WaitReason::Slot));
        assert_eq!(queued, "It waits for Gaffer: queued until a slot is free.");
        sprint.members[0].state = MemberState::Working;
        let asks = sentence_of(&sprint, &waits(WaitParty::Person, WaitReason::Question));
        assert_eq!(asks, "It waits for a person: a question is open.");
        let mut hangs = waits(WaitParty::GitHub, WaitReason::Checks);
        if let OfJob::Waits { hindrance, .. } = &mut hangs {
            *hindrance = Some("Checks are running: e2e.".to_owned());
        }
        assert_eq!(
            sentence_of(&sprint, &hangs),
            "It waits for GitHub: checks have to finish. Checks are running: e2e."
        );
        let done = sentence_of(&sprint, &waits(WaitParty::Nobody, WaitReason::Result));
        assert_eq!(
            done,
            "Its sprint looks for its change: its session is done and made no pull request."
        );
        sprint.members[0].persona = PersonaName::weaver();
        let mends = sentence_of(&sprint, &waits(WaitParty::Jules, WaitReason::Work));
        assert!(
            mends.starts_with("It mends what fails together: integ. It waits for Jules"),
            "{mends}"
        );
    }

    #[test]
    fn a_pull_request_that_is_merged_by_itself_says_who_is_waited_for() {
        let mode = SprintMode {
            at_once: Some(1),
            integration: Integration::Individual,
            ..SprintMode::default()
        };
        let mut sprint = begun(&["curator", "refactor"], mode);
        sprint.members[0].state = MemberState::PullOpen;
        let approval = waits(WaitParty::Person, WaitReason::Approval);
        assert_eq!(
            sentence_of(&sprint, &approval),
            "It waits for a person: its merge waits for approval."
        );
        assert_eq!(
            super::super::sentence(&sprint),
            "It waits for curator; each pull request is merged by itself. Then others begin: refactor."
        );
    }

    #[test]
    fn what_was_merged_is_said_of_a_sprint_that_was_aborted() {
        let mode = SprintMode {
            integration: Integration::Individual,
            ..SprintMode::default()
        };
        let sprint = begun(&["curator", "refactor"], mode);
        let mut over = abort(&sprint, "kim", at(1)).unwrap();
        let none = super::super::sentence(&over);
        assert_eq!(none, "It is over: kim aborted it.");
        let way = domain::sprint::Way::Merged;
        over.members[0].state = MemberState::Applied { way };
        let one = super::super::sentence(&over);
        assert_eq!(one, "It is over: kim aborted it. Merged members: 1 of 2.");
    }

    #[test]
    fn what_was_left_to_the_weaver_says_whether_its_change_holds_it() {
        let mut sprint = begun(&["curator", "weaver"], SprintMode::default());
        sprint.members[0].state = MemberState::Delegated;
        let says = |sprint: &Sprint, expected: &str| {
            let told = sentence_of(sprint, &OfJob::Nothing);
            assert!(told.ends_with(expected), "{told}");
        };
        says(&sprint, "The weaver's job resolves that.");
        let way = domain::sprint::Way::Taken;
        sprint.members[1].state = MemberState::Applied { way };
        says(
            &sprint,
            "The weaver's change does not hold all lines of it.",
        );
        sprint.members[0].in_since = Some(8);
        says(&sprint, "It is in, joined by the weaver.");
    }

    #[test]
    fn what_is_over_waits_for_nothing() {
        let sprint = begun(&["curator"], SprintMode::default());
        let states = [
            MemberState::Pending,
            MemberState::Waiting,
            MemberState::Working,
            MemberState::PullOpen,
            MemberState::Rerunning,
            MemberState::Delegated,
            MemberState::TimedOut,
        ];
        for state in states {
            let mut over = abort(&sprint, "kim", at(1)).unwrap();
            over.members[0].state = state;
            let none: &[String] = &[];
            let told = why(&over, &over.members[0], &OfJob::Nothing, none);
            assert_eq!(told.until, None);
            for present in ["next weave", "works", "has to be", "is ready", "resolves"] {
                assert!(!told.sentence.contains(present), "{}", told.sentence);
            }
        }
    }
}
