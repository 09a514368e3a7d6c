//! All findings of the doctor: a stable code, a severity, a cause, and a fix.
//!
//! Words in capitals are placeholders that a finding fills in; `docs/doctor.md` shows them unchanged.

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It is as it should be.
    Ok,
    /// It works, but the user should know.
    Warning,
    /// A function of Gaffer does not work.
    Error,
}

impl Severity {
    /// The word that people and programs read.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Static description of a code, independent of any installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code, for programs.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Why it matters.
    pub cause: &'static str,
    /// The command or click that fixes it.
    pub mend: &'static str,
}

macro_rules! codes {
    ($($name:ident, $code:literal, $severity:ident, $cause:literal, $mend:literal;)+) => {
        /// All findings of the doctor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $cause] $name,)+
        }

        impl Code {
            /// Every code, in the order of the checks.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its static description.
            pub fn row(self) -> CodeInfo {
                match self {
                    $(Self::$name => CodeInfo {
                        code: $code,
                        severity: Severity::$severity,
                        cause: $cause,
                        mend: $mend,
                    },)+
                }
            }
        }
    };
}

codes! {
    NotRunning, "not_running", Error,
        "no process watches Jules, merges what is green or wakes an agent",
        "start `gaffer up --data FOLDER`";
    DataMissing, "data_missing", Error,
        "nothing was set up in this data folder yet",
        "run `gaffer init`, or name the right folder with `--data DIR`";
    DataUnreadable, "data_unreadable", Error,
        "Gaffer keeps everything in its data folder and has to read and write there",
        "run `chown -R \"$USER\" FOLDER && chmod 700 FOLDER`, or name another folder with `--data DIR`";
    DataOpen, "data_open", Warning,
        "others on this machine may enter the data folder and see its files",
        "run `chmod 700 FOLDER`";
    StoreUnreadable, "store_unreadable", Error,
        "the database cannot be read, so nothing can be done or remembered",
        "free disk space if there is none, check who owns FOLDER/gaffer.db, or run `gaffer restore FILE --replace --data FOLDER` with a backup";
    StoreNewer, "store_newer", Error,
        "a newer Gaffer wrote the database; this one does not know what it means and changes nothing",
        "run the newer gaffer again, or run `gaffer restore FILE --replace --data FOLDER` with a backup of before the upgrade";
    StoreOlder, "store_older", Error,
        "an older Gaffer wrote the database, and what only looks at it does not bring it up to date",
        "start `gaffer up --data FOLDER` once: it brings the database up to date and keeps everything in it";
    StoreIsBackup, "store_is_backup", Error,
        "a backup that is only copied does not know that time has passed: what was done since it was made would be done once more, so nothing is done over it",
        "run `gaffer restore FOLDER/gaffer.db --replace --data FOLDER`, which marks what may have been done since";
    DiskFull, "disk_full", Error,
        "without room nothing can be recorded, and what cannot be recorded is not done",
        "free space on the disk of FOLDER, or move the folder and name it with `--data DIR`";
    DiskLow, "disk_low", Warning,
        "the disk of the data folder is nearly full, and without room nothing is done any more",
        "free space on the disk of FOLDER";
    SecretUnusable, "secret_unusable", Error,
        "a secret that others can read, or that we cannot, is not used",
        "run `chmod 600 FILE`, check that it is yours and not empty, and replace the secret if others may have read it";
    GafferTokenKind, "gaffer_token_kind", Error,
        "Gaffer's own API would ask its callers for a credential of another service and so spread it",
        "give GAFFER_TOKEN (or the secret `token`) a random text of its own, and replace the credential that stood there";
    ClockSkew, "clock_skew", Error,
        "signatures and waiting times depend on the clock: wakes are refused as too old or too new, and GitHub refuses an App's tokens",
        "set the machine's clock, for example with `sudo timedatectl set-ntp true`";
    ClockWasAhead, "clock_was_ahead", Warning,
        "the clock was ahead while Gaffer worked and was set back since: what was stored for later would wait until that hour has come",
        "check that the clock is right now, and start `gaffer up` again over the data folder, which moves what was stored back by as much; over a stack, whose machines may differ, nothing is moved";

    NoAccount, "no_account", Error,
        "without a Jules account no job can be started",
        "run `gaffer account add default`";
    JulesKeyMissing, "jules_key_missing", Error,
        "the account has no key, so Jules is not even asked",
        "make a key at https://jules.google.com/settings and run `gaffer account add ACCOUNT --replace-key`";
    JulesKeyKind, "jules_key_kind", Error,
        "what stands there is no key of Google's; it was not sent to Jules",
        "make a key at https://jules.google.com/settings, run `gaffer account add ACCOUNT --replace-key`, and replace the credential that stood there";
    JulesKeyRefused, "jules_key_refused", Error,
        "Jules does not accept the key: it was deleted, disabled because it was found in public, or cut while it was copied",
        "make a new key at https://jules.google.com/settings and run `gaffer account add ACCOUNT --replace-key`";
    JulesForbidden, "jules_forbidden", Error,
        "Jules knows the key and does not let its owner in",
        "open https://jules.google.com as the key's owner and accept its terms, or use a key of another person";
    JulesUnreachable, "jules_unreachable", Error,
        "no answer came from Jules: the network, a proxy, or the address in JULES_API_BASE",
        "check the network, and unset JULES_API_BASE unless you mean it";
    JulesTrouble, "jules_trouble", Warning,
        "Jules answered with an error that may pass by itself",
        "run `gaffer doctor` again in a few minutes";
    LimitsAbovePlan, "limits_above_plan", Warning,
        "Jules refuses what is above the plan, and each refused create costs time",
        "run `gaffer account set ACCOUNT --plan free`, or the plan that you have: free, pro or ultra";
    OtherInstallation, "other_installation", Warning,
        "another Gaffer works with the same account; both draw on one quota, and neither sees the other's waiting jobs",
        "stop one of the two, give it a key of another person, or lower the limits of both with `gaffer account set ACCOUNT --concurrent N --per-day N`";

    GithubMissing, "github_missing", Error,
        "without a credential for GitHub no pull request can be read or merged",
        "set GITHUB_TOKEN to a classic token with the scope `repo`, or run `gaffer github setup` for an App";
    GithubKind, "github_kind", Error,
        "what stands there is no credential of GitHub's of the kind that is expected; it was not sent to GitHub",
        "set GITHUB_TOKEN to a token of GitHub's (or GITHUB_APP_KEY to the App's private key when GITHUB_APP_ID is set), and replace the credential that stood there";
    GithubRefused, "github_refused", Error,
        "GitHub does not accept the token: it expired, was revoked, or was cut while it was copied",
        "make a new token at https://github.com/settings/tokens with the scope `repo` and set GITHUB_TOKEN";
    GithubActionsToken, "github_actions_token", Error,
        "a token of a workflow run or of an installation ends within the hour, and merges with the Actions token start no workflows",
        "set GITHUB_TOKEN to a classic token with the scope `repo`, or run `gaffer github setup` for an App";
    GithubScope, "github_scope", Error,
        "the token has no scope that lets it read and merge pull requests",
        "open https://github.com/settings/tokens, give the token the scope `repo`, and run `gaffer doctor` again";
    GithubUnreachable, "github_unreachable", Error,
        "no usable answer came from GitHub: the network, a proxy, or the address in GITHUB_API_BASE",
        "check the network, and unset GITHUB_API_BASE unless you mean it";
    GithubTrouble, "github_trouble", Warning,
        "GitHub answered with an error that may pass by itself",
        "run `gaffer doctor` again in a few minutes";
    AppKeyMismatch, "app_key_mismatch", Error,
        "GitHub does not take the App's signature: the private key belongs to another App, was deleted, or the id is wrong",
        "open the App's settings on GitHub, compare its App ID with GITHUB_APP_ID, and make a new private key there";

    NoSource, "no_source", Warning,
        "there is no repository to work on",
        "run `gaffer source add OWNER/REPO`";
    AccountUnknown, "account_unknown", Error,
        "the source names an account that is not there, so its jobs never start",
        "run `gaffer account add ACCOUNT`, or `gaffer source set REPO --account NAME`";
    AgentUnknown, "agent_unknown", Error,
        "the source names an agent that is not there, so no agent is woken",
        "run `gaffer agent add AGENT --url URL`, or `gaffer source set REPO --no-agent`";
    SourcePaused, "source_paused", Warning,
        "a person paused the source: nothing is written to Jules or GitHub for it",
        "run `gaffer source resume REPO`";
    NoBranch, "no_branch", Warning,
        "the source has no base branch, so every job has to name one",
        "run `gaffer source set REPO --branch NAME`";
    NotConnected, "not_connected", Error,
        "Jules has no access to the repository: its GitHub App is not installed there",
        "open https://jules.google.com, choose `Connect to GitHub`, and give the Jules app access to REPO";
    BranchNotInJules, "branch_not_in_jules", Warning,
        "Jules starts sessions from branches that it sees, and refuses creates from others",
        "push the branch BRANCH to REPO, or run `gaffer source set REPO --branch NAME`";

    RepoUnseen, "repo_unseen", Error,
        "nothing of the repository was seen on GitHub, so Gaffer does not know whether anything can be merged there",
        "mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer doctor` again";
    NotLookedAt, "not_looked_at", Warning,
        "what could not be seen may be wrong all the same, and nothing else is said of it",
        "mend what is told above, give the credential what is missing, or wait a few minutes, and run `gaffer doctor` again";
    RepoAbsent, "repo_absent", Error,
        "GitHub shows the credential no such repository: it does not exist, or the token may not see it",
        "check the name; for a private repository give the token the scope `repo`, or authorize it for the organization (SSO) at https://github.com/settings/tokens";
    RepoRenamed, "repo_renamed", Warning,
        "the repository was renamed or moved and is the same one by its number, so the jobs under way go on; what its branch demands was not looked at under the old name",
        "run `gaffer source add NEWNAME` with the settings of REPO for new jobs, and `gaffer source pause REPO` once its jobs are over";
    RepoMoved, "repo_moved", Error,
        "the name leads on to another one, and the repository was never read under the old one: Gaffer does not know whether it is the one that is meant, and nothing is done there",
        "run `gaffer source add NEWNAME` if that is the one that is meant, and `gaffer source pause REPO`";
    RepoReplaced, "repo_replaced", Error,
        "another repository bears the name than the one that was registered, and nothing is done there",
        "run `gaffer source set REPO --repository-id NUMBER` if the new one is meant, or `gaffer source pause REPO`";
    RepoArchived, "repo_archived", Error,
        "an archived or disabled repository takes no branch, no pull request and no merge",
        "open the repository's settings on GitHub and unarchive it, or run `gaffer source pause REPO`";
    BaseMissing, "base_missing", Error,
        "the base branch does not exist on GitHub, so no pull request can go there",
        "push the branch BRANCH to REPO, or run `gaffer source set REPO --branch NAME`";
    AppNotInstalled, "app_not_installed", Error,
        "the GitHub App has no access to the repository",
        "open the App's page on GitHub, choose `Install App`, and give it access to REPO";
    AppSuspended, "app_suspended", Error,
        "the App's installation is suspended: GitHub refuses all its calls",
        "open https://github.com/settings/installations (or the organization's) and choose `Unsuspend`";
    AppPermission, "app_permission", Error,
        "the App lacks permissions that Gaffer needs",
        "open the App's settings on GitHub, add them under `Permissions & events`, and accept the change for the installation";
    CannotWrite, "cannot_write", Error,
        "the credential may read the repository and not write to it, so it can neither merge nor comment",
        "give the token's owner the role `Write` in REPO, or use a token of a person who has it";
    ChecksForbidden, "checks_forbidden", Error,
        "the credential may not read check runs, and what cannot be read is never merged; fine-grained tokens cannot have this permission",
        "set GITHUB_TOKEN to a classic token with the scope `repo`, or run `gaffer github setup` for an App with `Checks: read`";
    ReadForbidden, "read_forbidden", Error,
        "the credential may not read something that a merge depends on, and what cannot be read is never merged",
        "give the token or the App this permission";
    ProtectionUnknown, "protection_unknown", Error,
        "the credential may not read the classic protection of the base branch and the source lists no checks, so what is demanded is unknown and nothing is merged",
        "run `gaffer source set REPO --required-check NAME` for each check that must pass, or give the token's owner the role `Admin` (an App `Administration: read`)";
    BypassesProtection, "bypasses_protection", Warning,
        "the token's owner is an administrator and the protection does not hold for administrators: GitHub itself would stop no merge of the token's",
        "open the branch protection rule of BRANCH and set `Do not allow bypassing the above settings`, or use a token of a person with the role `Write`";
    BypassesRuleset, "bypasses_ruleset", Warning,
        "the credential is on the bypass list of a ruleset: GitHub itself would stop no merge of it",
        "open the ruleset in the settings of REPO and take the credential's owner off the bypass list";

    NoCi, "no_ci", Error,
        "no workflow and no app reports checks, and the source asks for some, so nothing is ever merged",
        "add a workflow that runs on `pull_request` in REPO under .github/workflows, or run `gaffer source set REPO --min-checks 0` if you want none";
    CheckNeverRuns, "check_never_runs", Error,
        "a check that must pass was not reported on any recent commit, so every pull request waits for it for ever",
        "add what reports CHECK, or take it off the branch's rules or with `gaffer source set REPO --required-check NAME` for those that do run";
    CheckWrongApp, "check_wrong_app", Error,
        "the branch's rules accept the check only from another app than the one that reports it",
        "open the rules of BRANCH and choose the app that reports CHECK, or `any source`";
    NobodyApproves, "nobody_approves", Error,
        "the branch's rules demand more approvals than there are people with write access",
        "invite reviewers to REPO with the role `Write`, or lower the number of approvals in the rules of BRANCH";
    AuthorApproves, "author_approves", Error,
        "no person can approve a pull request of their own, and Jules opens them in the name of the only reviewers",
        "let Jules open pull requests as its bot (https://jules.google.com/settings), or invite another reviewer to REPO";
    ApprovalsNeeded, "approvals_needed", Warning,
        "green pull requests are merged by themselves only after a person has approved each of them",
        "approve them on GitHub, or take the approvals out of the rules of BRANCH";
    MergeQueue, "merge_queue", Error,
        "the branch merges through a merge queue, which Gaffer does not join: it merges nothing there",
        "take `Require merge queue` out of the rules of BRANCH, or run `gaffer source set REPO --merge human` and queue pull requests yourself";
    MergeGroupMissing, "merge_group_missing", Error,
        "no workflow runs on `merge_group`, so the merge queue waits for checks that never start",
        "add `merge_group:` under `on:` of the workflows in REPO that are required";
    MethodOff, "method_off", Error,
        "the repository or the branch's rules do not allow the merge method of the source, so GitHub refuses every merge",
        "run `gaffer source set REPO --merge-method METHOD`, or allow it in the repository's settings";
    DeployMissing, "deploy_missing", Error,
        "the workflow that deploys does not exist or is switched off, so each delivery fails after its merge",
        "add .github/workflows/FILE with `workflow_dispatch` under `on:` to REPO, or run `gaffer source set REPO --deploy none`";
    NoMinimum, "no_minimum", Warning,
        "pull requests may be merged without a single check that has run",
        "run `gaffer source set REPO --min-checks 1`";
    NothingRequired, "nothing_required", Warning,
        "pull requests are merged by themselves and no check is required by name: any one success is enough",
        "run `gaffer source set REPO --required-check NAME` for each check that must pass";
    JulesLabel, "jules_label", Warning,
        "putting the label `jules` on an issue starts a session of Jules's own, beside Gaffer and out of the same quota",
        "use another label for work that Gaffer is to do, and rename or delete the label `jules` in REPO if no user means it";
    IssuesUnread, "issues_unread", Warning,
        "the last reading of the source's issues failed, so no issue becomes a delivery until one succeeds",
        "mend what is told of GitHub and its credential above, or wait a few minutes, and run `gaffer source sync REPO`";
    ScheduleUnread, "schedule_unread", Warning,
        "the settings of the pipeline could not be read at the last look, so no run of it begins by itself until they can",
        "mend what is told of .jlo/config.toml in REPO, or of GitHub above; `gaffer pipeline list REPO` says when it is read again";

    WebhookNone, "webhook_none", Warning,
        "a webhook secret is kept and the repository has no webhook: changes are seen only when they are looked for",
        "add a webhook in the settings of REPO: content type `application/json`, the secret, and the address of Gaffer's webhook endpoint with /github/webhook; or forget the secret";
    WebhookElsewhere, "webhook_elsewhere", Error,
        "no webhook of the repository points at Gaffer's webhook endpoint, so changes are seen only when they are looked for",
        "open the webhooks in the settings of REPO and set the payload address to HOOK";
    WebhookInactive, "webhook_inactive", Error,
        "the webhook is switched off, so nothing arrives",
        "open the webhook in the settings of REPO and tick `Active`";
    WebhookEvents, "webhook_events", Warning,
        "the webhook does not tell of everything that Gaffer waits for; the rest is seen only when it is looked for",
        "open the webhook in the settings of REPO and tick the events that are missing";
    WebhookForm, "webhook_form", Error,
        "the webhook sends forms instead of JSON, which are refused",
        "open the webhook in the settings of REPO and set the content type to `application/json`";
    WebhookSecretMissing, "webhook_secret_missing", Error,
        "webhooks arrive and Gaffer keeps no secret to verify them with, so all are refused",
        "set GAFFER_WEBHOOK_SECRET to the webhook's secret and start `gaffer up` again";
    WebhookSecretMismatch, "webhook_secret_mismatch", Error,
        "Gaffer's webhook endpoint answers deliveries with 401: the webhook signs with another secret",
        "set the webhook's secret in the settings of REPO to the one of GAFFER_WEBHOOK_SECRET, and redeliver what failed";
    WebhookFails, "webhook_fails", Warning,
        "recent deliveries of the webhook failed: GitHub does not reach Gaffer's webhook endpoint, or it answers with an error",
        "look at `Recent Deliveries` of the webhook in the settings of REPO, and check that `gaffer up` runs and is reachable there";

    AgentDisabled, "agent_disabled", Error,
        "the agent takes no more wakes, usually because its receiver answered 410",
        "mend its receiver and run `gaffer agent set AGENT --enable`";
    AgentSecret, "agent_secret", Error,
        "wakes are signed, and without a secret that begins with `whsec_` none can be sent",
        "run `gaffer agent remove AGENT` and `gaffer agent add AGENT --url URL`, and give the receiver the new secret";
    AgentAddress, "agent_address", Error,
        "the address filter refuses where the agent is: wakes go to public addresses over HTTPS, or to hosts that you allow",
        "start `gaffer up` with `--allow-host HOST` if the host is yours, or run `gaffer agent set AGENT --url URL`";
    AgentUnreachable, "agent_unreachable", Error,
        "no connection to the agent comes about, so wakes wait and are given up in the end",
        "start its receiver, or run `gaffer agent set AGENT --url URL`";

    Paused, "paused", Warning,
        "a person paused everything: nothing is written to Jules or GitHub",
        "run `gaffer resume`";
    ObserveOnly, "observe_only", Warning,
        "nothing is written to Jules or GitHub, so nothing is begun, answered or merged",
        "start `gaffer up --data FOLDER` again without `--observe-only`";
    DeadWakes, "dead_wakes", Warning,
        "wakes were given up after all their attempts, so an agent missed something",
        "mend the agent's receiver, and send it once more with `gaffer wake replay --since 7d`";
    DeadLetters, "dead_letters", Warning,
        "messages were set aside because they could not be handled; what they named is looked at again by its own due time",
        "look at the log of `gaffer up` for the reason";
}

impl Code {
    /// The code, for programs.
    pub fn as_str(self) -> &'static str {
        self.row().code
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_words_and_none_is_there_twice() {
        let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), Code::ALL.len());
        for code in codes {
            assert!(
                code.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{code}"
            );
        }
    }

    #[test]
    fn every_code_has_a_cause_and_a_remedy_in_one_line() {
        for code in Code::ALL {
            let row = code.row();
            for text in [row.cause, row.mend] {
                assert!(text.len() > 15, "{}: {text}", row.code);
                assert!(
                    !text.contains(['\n', '|']) && !text.ends_with('.'),
                    "{}: {text}",
                    row.code
                );
            }
            assert_ne!(row.severity, Severity::Ok, "{}", row.code);
        }
    }
}
