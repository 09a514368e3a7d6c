//! The body of create, read as strictly as Google's fronts do: unknown members and wrong values are refused.

use serde_json::{Map, Value};

use super::refusal::JulesRefusal;
use super::session::{OpenAsk, SourceContext};
use super::switches::{Switches, WorkingBranch};

/// Members of a session that create knows but leaves alone, since the service fills them in.
const OUTPUT_ONLY: [&str; 9] = [
    "name",
    "id",
    "state",
    "url",
    "createTime",
    "updateTime",
    "outputs",
    "archived",
    "generatedFiles",
];

pub(crate) fn read(body: &[u8], switches: &Switches) -> Result<OpenAsk, JulesRefusal> {
    let members = object(body)?;
    let mut ask = OpenAsk::default();
    let mut mode_given = false;
    for (name, value) in &members {
        match name.as_str() {
            "prompt" => ask.prompt = text("session.prompt", value)?,
            "title" => ask.title = text("session.title", value)?,
            "sourceContext" => ask.source = source_context(value, switches)?,
            "requirePlanApproval" => {
                ask.require_plan_approval = flag("session.require_plan_approval", value)?;
            }
            "automationMode" => {
                ask.auto_create_pr = automation_mode(value)?;
                mode_given = ask.auto_create_pr;
            }
            known if OUTPUT_ONLY.contains(&known) => {}
            unknown => return Err(JulesRefusal::unknown_member("session", unknown)),
        }
    }
    check(&ask, mode_given, switches)?;
    if ask.title.is_empty() {
        ask.title = generated_title(&ask.prompt);
    }
    Ok(ask)
}

fn check(ask: &OpenAsk, mode_given: bool, switches: &Switches) -> Result<(), JulesRefusal> {
    if ask.prompt.is_empty() {
        return Err(JulesRefusal::invalid_field(
            "session.prompt",
            "Prompt must not be empty.",
        ));
    }
    if switches
        .prompt_limit
        .is_some_and(|limit| ask.prompt.len() > limit)
    {
        return Err(JulesRefusal::invalid_field(
            "session.prompt",
            "Prompt is too long.",
        ));
    }
    if switches.unspecified_mode_needs_approval && !mode_given && !ask.require_plan_approval {
        return Err(JulesRefusal::invalid_field(
            "session.automation_mode",
            "Plan approval cannot be off in this automation mode.",
        ));
    }
    Ok(())
}

fn source_context(
    value: &Value,
    switches: &Switches,
) -> Result<Option<SourceContext>, JulesRefusal> {
    const AT: &str = "session.source_context";
    let Some(members) = optional_object(AT, value)? else {
        return Ok(None);
    };
    let mut context = SourceContext::default();
    let mut source = String::new();
    for (name, value) in members {
        match name.as_str() {
            "source" => source = text("session.source_context.source", value)?,
            "githubRepoContext" => repo_context(value, &mut context, switches)?,
            "environmentVariablesEnabled" if switches.env_variables_on_create => {
                context.env_variables = flag(
                    "session.source_context.environment_variables_enabled",
                    value,
                )?;
            }
            "workingBranch" if switches.working_branch == WorkingBranch::InSourceContext => {
                context.working_branch = text("session.source_context.working_branch", value)?;
            }
            unknown => return Err(JulesRefusal::unknown_member(AT, unknown)),
        }
    }
    if source.is_empty() {
        return Err(JulesRefusal::invalid_field(
            "session.source_context.source",
            "Source must not be empty.",
        ));
    }
    if context.branch.is_empty() {
        return Err(JulesRefusal::invalid(
            "Request contains an invalid argument.",
        ));
    }
    // A source of another kind than GitHub does not exist.
    let repo = source
        .strip_prefix("sources/github/")
        .ok_or_else(JulesRefusal::not_found)?;
    repo.clone_into(&mut context.repo);
    Ok(Some(context))
}

fn repo_context(
    value: &Value,
    context: &mut SourceContext,
    switches: &Switches,
) -> Result<(), JulesRefusal> {
    const AT: &str = "session.source_context.github_repo_context";
    for (name, value) in optional_object(AT, value)?.into_iter().flatten() {
        match name.as_str() {
            "startingBranch" => {
                context.branch = text(
                    "session.source_context.github_repo_context.starting_branch",
                    value,
                )?;
            }
            "workingBranch" if switches.working_branch == WorkingBranch::InGithubRepoContext => {
                context.working_branch = text(
                    "session.source_context.github_repo_context.working_branch",
                    value,
                )?;
            }
            unknown => return Err(JulesRefusal::unknown_member(AT, unknown)),
        }
    }
    Ok(())
}

/// Whether pull requests are opened; only the two names of the enum exist.
fn automation_mode(value: &Value) -> Result<bool, JulesRefusal> {
    const AT: &str = "session.automation_mode";
    if value.is_null() {
        return Ok(false);
    }
    match value.as_str() {
        Some("AUTO_CREATE_PR") => Ok(true),
        Some("AUTOMATION_MODE_UNSPECIFIED") => Ok(false),
        Some(_) | None => {
            let kind = "type.googleapis.com/google.labs.jules.v1alpha.AutomationMode";
            Err(wrong(AT, kind, value))
        }
    }
}

/// Title that the service makes up from the prompt.
fn generated_title(prompt: &str) -> String {
    const LETTERS: usize = 60;
    prompt
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(LETTERS)
        .collect()
}

/// A body that must be a JSON object; an empty one counts as an empty object.
pub(crate) fn object(body: &[u8]) -> Result<Map<String, Value>, JulesRefusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(JulesRefusal::invalid(
            "Invalid JSON payload received. Root element must be a message.",
        )),
        Err(error) => Err(JulesRefusal::invalid(&format!(
            "Invalid JSON payload received. {error}"
        ))),
    }
}

/// A string member; null counts as the empty one.
pub(crate) fn text(field: &str, value: &Value) -> Result<String, JulesRefusal> {
    if value.is_null() {
        return Ok(String::new());
    }
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| wrong(field, "TYPE_STRING", value))
}

fn flag(field: &str, value: &Value) -> Result<bool, JulesRefusal> {
    if value.is_null() {
        return Ok(false);
    }
    value
        .as_bool()
        .ok_or_else(|| wrong(field, "TYPE_BOOL", value))
}

fn optional_object<'a>(
    field: &str,
    value: &'a Value,
) -> Result<Option<&'a Map<String, Value>>, JulesRefusal> {
    if value.is_null() {
        return Ok(None);
    }
    value
        .as_object()
        .map(Some)
        .ok_or_else(|| wrong(field, "TYPE_MESSAGE", value))
}

fn wrong(field: &str, kind: &str, value: &Value) -> JulesRefusal {
    let problem = format!("Invalid value at '{field}' ({kind}), {value}");
    JulesRefusal::invalid_field(field, &problem)
}
