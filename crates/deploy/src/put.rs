//! A whole deployment: foundation, secrets, functions, triggers, and smoke tests. Each step may be repeated.

use std::path::PathBuf;
use std::sync::Arc;

use engine::installation;
use engine::machine::{RandomIds, SystemClock};
use engine::ports::Clock;
use engine::store::Store;
use sha2::{Digest, Sha256};

use crate::build::{Binaries, Workshop};
use crate::cloud::Cloud;
use crate::error::Error;
use crate::function::{Function, FunctionOptions, VISIBILITY_SECONDS};
use crate::publish;
use crate::stacks::{Outputs, WantedStack};

/// What keeps state.
const FOUNDATION: &str = include_str!("../../../infra/foundation.yaml");

/// What calls the functions.
const TRIGGERS: &str = include_str!("../../../infra/triggers.yaml");

/// What a person says about a deployment.
#[derive(Debug, Clone)]
pub struct DeployRequest {
    /// What is put there.
    pub binaries: Binaries,
    /// How the functions behave.
    pub told: FunctionOptions,
    /// An SNS topic that receives alarms, an empty one for none; `None` leaves it unchanged.
    pub alarm_topic: Option<String>,
    /// For how many days logs are kept; `None` leaves it unchanged.
    pub log_days: Option<String>,
    /// Put nothing there that calls the functions.
    pub without_triggers: bool,
}

/// Where a deployed stack is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// The address for GitHub, without its path.
    pub webhook: String,
    /// The address for people and programs, without a path.
    pub api: String,
}

impl Cloud {
    /// Puts everything there and sees whether it answers. Without triggers there is nothing to be reached.
    pub async fn deploy(
        &self,
        workshop: &Workshop,
        request: DeployRequest,
    ) -> Result<Option<Endpoints>, Error> {
        self.same_processor(&request.binaries).await?;
        let binaries = workshop.build(&request.binaries).await?;
        self.clear_ruins(self.stack.as_str()).await?;
        let foundation = self.foundation(request.log_days).await?;
        let made = self.put_stack(&foundation).await?;
        self.say(format!("stack {}: {}", self.stack, made.word()));
        let outputs = self.outputs(self.stack.as_str()).await?;
        let outputs = outputs.ok_or_else(|| self.lacking())?;
        self.first_secrets().await?;
        let told = self.apply_parameters(request.told, &outputs).await?;
        self.say(format!("functions: {}", told.words()));
        let wanted = self.wanted(&binaries, &outputs, &told)?;
        let release = release(&wanted)?;
        for function in &wanted {
            self.put_function(workshop, function, &release).await?;
        }
        if request.without_triggers {
            self.take_down(&self.stack.triggers()).await?;
            return Ok(None);
        }
        let triggers = self.triggers(&outputs, request.alarm_topic)?;
        let made = self.put_stack(&triggers).await?;
        self.say(format!("stack {}: {}", triggers.name, made.word()));
        let endpoints = self.endpoints().await?.ok_or_else(|| self.lacking())?;
        self.try_out(&endpoints).await?;
        Ok(Some(endpoints))
    }

    /// Says what a deployment would change, and changes nothing.
    pub async fn plan(&self, workshop: &Workshop, request: DeployRequest) -> Result<(), Error> {
        self.same_processor(&request.binaries).await?;
        let binaries = workshop.build(&request.binaries).await?;
        let foundation = self.foundation(request.log_days).await?;
        let name = foundation.name.clone();
        self.say_plan(&name, &self.plan_stack(&foundation).await?);
        let triggers = self.stack.triggers();
        let Some(outputs) = self.outputs(&name).await? else {
            for function in Function::ALL {
                self.say(format!("function {}: would be made", function.name(self)));
            }
            self.say(format!("stack {triggers}: would be made"));
            return Ok(());
        };
        let told = self.apply_parameters(request.told, &outputs).await?;
        self.say(format!("functions: {}", told.words()));
        for wanted in self.wanted(&binaries, &outputs, &told)? {
            let line = self.plan_function(&wanted).await?;
            self.say(line);
        }
        if request.without_triggers {
            self.say(format!("stack {triggers}: would not be there"));
            return Ok(());
        }
        let wanted = self.triggers(&outputs, request.alarm_topic)?;
        self.say_plan(&triggers, &self.plan_stack(&wanted).await?);
        Ok(())
    }

    fn say_plan(&self, stack: &str, lines: &[String]) {
        if lines.is_empty() {
            self.say(format!("stack {stack}: unchanged"));
        }
        for line in lines {
            self.say(format!("stack {stack}: {line}"));
        }
    }

    async fn plan_function(&self, wanted: &publish::WantedVersion<'_>) -> Result<String, Error> {
        let name = wanted.function.name(self);
        let Some(live) = self.live(wanted.function).await? else {
            return Ok(format!("function {name}: would be made"));
        };
        let there = self.fingerprint_of(&name, &live.version).await?;
        if there == Some(wanted.fingerprint()?) {
            return Ok(format!(
                "function {name}: unchanged, version {}",
                live.version
            ));
        }
        let version = &live.version;
        Ok(format!(
            "function {name}: a new version would go live after {version}"
        ))
    }

    /// Where a deployed stack is reached; `None` while its triggers are not there.
    pub async fn endpoints(&self) -> Result<Option<Endpoints>, Error> {
        let Some(outputs) = self.outputs(&self.stack.triggers()).await? else {
            return Ok(None);
        };
        let (webhook, api) = (outputs.get("WebhookUrl")?, outputs.get("ApiUrl")?);
        Ok(Some(Endpoints { webhook, api }))
    }

    async fn foundation(&self, log_days: Option<String>) -> Result<WantedStack, Error> {
        let kept = match self.is_kept().await? {
            true => "yes",
            false => "no",
        };
        Ok(WantedStack {
            name: self.stack.to_string(),
            template: FOUNDATION,
            parameters: vec![
                ("VisibilitySeconds", Some(VISIBILITY_SECONDS.to_string())),
                ("KeptTable", Some(kept.to_owned())),
                ("LogDays", log_days),
            ],
        })
    }

    /// Whether the table belongs to an earlier stack. The choice of the first deployment is repeated: a stack that
    /// forgot its table would delete it.
    async fn is_kept(&self) -> Result<bool, Error> {
        let stack = self.stack_that_came_to_be(self.stack.as_str()).await?;
        let parameters = stack.and_then(|it| it.parameters).unwrap_or_default();
        let said = parameters
            .into_iter()
            .find(|it| it.parameter_key() == Some("KeptTable"));
        match said.and_then(|it| it.parameter_value) {
            Some(said) => Ok(said == "yes"),
            None => self.has_table().await,
        }
    }

    fn triggers(
        &self,
        outputs: &Outputs,
        alarm_topic: Option<String>,
    ) -> Result<WantedStack, Error> {
        let mut parameters = vec![
            ("Foundation", Some(self.stack.to_string())),
            ("AlarmTopic", alarm_topic),
        ];
        for name in [
            "WorkQueueArn",
            "WorkDeadQueueName",
            "TicksQueueArn",
            "TicksDeadQueueName",
        ] {
            parameters.push((name, Some(outputs.get(name)?)));
        }
        Ok(WantedStack {
            name: self.stack.triggers(),
            template: TRIGGERS,
            parameters,
        })
    }

    fn wanted<'a>(
        &self,
        binaries: &'a [(Function, PathBuf)],
        outputs: &Outputs,
        told: &FunctionOptions,
    ) -> Result<Vec<publish::WantedVersion<'a>>, Error> {
        let wanted = |(function, binary): &'a (Function, PathBuf)| {
            Ok(publish::WantedVersion {
                function: *function,
                binary,
                environment: function.environment(self, outputs, told)?,
                role: outputs.get(function.role())?,
            })
        };
        binaries.iter().map(wanted).collect()
    }

    /// Adds the table's owner, the addresses of Jules and GitHub and the App, as the table has them, and the settings
    /// of an earlier deployment.
    async fn apply_parameters(
        &self,
        told: FunctionOptions,
        outputs: &Outputs,
    ) -> Result<FunctionOptions, Error> {
        let mut told = told.or_as_before(&self.environment_before().await?);
        let table = aws::Table::new(&self.config, outputs.get("Table")?);
        let store = Store::new(Arc::new(table));
        let unread = |error: String| {
            let doing = "reading what the table says about this installation";
            Error::stopped(doing, error, "see that the table can be read")
        };
        let installation =
            installation::load_or_create(&store, &RandomIds, SystemClock.now()).await;
        told.installation = installation
            .map_err(|it| unread(it.to_string()))?
            .to_string();
        let known = store.upstreams().await;
        let known = known.map_err(|it| unread(it.to_string()))?.value;
        let named = [
            ("JULES_API_BASE", known.jules_base),
            ("GITHUB_API_BASE", known.github_base),
            (
                "GITHUB_APP_ID",
                known.github_app_id.map(|id| id.to_string()),
            ),
        ];
        let set = named
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        told.upstreams = set.collect();
        Ok(told)
    }

    fn lacking(&self) -> Error {
        let doing = format!("reading the stack {}", self.stack);
        Error::stopped(doing, "it is not there any more", "deploy again")
    }
}

/// Identifies this deployment.
fn release(all: &[publish::WantedVersion<'_>]) -> Result<String, Error> {
    let mut release = Sha256::new();
    for wanted in all {
        release.update(wanted.fingerprint()?);
    }
    let mut text = hex::encode(release.finalize());
    text.truncate(16);
    Ok(text)
}
