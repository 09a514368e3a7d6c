//! Advice in the API's terms: its routes.

use client::wire;
use domain::advice::{Advice, Next};

use crate::verb::Verb;

/// Who must act where the API has no route.
const OPERATOR: &str = "the operator of Gaffer";

/// What is advised, with the route that does it.
pub(crate) fn shown(next: &Next) -> wire::Next {
    let Next { advice, about } = next;
    let route = route(*advice, about);
    let named = match &route {
        Some(route) => format!("`{route}`"),
        None => OPERATOR.to_owned(),
    };
    wire::Next {
        advice: advice.word().to_owned(),
        about: about.clone(),
        sentence: format!("{named} {}", advice.does()),
        route,
    }
}

/// The route that does what is advised; `None` for what only the operator of Gaffer can do.
fn route(advice: Advice, about: &str) -> Option<String> {
    let order = |verb: Verb| {
        let (path, _) = verb.paths();
        Some(format!("POST {}", path.replace("{job}", about)))
    };
    match advice {
        Advice::Say => order(Verb::Say),
        Advice::Approve => order(Verb::Approve),
        Advice::Merge => order(Verb::Merge),
        Advice::Retry => order(Verb::Retry),
        Advice::Cancel => order(Verb::Cancel),
        Advice::CreateJob => Some("POST /jobs".to_owned()),
        Advice::Adopt => Some("POST /jobs/SESSION/register".to_owned()),
        Advice::ListJobs => Some("GET /jobs".to_owned()),
        Advice::Events => Some(format!("GET /jobs/{about}/events")),
        Advice::TakeWakes => Some(format!("POST /agents/{about}/take")),
        Advice::AddSource => Some("POST /api/sources".to_owned()),
        Advice::StartSprint => Some(format!("POST /api/sprints/{about}")),
        Advice::AbortSprint => Some(format!("POST /api/sprints/{about}/latest/abort")),
        Advice::IntegrateSprint => Some(format!("POST /api/sprints/{about}/latest/integrate")),
        Advice::WhySprint => Some(format!("GET /api/sprints/{about}/latest/why")),
        Advice::StartPipeline => Some("POST /api/pipelines".to_owned()),
        Advice::CancelPipeline => Some(format!("POST /api/pipelines/{about}/cancel")),
        Advice::CancelDelivery => Some(format!("POST /api/deliveries/{about}/cancel")),
        Advice::Resume
        | Advice::ResumeSource
        | Advice::PauseSource
        | Advice::RequireCheck
        | Advice::RenumberSource
        | Advice::AddAccount
        | Advice::ReplaceKey
        | Advice::AddAgent
        | Advice::EnableAgent
        | Advice::GiveInbox
        | Advice::CreateToken => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_that_is_advised_is_served() {
        for advice in Advice::ALL {
            let of_repository = [
                Advice::StartSprint,
                Advice::AbortSprint,
                Advice::IntegrateSprint,
                Advice::WhySprint,
            ];
            let is_of_repository = of_repository.contains(&advice);
            let about = match is_of_repository {
                true => "OWNER/NAME",
                false => "NAME",
            };
            let Some(route) = route(advice, about) else {
                continue;
            };
            let (method, path) = route.split_once(' ').unwrap();
            let named: Vec<&str> = path.split('/').collect();
            let is_it = |it: &crate::Route| {
                let parts: Vec<&str> = it.path.split('/').collect();
                let fits = |(part, named): (&&str, &&str)| part.starts_with('{') || part == named;
                (it.method == crate::Method::Get) == (method == "GET")
                    && parts.len() == named.len()
                    && parts.iter().zip(&named).all(fits)
            };
            assert!(crate::routes().any(is_it), "{route}");
        }
    }

    #[test]
    fn no_advice_names_a_command() {
        for advice in Advice::ALL {
            let told = shown(&advice.about(&"NAME")).sentence;
            assert!(!told.contains("gaffer "), "{told}");
        }
    }
}
