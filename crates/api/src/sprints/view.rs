//! Sprints in their wire form. Text from others is stripped of anything that looks like a secret.

use client::wire::{
    PlaceView, SprintMemberView, SprintMemberWhy, SprintPlanView, SprintView, SprintWhy,
    VerdictView, WeaveView, WovenView,
};
use domain::ids::{JobId, PullRef, RepoName};
use domain::redact::presentable;
use domain::sprint::{
    Against, Clash, Figures, MemberState, Report, Sprint, SprintMember, WeaveVerdict, Woven,
};
use domain::when::to_the_second;
use engine::sprints::{SprintPlan, StartedSprint};

use crate::next;
use crate::view::SHORT_CHARS_MAX;

/// What a sprint would be.
pub(super) fn plan(plan: &SprintPlan) -> SprintPlanView {
    let sessions = u32::try_from(plan.personas.len()).unwrap_or(u32::MAX);
    let at_once = sessions.saturating_sub(plan.pending);
    let (begin_now, wait_for_slots, wait_for_quota) = plan.room.share(at_once);
    SprintPlanView {
        repo: plan.repo.clone(),
        number: plan.number,
        target: plan.target.clone(),
        branch: plan.branch.clone(),
        merges: plan.mode.integration.word().to_owned(),
        at_once: plan.mode.at_once,
        personas_at: plan.personas_at.clone(),
        members: plan.personas.clone(),
        faults: faults(&plan.faults),
        sessions,
        begin_now,
        begin_later: plan.pending,
        wait_for_slots,
        wait_for_quota,
    }
}

/// One that was just started.
pub(super) fn started(started: &StartedSprint) -> SprintView {
    SprintView {
        faults: faults(&started.faults),
        ..sprint(&started.sprint)
    }
}

/// What is wrong with files of personas.
fn faults(faults: &[String]) -> Vec<String> {
    faults.iter().map(|fault| short(fault)).collect()
}

/// One sprint, without the reports of its weaves.
pub(super) fn sprint(sprint: &Sprint) -> SprintView {
    SprintView {
        repo: sprint.repo.clone(),
        number: sprint.number,
        state: sprint.state.word().to_owned(),
        is_over: sprint.is_over(),
        reason: sprint.state.reason().map(|reason| short(&reason)),
        target: sprint.target.clone(),
        branch: sprint.number.branch(),
        by: short(&sprint.by),
        integration: sprint.integration.clone(),
        merges: sprint.way.word().to_owned(),
        at_once: sprint.at_once,
        ticks: sprint.ticks,
        weaves: sprint.weaves,
        members: sprint.members.iter().map(|it| member(sprint, it)).collect(),
        faults: Vec::new(),
        figures: Figures::of_sprint(sprint),
        woven: sprint.woven.as_ref().map(woven),
        reports: Vec::new(),
        created_at: sprint.created_at,
        updated_at: sprint.updated_at,
        ended_at: sprint.state.ended_at(),
    }
}

/// The same with what came of its weaves, and with pull requests that were never ready to be woven.
pub(super) fn whole(found: &Sprint, reports: &[Report], pulls: &[(JobId, PullRef)]) -> SprintView {
    let mut whole = sprint(found);
    whole.reports = reports.iter().map(|it| report(&found.repo, it)).collect();
    for member in &mut whole.members {
        let of_job = pulls.iter().find(|(job, _)| *job == member.job_id);
        if let Some((_, pull)) = of_job {
            member.pull = Some(pull.clone());
        }
    }
    whole
}

fn member(sprint: &Sprint, member: &SprintMember) -> SprintMemberView {
    let (way, reason) = match &member.state {
        MemberState::Applied { way } => (Some(way.word().to_owned()), None),
        MemberState::Skipped { .. } | MemberState::Failed { .. } | MemberState::TimedOut => {
            (None, member.missing())
        }
        MemberState::Pending
        | MemberState::Waiting
        | MemberState::Working
        | MemberState::PullOpen
        | MemberState::Conflicted
        | MemberState::Rerunning
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::NoChange
        | MemberState::Withdrawn => (None, member.missing().filter(|_| sprint.is_over())),
    };
    SprintMemberView {
        persona: member.persona.clone(),
        job_id: member.job.clone(),
        state: sprint.word_of(member).to_owned(),
        pull: member.number().map(|number| pull(&sprint.repo, number)),
        way,
        attempts: member.attempts,
        conflicts: member.conflicts,
        reason: reason.map(|reason| short(&reason)),
        since: member.since,
    }
}

fn woven(woven: &Woven) -> WovenView {
    WovenView {
        weave: woven.weave,
        base: woven.base.clone(),
        commit: woven.commit.clone(),
        pull: woven.pull.clone(),
    }
}

fn report(repo: &RepoName, report: &Report) -> WeaveView {
    let verdicts = report.verdicts.iter();
    WeaveView {
        weave: report.weave,
        woven: report.woven.as_ref().map(woven),
        verdicts: verdicts
            .map(|(number, it)| verdict(pull(repo, *number), it))
            .collect(),
    }
}

fn verdict(pull: PullRef, verdict: &WeaveVerdict) -> VerdictView {
    let bare = VerdictView {
        pull,
        verdict: verdict.word().to_owned(),
        head: None,
        way: None,
        files: None,
        conflicts_with: Vec::new(),
        places: Vec::new(),
        other_places: 0,
        reason: None,
    };
    match verdict {
        WeaveVerdict::In { head, way, files } => VerdictView {
            head: Some(head.clone()),
            way: Some(way.word().to_owned()),
            files: Some(*files),
            ..bare
        },
        WeaveVerdict::Out {
            head,
            against,
            clashes,
            others,
        } => VerdictView {
            head: Some(head.clone()),
            conflicts_with: match against {
                Against::Members(with) => with.clone(),
                Against::StaleBase => Vec::new(),
            },
            places: clashes.iter().map(place).collect(),
            other_places: *others,
            ..bare
        },
        WeaveVerdict::Skipped { reason } => VerdictView {
            reason: Some(short(reason)),
            ..bare
        },
        WeaveVerdict::Moved | WeaveVerdict::Nothing => bare,
    }
}

fn pull(repo: &RepoName, number: u64) -> PullRef {
    PullRef {
        repo: repo.clone(),
        number,
    }
}

fn place(clash: &Clash) -> PlaceView {
    PlaceView {
        path: short(&clash.path),
        words: short(&clash.words),
    }
}

/// What a sprint waits for.
pub(super) fn why(why: &engine::why::SprintWhy) -> SprintWhy {
    let member = |member: &engine::why::MemberWhy| SprintMemberWhy {
        persona: member.persona.clone(),
        job_id: member.job.clone(),
        state: member.state.to_owned(),
        sentence: short(&to_the_second(&member.sentence)),
        until: member.until,
    };
    SprintWhy {
        number: why.sprint,
        state: why.state.to_owned(),
        because: why.because.clone(),
        members: why.members.iter().map(member).collect(),
        next: why.next.iter().map(next::shown).collect(),
        next_look: why.next_look,
    }
}

fn short(text: &str) -> String {
    presentable(text, SHORT_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use domain::ids::BranchName;
    use domain::sprint::{NewSprint, SprintMode, start};
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_pull_request_that_was_never_ready_is_shown_too() {
        let new = NewSprint {
            repo: "acme/shop".parse().unwrap(),
            number: "50".parse().unwrap(),
            account: "default".parse().unwrap(),
            target: BranchName::main(),
            personas_at: "0".repeat(40).parse().unwrap(),
            personas: vec!["curator".parse().unwrap(), "refactor".parse().unwrap()],
            mode: SprintMode::default(),
            by: "person".to_owned(),
        };
        let begun = start(new, Timestamp::UNIX_EPOCH).unwrap();
        let of_job: PullRef = "acme/shop#101".parse().unwrap();
        let pulls = [(begun.members[0].job.clone(), of_job.clone())];
        let shown = whole(&begun, &[], &pulls);
        assert_eq!(shown.members[0].pull, Some(of_job));
        assert_eq!(shown.members[1].pull, None);
    }
}
