//! CloudFormation: a stack is made or changed through a change set, so that what a plan shows is what happens.

mod settle;

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_cloudformation::types::{
    Capability, Change, ChangeSetStatus, ChangeSetType, Parameter, Stack,
};
use tokio::time::Instant;

use crate::cloud::{Cloud, LOOK_EVERY};
use crate::error::Error;

/// What change sets of ours are called. One that was left by an interrupted run is replaced.
const CHANGE_SET: &str = "gaffer";

/// Longest wait for what a change set would change: it takes seconds.
const READY_WITHIN: Duration = Duration::from_secs(300);

/// A stack as it should be.
pub(crate) struct WantedStack {
    pub(crate) name: String,
    pub(crate) template: &'static str,
    /// By name; `None` leaves one unchanged, and at first as in the template.
    pub(crate) parameters: Vec<(&'static str, Option<String>)>,
}

/// What a parameter of a stack is now.
fn parameter_of(stack: &Stack, name: &str) -> Option<String> {
    let all = stack.parameters.as_deref().unwrap_or_default();
    let found = all.iter().find(|it| it.parameter_key() == Some(name))?;
    found.parameter_value.clone()
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Outputs(BTreeMap<String, String>);

impl Outputs {
    /// One value, which the template is sure to have.
    pub(crate) fn get(&self, name: &str) -> Result<String, Error> {
        self.0.get(name).cloned().ok_or_else(|| {
            Error::stopped(
                "reading what the stack says about itself",
                format!("it has no output {name}"),
                "deploy again with the templates of this version",
            )
        })
    }
}

/// The outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    Made,
    Changed,
    Unchanged,
}

impl Put {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A change set that is ready, if there is anything to change.
struct Ready {
    is_new: bool,
    changes: Vec<Change>,
}

impl Cloud {
    /// An existing stack; `None` also while it is only a reviewed change set.
    pub(crate) async fn stack(&self, name: &str) -> Result<Option<Stack>, Error> {
        let found = self.stacks.describe_stacks().stack_name(name).send().await;
        match found {
            Ok(found) => Ok(found.stacks.unwrap_or_default().into_iter().next()),
            Err(error) => {
                let error = error.into_service_error();
                let said = aws_sdk_cloudformation::error::ProvideErrorMetadata::message(&error);
                if said.is_some_and(|said| said.contains("does not exist")) {
                    return Ok(None);
                }
                Err(Error::aws(format!("reading the stack {name}"), &error))
            }
        }
    }

    /// What a stack says about itself; `None` if there is none, or one that never came to be.
    pub(crate) async fn outputs(&self, name: &str) -> Result<Option<Outputs>, Error> {
        let stack = self.stack_that_came_to_be(name).await?;
        Ok(stack.map(|stack| {
            let all = stack.outputs.unwrap_or_default().into_iter();
            let pairs = all.filter_map(|it| Some((it.output_key?, it.output_value?)));
            Outputs(pairs.collect())
        }))
    }

    /// Changes that a deployment would make to a stack, line by line. The query leaves nothing behind.
    pub(crate) async fn plan_stack(&self, wanted: &WantedStack) -> Result<Vec<String>, Error> {
        let there = self.stack(&wanted.name).await?;
        let ready = self.change_set(wanted, there.as_ref()).await?;
        self.drop_change_set(&wanted.name).await?;
        if there.is_none() {
            // Asking about a new stack leaves an empty one that waits for its review.
            self.delete_stack(&wanted.name).await?;
        }
        Ok(ready.changes.iter().filter_map(settle::line).collect())
    }

    /// An existing stack that was once completely created.
    pub(crate) async fn stack_that_came_to_be(&self, name: &str) -> Result<Option<Stack>, Error> {
        let stack = self.stack(name).await?;
        Ok(stack.filter(settle::is_usable))
    }

    /// Takes down what is left of a stack whose making or end failed: nothing else can be done with it.
    pub(crate) async fn clear_ruins(&self, name: &str) -> Result<(), Error> {
        let there = self.settled(name).await?;
        if there.as_ref().is_some_and(settle::never_came_to_be) {
            self.delete_stack(name).await?;
        }
        Ok(())
    }

    /// Makes a stack as it should be.
    pub(crate) async fn put_stack(&self, wanted: &WantedStack) -> Result<Put, Error> {
        let name = &wanted.name;
        self.clear_ruins(name).await?;
        let there = self.settled(name).await?;
        let ready = self.change_set(wanted, there.as_ref()).await?;
        if ready.changes.is_empty() && !ready.is_new {
            self.drop_change_set(name).await?;
            return Ok(Put::Unchanged);
        }
        let execute = self.stacks.execute_change_set();
        let execute = execute.stack_name(name).change_set_name(CHANGE_SET);
        let outcome = execute.send().await;
        outcome.map_err(|error| {
            Error::aws(
                format!("changing the stack {name}"),
                &error.into_service_error(),
            )
        })?;
        let after = self.settled(name).await?;
        if after.as_ref().is_some_and(settle::is_done) {
            return Ok(if ready.is_new {
                Put::Made
            } else {
                Put::Changed
            });
        }
        Err(self.why_not(name, after).await)
    }

    /// Takes a stack down; returns whether there was one.
    pub(crate) async fn delete_stack(&self, name: &str) -> Result<bool, Error> {
        let doing = || format!("taking down the stack {name}");
        if self.settled(name).await?.is_none() {
            return Ok(false);
        }
        let outcome = self.stacks.delete_stack().stack_name(name).send().await;
        outcome.map_err(|error| Error::aws(doing(), &error.into_service_error()))?;
        match self.settled(name).await? {
            None => Ok(true),
            left => Err(self.why_not(name, left).await),
        }
    }

    /// Asks CloudFormation what it would change.
    async fn change_set(
        &self,
        wanted: &WantedStack,
        there: Option<&Stack>,
    ) -> Result<Ready, Error> {
        let name = &wanted.name;
        let is_new = there.is_none_or(settle::is_in_review);
        self.drop_change_set(name).await?;
        let as_it_is = |key: &str| parameter_of(there.filter(|_| !is_new)?, key);
        let parameters = wanted.parameters.iter().filter_map(|(key, value)| {
            let value = value.clone().or_else(|| as_it_is(key))?;
            let parameter = Parameter::builder().parameter_key(*key);
            Some(parameter.parameter_value(value).build())
        });
        let kind = match is_new {
            true => ChangeSetType::Create,
            false => ChangeSetType::Update,
        };
        let asked = self
            .stacks
            .create_change_set()
            .stack_name(name)
            .change_set_name(CHANGE_SET)
            .change_set_type(kind)
            .template_body(wanted.template)
            .set_parameters(Some(parameters.collect()))
            .capabilities(Capability::CapabilityNamedIam)
            .send()
            .await;
        asked.map_err(|error| {
            let doing = format!("asking what would change in the stack {name}");
            Error::aws(doing, &error.into_service_error())
        })?;
        let changes = self.changes(name).await?;
        Ok(Ready { is_new, changes })
    }

    /// All changes of a change set, once it is ready; empty when there is nothing to change.
    async fn changes(&self, name: &str) -> Result<Vec<Change>, Error> {
        let doing = || format!("reading what would change in the stack {name}");
        let mut beat = tokio::time::interval(LOOK_EVERY);
        let (mut all, mut next) = (Vec::new(), None);
        let until = Instant::now() + READY_WITHIN;
        loop {
            let ask = self.stacks.describe_change_set();
            let ask = ask.stack_name(name).change_set_name(CHANGE_SET);
            let page = ask.set_next_token(next.clone()).send().await;
            let page = page.map_err(|error| Error::aws(doing(), &error.into_service_error()))?;
            if page.status == Some(ChangeSetStatus::Failed) {
                let why = page.status_reason.unwrap_or_default();
                if is_nothing(&why) {
                    return Ok(Vec::new());
                }
                return Err(Error::stopped(doing(), why, "mend it and deploy again"));
            }
            if page.status != Some(ChangeSetStatus::CreateComplete) {
                if Instant::now() > until {
                    let why = format!("no answer within {} s", READY_WITHIN.as_secs());
                    return Err(Error::stopped(doing(), why, "deploy again"));
                }
                beat.tick().await;
                continue;
            }
            all.extend(page.changes.unwrap_or_default());
            next = page.next_token;
            if next.is_none() {
                return Ok(all);
            }
        }
    }

    /// Forgets our change set, if there is one.
    async fn drop_change_set(&self, name: &str) -> Result<(), Error> {
        let forget = self.stacks.delete_change_set();
        let forget = forget.stack_name(name).change_set_name(CHANGE_SET);
        let Err(error) = forget.send().await else {
            return Ok(());
        };
        let error = error.into_service_error();
        let code = aws_sdk_cloudformation::error::ProvideErrorMetadata::code(&error);
        if matches!(
            code,
            Some("ChangeSetNotFound" | "ChangeSetNotFoundException" | "ValidationError")
        ) {
            return Ok(());
        }
        let doing = format!("forgetting what was asked about the stack {name}");
        Err(Error::aws(doing, &error))
    }
}

/// Whether a change set failed because there is nothing to change. CloudFormation has a sentence for it and no code.
fn is_nothing(why: &str) -> bool {
    why.contains("didn't contain changes") || why.contains("No updates are to be performed")
}
