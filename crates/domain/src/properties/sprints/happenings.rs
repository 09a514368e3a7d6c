//! Random happenings around a sprint.

use std::collections::BTreeMap;

use super::*;
use crate::failure::Hindrance;
use crate::ids::{JobId, MessageId, PersonaName};
use crate::sprint::tests::made;
use crate::sprint::{
    Against, Clash, Landing, NewSprint, Offer, Outbox, Report, Sights, SprintSight, Way,
    WeaveVerdict, Work, Woven,
};

/// What happens to a sprint; members are named by their places in its list.
#[derive(Debug, Clone)]
pub(super) enum SprintHappening {
    Seen(Vec<(u8, SprintSight)>, Option<Landing>, Option<Hindrance>),
    /// All members are ready, with heads of this letter.
    AllReady(char),
    Woven {
        present: bool,
        /// What becomes of who is offered, in this order of places in the list of who is.
        verdicts: Vec<(u8, WeaveVerdict)>,
        /// Whether all others come in.
        others: bool,
        /// Whether what the weaver made holds what is left to it.
        held: bool,
    },
    WeaveFailed {
        present: bool,
        may_pass: bool,
    },
    Told(u8, u8),
    Shown(u8, u8),
    Read(u8),
    Collected(u8, CommitSha, bool),
    /// The patch of one was collected, which changes files or not.
    CollectedPatch(u8, bool),
    Asked(u8, bool),
    /// All are ready, and mail came for one.
    Mail(u8, u8),
    MailNotTaken(u8),
    WantsFirst(u8),
    Withdrawn(u8),
    IntegrateNow,
    Abort,
    Held,
}

/// When the next thing happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Advance {
    Onwards(i64),
    Jump(Timestamp),
}

pub(super) fn step() -> impl Strategy<Value = Advance> {
    prop_oneof![
        20 => (0i64..300).prop_map(Advance::Onwards),
        4 => (0i64..4_000).prop_map(Advance::Onwards),
        1 => time().prop_map(Advance::Jump),
    ]
}

fn head() -> impl Strategy<Value = CommitSha> {
    proptest::sample::select(vec!['a', 'b', 'c', 'd']).prop_map(sha)
}

fn work() -> impl Strategy<Value = Work> {
    let failed = Just(Work::Failed {
        reason: "no disk".to_owned(),
    });
    let gone = Just(Work::Gone {
        reason: "it disappeared".to_owned(),
    });
    let ready = (101u64..107, head()).prop_map(|(pull, head)| Work::Ready(Offer { pull, head }));
    prop_oneof![
        1 => Just(Work::Queued),
        3 => Just(Work::Working),
        2 => Just(Work::Closed),
        9 => ready,
        1 => Just(Work::Nothing),
        1 => Just(Work::Merged),
        1 => gone,
        1 => failed,
    ]
}

fn sight() -> impl Strategy<Value = SprintSight> {
    let rested_at = proptest::option::of(time());
    let flags = (proptest::bool::weighted(0.2), any::<bool>());
    (work(), rested_at, flags).prop_map(|(work, rested_at, (is_red, has_patch))| SprintSight {
        outbox: (has_patch && work == Work::Nothing).then_some(Outbox::Patch),
        work,
        rested_at,
        is_red,
    })
}

fn landing() -> impl Strategy<Value = Landing> {
    prop_oneof![
        6 => Just(Landing::Open),
        4 => Just(Landing::Stale),
        2 => Just(Landing::Red),
        1 => Just(Landing::Merged),
        1 => Just(Landing::Closed),
        1 => Just(Landing::Foreign),
        1 => Just(Landing::MergedOlder),
    ]
}

fn hindrance() -> impl Strategy<Value = Option<Hindrance>> {
    prop_oneof![
        6 => Just(None),
        2 => (failure(), time()).prop_map(|(failure, now)| Hindrance::of(&failure, None, now)),
    ]
}

fn clash() -> Clash {
    Clash {
        path: "src/cart.rs".to_owned(),
        words: "both changed the same lines: lines 10–14".to_owned(),
        is_lines: true,
        base: None,
        ours: Some(sha('a')),
        theirs: None,
    }
}

fn verdict() -> impl Strategy<Value = WeaveVerdict> {
    let is_in = head().prop_map(|head| WeaveVerdict::In {
        head,
        way: Way::Taken,
        files: 1,
    });
    let out = (head(), 101u64..107).prop_map(|(head, with)| WeaveVerdict::Out {
        head,
        against: Against::Members(vec![with]),
        clashes: vec![clash()],
        others: 0,
    });
    let skipped = Just(WeaveVerdict::Skipped {
        reason: "it is a draft".to_owned(),
    });
    prop_oneof![
        8 => is_in,
        8 => out,
        2 => Just(WeaveVerdict::Moved),
        1 => Just(WeaveVerdict::Nothing),
        1 => skipped,
    ]
}

pub(super) fn happening() -> impl Strategy<Value = SprintHappening> {
    let who = || 0u8..6;
    let sights = proptest::collection::vec((who(), sight()), 0..6);
    let seen = (sights, proptest::option::of(landing()), hindrance());
    let verdicts = proptest::collection::vec((who(), verdict()), 0..6);
    let woven = (
        prop_oneof![5 => Just(true), 1 => Just(false)],
        verdicts,
        prop_oneof![4 => Just(true), 1 => Just(false)],
        any::<bool>(),
    );
    prop_oneof![
        12 => seen.prop_map(|(sights, landing, hindrance)| SprintHappening::Seen(sights, landing, hindrance)),
        6 => proptest::sample::select(vec!['a', 'b', 'c', 'd']).prop_map(SprintHappening::AllReady),
        14 => woven.prop_map(|(present, verdicts, others, held)| SprintHappening::Woven { present, verdicts, others, held }),
        1 => any::<(bool, bool)>().prop_map(|(present, may_pass)| SprintHappening::WeaveFailed { present, may_pass }),
        10 => (who(), 0u8..4).prop_map(|(who, count)| SprintHappening::Told(who, count)),
        3 => (who(), 0u8..40).prop_map(|(who, count)| SprintHappening::Shown(who, count)),
        3 => who().prop_map(SprintHappening::Read),
        3 => (who(), head(), any::<bool>()).prop_map(|(who, head, is_read)| SprintHappening::Collected(who, head, is_read)),
        3 => (who(), any::<bool>()).prop_map(|(who, changes)| SprintHappening::CollectedPatch(who, changes)),
        3 => (who(), any::<bool>()).prop_map(|(who, taken)| SprintHappening::Asked(who, taken)),
        4 => (who(), 0u8..40).prop_map(|(who, count)| SprintHappening::Mail(who, count)),
        1 => who().prop_map(SprintHappening::MailNotTaken),
        3 => who().prop_map(SprintHappening::WantsFirst),
        3 => who().prop_map(SprintHappening::Withdrawn),
        2 => Just(SprintHappening::IntegrateNow),
        1 => Just(SprintHappening::Abort),
        1 => Just(SprintHappening::Held),
    ]
}

/// A sprint with so many members.
pub(super) fn begun(count: usize, now: Timestamp) -> Sprint {
    let name = |at: usize| format!("persona-{at:02}-with-a-name-so-long").parse();
    let new = NewSprint {
        personas: (0..count).map(|at| name(at).unwrap()).collect(),
        ..crate::sprint::tests::new(&[])
    };
    start(new, now).unwrap()
}

fn persona(sprint: &Sprint, who: u8) -> PersonaName {
    let at = usize::from(who) % sprint.members.len();
    sprint.members[at].persona.clone()
}

/// The sight of a member: its pull request is its own, whichever was drawn.
fn own(sprint: &Sprint, (who, sight): &(u8, SprintSight)) -> (JobId, SprintSight) {
    let at = usize::from(*who) % sprint.members.len();
    let mut sight = sight.clone();
    if let Work::Ready(offer) = &mut sight.work {
        offer.pull = pull_of(at);
    }
    (sprint.members[at].job.clone(), sight)
}

/// One sight for each member.
fn sights_of(sprint: &Sprint, drawn: &[(u8, SprintSight)]) -> Vec<(JobId, SprintSight)> {
    let sights: BTreeMap<_, _> = drawn.iter().map(|it| own(sprint, it)).collect();
    sights.into_iter().collect()
}

/// The pull request of the member at a place of the list.
pub(super) fn pull_of(at: usize) -> u64 {
    101 + at as u64
}

/// All members with pull requests.
pub(super) fn all_ready(sprint: &Sprint, head: char) -> Sights {
    let ready = |at: usize| {
        let (pull, head) = (pull_of(at), sha(head));
        made(Work::Ready(Offer { pull, head }), None)
    };
    let members = sprint.members.iter().enumerate();
    Sights {
        members: members
            .map(|(at, it)| (it.job.clone(), ready(at)))
            .collect(),
        ..Sights::default()
    }
}

/// A report, with what is pushed if a member is in.
pub(super) fn report(weave: u32, verdicts: Vec<(u64, WeaveVerdict)>) -> Report {
    let is_in = |(_, verdict): &(u64, WeaveVerdict)| matches!(verdict, WeaveVerdict::In { .. });
    let pushed = Woven {
        weave,
        base: sha('0'),
        commit: sha(char::from_digit(weave % 10, 10).unwrap_or('9')),
        pull: "acme/shop#160".parse().unwrap(),
    };
    Report {
        weave,
        woven: verdicts.iter().any(is_in).then_some(pushed),
        verdicts,
        held: Vec::new(),
    }
}

/// The pull requests of all conflicts that are left to the weaver.
pub(super) fn all_left(sprint: &Sprint) -> Vec<u64> {
    sprint
        .delegated()
        .filter_map(SprintMember::number)
        .collect()
}

/// What became of who is offered; some may be left out, and some named who are not.
fn verdicts(
    sprint: &Sprint,
    drawn: &[(u8, WeaveVerdict)],
    others: bool,
) -> Vec<(u64, WeaveVerdict)> {
    let offered = sprint
        .offered()
        .into_iter()
        .filter_map(SprintMember::number);
    let offered: Vec<u64> = offered.collect();
    let number = |who: u8| match offered.get(usize::from(who)) {
        Some(number) => *number,
        None => pull_of(usize::from(who)),
    };
    let mut verdicts: Vec<_> = drawn
        .iter()
        .map(|(who, it)| (number(*who), it.clone()))
        .collect();
    let left_out = offered.iter().filter(|number| {
        !drawn
            .iter()
            .any(|(who, _)| number_is(&offered, *who, **number))
    });
    if others {
        let is_in = WeaveVerdict::In {
            head: sha('a'),
            way: Way::Taken,
            files: 1,
        };
        verdicts.extend(left_out.map(|number| (*number, is_in.clone())));
    }
    verdicts
}

fn number_is(offered: &[u64], who: u8, number: u64) -> bool {
    offered.get(usize::from(who)) == Some(&number)
}

/// The first messages, so many of them.
fn messages(count: &u8) -> Vec<MessageId> {
    let numbers = 1..=i64::from(*count);
    numbers.map(|it| it.try_into().unwrap()).collect()
}

/// The mail of the first member is doubted as long as other files are.
fn doubts(sprint: &Sprint, hindrance: Option<&Hindrance>) -> Vec<(JobId, Timestamp)> {
    let since = hindrance.and_then(|it| it.odd_since);
    let of_first = since.map(|since| (sprint.members[0].job.clone(), since));
    of_first.into_iter().collect()
}

/// What comes in when something happens now.
pub(super) fn input(sprint: &Sprint, happening: &SprintHappening) -> SprintInput {
    let persona = |who: &u8| persona(sprint, *who);
    let weave = |present: &bool| sprint.weaves + u32::from(!*present);
    match happening {
        SprintHappening::Seen(sights, landing, hindrance) => SprintInput::Seen(Sights {
            members: sights_of(sprint, sights),
            landing: *landing,
            hindrance: hindrance.clone(),
            doubts: doubts(sprint, hindrance.as_ref()),
            ..Sights::default()
        }),
        SprintHappening::AllReady(head) => SprintInput::Seen(all_ready(sprint, *head)),
        SprintHappening::Mail(who, count) => SprintInput::Seen(Sights {
            mail: vec![(persona(who), messages(count))],
            ..all_ready(sprint, 'a')
        }),
        SprintHappening::MailNotTaken(who) => SprintInput::MailNotTaken {
            persona: persona(who),
        },
        SprintHappening::Woven {
            present,
            verdicts: drawn,
            others,
            held,
        } => SprintInput::Woven(Box::new(Report {
            held: if *held { all_left(sprint) } else { Vec::new() },
            ..report(weave(present), verdicts(sprint, drawn, *others))
        })),
        SprintHappening::WeaveFailed { present, may_pass } => SprintInput::WeaveFailed {
            may_pass: *may_pass,
            weave: weave(present),
            reason: "somebody's own commit is on the branch".to_owned(),
        },
        SprintHappening::Told(who, count) => SprintInput::Told {
            persona: persona(who),
            shown: messages(count),
        },
        SprintHappening::Shown(who, count) => SprintInput::Shown {
            persona: persona(who),
            shown: messages(count),
        },
        SprintHappening::Read(who) => SprintInput::Read {
            persona: persona(who),
        },
        SprintHappening::Collected(who, head, is_read) => SprintInput::Collected {
            persona: persona(who),
            outbox: Outbox::Head { head: head.clone() },
            is_read: *is_read,
            is_unopened: false,
        },
        SprintHappening::CollectedPatch(who, changes) => SprintInput::Collected {
            persona: persona(who),
            outbox: Outbox::Patch,
            is_read: true,
            is_unopened: *changes,
        },
        SprintHappening::Asked(who, is_taken) => SprintInput::Asked {
            persona: persona(who),
            is_taken: *is_taken,
        },
        SprintHappening::WantsFirst(who) => SprintInput::WantsFirst {
            persona: persona(who),
        },
        SprintHappening::Withdrawn(who) => SprintInput::Withdrawn {
            persona: persona(who),
        },
        SprintHappening::IntegrateNow | SprintHappening::Abort | SprintHappening::Held => {
            unreachable!("an order is no input")
        }
    }
}
