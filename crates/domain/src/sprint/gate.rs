//! Whether a sprint lets a pull request of it be merged: of its members never what is woven, nor what was or may have been taken
//! back, and nothing before its mail was collected; and none at all after the end.

use super::Sprint;
use super::member::{MemberState, Outbox, SprintMember};
use crate::ids::{CommitSha, PersonaName};
use crate::merge::SprintGate;

/// Why this head of a member's pull request may not be merged by itself, as far as its sprint has a say; none if it may.
/// Without a persona it is the one pull request, which only the end holds back.
/// When the sprint is over, woven or not, it lets nothing be merged any more: its end ends the job, and people go on.
pub fn gate(
    sprint: &Sprint,
    persona: Option<&PersonaName>,
    head: &CommitSha,
) -> Option<SprintGate> {
    let Some(persona) = persona else {
        return sprint.is_over().then_some(SprintGate::Over);
    };
    if sprint.is_woven() && !sprint.is_over() {
        let sprint = sprint.number;
        return Some(SprintGate::Woven { sprint });
    }
    let member = sprint.member(persona)?;
    let of_member = match member.state {
        MemberState::Withdrawn => return Some(SprintGate::TakenBack),
        // Its pull request is not looked at any more, so its mail would never be collected.
        MemberState::Failed { .. } => None,
        MemberState::Pending
        | MemberState::Waiting
        | MemberState::Working
        | MemberState::PullOpen
        | MemberState::Applied { .. }
        | MemberState::Conflicted
        | MemberState::Rerunning
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::TimedOut
        | MemberState::NoChange
        | MemberState::Skipped { .. } => {
            let mail = Outbox::Head { head: head.clone() };
            match member.collected.as_ref() == Some(&mail) {
                true => member.unreadable.then_some(SprintGate::Unreadable),
                false => Some(SprintGate::Mail),
            }
        }
    };
    // Its mail is collected all the same.
    match sprint.is_over() {
        true => Some(SprintGate::Over),
        false => of_member,
    }
}

/// The pull requests that may be merged by themselves after a decision, and could not before it.
pub fn released(before: &Sprint, after: &Sprint) -> Vec<u64> {
    let may_be = |sprint: &Sprint, member: &SprintMember| {
        let offer = member.offer.as_ref();
        offer.is_some_and(|offer| gate(sprint, Some(&member.persona), &offer.head).is_none())
    };
    let released = |it: &&SprintMember| may_be(after, it) && !may_be(before, it);
    let members = after.members.iter().filter(released);
    members.filter_map(SprintMember::number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::{at, sha};
    use crate::sprint::tests::{begun_as, made, sights};
    use crate::sprint::{Integration, Offer, SprintInput, SprintMode, Work, abort, apply};

    fn begun(integration: Integration) -> Sprint {
        let mode = SprintMode {
            integration,
            ..SprintMode::default()
        };
        begun_as(mode, &["curator", "refactor"])
    }

    fn is_ready(sprint: &Sprint, head: char) -> SprintInput {
        let offer = Offer {
            pull: 101,
            head: sha(head),
        };
        let sight = made(Work::Ready(offer), None);
        SprintInput::Seen(sights(vec![(sprint.members[0].job.clone(), sight)]))
    }

    fn curator() -> PersonaName {
        "curator".parse().unwrap()
    }

    fn collected(head: char) -> SprintInput {
        SprintInput::Collected {
            persona: curator(),
            outbox: Outbox::Head { head: sha(head) },
            is_read: true,
            is_unopened: false,
        }
    }

    /// Why a head of the first member is not merged by itself, as the code of the reason.
    fn held(sprint: &Sprint, head: char) -> Option<&'static str> {
        let gate = gate(sprint, Some(&curator()), &sha(head));
        gate.map(|it| it.reason().code())
    }

    #[test]
    fn what_is_merged_by_itself_waits_for_its_mail() {
        let begun = begun(Integration::Individual);
        assert_eq!(held(&begun, 'a'), Some("mail_uncollected"));
        let ready = apply(&begun, &is_ready(&begun, 'a'), at(1));
        assert_eq!(held(&ready, 'a'), Some("mail_uncollected"));
        let free = apply(&ready, &collected('a'), at(2));
        assert_eq!(held(&free, 'a'), None);
        assert_eq!(released(&ready, &free), [101]);
        assert_eq!(released(&free, &free), [0; 0]);
        assert_eq!(held(&free, 'b'), Some("mail_uncollected"), "another head");
        let pushed = apply(&free, &is_ready(&free, 'b'), at(3));
        assert_eq!(released(&free, &pushed), [0; 0]);
        let again = apply(&pushed, &collected('b'), at(4));
        assert_eq!(released(&pushed, &again), [101]);
        let mut failed = begun;
        failed.members[0].state = MemberState::Failed {
            reason: "it failed".to_owned(),
        };
        assert_eq!(held(&failed, 'a'), None);
    }

    #[test]
    fn a_late_pull_request_of_a_session_that_opened_none_waits_for_its_mail_too() {
        let mut skipped = begun(Integration::Individual);
        skipped.members[0].state = MemberState::Skipped {
            reason: "its session changed files and opened no pull request".to_owned(),
        };
        assert_eq!(held(&skipped, 'a'), Some("mail_uncollected"));
        let free = apply(&skipped, &collected('a'), at(1));
        assert_eq!(held(&free, 'a'), None);
        let late = apply(&free, &is_ready(&free, 'a'), at(2));
        assert_eq!(late.members[0].state.word(), "pr_open");
    }

    #[test]
    fn what_may_have_been_taken_back_by_mail_that_cannot_be_read_is_left_to_people() {
        let begun = begun(Integration::Individual);
        let ready = apply(&begun, &is_ready(&begun, 'a'), at(1));
        let unread = SprintInput::Collected {
            persona: curator(),
            outbox: Outbox::Head { head: sha('a') },
            is_read: false,
            is_unopened: false,
        };
        let unread = apply(&ready, &unread, at(2));
        assert_eq!(held(&unread, 'a'), Some("mail_unreadable"));
        assert_eq!(held(&unread, 'b'), Some("mail_uncollected"));
        assert_eq!(released(&ready, &unread), [0; 0]);
        let pushed = apply(&unread, &collected('b'), at(3));
        assert_eq!(held(&pushed, 'b'), None);
    }

    #[test]
    fn what_was_taken_back_is_not_merged_by_itself() {
        let begun = begun(Integration::Individual);
        let ready = apply(&begun, &is_ready(&begun, 'a'), at(1));
        let withdrawn = SprintInput::Withdrawn { persona: curator() };
        let both = [collected('a'), withdrawn];
        let decided = |so_far: Sprint, input: &SprintInput| apply(&so_far, input, at(2));
        let back = both.iter().fold(ready.clone(), decided);
        assert_eq!(held(&back, 'a'), Some("taken_back"));
        assert_eq!(released(&ready, &back), [0; 0]);
        let over = abort(&back, "kim", at(3)).unwrap();
        assert_eq!(held(&over, 'a'), Some("taken_back"), "also after the end");
    }

    #[test]
    fn what_a_sprint_left_to_people_is_not_merged_although_its_mail_is_collected() {
        let begun = begun(Integration::Individual);
        let ready = apply(&begun, &is_ready(&begun, 'a'), at(1));
        let free = apply(&ready, &collected('a'), at(2));
        let over = abort(&free, "kim", at(3)).unwrap();
        let again = apply(&over, &collected('b'), at(4));
        for (sprint, head) in [(&over, 'a'), (&over, 'b'), (&again, 'b')] {
            assert_eq!(held(sprint, head), Some("sprint_over"), "{head}");
        }
        assert_eq!(released(&over, &again), [0; 0]);
    }

    #[test]
    fn the_one_pull_request_is_held_back_by_the_end_alone() {
        let begun = begun(Integration::Consolidated);
        assert_eq!(gate(&begun, None, &sha('9')), None);
        let over = abort(&begun, "kim", at(1)).unwrap();
        assert_eq!(gate(&over, None, &sha('9')), Some(SprintGate::Over));
    }

    #[test]
    fn what_is_woven_is_never_merged_by_itself() {
        let begun = begun(Integration::Consolidated);
        let ready = apply(&begun, &is_ready(&begun, 'a'), at(1));
        let free = apply(&ready, &collected('a'), at(2));
        assert_eq!(held(&free, 'a'), Some("woven"));
        assert_eq!(released(&ready, &free), [0; 0]);
        let over = abort(&free, "kim", at(3)).unwrap();
        assert_eq!(held(&over, 'a'), Some("sprint_over"));
        assert_eq!(released(&free, &over), [0; 0]);
    }
}
