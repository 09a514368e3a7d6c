//! What to do next, as agents can do it: by a tool.

use domain::advice::Advice;

use crate::wire::Next;

/// Who has to do what no tool does.
const OPERATOR: &str = "The operator of Gaffer";

/// What is advised, in one sentence.
pub(super) fn sentence(next: &Next) -> String {
    let Some(advice) = Advice::of_word(&next.advice) else {
        return next.sentence.clone();
    };
    match (tool(advice), next.about.as_str()) {
        (Some(tool), _) => format!("`{tool}` {}.", advice.does()),
        (None, "") => format!("{OPERATOR} {}.", advice.does()),
        (None, about) => format!("{OPERATOR} {} ({about}).", advice.does()),
    }
}

/// The tool for an advice; `None` for what only the operator of Gaffer can do.
fn tool(advice: Advice) -> Option<&'static str> {
    match advice {
        Advice::Say => Some("jules_send_message"),
        Advice::Approve => Some("jules_approve_plan"),
        Advice::Merge => Some("jules_merge_pr"),
        Advice::Retry => Some("jules_request_retry"),
        Advice::Cancel => Some("jules_cancel_job"),
        Advice::CreateJob => Some("jules_create_job"),
        Advice::Adopt => Some("jules_register_job"),
        Advice::ListJobs => Some("jules_list_jobs"),
        Advice::Events => Some("jules_list_events"),
        Advice::TakeWakes => Some("jules_take_wakes"),
        Advice::StartSprint => Some("sprint_start"),
        Advice::AbortSprint => Some("sprint_abort"),
        Advice::WhySprint => Some("sprint_status"),
        Advice::CancelDelivery => Some("delivery_cancel"),
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
        | Advice::StartPipeline
        | Advice::CancelPipeline => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::Server;

    #[test]
    fn every_advised_tool_is_there() {
        let tools = Server::every_tool();
        for name in Advice::ALL.into_iter().filter_map(tool) {
            assert!(tools.contains(&name), "{name}");
        }
    }

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
