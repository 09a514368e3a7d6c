//! The name of a stack, and what is called after it.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The longest name of a role, in characters (IAM's limit).
const ROLE_MAX: usize = 64;

/// The longest name of a region that roles carry, in characters: `ap-northeast-1`.
const REGION_MAX: usize = 14;

/// The longest name of a stack: the role `STACK-dispatcher-REGION` has to fit.
pub const STACK_MAX: usize = ROLE_MAX - "-dispatcher-".len() - REGION_MAX;

/// The shortest: a table is called like its stack, and DynamoDB wants three characters.
pub const STACK_MIN: usize = 3;

const WANTED: &str = "a stack's name: 3 to 38 letters, digits and hyphens that begin with a letter and do not end with a hyphen";

/// The name of a stack. Table, queues, functions, roles and parameters are called after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackName(String);

impl StackName {
    /// The name as typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The stack of `infra/triggers.yaml`.
    pub(crate) fn triggers(&self) -> String {
        format!("{}-triggers", self.0)
    }

    /// The path below which its secrets are.
    pub(crate) fn parameters(&self) -> String {
        format!("/gaffer/{}", self.0)
    }
}

impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for StackName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let fits = (STACK_MIN..=STACK_MAX).contains(&text.len());
        let begins = text.starts_with(|first: char| first.is_ascii_alphabetic());
        let only = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if fits && begins && only && !text.ends_with('-') {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::Odd {
            field: "--stack",
            value: text.to_owned(),
            wanted: WANTED,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_everything_that_is_called_after_it() {
        assert_eq!(STACK_MAX, 38);
        for good in ["gaffer", "Gaffer-2", "abc", &"a".repeat(STACK_MAX)] {
            assert_eq!(good.parse::<StackName>().unwrap().as_str(), good);
        }
        let long = "a".repeat(STACK_MAX + 1);
        for bad in [
            "", "ab", "2abc", "a_b", "a b", "-abc", "abc-", "gäffer", &long,
        ] {
            let error = bad.parse::<StackName>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("--stack is `{bad}`")), "{error}");
        }
    }
}
