//! What is told of failures, and how the process ends.

use anyhow::Context;

use super::*;

#[test]
fn causes_follow_in_one_line_and_are_told_once() {
    let root: Result<(), _> = Err(Error::refused(
        "no_such",
        "there is no account `x`",
        "add it with `gaffer account add x`",
    ));
    let error = root.context("adding source acme/shop").unwrap_err();
    let told = describe(&error);
    assert_eq!(
        told.what,
        "adding source acme/shop: there is no account `x`"
    );
    assert_eq!((told.code.as_str(), told.exit), ("no_such", FAILED));
    assert_eq!(
        told.next.as_deref(),
        Some("add it with `gaffer account add x`")
    );
    let twice = anyhow::Error::new(backend::Error::from(
        engine::ports::CommitError::Unavailable("disk full".to_owned()),
    ));
    assert_eq!(describe(&twice).what.matches("disk full").count(), 1);
}

#[test]
fn a_blank_value_leaves_the_words_of_its_refusal_apart() {
    use clap::Parser;
    let typed = crate::args::CommandLine::try_parse_from(["gaffer", "job", "show", " "]);
    let told = shortened(&typed.err().unwrap());
    assert!(told.contains("invalid value ' ' for"), "{told}");
}

#[test]
fn secrets_and_control_characters_are_never_told() {
    let error = anyhow::anyhow!("key AIzaSyA0123456789012345678901234567890123\u{1b}[2J\nnext");
    let told = describe(&error);
    assert!(
        !told.what.contains("AIza") && !told.what.contains('\u{1b}') && !told.what.contains('\n'),
        "{told:?}"
    );
    assert_eq!((told.code.as_str(), told.exit), ("failed", FAILED));
}

#[test]
fn addresses_lose_their_user() {
    assert_eq!(
        line("at https://me:hunter2@bot.example.com/x!"),
        "at https://[secret]@bot.example.com/x!"
    );
    assert_eq!(line("https://hunter2@hunter2@bot"), "https://[secret]@bot");
    assert_eq!(
        line("see https://bot.example.com/@me"),
        "see https://bot.example.com/@me"
    );
}

#[test]
fn what_fits_no_place_ends_like_bad_usage() {
    let told = describe(&anyhow::Error::new(Error::unfit("no_commit", "x", "y")));
    assert_eq!((told.code.as_str(), told.exit), ("no_commit", USAGE));
    assert_eq!(told.next.as_deref(), Some("y"));
}

#[test]
fn usage_has_its_own_exit_code() {
    assert_eq!(
        describe(&anyhow::Error::new(Error::usage("x", "y"))).exit,
        USAGE
    );
}

#[test]
fn what_is_missing_is_told_with_what_there_is_or_how_to_store_it() {
    let next = |error: anyhow::Error| describe(&error).next.unwrap();
    for (what, command) in [
        ("delivery", "`gaffer delivery list`"),
        ("job", "`gaffer job list`"),
        ("pipeline", "`gaffer pipeline list OWNER/REPO`"),
        ("wake", "`gaffer wake list`"),
    ] {
        let name = "x".to_owned();
        let told = next(backend::Error::NoSuch { what, name }.into());
        assert!(told.contains(command), "{what}: {told}");
    }
    let missing = SecretsError::Missing("github".to_owned());
    assert!(next(missing.into()).contains("`gaffer secret set NAME`"));
    let shaped = next(client::Error::GoogleKey.into());
    assert!(shaped.contains("GAFFER_TOKEN"), "{shaped}");
}
