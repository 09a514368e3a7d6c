//! Values on the command line that are no ids: each parser explains an invalid value and shows a valid one.

use std::net::SocketAddr;
use std::path::PathBuf;

use agents::HostRule;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use domain::ids::ID_PREFIX_CHARS_MIN;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use url::Url;

/// Shortest duration that anything is watched by.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);

/// Longest duration: beyond a year it is a mistake.
const LONGEST: SignedDuration = SignedDuration::from_hours(366 * 24);

/// Longest time that a command itself waits.
const LONGEST_HERE: SignedDuration = SignedDuration::from_mins(10);

/// Longest name of a check, a label or a path, in characters.
const WORDS_CHARS_MAX: usize = 250;

/// Longest URL of an agent, in characters: it is stored in a record and shown in a line.
const URL_CHARS_MAX: usize = 2_000;

/// Longest name of a host with its port, in bytes: a name of the DNS has at most 253.
const HOST_BYTES_MAX: usize = 260;

/// Longest login on GitHub, in characters.
const LOGIN_CHARS_MAX: usize = 39;

/// Longest name of an App on GitHub, in characters.
const APP_NAME_CHARS_MAX: usize = 34;

/// Hex digits of an event's id.
const EVENT_DIGITS: usize = 32;

/// Notes by name.
pub(crate) type Notes = serde_json::Map<String, serde_json::Value>;

/// A word, the value that it stands for, and what the help says about it.
pub(crate) type Word<T> = (&'static str, T, &'static str);

/// One of some words, for a value of a type that does not know clap.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [Word<T>],
) -> impl TypedValueParser<Value = T> {
    let shown = words
        .iter()
        .map(|(word, _, meaning)| PossibleValue::new(*word).help(*meaning));
    PossibleValuesParser::new(shown).try_map(move |typed| {
        let found = words.iter().find(|(word, _, _)| *word == typed);
        found
            .map(|(_, value, _)| *value)
            .ok_or("it is no known word")
    })
}

/// A duration of at least a second.
pub(crate) fn duration(text: &str) -> Result<SignedDuration, String> {
    within(text, SHORTEST, LONGEST)
}

/// A duration that may be nothing, written `0s`.
pub(crate) fn wait(text: &str) -> Result<SignedDuration, String> {
    within(text, SignedDuration::ZERO, LONGEST)
}

/// How long a command itself waits.
pub(crate) fn short_wait(text: &str) -> Result<SignedDuration, String> {
    within(text, SHORTEST, LONGEST_HERE)
}

fn within(
    text: &str,
    least: SignedDuration,
    most: SignedDuration,
) -> Result<SignedDuration, String> {
    let unreadable =
        || "a duration has units, for example `90s`, `20m`, `1h 30m` or `7d`".to_owned();
    let span: Span = text.trim().parse().map_err(|_| unreadable())?;
    let value = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| unreadable())?;
    if value < least || value > most {
        return Err(format!(
            "a duration here is {} to {}",
            short(least),
            short(most)
        ));
    }
    Ok(value)
}

/// A duration as people write it.
pub(crate) fn short(value: SignedDuration) -> String {
    let seconds = value.as_secs();
    for (unit, length) in [("d", 86_400), ("h", 3_600), ("m", 60)] {
        if seconds > 0 && seconds % length == 0 && value.subsec_nanos() == 0 {
            return format!("{}{unit}", seconds / length);
        }
    }
    format!("{value:#}")
}

/// Where an agent is woken.
pub(crate) fn agent_url(text: &str) -> Result<Url, String> {
    if text.chars().count() > URL_CHARS_MAX {
        return Err(format!("an address has at most {URL_CHARS_MAX} characters"));
    }
    web(text)
}

/// The base of an HTTP API.
pub(crate) fn base(text: &str) -> Result<Url, String> {
    let url = web(text)?;
    if url.query().is_some() {
        return Err("a base has no `?`: leave the query out".to_owned());
    }
    Ok(url)
}

/// Where a server of this process listens.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let read = text.parse::<SocketAddr>();
    read.map_err(|_| "it is an IP address with a port, for example `127.0.0.1:4180`".to_owned())
}

/// Where Jules is, as a person wrote it; the adapter reads it again.
pub(crate) fn jules_base(text: &str) -> Result<String, String> {
    jules::Settings::at(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

/// Where GitHub's API is; the adapter reads it again.
pub(crate) fn github_base(text: &str) -> Result<String, String> {
    base(text).map(|_| text.trim().to_owned())
}

/// The message never repeats the address, which may hold a password.
fn web(text: &str) -> Result<Url, String> {
    let url: Url = text
        .trim()
        .parse()
        .map_err(|_| "an address is like `https://bot.example.com/wake`".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("an address begins with https:// or http://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address holds no user name and no password: take it out".to_owned());
    }
    if url.fragment().is_some() {
        return Err("an address has no `#`: leave the fragment out".to_owned());
    }
    Ok(url)
}

/// The login of an account on GitHub.
pub(crate) fn login(text: &str) -> Result<String, String> {
    let fits = (1..=LOGIN_CHARS_MAX).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    fits.then(|| text.to_owned())
        .ok_or_else(|| "a login has letters, digits and `-`, as in `acme`".to_owned())
}

/// The name of an App on GitHub.
pub(crate) fn app_name(text: &str) -> Result<String, String> {
    let name = words(text)?;
    if name.chars().count() > APP_NAME_CHARS_MAX {
        return Err(format!(
            "an App's name has at most {APP_NAME_CHARS_MAX} characters"
        ));
    }
    Ok(name)
}

/// An agent's host that is allowed.
pub(crate) fn host_rule(text: &str) -> Result<HostRule, String> {
    if text.len() > HOST_BYTES_MAX {
        return Err(format!("a host has at most {HOST_BYTES_MAX} bytes"));
    }
    text.parse::<HostRule>().map_err(|error| error.to_string())
}

/// A folder, which need not exist yet.
pub(crate) fn folder(text: &str) -> Result<PathBuf, String> {
    file(text).map_err(|why| why.replace("file", "folder"))
}

/// A file, whether it exists or not; `-` may mean standard input.
pub(crate) fn file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("a file has a name".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("the name of a file has no control characters here".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// A text that is not blank, as it was typed.
pub(crate) fn text(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("a text has at least one visible character".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// The name of a check or a label.
pub(crate) fn words(text: &str) -> Result<String, String> {
    let text = text.trim();
    let count = text.chars().count();
    if count == 0 || count > WORDS_CHARS_MAX || text.chars().any(char::is_control) {
        return Err(format!(
            "a name has 1 to {WORDS_CHARS_MAX} visible characters"
        ));
    }
    Ok(text.to_owned())
}

/// A path in a repository, as `git` writes it.
pub(crate) fn path(text: &str) -> Result<String, String> {
    let path = words(text)?;
    let parts = path.trim_end_matches('/').split('/');
    if parts
        .clone()
        .any(|part| part.is_empty() || part == "." || part == "..")
    {
        return Err(
            "a path starts at the repository's root, for example `infra/` or `Cargo.toml`"
                .to_owned(),
        );
    }
    Ok(path)
}

/// An event's id or the beginning of it; which one that is, is found out where events are.
pub(crate) fn event(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("evt_").unwrap_or(text);
    let fits = (ID_PREFIX_CHARS_MIN..=EVENT_DIGITS).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    fits.then(|| text.to_owned()).ok_or_else(|| {
        "an event's id is `evt_` and 32 hex digits, of which the first 4 may be enough: `gaffer wake list` shows them".to_owned()
    })
}

/// A JSON object.
pub(super) fn object(text: &str) -> Result<Notes, String> {
    serde_json::from_str(text).map_err(|error| {
        format!("it has to be a JSON object such as '{{\"task\": \"login\"}}': {error}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_bounds() {
        assert_eq!(duration("20m"), Ok(SignedDuration::from_mins(20)));
        assert_eq!(duration("1h 30m"), Ok(SignedDuration::from_mins(90)));
        assert_eq!(duration("7d"), Ok(SignedDuration::from_hours(7 * 24)));
        assert_eq!(duration("PT5M"), Ok(SignedDuration::from_mins(5)));
        assert_eq!(wait("0s"), Ok(SignedDuration::ZERO));
        for bad in [
            "",
            "20",
            "0s",
            "-5m",
            "500ms",
            "400d",
            "20 parsecs",
            "1mo",
            "9999999999999999h",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        assert!(wait("-1s").is_err());
        assert!(short_wait("1h").is_err());
    }

    #[test]
    fn durations_are_shown_as_they_are_written() {
        for text in ["30s", "20m", "1h", "7d", "90m"] {
            assert_eq!(
                duration(&short(duration(text).unwrap())),
                duration(text),
                "{text}"
            );
        }
        assert_eq!(short(SignedDuration::from_mins(20)), "20m");
        assert_eq!(short(SignedDuration::from_hours(48)), "2d");
        assert_eq!(short(SignedDuration::ZERO), "0s");
    }

    #[test]
    fn addresses_that_leak_or_cannot_work_are_refused_without_repeating_them() {
        for bad in [
            "",
            "bot",
            "ftp://bot/wake",
            "https://",
            "https://u:hunter2@bot/wake",
            "https://bot/wake#hunter2",
        ] {
            let error = agent_url(bad).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(agent_url("http://127.0.0.1:9000/wake?to=me").is_ok());
        assert!(base("http://127.0.0.1:9000/github?x=1").is_err());
        assert!(jules_base("http://127.0.0.1:9000/jules/v1alpha").is_ok());
        assert!(jules_base("jules").is_err());
    }

    #[test]
    fn paths_start_at_the_root_of_the_repository() {
        for good in [".github/", "infra/", "Cargo.toml", "a b/c"] {
            assert_eq!(path(good), Ok(good.to_owned()));
        }
        for bad in ["", "/", "/etc", "a//b", "../x", "./x", "a\nb"] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn words_are_read_as_their_values_and_told_with_their_meanings() {
        const PACES: [Word<u8>; 2] = [("slow", 1, "With rests"), ("fast", 2, "Without any")];
        let pace = clap::Arg::new("pace").value_parser(one_of(&PACES));
        let mut command = clap::Command::new("walk").arg(pace);
        let read = command.try_get_matches_from_mut(["walk", "fast"]).unwrap();
        assert_eq!(read.get_one::<u8>("pace"), Some(&2));
        let refused = command.try_get_matches_from_mut(["walk", "fest"]);
        let told = refused.unwrap_err().to_string();
        assert!(told.contains("[possible values: slow, fast]"), "{told}");
        assert!(told.contains("'fast'"), "{told}");
        let help = command.render_long_help().to_string();
        assert!(help.contains("- fast: Without any"), "{help}");
    }

    #[test]
    fn names_are_visible() {
        assert_eq!(words(" build "), Ok("build".to_owned()));
        for bad in ["", "  ", "a\u{7}b", &"x".repeat(251)] {
            assert!(words(bad).is_err());
        }
    }
}
