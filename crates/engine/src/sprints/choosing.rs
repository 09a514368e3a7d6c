//! Who takes part in a sprint, by the files of personas that were read.

use domain::ids::{BranchName, CommitSha, PersonaName};
use domain::nearest::meant;
use domain::redact::presentable;
use domain::refusal::NotNow;
use scaffold::persona;

use super::SprintOrder;
use crate::readings::ReadPersonas;

/// How many personas an error names at most.
const NAMED_MAX: usize = 10;

/// How many files that cannot be used an error names at most: it has room for no more.
const FAULTS_MAX: usize = 3;

/// How much of what is wrong with one of them an error tells, in characters.
const FAULT_CHARS_MAX: usize = 250;

/// Who takes part, by the files that were read.
pub(super) fn chosen(
    order: &SprintOrder,
    target: &BranchName,
    read: &ReadPersonas,
) -> Result<(CommitSha, Vec<PersonaName>), NotNow> {
    let repo = &order.repo;
    let Some(commit) = read.commit.clone() else {
        let sentence = format!("{repo} has no branch `{target}`");
        return Err(NotNow::new("no_branch", sentence));
    };
    let place = format!("on the branch `{target}` of {repo}");
    let known = |name: &PersonaName| read.batch.contains(name) || read.others.contains(name);
    if let Some(unknown) = order.personas.iter().find(|name| !known(name)) {
        return Err(not_usable(unknown, &place, read));
    }
    if let Some(never) = order.personas.iter().find(|it| !read.batch.contains(it)) {
        let sentence =
            format!("`{never}` takes part in no sprint: its file says so, or Gaffer works as it");
        return Err(NotNow::new("not_in_batch", sentence).about("personas"));
    }
    let personas = match order.personas.is_empty() {
        true => read.batch.clone(),
        false => order.personas.clone(),
    };
    if personas.is_empty() {
        let sentence = match read.faults.is_empty() {
            true => format!(
                "the branch `{target}` of {repo} has no personas: write some with `gaffer persona init`, and commit them"
            ),
            false => format!("no persona {place} can take part{}", faulty(&read.faults)),
        };
        return Err(NotNow::new("no_personas", sentence));
    }
    Ok((commit, personas))
}

/// Why a persona that is named cannot take part: its file cannot be used, or there is none.
fn not_usable(name: &PersonaName, place: &str, read: &ReadPersonas) -> NotNow {
    // What is wrong with a file begins with its path.
    let file = persona::path_of(name.as_str());
    if let Some(fault) = read.faults.iter().find(|fault| fault.starts_with(&file)) {
        let fault = presentable(fault, FAULT_CHARS_MAX);
        let sentence = format!("the persona `{name}` {place} cannot be used: {fault}");
        return NotNow::new("faulty_persona", sentence).about("personas");
    }
    let known = || read.batch.iter().chain(&read.others);
    let near = meant(name.as_str(), known().map(PersonaName::as_str));
    let (named, others) = (shown(known()), faulty(&read.faults));
    let sentence = format!("there is no persona `{name}` {place}{near}; there {named}{others}");
    NotNow::new("no_persona", sentence).about("personas")
}

fn shown<'p>(names: impl Iterator<Item = &'p PersonaName>) -> String {
    let mut names: Vec<&str> = names.map(PersonaName::as_str).collect();
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let first = names.join(", ");
    match more {
        _ if names.is_empty() => "are none".to_owned(),
        0 => format!("are {first}"),
        more => format!("are {first} and {more} more"),
    }
}

/// The end of a sentence that names the files that cannot be used; nothing without any.
fn faulty(faults: &[String]) -> String {
    if faults.is_empty() {
        return String::new();
    }
    let named = faults.iter().take(FAULTS_MAX);
    let named = named.map(|fault| presentable(fault, FAULT_CHARS_MAX));
    let mut named: Vec<String> = named.collect();
    let more = faults.len() - named.len();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    format!("; these files cannot be used: {}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn read(batch: &[&str], faults: usize) -> ReadPersonas {
        let fault = |number: usize| {
            format!(
                ".jules/personas/odd{number}/prompt.md:1: there is no `id`: add `id: odd{number}`"
            )
        };
        ReadPersonas {
            commit: Some("1".repeat(40).parse().unwrap()),
            batch: batch.iter().map(|name| name.parse().unwrap()).collect(),
            faults: (1..=faults).map(fault).collect(),
            ..ReadPersonas::nothing(Timestamp::UNIX_EPOCH, None)
        }
    }

    /// The code and the sentence of the refusal where some personas are named.
    fn refused(personas: &[&str], read: &ReadPersonas) -> (&'static str, String) {
        let order = SprintOrder {
            repo: "acme/shop".parse().unwrap(),
            number: None,
            personas: personas.iter().map(|name| name.parse().unwrap()).collect(),
        };
        let refused = chosen(&order, &BranchName::main(), read).unwrap_err();
        (refused.code, refused.sentence)
    }

    #[test]
    fn a_persona_whose_file_cannot_be_used_is_refused_with_what_is_wrong() {
        let told = "the persona `odd1` on the branch `main` of acme/shop cannot be used: \
             .jules/personas/odd1/prompt.md:1: there is no `id`: add `id: odd1`";
        let read = read(&["curator"], 2);
        let named = refused(&["curator", "odd1"], &read);
        assert_eq!(named, ("faulty_persona", told.to_owned()));
        let (code, sentence) = refused(&["odd"], &read);
        assert_eq!(code, "no_persona");
        let told = "there is no persona `odd` on the branch `main` of acme/shop; there are curator; these files cannot be \
             used: .jules/personas/odd1/prompt.md:1: ";
        assert!(sentence.starts_with(told), "{sentence}");
    }

    #[test]
    fn an_unknown_persona_is_refused_with_the_nearest_and_some_of_the_others() {
        let letters = "abcdefghijk".chars();
        let names: Vec<String> = letters.map(|letter| letter.to_string().repeat(3)).collect();
        let names: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .chain(["curator"])
            .collect();
        let (_, sentence) = refused(&["curater"], &read(&names, 0));
        for told in [
            "of acme/shop (did you mean `curator`?); there are aaa, bbb, ",
            ", jjj and 2 more",
        ] {
            assert!(sentence.contains(told), "{told}: {sentence}");
        }
    }

    #[test]
    fn where_no_file_can_be_used_some_are_named() {
        let (code, sentence) = refused(&[], &read(&[], 5));
        assert_eq!(code, "no_personas");
        for told in [
            "odd1/prompt.md:1: there is no `id`",
            "odd3/",
            "; and 2 more",
        ] {
            assert!(sentence.contains(told), "{told}: {sentence}");
        }
        assert!(!sentence.contains("persona init"), "{sentence}");
        let (_, none) = refused(&[], &read(&[], 0));
        assert!(none.contains("persona init"), "{none}");
    }
}
