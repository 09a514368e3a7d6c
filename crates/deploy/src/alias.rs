//! The alias `live`, which everything that calls a function points at, and the way back.

use std::fmt;

use crate::cloud::Cloud;
use crate::error::Error;
use crate::function::Function;

/// What everything that calls points at.
pub const LIVE: &str = "live";

/// Prefix of the deployment in the mark of an alias that was rolled back from it.
const WENT_BACK: &str = "went-back:";

/// What the alias says about itself: which deployment moved it there, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AliasMark {
    pub(crate) release: String,
    pub(crate) before: Option<String>,
}

/// Where the alias points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) version: String,
    pub(crate) mark: AliasMark,
}

impl fmt::Display for AliasMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "release={}", self.release)?;
        match &self.before {
            Some(before) => write!(f, " before={before}"),
            None => Ok(()),
        }
    }
}

impl AliasMark {
    /// Reads what [`AliasMark`] writes; anything else marks no deployment and no way back.
    fn parse(text: &str) -> Self {
        let value = |name: &str| {
            let mut words = text.split(' ');
            words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        Self {
            release: value("release").unwrap_or_default().to_owned(),
            before: value("before").map(str::to_owned),
        }
    }
}

impl Cloud {
    /// Where the alias of a function points; `None` while there is none.
    pub(crate) async fn live(&self, function: Function) -> Result<Option<Live>, Error> {
        let name = function.name(self);
        let ask = self.functions.get_alias().function_name(&name).name(LIVE);
        let alias = ask.send().await.map_err(|error| error.into_service_error());
        let doing = || format!("reading the alias {LIVE} of {name}");
        let Some(alias) = Error::unless_missing(alias, doing)? else {
            return Ok(None);
        };
        let mark = AliasMark::parse(alias.description.as_deref().unwrap_or_default());
        Ok(alias.function_version.map(|version| Live { version, mark }))
    }

    /// Points the alias of a function at a version, making it if need be.
    pub(crate) async fn move_live(
        &self,
        function: Function,
        version: &str,
        mark: &AliasMark,
    ) -> Result<(), Error> {
        let name = function.name(self);
        let doing = || format!("moving the alias {LIVE} of {name} to version {version}");
        let moved = self
            .functions
            .update_alias()
            .function_name(&name)
            .name(LIVE)
            .function_version(version)
            .description(mark.to_string())
            .send()
            .await;
        let moved = moved.map_err(|error| error.into_service_error());
        if Error::unless_missing(moved, doing)?.is_some() {
            return Ok(());
        }
        let made = self
            .functions
            .create_alias()
            .function_name(&name)
            .name(LIVE)
            .function_version(version)
            .description(mark.to_string())
            .send()
            .await;
        made.map(drop)
            .map_err(|error| Error::aws(doing(), &error.into_service_error()))
    }

    /// Moves every function's alias back to the version before the last deployment. Tables and queues stay unchanged.
    pub async fn roll_back(&self) -> Result<(), Error> {
        let mut all = Vec::new();
        for function in Function::ALL {
            if let Some(live) = self.live(function).await? {
                all.push((function, live));
            }
        }
        let nothing = |why: &str| {
            let doing = format!("going back a version in the stack {}", self.stack);
            Error::stopped(doing, why, "deploy the version that you want instead")
        };
        if all.is_empty() {
            return Err(nothing("nothing is deployed there"));
        }
        // A function that an interrupted deployment did not reach stays where it is.
        let release = newest(&all);
        let left: Vec<_> = all
            .iter()
            .filter(|(_, live)| live.mark.release == release)
            .collect();
        if left.is_empty() {
            return Err(nothing("it went back already"));
        }
        if let Some((function, _)) = left.iter().find(|(_, live)| live.mark.before.is_none()) {
            let why = format!(
                "there is no version of {} before the live one",
                function.name(self)
            );
            return Err(nothing(&why));
        }
        for (function, live) in left {
            let before = live.mark.before.clone().unwrap_or_default();
            let mark = AliasMark {
                release: format!("{WENT_BACK}{release}"),
                before: None,
            };
            self.move_live(*function, &before, &mark).await?;
            let name = function.name(self);
            let after = &live.version;
            self.say(match before == *after {
                true => format!("function {name}: version {before} stays live"),
                false => format!("function {name}: version {before} is live again, after {after}"),
            });
        }
        Ok(())
    }
}

/// The newest deployment. The functions are in the order in which each deployment moves their aliases, and each moves the first.
fn newest(all: &[(Function, Live)]) -> String {
    let mark = all.first().map_or("", |(_, live)| &live.mark.release);
    mark.strip_prefix(WENT_BACK).unwrap_or(mark).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_deployment_is_the_one_that_reached_the_first_function() {
        let live = |release: &str| Live {
            version: "2".to_owned(),
            mark: AliasMark {
                release: release.to_owned(),
                before: Some("1".to_owned()),
            },
        };
        let all = |marks: [&str; 4]| -> Vec<_> {
            let pairs = Function::ALL.into_iter().zip(marks);
            pairs.map(|(it, mark)| (it, live(mark))).collect()
        };
        assert_eq!(newest(&all(["r1", "r1", "r1", "r1"])), "r1");
        assert_eq!(newest(&all(["r2", "r2", "r1", "r1"])), "r2");
        assert_eq!(newest(&all(["went-back:r2", "r2", "r1", "r1"])), "r2");
        assert_eq!(newest(&[]), "");
    }

    #[test]
    fn a_mark_reads_as_it_was_written() {
        for before in [None, Some("7".to_owned())] {
            let mark = AliasMark {
                release: "abc".to_owned(),
                before,
            };
            assert_eq!(AliasMark::parse(&mark.to_string()), mark);
        }
        let foreign = AliasMark::parse("somebody wrote this");
        assert_eq!((foreign.release.as_str(), foreign.before), ("", None));
    }
}
