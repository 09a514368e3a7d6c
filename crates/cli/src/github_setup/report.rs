//! What a run of `gaffer github setup` says at its end, and why it failed.

use domain::failure::{Failure, FailureClass};
use engine::settings::MadeApp;
use github::Installed;
use serde_json::json;

use crate::error::Error;
use crate::render::Answer;

/// How a run ended.
pub(super) struct End {
    /// Whether `gaffer up` uses the App.
    pub(super) in_use: bool,
    /// Whether it did not before.
    pub(super) is_new: bool,
    /// Whether there was another credential before it.
    pub(super) replaced: bool,
    /// Owners of repositories that it is not installed on.
    pub(super) lacking: Vec<String>,
    /// Whether the environment holds a credential that goes before it.
    pub(super) overlaid: bool,
}

/// Why a code was not exchanged, and what to do.
pub(super) fn not_exchanged(failure: &Failure) -> Error {
    match failure.class {
        FailureClass::NotFound | FailureClass::Conflict | FailureClass::Invalid => Error::refused(
            "code_used",
            "GitHub does not take this code: it was used already, is older than an hour, or belongs to another GitHub",
            "type `gaffer github setup` and begin at the page it tells; an App that was made meanwhile can be deleted on GitHub, below Settings, Developer settings, GitHub Apps",
        ),
        FailureClass::Unauthorized
        | FailureClass::Forbidden
        | FailureClass::Precondition
        | FailureClass::Throttled
        | FailureClass::Unavailable
        | FailureClass::Network
        | FailureClass::Garbled => Error::refused(
            "not_exchanged",
            failure.message.clone(),
            "type `gaffer github setup` again; the code may have been used up, and then GitHub gives another one",
        ),
    }
}

/// Whether GitHub said that a key is not this App's, and not only that it cannot tell now.
fn is_refused(failure: &Failure) -> bool {
    failure.class == FailureClass::Unauthorized || failure.class.is_hidden()
}

/// Why a key does not sign the App in, and what to do.
pub(super) fn not_signed_in(failure: &Failure) -> Error {
    let (code, next) = if is_refused(failure) {
        (
            "key_refused",
            "give the id and a private key of the same App with `gaffer github setup --app-id ID --key-file FILE`",
        )
    } else {
        (
            "github_unreachable",
            "type `gaffer github setup` again, which goes on from here",
        )
    };
    Error::refused(code, failure.message.clone(), next)
}

/// The result of a run.
pub(super) fn setup_answer(made: &MadeApp, installed: &[Installed], end: &End) -> Answer {
    let accounts: Vec<&str> = installed
        .iter()
        .map(|it| it.account.login.as_str())
        .collect();
    let answer = Answer::new(json!({
        "app_id": made.id, "slug": made.slug, "page": made.page, "installed_on": accounts,
        "in_use": end.in_use, "not_installed_on": end.lacking,
    }));
    let name = format!("The GitHub App {} {}", made.id, made.slug);
    let name = name.trim();
    let mut answer = if end.in_use {
        answer.line(format!("{name} is set up, and `gaffer up` uses it."))
    } else {
        answer.line(format!("{name} is made, and its key is kept."))
    };
    if !accounts.is_empty() {
        answer = answer.line(format!("It is installed on {}.", accounts.join(", ")));
    }
    if accounts.is_empty() || !end.lacking.is_empty() {
        let page = made.install_page();
        let page = page.as_deref().unwrap_or("its page on GitHub");
        let on = if end.lacking.is_empty() {
            String::new()
        } else {
            format!(" on {}", end.lacking.join(", "))
        };
        answer = answer.line(format!(
            "It is not installed{on} yet: install it at {page}."
        ));
    }
    answer = match (end.in_use, end.replaced) {
        (false, _) => answer.line("Until then the credential that was stored before stays in use; type `gaffer github setup` again when it is installed."),
        (true, true) => answer.line("It took the place of the credential that was stored before: start a running `gaffer up` again. `gaffer github token` goes back to a token."),
        (true, false) if end.is_new => answer.line("Go on with `gaffer up`."),
        (true, false) => answer,
    };
    if end.overlaid {
        return answer
            .line("GITHUB_TOKEN or GITHUB_APP_KEY in the environment goes before it: unset it.");
    }
    answer
}
