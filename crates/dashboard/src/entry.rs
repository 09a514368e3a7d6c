//! Pages before, and in place of, the asked ones: sign-in and refusals.

use askama::Template;
use client::wire::Problem;

use crate::Error;
use crate::shell::{Frame, Page, Place, Shell, paged};

/// What the sign-in shows.
#[derive(Debug, Clone, Copy)]
pub struct SignIn<'a> {
    /// The path to go to afterwards.
    pub next: &'a str,
    /// Why the last one was refused.
    pub refusal: Option<&'a str>,
    /// Whether a link of another site led here: browsers send no cookie then.
    pub is_from_elsewhere: bool,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    shell: Shell,
    next: &'a str,
    refusal: Option<&'a str>,
    is_from_elsewhere: bool,
}

/// The sign-in.
///
/// # Errors
/// When the template fails.
pub fn sign_in(frame: &Frame, asked: SignIn<'_>) -> Result<Page, Error> {
    paged(frame, Place::Elsewhere, |shell| SignInPage {
        shell,
        next: asked.next,
        refusal: asked.refusal,
        is_from_elsewhere: asked.is_from_elsewhere,
    })
}

#[derive(Template)]
#[template(path = "enter.html")]
struct EnteredPage {
    shell: Shell,
}

/// The page after a link that signs in. It goes on by itself: a redirect would carry no cookie if another site had
/// the link.
///
/// # Errors
/// When the template fails.
pub fn entered(frame: &Frame) -> Result<Page, Error> {
    paged(frame, Place::Elsewhere, |shell| EnteredPage { shell })
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'a> {
    shell: Shell,
    problem: &'a Problem,
    back: &'a str,
    typed: &'a [(&'a str, &'a str)],
}

/// A refusal, with the path from which the person came and what they typed there, by its name: browsers forget it.
///
/// # Errors
/// When the template fails.
pub fn refusal(
    frame: &Frame,
    problem: &Problem,
    back: &str,
    typed: &[(&str, &str)],
) -> Result<Page, Error> {
    paged(frame, Place::Elsewhere, |shell| RefusalPage {
        shell,
        problem,
        back,
        typed,
    })
}
