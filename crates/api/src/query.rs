//! Parses query strings, and names what is wrong with them.

use std::fmt;
use std::ops::RangeInclusive;

use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use domain::redact::presentable;

use crate::body::SHOWN_CHARS_MAX;
use crate::refusal::Refused;

/// Names and values in order, or why they cannot be read.
pub(crate) type QueryPairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// The names and values.
pub(crate) fn pairs(asked: QueryPairs) -> Result<Vec<(String, String)>, Refused> {
    let unread = |_| {
        let detail = "the query cannot be read";
        Refused::new(StatusCode::BAD_REQUEST, "bad_query", detail)
    };
    Ok(asked.map_err(unread)?.0)
}

/// Refuses an invalid parameter.
pub(crate) fn bad(field: &str, wrong: &dyn fmt::Display) -> Refused {
    let field = presentable(field, SHOWN_CHARS_MAX);
    let detail = format!("`{field}`: {wrong}");
    Refused::new(StatusCode::BAD_REQUEST, "bad_parameter", &detail).about(&field)
}

/// Refuses an unknown parameter; `known` lists the valid ones.
pub(crate) fn unknown(field: &str, known: &str) -> Refused {
    bad(field, &format!("it is no parameter here; {known}"))
}

/// Yes or no, in digits or words; the name alone is yes.
pub(crate) fn switch(name: &str, value: &str) -> Result<bool, Refused> {
    match value {
        "0" | "false" => Ok(false),
        "1" | "true" | "" => Ok(true),
        other => {
            let other = presentable(other, SHOWN_CHARS_MAX);
            Err(bad(name, &format!("it is `{other}`, but has to be 1 or 0")))
        }
    }
}

/// A number within these bounds.
pub(crate) fn number(name: &str, value: &str, of: RangeInclusive<u32>) -> Result<u32, Refused> {
    let read = value.parse::<u32>().ok();
    let fits = read.filter(|number| of.contains(number));
    fits.ok_or_else(|| {
        let (value, min, max) = (presentable(value, SHOWN_CHARS_MAX), of.start(), of.end());
        let wrong = format!("it is `{value}`, but has to be a number from {min} to {max}");
        bad(name, &wrong)
    })
}

/// The one parameter of a path, if it was given.
pub(crate) fn one(asked: QueryPairs, name: &str) -> Result<Option<String>, Refused> {
    let mut given = None;
    for (found, value) in pairs(asked)? {
        if found != name {
            return Err(unknown(&found, &format!("there is only `{name}`")));
        }
        if given.replace(value).is_some() {
            return Err(bad(name, &"it is given more than once"));
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> QueryPairs {
        let uri = format!("/x?{text}").parse().unwrap();
        Query::try_from_uri(&uri)
    }

    #[test]
    fn one_parameter_is_taken_once_and_nothing_else() {
        assert_eq!(one(asked(""), "fresh").unwrap(), None);
        let given = one(asked("fresh=1"), "fresh").unwrap();
        assert_eq!(given.as_deref(), Some("1"));
        for wrong in ["fresh=1&fresh=2", "fres=1", "fresh=1&x=2"] {
            assert!(one(asked(wrong), "fresh").is_err(), "{wrong}");
        }
    }
}
