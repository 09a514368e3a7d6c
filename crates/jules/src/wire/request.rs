//! The bodies that we send.

use serde::Serialize;

use engine::ports::NewSession;

/// `{}`, which the methods without arguments insist on.
#[derive(Serialize)]
pub(crate) struct Empty {}

/// The body of `:sendMessage`.
#[derive(Serialize)]
pub(crate) struct SendMessage<'a> {
    /// The words; an empty text is accepted by the service and does nothing.
    pub(crate) prompt: &'a str,
}

/// The body that creates a session.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateSession<'a> {
    prompt: &'a str,
    title: &'a str,
    source_context: NewSourceContext<'a>,
    require_plan_approval: bool,
    automation_mode: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewSourceContext<'a> {
    source: String,
    github_repo_context: NewGithubRepoContext<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewGithubRepoContext<'a> {
    starting_branch: &'a str,
}

impl<'a> CreateSession<'a> {
    /// A session, with everything said that Jules would else decide.
    pub(crate) fn new(session: &'a NewSession) -> Self {
        Self {
            prompt: &session.prompt,
            title: &session.title,
            source_context: NewSourceContext {
                source: format!("sources/github/{}", session.repo),
                github_repo_context: NewGithubRepoContext {
                    starting_branch: session.branch.as_str(),
                },
            },
            require_plan_approval: session.require_plan_approval,
            automation_mode: session.automation.as_str(),
        }
    }
}
