//! Samples of sprints: every state of a sprint, of a member and of a weave, and jobs and effects that belong to one.

use domain::effect::{Action, Effect, RepoAction};
use domain::ids::{PersonaName, SprintNumber};
use domain::job::{Job, JobPhase, Origin};
use domain::pipeline::{PartWork, PipelinePart, SprintPart};
use domain::sprint::{
    Against, Clash, MemberState, NewSprint, Offer, Outbox, Report, Sprint, SprintState, Way,
    WeaveConflict, WeaveVerdict, Woven, start,
};
use engine::keys;
use engine::readings::ReadPersonas;
use engine::work::Work;

use super::{AT, Samples, hindrance, job_id, pull_ref, sha};

pub(super) fn put(samples: &mut Samples, job: &Job) {
    let repo = pull_ref().repo;
    for sprint in sprints() {
        samples.put(keys::sprint(&repo, number()), &sprint);
    }
    samples.put(keys::sprint_turn(&repo), &number());
    samples.put(keys::sprint_weave(&repo, number(), 1), &report());
    for read in personas() {
        samples.put(keys::personas_read(&repo), &read);
    }
    for job in jobs(job) {
        samples.put(keys::job(&job.id), &job);
    }
    for action in actions() {
        let effect = Effect::new(Action::Repo(action), AT);
        samples.put(keys::effect("JOB#x", &effect.id), &effect);
    }
}

/// Messages about them.
pub(super) fn works() -> [Work; 2] {
    let repo = pull_ref().repo;
    [
        Work::Sprint {
            repo: repo.clone(),
            number: number(),
        },
        Work::Personas {
            repo,
            number: number(),
        },
    ]
}

pub(super) fn number() -> SprintNumber {
    "50".parse().expect("a number")
}

fn persona(name: &str) -> PersonaName {
    name.parse().expect("a persona")
}

fn clash() -> Clash {
    Clash {
        path: "src/cart.rs".to_owned(),
        words: "both changed the same lines: lines 10–14".to_owned(),
        is_lines: true,
        base: Some(sha('a')),
        ours: Some(sha('b')),
        theirs: Some(sha('c')),
    }
}

fn woven() -> Woven {
    Woven {
        weave: 1,
        base: sha('a'),
        commit: sha('d'),
        pull: pull_ref(),
    }
}

fn report() -> Report {
    let out = |against| WeaveVerdict::Out {
        head: sha('c'),
        against,
        clashes: vec![clash()],
        others: 2,
    };
    let verdicts = [
        WeaveVerdict::In {
            head: sha('b'),
            way: Way::Taken,
            files: 3,
        },
        out(Against::Members(vec![101])),
        out(Against::StaleBase),
        WeaveVerdict::Moved,
        WeaveVerdict::Nothing,
        WeaveVerdict::Skipped {
            reason: "it is a draft".to_owned(),
        },
    ];
    Report {
        weave: 1,
        woven: Some(woven()),
        verdicts: (101..).zip(verdicts).collect(),
        held: vec![107],
    }
}

fn members() -> Vec<MemberState> {
    let ways = [
        Way::Taken,
        Way::Applied,
        Way::ThreeWay,
        Way::Answered,
        Way::Merged,
    ];
    let mut states = vec![
        MemberState::Pending,
        MemberState::Waiting,
        MemberState::Working,
        MemberState::PullOpen,
        MemberState::Conflicted,
        MemberState::Rerunning,
        MemberState::Unresolved,
        MemberState::Delegated,
        MemberState::TimedOut,
        MemberState::NoChange,
        MemberState::Skipped {
            reason: "it is a draft".to_owned(),
        },
        MemberState::Withdrawn,
        MemberState::Failed {
            reason: "it failed: no".to_owned(),
        },
    ];
    states.extend(ways.map(|way| MemberState::Applied { way }));
    states
}

fn sprints() -> Vec<Sprint> {
    let states = [
        SprintState::Working,
        SprintState::Integrating,
        SprintState::Fixing,
        SprintState::Verifying,
        SprintState::Done { at: AT },
        SprintState::PartiallyDone {
            at: AT,
            reason: "refactor: it took too long".to_owned(),
        },
        SprintState::Aborted {
            at: AT,
            by: "kim".to_owned(),
        },
    ];
    let names = members().len();
    let names = (0..names).map(|number| persona(&format!("persona-{number:02}")));
    let new = NewSprint {
        repo: pull_ref().repo,
        number: number(),
        account: "default".parse().expect("an account"),
        target: "main".parse().expect("a branch"),
        personas_at: sha('e'),
        personas: names.collect(),
        mode: domain::sprint::SprintMode::default(),
        by: "token kim".to_owned(),
    };
    let mut begun = start(new, AT).expect("a sprint");
    for (member, state) in begun.members.iter_mut().zip(members()) {
        member.state = state;
    }
    let full = &mut begun.members[0];
    full.shown = vec!["42".parse().expect("a message")];
    full.offer = Some(Offer {
        pull: 102,
        head: sha('c'),
    });
    full.place = Some(1);
    full.conflicts = 1;
    full.collected = Some(Outbox::Head { head: sha('c') });
    full.unreadable = true;
    full.refusal = Some(WeaveConflict {
        weave: 1,
        head: sha('c'),
        against: Against::Members(vec![101]),
        clashes: vec![clash()],
        others: 2,
    });
    let silent = &mut begun.members[1];
    silent.asked_at = Some(AT);
    silent.silent = true;
    silent.collected = Some(Outbox::Patch);
    silent.unopened = true;
    let of_state = |state: SprintState| Sprint {
        merged: matches!(state, SprintState::Done { .. }),
        state,
        ticks: 3,
        weaves: 1,
        woven: Some(woven()),
        hindrance: Some(hindrance()),
        ..begun.clone()
    };
    states.map(of_state).into()
}

fn personas() -> [ReadPersonas; 2] {
    let read = ReadPersonas {
        read_at: AT,
        commit: Some(sha('e')),
        batch: vec![persona("curator")],
        others: vec![persona("weaver")],
        faults: vec![".jules/personas/x/prompt.md: it names no `id`".to_owned()],
        taken: Some(number()),
        failure: None,
    };
    let unread = ReadPersonas {
        commit: None,
        batch: Vec::new(),
        others: Vec::new(),
        faults: Vec::new(),
        taken: None,
        failure: Some("GitHub answers 502".to_owned()),
        ..read.clone()
    };
    [read, unread]
}

fn jobs(job: &Job) -> [Job; 2] {
    let part = |persona| {
        let part = SprintPart {
            sprint: number(),
            persona,
        };
        Some(Box::new(PipelinePart {
            pipeline: None,
            work: PartWork::Sprint(part),
        }))
    };
    let member = Job {
        part: part(Some(persona("curator"))),
        ..job.clone()
    };
    let integration = Job {
        origin: Origin::Proposed,
        phase: JobPhase::Proposed {
            since: AT,
            pull: Some(pull_ref()),
            head: Some(sha('d')),
        },
        part: part(None),
        ..job.clone()
    };
    [member, integration]
}

fn actions() -> [RepoAction; 2] {
    [
        RepoAction::Weave {
            job: job_id(),
            repo: pull_ref().repo,
            sprint: number(),
            weave: 1,
        },
        RepoAction::Unlabel {
            pull: pull_ref(),
            label: "conflict".to_owned(),
            weave: Some(1),
        },
    ]
}
