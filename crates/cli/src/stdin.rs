//! Texts and secrets that come from standard input, a file or a terminal, read up to a limit.

use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result};
use secrecy::SecretString;

use crate::error::Error;

/// Longest key, in bytes: Google's have less than a tenth of this.
const KEY_BYTES_MAX: u64 = 4_096;

/// Where a key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyFrom<'a> {
    /// Standard input, of any kind.
    Stdin,
    /// A file.
    File(&'a Path),
    /// Standard input, or a question at a terminal.
    StdinOrAsked,
}

/// Reads a key. `what` names it in questions and errors.
pub(crate) fn key(from: KeyFrom<'_>, what: &str) -> Result<SecretString> {
    let next = "give it on standard input, with `--key-file FILE`, or at a terminal";
    let text = match from {
        KeyFrom::File(file) => of_file(file, KEY_BYTES_MAX)
            .with_context(|| format!("reading {what} from {}", file.display()))?,
        KeyFrom::StdinOrAsked if std::io::stdin().is_terminal() => {
            asked(what).with_context(|| format!("asking for {what}"))?
        }
        KeyFrom::Stdin | KeyFrom::StdinOrAsked => of_stdin(KEY_BYTES_MAX)
            .with_context(|| format!("reading {what} from standard input"))?,
    };
    checked(text.trim(), what, next)
}

/// Reads a secret of any kind: one word, or a private key of several lines.
pub(crate) fn secret(what: &str) -> Result<SecretString> {
    let next = "give it on standard input, as in `gaffer secret set NAME < FILE`, or at a terminal";
    if std::io::stdin().is_terminal() {
        let text = asked(what).with_context(|| format!("asking for {what}"))?;
        return checked(text.trim(), what, next);
    }
    let text =
        of_stdin(KEY_BYTES_MAX).with_context(|| format!("reading {what} from standard input"))?;
    let text = text.trim();
    if text.starts_with("-----BEGIN ") && text.ends_with("-----") {
        return Ok(SecretString::from(text));
    }
    checked(text, what, next)
}

/// A key is one word; the text itself is never printed.
fn checked(key: &str, what: &str, next: &str) -> Result<SecretString> {
    if key.is_empty() {
        return Err(Error::usage(format!("{what} is empty"), next).into());
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::usage(format!("{what} holds spaces, line breaks or characters outside ASCII, so it is more than a key or none"), next).into());
    }
    Ok(SecretString::from(key))
}

/// What is typed is not shown.
fn asked(what: &str) -> std::io::Result<String> {
    let terminal = console::Term::stderr();
    terminal.write_str(&format!("{what} (not shown): "))?;
    terminal.read_secure_line()
}

/// A whole file of text. One that cannot be read was named wrongly.
pub(crate) fn of_file(file: &Path, bytes_max: u64) -> Result<String> {
    let opened = File::open(file).map_err(|error| refused(file, &error))?;
    limited(opened, bytes_max).map_err(|error| read_error(file, error))
}

fn refused(file: &Path, why: &std::io::Error) -> Error {
    let what = format!("{} cannot be read: {why}", file.display());
    Error::usage(
        what,
        "give a file that is there, that is yours and that is text",
    )
}

/// The system's errors are about the file; our own are passed on unchanged.
fn read_error(file: &Path, error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<std::io::Error>() {
        Some(why) => refused(file, why).into(),
        None => error,
    }
}

/// All of standard input.
pub(crate) fn of_stdin(bytes_max: u64) -> Result<String> {
    limited(std::io::stdin().lock(), bytes_max)
}

/// A whole file of anything.
pub(crate) fn bytes_of_file(file: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let opened = File::open(file).map_err(|error| refused(file, &error))?;
    limited_bytes(opened, bytes_max).map_err(|error| read_error(file, error))
}

/// All of standard input, of any kind.
pub(crate) fn bytes_of_stdin(bytes_max: u64) -> Result<Vec<u8>> {
    limited_bytes(std::io::stdin().lock(), bytes_max)
}

fn limited(reader: impl Read, bytes_max: u64) -> Result<String> {
    let bytes = limited_bytes(reader, bytes_max)?;
    String::from_utf8(bytes).map_err(|_| {
        let error = std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8");
        error.into()
    })
}

fn limited_bytes(reader: impl Read, bytes_max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Error::usage(
            format!("it is longer than {bytes_max} bytes"),
            "give a shorter one",
        )
        .into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_and_is_never_told() {
        assert!(checked("AIzaSyA-0_1", "the key", "").is_ok());
        for bad in ["", "hunter2 hunter2", "hunter2\nx", "hünter2"] {
            let error = checked(bad, "the key", "").unwrap_err();
            assert!(!format!("{error:#}").contains("nter2"), "{error:#}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        assert_eq!(limited("abcd".as_bytes(), 4).unwrap(), "abcd");
        assert!(limited("abcde".as_bytes(), 4).is_err());
        assert!(limited([0xff].as_slice(), 4).is_err());
    }
}
