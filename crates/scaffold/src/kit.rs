//! Workflows for GitHub Actions: one that has the doctor examine what is pushed, and one that begins runs on Actions' clock.
//!
//! They hold no schedule but that of the settings, and no secret: whatever decides and writes is Gaffer.

#[cfg(test)]
mod tests;

use domain::ids::BranchName;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Error, Value};

use crate::assets;
use crate::config::{Clock, Config, CronExpression, Runner};
use crate::engine::strict;
use crate::fault::{Fault, shown};
use crate::layout::CONFIG;

/// What has the doctor examine the files.
pub const DOCTOR: &str = ".github/workflows/jules-doctor.yml";

/// What begins runs where Actions' clock does.
pub const RELAY: &str = ".github/workflows/jules-relay.yml";

/// How the first line of a generated file begins, by which it is known from a person's.
const MARK: &str = "# Written by `gaffer workflow generate`";

/// The fields of a time: minute, hour, day, month, weekday.
const TIME_FIELDS: usize = 5;

/// Why there are no workflows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KitError {
    /// A setting that Actions cannot keep.
    #[error(transparent)]
    Setting(#[from] Fault),
    /// Actions knows no other zone.
    #[error(
        "{CONFIG}: `timezone` is `{0}`, and the clock of Actions knows UTC alone: write the times of `cron` in UTC and `timezone = \"UTC\"`, or keep `clock = \"gaffer\"`"
    )]
    Zone(String),
    /// An asset cannot be filled in.
    #[error("the workflow `{0}` cannot be filled in: this is a defect, please report it")]
    Asset(&'static str),
}

/// One workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowFile {
    /// Where it lies.
    pub path: &'static str,
    /// All of it; nothing where the settings want none of this kind.
    pub text: Option<String>,
}

/// Both workflows as the settings want them, on the machines that were asked for or that the settings name.
pub fn workflows(config: &Config, asked: Option<Runner>) -> Result<[WorkflowFile; 2], KitError> {
    let runner = asked.unwrap_or_else(|| config.workflow.runner_mode.clone());
    let branches = [&config.target_branch, &config.worker_branch].map(pattern);
    let cron = match config.workflow.clock {
        Clock::Gaffer => None,
        Clock::Actions => Some(times(config)?),
    };
    let values = |cron: Vec<String>| {
        Value::from_pairs([
            ("runner", quoted(&runner.to_string()).into()),
            ("branches", branches.join(", ").into()),
            ("cron", cron.into_iter().collect::<Value>()),
        ])
    };
    let relay = cron.map(|cron| filled("jules-relay.yml", values(cron)));
    Ok([
        WorkflowFile {
            path: DOCTOR,
            text: Some(filled("jules-doctor.yml", values(Vec::new()))?),
        },
        WorkflowFile {
            path: RELAY,
            text: relay.transpose()?,
        },
    ])
}

/// Whether a file is one that was generated, and so may be replaced.
pub fn is_generated(text: &str) -> bool {
    text.starts_with(MARK)
}

/// The times of the settings for Actions.
fn times(config: &Config) -> Result<Vec<String>, KitError> {
    let workflow = &config.workflow;
    if let Some(zone) = workflow.timezone.as_deref().filter(|zone| *zone != "UTC") {
        return Err(KitError::Zone(shown(zone)));
    }
    workflow.cron.iter().map(time).collect()
}

/// One time, if Actions may understand it.
fn time(schedule: &CronExpression) -> Result<String, KitError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | ',' | '-' | '/' | ' ');
    let text = &schedule.expression;
    if text.chars().all(fits) && text.split_whitespace().count() == TIME_FIELDS {
        return Ok(quoted(text));
    }
    let what = format!(
        "`{}` is no time for Actions: write minute, hour, day, month and weekday, such as `0 20 * * *`",
        shown(text)
    );
    Err(Fault::new(CONFIG, schedule.line, what).into())
}

/// A branch as Actions matches it, which takes some characters for wildcards.
fn pattern(branch: &BranchName) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '+' | '[' | ']' | '!' | '\\');
    let mut escaped = String::new();
    for c in branch.as_str().chars() {
        escaped.extend(special(c).then_some('\\'));
        escaped.push(c);
    }
    quoted(&escaped)
}

/// A text in quotes, which YAML reads as JSON does.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn filled(name: &'static str, values: Value) -> Result<String, KitError> {
    let source = assets::workflow(name).ok_or(KitError::Asset(name))?;
    let text = fill(name, source, values).map_err(|_| KitError::Asset(name))?;
    Ok(text + "\n")
}

/// Actions has braces of its own, so the places to fill in are marked otherwise.
fn fill(name: &str, source: &str, values: Value) -> Result<String, Error> {
    let mut syntax = SyntaxConfig::builder();
    let syntax = syntax.block_delimiters("<%", "%>");
    let environment = strict(syntax.variable_delimiters("<=", "=>"))?;
    let template = environment.template_from_named_str(name, source)?;
    template.render(values)
}
