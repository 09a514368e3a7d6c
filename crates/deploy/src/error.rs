//! Errors of a deployment, and how AWS's answers are reported.

use aws_sdk_cloudformation::error::{DisplayErrorContext, ProvideErrorMetadata};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The argument is invalid.
    #[error("{field} is `{value}`, which is not {wanted}")]
    Odd {
        /// Which of the things that were typed.
        field: &'static str,
        /// The given value.
        value: String,
        /// The valid form.
        wanted: &'static str,
    },
    /// AWS refused, or could not be reached.
    #[error("{doing}: {said}")]
    Aws {
        /// What we were doing.
        doing: String,
        /// The answer.
        said: String,
    },
    /// A precondition here or in AWS does not hold.
    #[error("{doing}: {why}; {next}")]
    Stopped {
        /// What we were doing.
        doing: String,
        /// What is the case.
        why: String,
        /// What to do.
        next: String,
    },
}

impl Error {
    /// An error about a precondition.
    pub(crate) fn stopped(
        doing: impl Into<String>,
        why: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self::Stopped {
            doing: doing.into(),
            why: why.into(),
            next: next.into(),
        }
    }

    /// What AWS said to one request.
    pub(crate) fn aws<E>(doing: impl Into<String>, error: &E) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error,
    {
        let said = match (error.code(), error.message()) {
            (Some(code), Some(message)) => format!("{code}: {message}"),
            (Some(code), None) => code.to_owned(),
            (None, _) => DisplayErrorContext(error).to_string(),
        };
        let doing = doing.into();
        Self::Aws { doing, said }
    }

    /// What AWS answered to one request; `None` where it knows no such resource.
    pub(crate) fn unless_missing<T, E>(
        answer: Result<T, E>,
        doing: impl FnOnce() -> String,
    ) -> Result<Option<T>, Self>
    where
        E: ProvideErrorMetadata + std::error::Error,
    {
        match answer {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.code() == Some("ResourceNotFoundException") => Ok(None),
            Err(error) => Err(Self::aws(doing(), &error)),
        }
    }
}
