//! The credential for GitHub: whether it is kept, of the right kind, and what GitHub says of it.

use super::code::Code;
use super::credential_kind::CredentialKind;
use super::facts::{CredentialFacts, CredentialIdentity, InstallationFacts, SecretStatus};
use super::finding::{Area, Finding, names, outside};
use super::machine::unusable;

const ABOUT: &str = "GitHub credential";

/// The scopes of a classic token that let it merge; the second only in public repositories.
const SCOPES: [&str; 2] = ["repo", "public_repo"];

pub(super) fn examine(installation: &InstallationFacts, folder: &str) -> Vec<Finding> {
    let credential = &installation.github;
    let problem = kept(credential, folder).or_else(|| answered(credential));
    vec![problem.unwrap_or_else(|| Finding::ok(Area::Github, ABOUT, whose(credential)))]
}

/// Whether nothing is wrong with it.
pub(super) fn is_fine(installation: &InstallationFacts, folder: &str) -> bool {
    let findings = examine(installation, folder);
    findings.iter().all(|finding| finding.cause.is_none())
}

fn kept(credential: &CredentialFacts, folder: &str) -> Option<Finding> {
    match &credential.kept {
        SecretStatus::Missing => {
            let what = if credential.app_id.is_some() {
                "an App's id is set, and its private key is not kept and GITHUB_APP_KEY is not set"
            } else {
                "it is not kept and GITHUB_TOKEN is not set"
            };
            Some(Finding::new(Code::GithubMissing, ABOUT, what))
        }
        SecretStatus::Unusable { .. } => unusable("github", &credential.kept, folder),
        SecretStatus::Here(CredentialKind::GithubInstallation) if credential.app_id.is_none() => {
            let what = "it is a token of an installation, as workflow runs get it";
            Some(Finding::new(Code::GithubActionsToken, ABOUT, what))
        }
        SecretStatus::Here(shape) if !shape.may_be_github(credential.app_id.is_some()) => {
            let what = match credential.app_id {
                Some(id) => format!(
                    "App {id} is to sign in, and what is kept is {}",
                    shape.words()
                ),
                None => format!("what is kept is {}", shape.words()),
            };
            Some(Finding::new(Code::GithubKind, ABOUT, what))
        }
        SecretStatus::Here(_) => None,
    }
}

fn answered(credential: &CredentialFacts) -> Option<Finding> {
    let (code, what) = match credential.identity.as_ref()? {
        CredentialIdentity::Person { scopes, .. } => {
            let scopes = scopes
                .as_ref()
                .filter(|scopes| !scopes.iter().any(|scope| SCOPES.contains(&scope.as_str())))?;
            let has = if scopes.is_empty() {
                "it has no scope".to_owned()
            } else {
                format!("its scopes are {}", names(scopes))
            };
            (Code::GithubScope, has)
        }
        CredentialIdentity::App { .. } => return None,
        CredentialIdentity::Installation => (
            Code::GithubActionsToken,
            "GitHub knows it as an installation's, not as a person's".to_owned(),
        ),
        CredentialIdentity::Refused { why } if credential.app_id.is_some() => {
            (Code::AppKeyMismatch, outside(why))
        }
        CredentialIdentity::Refused { why } => (Code::GithubRefused, outside(why)),
        CredentialIdentity::Unreachable { why } => (Code::GithubUnreachable, outside(why)),
        CredentialIdentity::Trouble { why } => (Code::GithubTrouble, outside(why)),
    };
    Some(Finding::new(code, ABOUT, what))
}

fn whose(credential: &CredentialFacts) -> String {
    match &credential.identity {
        Some(CredentialIdentity::Person { login, .. }) => {
            format!("GitHub accepts it; it is of `{}`", outside(login))
        }
        Some(CredentialIdentity::App { slug }) => {
            format!("GitHub accepts it; it is the App `{}`", outside(slug))
        }
        Some(
            CredentialIdentity::Installation
            | CredentialIdentity::Refused { .. }
            | CredentialIdentity::Unreachable { .. }
            | CredentialIdentity::Trouble { .. },
        )
        | None => "it is kept".to_owned(),
    }
}
