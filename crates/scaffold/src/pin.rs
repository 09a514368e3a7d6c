//! `.jlo/.jlo-version`: which version of Gaffer a repository was set up by.

use domain::redact::presentable;

/// Where the version lies.
pub const PIN: &str = ".jlo/.jlo-version";

/// How much of a text that is no version is shown, in characters.
const SHOWN_CHARS_MAX: usize = 40;

/// Why this Gaffer leaves a repository alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// The text is no version.
    #[error("`{0}` is no version")]
    Unreadable(String),
    /// A newer Gaffer set it up.
    #[error("the files are of version {pinned}, this is {ours}")]
    Newer {
        /// The version of the files.
        pinned: String,
        /// The version of this Gaffer.
        ours: String,
    },
}

/// Whether this version may work on a repository with this text in its file.
pub fn check(text: &str, ours: &str) -> Result<(), PinError> {
    let pinned = presentable(text.trim(), SHOWN_CHARS_MAX);
    match (version(text), version(ours)) {
        (None, _) => Err(PinError::Unreadable(pinned)),
        (Some(theirs), Some(own)) if theirs > own => Err(PinError::Newer {
            pinned,
            ours: ours.to_owned(),
        }),
        (Some(_), _) => Ok(()),
    }
}

/// A version as three numbers.
fn version(text: &str) -> Option<[u64; 3]> {
    let parts: Vec<u64> = text
        .trim()
        .split('.')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    parts.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_and_equal_versions_are_worked_with_and_newer_ones_are_not() {
        for text in ["1.2.3\n", "1.2.2", "0.9.10", "1.1.99"] {
            assert_eq!(check(text, "1.2.3"), Ok(()), "{text}");
        }
        for text in ["1.2.4", "1.3.0", "2.0.0"] {
            let refused = check(text, "1.2.3").unwrap_err().to_string();
            assert!(refused.contains(text), "{refused}");
        }
        for text in ["", "1.2", "1.2.3.4", "newest", "1.2.x"] {
            let unreadable = PinError::Unreadable(text.to_owned());
            assert_eq!(check(text, "1.2.3"), Err(unreadable));
        }
    }
}
