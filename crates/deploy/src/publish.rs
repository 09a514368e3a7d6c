//! `cargo lambda deploy` uploads a function's code and settings; this module adds a version with a fingerprint, and
//! the alias `live`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use aws_sdk_lambda::operation::get_function_configuration::GetFunctionConfigurationOutput;
use aws_sdk_lambda::types::Architecture;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, interval_at};

use crate::alias::AliasMark;
use crate::build::{Binaries, Workshop, no_start};
use crate::cloud::Cloud;
use crate::error::Error;
use crate::function::Function;

/// How many versions are kept: the live one, the rollback target, and some for inspection.
const VERSIONS_KEPT: usize = 5;

/// How often a call of an upload is tried when AWS does not answer or asks for patience.
const CALLS_MAX: &str = "6";

/// Maximum attempts of an upload while AWS does not know its role: a new one is not known everywhere for some
/// seconds.
const UPLOADS_MAX: usize = 8;

/// Wait before the next attempt while a role is unknown.
const ROLE_KNOWN_AFTER: Duration = Duration::from_secs(5);

/// What AWS says of a role that it does not know yet.
const ROLE_UNKNOWN: &str = "cannot be assumed by Lambda";

/// Characters of a fingerprint: enough that two deployments never share one.
const FINGERPRINT: usize = 24;

/// A function as it should be.
pub(crate) struct WantedVersion<'a> {
    pub(crate) function: Function,
    pub(crate) binary: &'a Path,
    pub(crate) environment: BTreeMap<&'static str, String>,
    pub(crate) role: String,
}

impl WantedVersion<'_> {
    /// Identifies this version by its code, its settings and its limits.
    pub(crate) fn fingerprint(&self) -> Result<String, Error> {
        let code = std::fs::read(self.binary).map_err(|error| {
            let doing = format!("reading {}", self.binary.display());
            Error::stopped(doing, error.to_string(), "build it again")
        })?;
        let mut all = Sha256::new();
        all.update(Sha256::digest(code));
        for (name, value) in &self.environment {
            all.update(format!("{name}={value}\n"));
        }
        let (timeout, memory) = (self.function.timeout_seconds(), self.function.memory());
        all.update(format!("{}\n{timeout}\n{memory}", self.role));
        let mut text = hex::encode(all.finalize());
        text.truncate(FINGERPRINT);
        Ok(text)
    }
}

impl Cloud {
    /// Deploys one function unless it is up to date. `release` is the deployment that this is part of.
    pub(crate) async fn put_function(
        &self,
        workshop: &Workshop,
        wanted: &WantedVersion<'_>,
        release: &str,
    ) -> Result<(), Error> {
        let name = wanted.function.name(self);
        let live = self.live(wanted.function).await?;
        if let Some(live) = &live
            && live.mark.release == release
        {
            self.say(format!(
                "function {name}: version {} is live already",
                live.version
            ));
            return Ok(());
        }
        let fingerprint = wanted.fingerprint()?;
        let is_same = match &live {
            Some(live) => {
                self.fingerprint_of(&name, &live.version).await? == Some(fingerprint.clone())
            }
            None => false,
        };
        let before = live.as_ref().map(|live| live.version.clone());
        let version = match &before {
            Some(version) if is_same => version.clone(),
            Some(_) | None => self.upload(workshop, wanted, &fingerprint).await?,
        };
        let mark = AliasMark {
            release: release.to_owned(),
            before: before.clone(),
        };
        self.move_live(wanted.function, &version, &mark).await?;
        self.say(match before {
            Some(before) if before == version => {
                format!("function {name}: version {version} stays live")
            }
            Some(before) => format!("function {name}: version {version} is live, after {before}"),
            None => format!("function {name}: version {version} is live"),
        });
        self.forget_old(&name, &version, mark.before.as_deref())
            .await
    }

    /// Uploads code and settings as a new version, and says which.
    async fn upload(
        &self,
        workshop: &Workshop,
        wanted: &WantedVersion<'_>,
        fingerprint: &str,
    ) -> Result<String, Error> {
        let name = wanted.function.name(self);
        let doing = format!("uploading the function {name} with cargo-lambda");
        let file =
            environment_file(&wanted.environment).map_err(|error| no_start(&doing, &error))?;
        let mut cargo = workshop.lambda("deploy");
        cargo
            .arg(&name)
            .arg("--binary-path")
            .arg(wanted.binary)
            .args(["--region", &self.region, "--role", &wanted.role])
            .args(["--timeout", &wanted.function.timeout_seconds().to_string()])
            .args(["--memory", &wanted.function.memory().to_string()])
            .args(["--description", fingerprint, "--output-format", "json"])
            .args(["--retry-attempts", CALLS_MAX])
            .arg("--env-file")
            .arg(file.path());
        if let Some(endpoint) = &self.endpoint {
            cargo.args(["--endpoint-url", endpoint.as_str()]);
        }
        cargo.current_dir(&workshop.root);
        let mut why = String::new();
        for _ in 0..UPLOADS_MAX {
            let said = cargo.output().await;
            let said = said.map_err(|error| no_start(&doing, &error))?;
            let told = String::from_utf8_lossy(&said.stdout);
            if let Some(version) = version_in(&told).filter(|_| said.status.success()) {
                return Ok(version);
            }
            why = format!("{}{told}", String::from_utf8_lossy(&said.stderr));
            if !why.contains(ROLE_UNKNOWN) {
                break;
            }
            interval_at(Instant::now() + ROLE_KNOWN_AFTER, ROLE_KNOWN_AFTER)
                .tick()
                .await;
        }
        Err(Error::stopped(
            doing,
            why.trim(),
            "mend it and deploy again",
        ))
    }

    /// The environment of a function at its last upload; empty when there is none.
    pub(crate) async fn environment_before(&self) -> Result<HashMap<String, String>, Error> {
        let told = self.last_upload(Function::Dispatcher).await?;
        let told = told.and_then(|told| told.environment?.variables);
        Ok(told.unwrap_or_default())
    }

    /// Refuses to deploy binaries for another processor than the existing function's: `cargo lambda` never changes
    /// it.
    pub(crate) async fn same_processor(&self, binaries: &Binaries) -> Result<(), Error> {
        let wanted = match binaries {
            Binaries::Arm64 => Architecture::Arm64,
            Binaries::X86 => Architecture::X8664,
            Binaries::Here | Binaries::Ready(_) => return Ok(()),
        };
        let told = self.last_upload(Function::Dispatcher).await?;
        let there = told.and_then(|told| told.architectures).unwrap_or_default();
        if there.is_empty() || there.contains(&wanted) {
            return Ok(());
        }
        Err(Error::stopped(
            format!("deploying for {}", wanted.as_str()),
            format!("the functions of {} run on another processor", self.stack),
            "deploy for that one (`--x86-64` or not), or take the stack down with `--keep-data` first",
        ))
    }

    /// How a function was last uploaded, live or not.
    async fn last_upload(
        &self,
        function: Function,
    ) -> Result<Option<GetFunctionConfigurationOutput>, Error> {
        let name = function.name(self);
        let ask = self.functions.get_function_configuration();
        let told = ask.function_name(&name).send().await;
        let told = told.map_err(|error| error.into_service_error());
        Error::unless_missing(told, || format!("reading how {name} was last uploaded"))
    }

    /// The fingerprint that a version was published with.
    pub(crate) async fn fingerprint_of(
        &self,
        name: &str,
        version: &str,
    ) -> Result<Option<String>, Error> {
        let ask = self.functions.get_function_configuration();
        let told = ask.function_name(name).qualifier(version).send().await;
        let told = told.map_err(|error| error.into_service_error());
        let told = Error::unless_missing(told, || format!("reading version {version} of {name}"))?;
        Ok(told.and_then(|told| told.description))
    }

    /// The numbers of all versions, oldest first; empty when there is no such function.
    pub(crate) async fn versions(&self, name: &str) -> Result<Vec<u64>, Error> {
        let (mut all, mut next) = (Vec::new(), None);
        loop {
            let ask = self.functions.list_versions_by_function();
            let page = ask.function_name(name).set_marker(next).send().await;
            let page = page.map_err(|error| error.into_service_error());
            let doing = || format!("listing the versions of {name}");
            let Some(page) = Error::unless_missing(page, doing)? else {
                return Ok(Vec::new());
            };
            let numbers = page.versions.unwrap_or_default().into_iter();
            all.extend(numbers.filter_map(|it| it.version?.parse::<u64>().ok()));
            next = page.next_marker.filter(|marker| !marker.is_empty());
            if next.is_none() {
                all.sort_unstable();
                return Ok(all);
            }
        }
    }

    /// Deletes versions that are no target of a rollback any more.
    async fn forget_old(&self, name: &str, live: &str, before: Option<&str>) -> Result<(), Error> {
        let all = self.versions(name).await?;
        let old = all.len().saturating_sub(VERSIONS_KEPT);
        for version in all.into_iter().take(old).map(|it| it.to_string()) {
            if version == live || before == Some(version.as_str()) {
                continue;
            }
            let forget = self.functions.delete_function().function_name(name);
            let outcome = forget.qualifier(&version).send().await;
            outcome.map_err(|error| {
                let doing = format!("deleting version {version} of {name}");
                Error::aws(doing, &error.into_service_error())
            })?;
        }
        Ok(())
    }
}

/// A file with an environment, as cargo-lambda reads it: values may hold commas there.
fn environment_file(
    environment: &BTreeMap<&'static str, String>,
) -> std::io::Result<tempfile::NamedTempFile> {
    let mut text = String::new();
    for (name, value) in environment {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{name}={value}");
    }
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// The version in what cargo-lambda answers; notes on the progress may come before it.
fn version_in(told: &str) -> Option<String> {
    let object = told.get(told.find('{')?..)?;
    let told: serde_json::Value = serde_json::from_str(object).ok()?;
    let version = told.get("version")?.as_str()?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_behind_notes() {
        let told = "loading\n{\n \"function_arn\": \"arn\", \"version\": \"7\", \"alias\": null }";
        assert_eq!(version_in(told).as_deref(), Some("7"));
        assert_eq!(version_in("loading"), None);
        assert_eq!(version_in("{\"version\": null}"), None);
    }

    #[test]
    fn code_settings_and_limits_make_the_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::write(&one, "code").unwrap();
        std::fs::write(&other, "other code").unwrap();
        let of = |binary: &Path, value: &str, role: &str, function| {
            let wanted = WantedVersion {
                function,
                binary,
                environment: BTreeMap::from([("NAME", value.to_owned())]),
                role: role.to_owned(),
            };
            wanted.fingerprint().unwrap()
        };
        let base = of(&one, "value", "role", Function::Poller);
        assert_eq!(base, of(&one, "value", "role", Function::Poller));
        assert_eq!(base.len(), FINGERPRINT);
        for changed in [
            of(&other, "value", "role", Function::Poller),
            of(&one, "other", "role", Function::Poller),
            of(&one, "value", "other", Function::Poller),
            of(&one, "value", "role", Function::Api),
        ] {
            assert_ne!(base, changed);
        }
    }
}
