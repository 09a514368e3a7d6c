//! Why a call of a tool failed, and how the agent that called is told.

use domain::redact::presentable;

use super::next;
use crate::Error;

/// How much of a wrong value is shown, in characters.
pub(super) const SHOWN_MAX: usize = 200;

/// The status of an unknown token.
const UNAUTHORIZED: u16 = 401;

/// The statuses of what a caller wrote wrong.
const WRITTEN_WRONG: [u16; 2] = [400, 422];

/// Why a tool was not carried out, for a caller outside the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRefusal {
    /// What is the case, and what to do next.
    pub words: String,
    /// Whether the arguments are wrong, and other ones would help.
    pub is_about_arguments: bool,
}

/// Why a call of a tool failed.
#[derive(Debug)]
pub(super) enum ToolError {
    /// The API cannot be called.
    NoClient(String),
    /// An argument is wrong.
    Argument {
        /// Which argument, with its path.
        field: String,
        /// The error, and a valid form.
        wrong: String,
    },
    /// The API refused, or did not answer.
    Api(Error),
}

impl ToolError {
    pub(super) fn argument(field: &str, wrong: impl Into<String>) -> Self {
        Self::Argument {
            field: field.to_owned(),
            wrong: wrong.into(),
        }
    }

    /// Whether the API does not know the token.
    pub(super) fn is_locked_out(&self) -> bool {
        matches!(self, Self::Api(Error::Problem(problem)) if problem.status == UNAUTHORIZED)
    }

    /// For a caller outside the protocol.
    pub(super) fn refusal(&self, tool: &str) -> ToolRefusal {
        let is_about_arguments = match self {
            Self::Argument { .. } => true,
            Self::Api(Error::Problem(problem)) => WRITTEN_WRONG.contains(&problem.status),
            Self::NoClient(_) | Self::Api(_) => false,
        };
        ToolRefusal {
            words: self.for_agents(tool),
            is_about_arguments,
        }
    }

    /// For the agent that called: what is the case, and what to do next.
    pub(super) fn for_agents(&self, tool: &str) -> String {
        match self {
            Self::NoClient(missing) => format!("{tool}: {missing}"),
            Self::Argument { field, wrong } => {
                format!("{tool}: `{field}`: {}", presentable(wrong, SHOWN_MAX * 2))
            }
            Self::Api(Error::Problem(problem)) => {
                let mut text = format!(
                    "{tool}: {} ({} {})",
                    problem.detail, problem.status, problem.code
                );
                // The detail already says the reasons where there is but one.
                for reason in problem.reasons.iter().filter(|_| problem.reasons.len() > 1) {
                    text.push_str(&format!("\n- {}", reason.sentence));
                }
                if let Some(legal) = problem.legal.as_ref().filter(|it| !it.is_empty()) {
                    text.push_str(&format!("\nNow it takes: {}", legal.join(", ")));
                }
                for next in &problem.next {
                    text.push_str(&format!("\nNext: {}", next::sentence(next)));
                }
                text
            }
            Self::Api(Error::Unreachable { base, .. }) => format!(
                "{tool}: nobody answers at {base}; the operator of Gaffer has to start it, or to correct GAFFER_URL"
            ),
            Self::Api(error) => format!("{tool}: {error}"),
        }
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        match error {
            // Nothing was sent: it is the name of a job or a delivery that is wrong.
            Error::Id(wrong) => {
                let field = if wrong.kind == "delivery" {
                    "id"
                } else {
                    "job_id"
                };
                Self::argument(field, wrong.to_string())
            }
            Error::Key => Self::argument("idempotency_key", error.to_string()),
            Error::Base { .. }
            | Error::GoogleKey
            | Error::Token
            | Error::NoTlsProvider
            | Error::Http(_)
            | Error::Unreachable { .. }
            | Error::NoAnswer { .. }
            | Error::Problem(_)
            | Error::Foreign { .. } => Self::Api(error),
        }
    }
}
