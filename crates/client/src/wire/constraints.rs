//! Terms of a job apart from its task: some by names that Gaffer obeys, the others for Jules to read.

use std::collections::BTreeMap;
use std::fmt;

use domain::policy::{Automation, Terms};
use domain::priority::Priority;
use domain::redact::presentable;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plain_words::in_plain_words;

/// How much of a name that is not understood is repeated, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Further terms of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it has to be a text, a list of texts, or an object of named ones"
)]
pub enum Constraints {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
    /// Several by name.
    Named(BTreeMap<String, Value>),
}

/// Constraints, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedConstraints {
    /// A short name for the job.
    pub title: Option<String>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// What Gaffer sees to.
    pub terms: Terms,
    /// What Jules reads, one line each.
    pub lines: Vec<String>,
}

/// A constraint that cannot be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidConstraint {
    /// Which, with its path.
    pub field: String,
    /// What is wrong, and what would be right.
    pub wrong: String,
}

impl Constraints {
    /// Takes them apart.
    pub fn understood(&self) -> Result<ParsedConstraints, InvalidConstraint> {
        let mut found = ParsedConstraints::default();
        match self {
            Self::One(text) => found.lines.push(text.clone()),
            Self::Several(texts) => found.lines.clone_from(texts),
            Self::Named(named) => {
                for (name, value) in named {
                    found.take(name, value).map_err(|wrong| InvalidConstraint {
                        field: format!("constraints.{}", presentable(name, NAME_CHARS_MAX)),
                        wrong,
                    })?;
                }
            }
        }
        Ok(found)
    }
}

impl ParsedConstraints {
    fn take(&mut self, name: &str, value: &Value) -> Result<(), String> {
        match (name, value) {
            ("title", value) => self.title = Some(read(value)?),
            ("priority", value) => self.priority = Some(read(value)?),
            ("require_plan_approval", Value::Bool(wanted)) => {
                self.terms.require_plan_approval = Some(*wanted);
            }
            ("require_plan_approval", value) => {
                return Err(format!("is {}, but has to be true or false", shown(value)));
            }
            ("automation_mode", value) => self.terms.automation = automation(value)?,
            (name, Value::String(text)) => self.lines.push(format!("{name}: {text}")),
            (name, Value::Bool(value)) => self.lines.push(format!("{name}: {value}")),
            (name, Value::Number(value)) => self.lines.push(format!("{name}: {value}")),
            (_, Value::Null | Value::Array(_) | Value::Object(_)) => {
                return Err("it has to be a text, a number or true or false".to_owned());
            }
        }
        Ok(())
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|error| in_plain_words(&error.to_string()))
}

fn automation(value: &Value) -> Result<Automation, String> {
    read(value).map_err(|_| {
        let [usual, none] = Automation::ALL.map(Automation::as_str);
        format!(
            "is {}, but has to be `{usual}`, or `{none}` for a job without a pull request",
            shown(value)
        )
    })
}

fn shown(value: &dyn fmt::Display) -> String {
    format!("`{}`", presentable(&value.to_string(), NAME_CHARS_MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn understood(given: Value) -> Result<ParsedConstraints, InvalidConstraint> {
        serde_json::from_value::<Constraints>(given)
            .expect("constraints")
            .understood()
    }

    #[test]
    fn what_is_known_is_obeyed_and_the_rest_is_for_jules() {
        let found = understood(json!({
            "title": "Search", "priority": 9, "require_plan_approval": true,
            "automation_mode": "AUTOMATION_MODE_UNSPECIFIED",
            "style": "keep it plain", "max_files": 3, "new_crates": false,
        }));
        let lines = ["max_files: 3", "new_crates: false", "style: keep it plain"];
        let expected = ParsedConstraints {
            title: Some("Search".to_owned()),
            priority: Some(9.try_into().expect("a priority")),
            terms: Terms {
                require_plan_approval: Some(true),
                automation: Automation::AutomationModeUnspecified,
            },
            lines: lines.map(str::to_owned).to_vec(),
        };
        assert_eq!(found, Ok(expected));
        let texts = understood(json!(["a", "b"])).map(|found| found.lines);
        assert_eq!(texts, Ok(vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn what_cannot_be_obeyed_is_named_with_its_value() {
        let told = |given: Value| {
            let odd = understood(given).expect_err("an odd one");
            format!("{}: {}", odd.field, odd.wrong)
        };
        let told = [
            told(json!({ "require_plan_approval": "yes" })),
            told(json!({ "automation_mode": "MANUAL" })),
            told(json!({ "automation_mode": null })),
            told(json!({ "title": 7 })),
            told(json!({ "priority": 10 })),
            told(json!({ "style": null })),
        ];
        expect_test::expect![[r#"
            constraints.require_plan_approval: is `"yes"`, but has to be true or false
            constraints.automation_mode: is `"MANUAL"`, but has to be `AUTO_CREATE_PR`, or `AUTOMATION_MODE_UNSPECIFIED` for a job without a pull request
            constraints.automation_mode: is `null`, but has to be `AUTO_CREATE_PR`, or `AUTOMATION_MODE_UNSPECIFIED` for a job without a pull request
            constraints.title: is the number `7`, but has to be a text
            constraints.priority: a priority is a number from 0 to 9, and 9 goes first
            constraints.style: it has to be a text, a number or true or false"#]]
        .assert_eq(&told.join("\n"));
    }
}
