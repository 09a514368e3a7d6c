//! Advice as commands to type.

use std::collections::BTreeSet;

use client::wire;
use domain::advice::{Advice, Next};
use domain::ids::{RepoName, SprintNumber};

/// What a delivery takes, each with the command that orders it.
const DELIVERY_COMMANDS: [(&str, &str); 12] = [
    ("start", "start"),
    ("approve", "approve"),
    ("reject", "reject"),
    ("retry", "retry"),
    ("cancel", "cancel"),
    ("verdict", "verdict"),
    ("plan", "plan"),
    ("split", "split"),
    ("merge", "merge"),
    ("edit", "edit"),
    ("collect", "collect"),
    ("analyse", "analysis"),
];

/// The advice with its command; advice that this version does not know comes in the API's own words.
pub(crate) fn sentence(next: &wire::Next) -> String {
    match Advice::of_word(&next.advice) {
        Some(advice) => with_command(advice, &next.about),
        None => next.sentence.clone(),
    }
}

/// The same for a refusal in this process.
pub(crate) fn of_ours(next: &Next) -> String {
    with_command(next.advice, &next.about)
}

/// The same for programs: no route, since a command was asked.
pub(crate) fn as_typed(next: &wire::Next) -> wire::Next {
    wire::Next {
        sentence: sentence(next),
        route: None,
        ..next.clone()
    }
}

/// Who is waited for, and how a pause that it waits for ends.
pub(crate) fn waits(waits_for: &wire::WaitsFor, repo: &RepoName) -> String {
    match of_pause(waits_for, repo) {
        Some(end) => format!("{}; {end}", waits_for.sentence),
        None => waits_for.sentence.clone(),
    }
}

/// How the pauses end that some of a list wait for, each once.
pub(crate) fn of_pauses<'a>(
    listed: impl Iterator<Item = (&'a wire::WaitsFor, &'a RepoName)>,
) -> impl Iterator<Item = String> {
    let ends: BTreeSet<String> = listed
        .filter_map(|(waits_for, repo)| of_pause(waits_for, repo))
        .collect();
    ends.into_iter()
        .map(|end| format!("Some wait for the end of a pause: {end}."))
}

fn of_pause(waits_for: &wire::WaitsFor, repo: &RepoName) -> Option<String> {
    let advice = Advice::for_pause(&waits_for.what)?;
    Some(of_ours(&advice.about(repo)))
}

/// Where the others of a kind are listed, if one of it is not there and cannot be added.
pub(crate) fn list_of(kind: &str) -> Option<&'static str> {
    match kind {
        "delivery" => Some("see them with `gaffer delivery list`"),
        "pipeline" => Some("see the runs with `gaffer pipeline list OWNER/REPO`"),
        "requirement" => Some("see them all with `gaffer requirement list OWNER/REPO`"),
        "run" => Some("see the runs with `gaffer delivery show DELIVERY`"),
        "sprint" => Some("see them with `gaffer sprint list OWNER/REPO`"),
        "token" => Some("see them with `gaffer token list`"),
        "wake" => Some("see them with `gaffer wake list`"),
        _ => None,
    }
}

/// What the code of a refusal alone advises.
fn of_code(problem: &wire::Problem) -> Option<&'static str> {
    // An order about a job or a delivery that is refused says what it takes in place of that.
    let is_of_requirement = problem.next.is_empty() && problem.legal.is_none();
    if let Some(kind) = problem.code.strip_prefix("no_such_") {
        return list_of(kind).filter(|_| problem.next.is_empty());
    }
    match problem.code.as_str() {
        "pipeline_off" => Some("switch it on with `gaffer pipeline on OWNER/REPO`"),
        "taken" => Some("see how far it is with `gaffer requirement show OWNER/REPO REQUIREMENT`"),
        "attempts_used_up" if is_of_requirement => Some(
            "have it done by a job of its own with `gaffer job create`, or have its files removed with `gaffer exchange clean requirement PATH`",
        ),
        _ => None,
    }
}

/// What a refused delivery takes now, or what is there already.
pub(crate) fn of_delivery(problem: &wire::Problem) -> Option<String> {
    if let Some(next) = of_code(problem) {
        return Some(next.to_owned());
    }
    if problem.code == "already_running" {
        // The refusal of a sprint has its own advice.
        let run = problem.existing.as_ref();
        let run = run.filter(|id| id.parse::<SprintNumber>().is_err())?;
        return Some(format!("look at it with `gaffer pipeline show {run}`"));
    }
    if let Some(id) = &problem.existing {
        let look = format!("look at it with `gaffer delivery show {id}`");
        return Some(match problem.field.as_deref() {
            Some("again") => format!("ask for another one with `--again`, or {look}"),
            Some(_) | None => look,
        });
    }
    let legal = problem.legal.as_ref()?;
    let typed = |verb: &String| {
        let known = DELIVERY_COMMANDS.iter().find(|(word, _)| word == verb);
        known.map(|(_, command)| format!("`{command}`"))
    };
    let words: Vec<String> = legal.iter().filter_map(typed).collect();
    Some(match words.is_empty() {
        true => "nothing can be ordered of it now".to_owned(),
        false => format!("now it takes {}", words.join(", ")),
    })
}

fn with_command(advice: Advice, about: &str) -> String {
    format!("`gaffer {}` {}", arguments(advice, about), advice.does())
}

/// The arguments after `gaffer`; the reader replaces words in capitals.
pub(crate) fn arguments(advice: Advice, about: &str) -> String {
    match advice {
        Advice::Say => format!("job say {about} TEXT"),
        Advice::Approve => format!("job approve {about}"),
        Advice::Merge => format!("job merge {about}"),
        Advice::Retry => format!("job retry {about}"),
        Advice::Cancel => format!("job cancel {about}"),
        Advice::CreateJob => format!("job create --repo {about} --prompt TEXT"),
        Advice::Adopt => format!("job adopt SESSION --repo {about}"),
        Advice::ListJobs => "job list".to_owned(),
        Advice::Events => format!("job events {about}"),
        Advice::TakeWakes => format!("watch --agent {about} -- COMMAND"),
        Advice::Resume => "resume".to_owned(),
        Advice::ResumeSource => format!("source resume {about}"),
        Advice::PauseSource => format!("source pause {about}"),
        Advice::AddSource => format!("source add {about}"),
        Advice::RequireCheck => format!("source set {about} --required-check NAME"),
        Advice::RenumberSource => format!("source set {about} --repository-id NUMBER"),
        Advice::AddAccount => format!("account add {about}"),
        Advice::ReplaceKey => format!("account add {about} --replace-key"),
        Advice::AddAgent => format!("agent add {about} --url URL"),
        Advice::EnableAgent => format!("agent set {about} --enable"),
        Advice::GiveInbox => format!("agent set {about} --channel inbox"),
        Advice::CreateToken => format!("token create NAME --scope {about}"),
        Advice::StartSprint => format!("sprint start {about}"),
        Advice::AbortSprint => format!("sprint abort {about}"),
        Advice::IntegrateSprint => format!("sprint integrate {about} --now"),
        Advice::WhySprint => format!("sprint why {about}"),
        Advice::StartPipeline => about.to_owned(),
        Advice::CancelPipeline => format!("pipeline cancel {about}"),
        Advice::CancelDelivery => format!("delivery cancel {about}"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::CommandLine;

    /// An example subject for each advice.
    fn about(advice: Advice) -> &'static str {
        match advice {
            Advice::Say
            | Advice::Approve
            | Advice::Merge
            | Advice::Retry
            | Advice::Cancel
            | Advice::Events
            | Advice::CancelPipeline => "01j00000000000000000000000",
            Advice::CreateJob
            | Advice::Adopt
            | Advice::ResumeSource
            | Advice::PauseSource
            | Advice::AddSource
            | Advice::RequireCheck
            | Advice::RenumberSource
            | Advice::StartSprint
            | Advice::AbortSprint
            | Advice::IntegrateSprint
            | Advice::WhySprint => "acme/shop",
            Advice::StartPipeline => "pipeline start acme/shop",
            Advice::CancelDelivery => "0123456789ab",
            Advice::TakeWakes
            | Advice::AddAccount
            | Advice::ReplaceKey
            | Advice::AddAgent
            | Advice::EnableAgent
            | Advice::GiveInbox => "bot",
            Advice::CreateToken => "write",
            Advice::Resume | Advice::ListJobs => "",
        }
    }

    #[test]
    fn every_command_that_is_advised_is_understood() {
        for advice in Advice::ALL {
            let words = arguments(advice, about(advice));
            let typed = words.replace("SESSION", "1234567890");
            let typed = typed
                .replace("NUMBER", "7")
                .replace("URL", "https://bot.example.com/");
            let typed = typed.replace("NAME", "ci");
            let typed = std::iter::once("gaffer").chain(typed.split(' '));
            let read = CommandLine::try_parse_from(typed);
            assert!(read.is_ok(), "{words}: {}", read.err().unwrap());
        }
    }

    #[test]
    fn every_command_that_begins_a_run_again_is_understood() {
        for words in [
            "pipeline start acme/shop",
            "pipeline start acme/shop --from innovators",
            "exchange publish-proposals --repo acme/shop",
            "labels sync --repo acme/shop",
            "exchange clean mock --tag mock-1 --repo acme/shop",
            "exchange clean requirement a/b.yml --repo acme/shop",
            "run observers --repo acme/shop --role qa --stream backend --mock mock-1",
            "run innovators --repo acme/shop --role qa --task big",
            "run implementer --repo acme/shop --requirement a/b.yml --keep-files",
        ] {
            let typed = std::iter::once("gaffer").chain(words.split(' '));
            let read = CommandLine::try_parse_from(typed);
            assert!(read.is_ok(), "{words}: {}", read.err().unwrap());
        }
    }

    #[test]
    fn a_refusal_about_a_requirement_or_a_run_says_what_to_do() {
        let refused = |code: &str| wire::Problem::new(409, "Conflict", code, "no");
        for (code, command) in [
            ("no_such_pipeline", "gaffer pipeline list"),
            ("no_such_requirement", "gaffer requirement list"),
            ("no_such_delivery", "gaffer delivery list"),
            ("no_such_run", "gaffer delivery show"),
            ("no_such_sprint", "gaffer sprint list"),
            ("taken", "gaffer requirement show"),
            ("attempts_used_up", "gaffer exchange clean requirement"),
        ] {
            let next = of_delivery(&refused(code)).unwrap();
            assert!(next.contains(command), "{code}: {next}");
        }
        // A delivery says itself what it takes.
        let of_delivery_itself = wire::Problem {
            legal: Some(vec!["cancel".to_owned()]),
            ..refused("attempts_used_up")
        };
        let next = of_delivery(&of_delivery_itself).unwrap();
        assert_eq!(next, "now it takes `cancel`");
        let to_be_analysed = wire::Problem {
            legal: Some(vec!["edit".to_owned(), "analyse".to_owned()]),
            ..refused("attempts_used_up")
        };
        let next = of_delivery(&to_be_analysed).unwrap();
        assert_eq!(next, "now it takes `edit`, `analysis`");
        let of_an_agent = wire::Problem {
            legal: Some(vec!["edit".to_owned(), "collect".to_owned()]),
            ..refused("people_only")
        };
        let next = of_delivery(&of_an_agent).unwrap();
        assert_eq!(next, "now it takes `edit`, `collect`");
        let over = wire::Problem {
            legal: Some(Vec::new()),
            ..refused("closed")
        };
        let next = of_delivery(&over).unwrap();
        assert_eq!(next, "nothing can be ordered of it now");
        let closed = wire::Problem {
            field: Some("again".to_owned()),
            existing: Some("f11647a73aa0".to_owned()),
            ..refused("exists")
        };
        let next = of_delivery(&closed).unwrap();
        assert!(next.contains("`--again`"), "{next}");
    }
}
