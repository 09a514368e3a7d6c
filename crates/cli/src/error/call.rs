//! Failed calls to the API: their codes, what to do about them, and how the process ends.

use super::{FAILED, USAGE};

/// The code of a failed call, and what to do about it.
pub(super) fn code_and_next(error: &client::Error) -> (String, Option<&'static str>) {
    match error {
        client::Error::Unreachable { .. } => (
            "not_running".to_owned(),
            Some("start it with `gaffer up`, or say where it is with `--url URL`"),
        ),
        client::Error::Problem(problem) if problem.status == 401 => (
            problem.code.clone(),
            Some(
                "set GAFFER_TOKEN to the token of that `gaffer up`, or name its data folder with `--data DIR`",
            ),
        ),
        client::Error::Problem(problem) => (problem.code.clone(), None),
        client::Error::NoAnswer { .. } => (
            "no_answer".to_owned(),
            Some("run the command again; before you repeat an order, look whether it was taken"),
        ),
        client::Error::Foreign { .. } => (
            "foreign".to_owned(),
            Some("check `--url`: it names something that is not `gaffer up`"),
        ),
        client::Error::GoogleKey | client::Error::Token => (
            "bad_token".to_owned(),
            Some("set GAFFER_TOKEN to a token of `gaffer token create NAME`, or unset it"),
        ),
        client::Error::Base { .. } => (
            "usage".to_owned(),
            Some("give the address of `gaffer up` with `--url URL`"),
        ),
        // They contain the rule.
        client::Error::Id(_) | client::Error::Key => ("usage".to_owned(), None),
        client::Error::NoTlsProvider | client::Error::Http(_) => ("failed".to_owned(), None),
    }
}

/// What was sent is refused as such, whatever the state of things, like a wrong argument.
pub(super) fn exit_code(error: &client::Error) -> u8 {
    match error {
        client::Error::Problem(problem) if is_about_words(&problem.code) => USAGE,
        client::Error::Id(_) | client::Error::Key => USAGE,
        client::Error::Problem(_)
        | client::Error::Base { .. }
        | client::Error::GoogleKey
        | client::Error::Token
        | client::Error::Unreachable { .. }
        | client::Error::NoAnswer { .. }
        | client::Error::Foreign { .. }
        | client::Error::NoTlsProvider
        | client::Error::Http(_) => FAILED,
    }
}

/// Whether the code of a refusal says that what was sent is not taken: it is no value of its field, blank, too long, holds a
/// secret, or names a team that has no members or too many. The status does not say so: 422 is also that of a persona that has no
/// file yet, or of a past number.
pub(super) fn is_about_words(code: &str) -> bool {
    // What is there already is too much, whatever was sent.
    let is_state = ["too_many_tags", "too_many_personas"].contains(&code);
    let is_named = [
        "bad_field",
        "missing_field",
        "unknown_field",
        "secret_in_text",
        "no_team",
        "team_too_large",
    ];
    let begins = ["odd_", "too_many_"];
    let ends = ["_empty", "_too_long"];
    let is_formed = begins.iter().any(|begin| code.starts_with(begin))
        || ends.iter().any(|end| code.ends_with(end));
    is_named.contains(&code) || (is_formed && !is_state)
}
