//! Takes a stack down, from the triggers to the data, and reports what is left.

use std::time::Duration;

use aws_sdk_dynamodb::client::Waiters;

use crate::cloud::Cloud;
use crate::error::Error;
use crate::function::Function;

/// Longest wait for the deletion of a table: it takes seconds, minutes when it is large.
const TABLE_WITHIN: Duration = Duration::from_secs(600);

/// How many parameters are asked for or deleted at once (the limit of Systems Manager).
const PARAMETERS_AT_ONCE: usize = 10;

/// A remaining resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOver(pub String);

impl Cloud {
    /// Takes everything down, the table and the secrets only if they are not kept, and returns what is left.
    pub async fn destroy(&self, keep_data: bool) -> Result<Vec<LeftOver>, Error> {
        self.take_down(&self.stack.triggers()).await?;
        for function in Function::ALL {
            self.delete_function(function).await?;
        }
        self.take_down(self.stack.as_str()).await?;
        if !keep_data {
            self.delete_table().await?;
            self.delete_parameters().await?;
        }
        let left = self.left().await?;
        if left.is_empty() {
            self.say("left: nothing");
        }
        for it in &left {
            self.say(format!("left: {}", it.0));
        }
        Ok(left)
    }

    pub(crate) async fn take_down(&self, name: &str) -> Result<(), Error> {
        let word = match self.delete_stack(name).await? {
            true => "taken down",
            false => "was not there",
        };
        self.say(format!("stack {name}: {word}"));
        Ok(())
    }

    async fn delete_function(&self, function: Function) -> Result<(), Error> {
        let name = function.name(self);
        let outcome = self.functions.delete_function().function_name(&name);
        let outcome = outcome.send().await;
        let outcome = outcome.map_err(|error| error.into_service_error());
        let doing = || format!("deleting the function {name}");
        let word = match Error::unless_missing(outcome, doing)? {
            Some(_) => "deleted, with all versions",
            None => "was not there",
        };
        self.say(format!("function {name}: {word}"));
        Ok(())
    }

    /// Whether the table exists, whichever stack made it.
    pub(crate) async fn has_table(&self) -> Result<bool, Error> {
        let tables = aws_sdk_dynamodb::Client::new(&self.config);
        let ask = tables.describe_table().table_name(self.stack.as_str());
        let found = ask.send().await.map_err(|error| error.into_service_error());
        let doing = || format!("looking for the table {}", self.stack);
        Ok(Error::unless_missing(found, doing)?.is_some())
    }

    async fn delete_table(&self) -> Result<(), Error> {
        if !self.has_table().await? {
            return Ok(());
        }
        let doing = || format!("deleting the table {}", self.stack);
        let tables = aws_sdk_dynamodb::Client::new(&self.config);
        let name = self.stack.as_str();
        let outcome = tables.delete_table().table_name(name).send().await;
        outcome.map_err(|error| Error::aws(doing(), &error.into_service_error()))?;
        let gone = tables.wait_until_table_not_exists().table_name(name);
        gone.wait(TABLE_WITHIN).await.map_err(|error| {
            Error::stopped(doing(), error.to_string(), "take the stack down again")
        })?;
        self.say(format!(
            "table {name}: deleted; AWS keeps what point-in-time recovery held for 35 days"
        ));
        Ok(())
    }

    /// Names of all parameters of the stack.
    async fn parameter_names(&self) -> Result<Vec<String>, Error> {
        let path = self.stack.parameters();
        let (mut all, mut next) = (Vec::new(), None);
        loop {
            let ask = self.parameters.get_parameters_by_path().path(&path);
            let page = ask.recursive(true).set_next_token(next).send().await;
            let page = page.map_err(|error| {
                Error::aws(
                    format!("listing the parameters below {path}"),
                    &error.into_service_error(),
                )
            })?;
            let names = page.parameters.unwrap_or_default().into_iter();
            all.extend(names.filter_map(|it| it.name));
            next = page.next_token;
            if next.is_none() {
                return Ok(all);
            }
        }
    }

    async fn delete_parameters(&self) -> Result<(), Error> {
        let all = self.parameter_names().await?;
        for some in all.chunks(PARAMETERS_AT_ONCE) {
            let forget = self.parameters.delete_parameters();
            let outcome = forget.set_names(Some(some.to_vec())).send().await;
            outcome.map_err(|error| {
                let doing = format!("deleting the parameters below {}", self.stack.parameters());
                Error::aws(doing, &error.into_service_error())
            })?;
        }
        self.say(format!(
            "parameters below {}: {} deleted",
            self.stack.parameters(),
            all.len()
        ));
        Ok(())
    }

    /// Lists the resources of a stack that AWS still shows.
    pub async fn left(&self) -> Result<Vec<LeftOver>, Error> {
        let mut left = Vec::new();
        for name in [self.stack.triggers(), self.stack.to_string()] {
            if self.stack(&name).await?.is_some() {
                left.push(LeftOver(format!("stack {name}")));
            }
        }
        for function in Function::ALL {
            let name = function.name(self);
            if self.has_function(&name).await? {
                left.push(LeftOver(format!("function {name}")));
            }
        }
        if self.has_table().await? {
            left.push(LeftOver(format!("table {}", self.stack)));
        }
        let names = self.parameter_names().await?.into_iter();
        left.extend(names.map(|name| LeftOver(format!("parameter {name}"))));
        Ok(left)
    }

    async fn has_function(&self, name: &str) -> Result<bool, Error> {
        let ask = self.functions.get_function_configuration();
        let found = ask.function_name(name).send().await;
        let found = found.map_err(|error| error.into_service_error());
        Ok(Error::unless_missing(found, || format!("looking for the function {name}"))?.is_some())
    }
}
