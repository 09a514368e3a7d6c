//! What to do next, as agents can do it: by a tool.

use domain::advice::Advice;

use super::tool::Tool;
use crate::wire::Next;

/// Who has to do what no tool does.
const OPERATOR: &str = "The operator of Gaffer";

/// What is advised, in one sentence.
pub(super) fn sentence(next: &Next) -> String {
    let Some(advice) = Advice::of_word(&next.advice) else {
        return next.sentence.clone();
    };
    match (tool(advice), next.about.as_str()) {
        (Some(tool), _) => format!("`{}` {}.", tool.name(), advice.does()),
        (None, "") => format!("{OPERATOR} {}.", advice.does()),
        (None, about) => format!("{OPERATOR} {} ({about}).", advice.does()),
    }
}

/// The tool for an advice; `None` for what only the operator of Gaffer can do.
fn tool(advice: Advice) -> Option<Tool> {
    match advice {
        Advice::Say => Some(Tool::SendMessage),
        Advice::Approve => Some(Tool::ApprovePlan),
        Advice::Merge => Some(Tool::MergePr),
        Advice::Retry => Some(Tool::RequestRetry),
        Advice::Cancel => Some(Tool::CancelJob),
        Advice::CreateJob => Some(Tool::CreateJob),
        Advice::Adopt => Some(Tool::RegisterJob),
        Advice::ListJobs => Some(Tool::ListJobs),
        Advice::Events => Some(Tool::ListEvents),
        Advice::TakeWakes => Some(Tool::TakeWakes),
        Advice::StartSprint => Some(Tool::SprintStart),
        Advice::AbortSprint => Some(Tool::SprintAbort),
        Advice::WhySprint => Some(Tool::SprintStatus),
        Advice::Resume
        | Advice::ResumeSource
        | Advice::PauseSource
        | Advice::AddSource
        | Advice::RequireCheck
        | Advice::RenumberSource
        | Advice::AddAccount
        | Advice::ReplaceKey
        | Advice::AddAgent
        | Advice::EnableAgent
        | Advice::GiveInbox
        | Advice::CreateToken
        | Advice::IntegrateSprint
        | Advice::StartPipeline => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_advice_names_a_command_and_what_the_api_says_of_unknown_ones_is_kept() {
        let next = |advice: &str| Next {
            advice: advice.to_owned(),
            about: "NAME".to_owned(),
            sentence: "`POST /jobs/NAME/later` does it".to_owned(),
            route: None,
        };
        for advice in Advice::ALL {
            let told = sentence(&next(advice.word()));
            assert!(!told.contains("gaffer ") && !told.contains('/'), "{told}");
            assert!(
                told.starts_with('`') != told.starts_with(OPERATOR),
                "{told}"
            );
        }
        assert_eq!(sentence(&next("later")), next("later").sentence);
    }
}
