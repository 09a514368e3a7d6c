//! The rules by tables: what cannot be produced outside, what must stay silent, and texts from outside.

use expect_test::expect;
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::facts::{Demands, Fact, RequiredCheck};
use crate::governor::Limits;
use crate::ids::{RepoId, RepoName};
use crate::pipeline::PipelineRules;
use crate::policy::{MergeMethod, MergePolicy, Source};

fn source() -> Source {
    Source {
        branch: Some("main".parse().unwrap()),
        ..Source::new("acme/shop".parse().unwrap(), "default".parse().unwrap())
    }
}

fn repository() -> Repository {
    Repository {
        id: Some(RepoId(7)),
        archived: false,
        may: Some(Permissions {
            admin: false,
            push: true,
        }),
        missing: Vec::new(),
        methods: Some(vec![MergeMethod::Squash]),
        base: Fact::Known(true),
        checks: Fact::Known(ReportedChecks {
            heads: 1,
            seen: vec![("build".to_owned(), Some(15_368))],
        }),
        pulls: Fact::Known(()),
        workflows: Fact::Known(Workflows {
            files: vec![".github/workflows/ci.yml".to_owned()],
            merge_group: None,
        }),
        rules: Fact::Known(RulesetDemands::default()),
        protection: Fact::Known(None),
        reviewers: Fact::Known(vec!["ann".to_owned(), "bob".to_owned()]),
        authors: Vec::new(),
        jules_label: Fact::Known(false),
        hooks: Fact::Known(Vec::new()),
    }
}

fn forbidden<T>(permission: &str) -> Fact<T> {
    let permission = permission.to_owned();
    Fact::Forbidden { permission }
}

/// Everything as it should be.
fn healthy() -> Facts {
    let repo: RepoName = "acme/shop".parse().unwrap();
    Facts {
        machine: MachineFacts {
            folder: "DATA".to_owned(),
            data: DataFacts::Readable,
            mode: Some(0o700),
            disk_free: Some(1 << 40),
            is_worked_over: true,
            api_token: SecretStatus::Missing,
        },
        installation: Some(InstallationFacts {
            now: Timestamp::constant(1_800_000_000, 0),
            clocks: vec![Skew {
                service: "GitHub",
                ahead: SignedDuration::from_secs(2),
            }],
            newest: None,
            paused_since: None,
            observe_only: false,
            dead_letters: 0,
            webhook_secret: SecretStatus::Missing,
            webhook_url: None,
            github: CredentialFacts {
                kept: SecretStatus::Here(CredentialKind::GithubClassic),
                app_id: None,
                identity: Some(CredentialIdentity::Person {
                    login: "ann".to_owned(),
                    scopes: Some(vec!["repo".to_owned()]),
                }),
                hook: Fact::Known(None),
            },
            accounts: vec![AccountFacts {
                name: "default".parse().unwrap(),
                limits: Limits::default(),
                learned: None,
                key: SecretStatus::Here(CredentialKind::Google),
                connected: Some(Ok(vec![repo])),
                others: Fact::Known(Vec::new()),
            }],
            agents: Vec::new(),
            sources: vec![SourceFacts {
                source: source(),
                account_known: true,
                agent_known: true,
                number: Some(RepoId(7)),
                jules_branches: Fact::Known(None),
                repository: Some(RepositoryFacts::Found(Box::new(repository()))),
                unread: None,
                schedule_unread: None,
            }],
        }),
    }
}

/// The codes of what is wrong after a change of the machine or the installation.
fn codes(change: impl FnOnce(&mut Facts, &mut InstallationFacts)) -> Vec<&'static str> {
    let mut facts = healthy();
    let mut installation = facts.installation.take().unwrap();
    change(&mut facts, &mut installation);
    facts.installation = Some(installation);
    let findings = examine(&facts);
    let wrong = findings.iter().filter(|it| it.severity != Severity::Ok);
    wrong.map(|finding| finding.code).collect()
}

/// The same after a change of the repository and the source.
fn in_repo(change: impl FnOnce(&mut Repository, &mut Source)) -> Vec<&'static str> {
    codes(|_, installation| {
        let mut facts = installation.sources.pop().unwrap();
        let mut found = repository();
        change(&mut found, &mut facts.source);
        facts.repository = Some(RepositoryFacts::Found(Box::new(found)));
        installation.sources.push(facts);
    })
}

fn demanding(checks: &[&str], approvals: u32) -> Fact<RulesetDemands> {
    let checks = checks.iter().map(|name| RequiredCheck {
        name: (*name).to_owned(),
        app: None,
    });
    Fact::Known(RulesetDemands {
        demands: Demands {
            checks: checks.collect(),
            approvals,
            ..Demands::default()
        },
        ..RulesetDemands::default()
    })
}

#[test]
fn nothing_is_wrong_with_a_healthy_installation() {
    assert_eq!(codes(|_, _| {}), Vec::<&str>::new());
}

#[test]
fn disks_are_told_before_they_are_full() {
    for (free, wanted) in [
        (0, vec!["disk_full"]),
        (DISK_FULL_BYTES - 1, vec!["disk_full"]),
        (DISK_FULL_BYTES, vec!["disk_low"]),
        (DISK_LOW_BYTES - 1, vec!["disk_low"]),
        (DISK_LOW_BYTES, vec![]),
    ] {
        assert_eq!(
            codes(|facts, _| facts.machine.disk_free = Some(free)),
            wanted,
            "{free}"
        );
    }
    let mut facts = healthy();
    facts.machine.disk_free = Some(3 * 1024 * 1024);
    let first = examine(&facts).remove(0);
    expect![[r#"
        (
            "3 MiB are free on its disk",
            Some(
                "free space on the disk of DATA, or move the folder and name it with `--data DIR`",
            ),
        )
    "#]]
    .assert_debug_eq(&(first.what, first.mend));
}

#[test]
fn clocks_are_wrong_in_both_directions() {
    for (seconds, wrong) in [
        (0, false),
        (60, false),
        (-60, false),
        (61, true),
        (-61, true),
    ] {
        let found = codes(|_, it| it.clocks[0].ahead = SignedDuration::from_secs(seconds));
        assert_eq!(found == ["clock_skew"], wrong, "{seconds}");
    }
    assert_eq!(codes(|_, it| it.clocks.clear()), Vec::<&str>::new());
}

#[test]
fn what_was_stored_by_a_clock_that_was_ahead_is_told() {
    for (seconds, told) in [
        (-3_600, false),
        (0, false),
        (60, false),
        (61, true),
        (3_600, true),
    ] {
        let newest = Timestamp::constant(1_800_000_000 + seconds, 0);
        let found = codes(|_, it| it.newest = Some(newest));
        assert_eq!(found == ["clock_was_ahead"], told, "{seconds}");
    }
}

#[test]
fn what_cannot_be_read_is_told_alone() {
    let mut facts = healthy();
    facts.installation = None;
    facts.machine.data = DataFacts::Missing;
    let codes: Vec<&str> = examine(&facts).iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["data_missing"]);
}

#[test]
fn limits_fit_a_plan() {
    for (concurrent, per_day, wrong) in [
        (3, 15, false),
        (15, 100, false),
        (60, 300, false),
        (1, 300, false),
        (3, 40, false),
        (4, 15, true),
        (16, 100, true),
        (61, 300, true),
        (1, 301, true),
    ] {
        let limits = Limits {
            concurrent,
            per_day,
        };
        let found = codes(|_, it| it.accounts[0].limits = limits);
        assert_eq!(found == ["limits_above_plan"], wrong, "{limits:?}");
    }
    assert_eq!(
        codes(|_, it| it.accounts[0].learned = Some(1)),
        ["limits_above_plan"]
    );
    assert_eq!(
        codes(|_, it| it.accounts[0].learned = Some(3)),
        Vec::<&str>::new()
    );
}

#[test]
fn what_was_not_seen_is_neither_blamed_nor_said_to_be_fine() {
    let unknown = || "GitHub did not answer".to_owned();
    let silent: [fn(&mut Repository, String); 9] = [
        |it, why| it.base = Fact::Unknown { why },
        |it, why| it.checks = Fact::Unknown { why },
        |it, why| it.pulls = Fact::Unknown { why },
        |it, why| it.workflows = Fact::Unknown { why },
        |it, why| it.rules = Fact::Unknown { why },
        |it, why| it.protection = Fact::Unknown { why },
        |it, why| it.reviewers = Fact::Unknown { why },
        |it, why| it.hooks = Fact::Unknown { why },
        |it, why| it.jules_label = Fact::Unknown { why },
    ];
    for forget in silent {
        let found = in_repo(|it, _| {
            it.rules = demanding(&["build"], 1);
            forget(it, unknown());
        });
        assert_eq!(found, ["not_looked_at"]);
    }
    // Who may approve matters where approvals are demanded.
    let found = in_repo(|it, _| it.reviewers = Fact::Unknown { why: unknown() });
    assert_eq!(found, Vec::<&str>::new());
    // A check that only pull requests have is not blamed where those could not be listed.
    let found = in_repo(|it, _| {
        it.rules = demanding(&["lint"], 0);
        it.pulls = Fact::Unknown { why: unknown() };
    });
    assert_eq!(found, ["not_looked_at"]);
}

#[test]
fn what_nobody_was_asked_about_is_not_said_to_be_fine() {
    let why = || "Jules did not answer".to_owned();
    let found = codes(|_, it| it.sources[0].repository = None);
    assert_eq!(found, ["repo_unseen"]);
    let found = codes(|_, it| {
        it.sources[0].repository = None;
        it.sources[0].source.branch = None;
    });
    assert_eq!(found, ["no_branch", "not_looked_at"]);
    let found = codes(|_, it| it.accounts[0].connected = None);
    assert_eq!(found, ["not_looked_at"]);
    let found = codes(|_, it| it.sources[0].jules_branches = Fact::Unknown { why: why() });
    assert_eq!(found, ["not_looked_at"]);
    let found = codes(|_, it| it.accounts[0].others = Fact::Unknown { why: why() });
    assert_eq!(found, ["not_looked_at"]);
}

#[test]
fn webhooks_that_may_not_be_seen_are_told_where_they_are_meant() {
    let hidden = |it: &mut InstallationFacts| {
        let mut found = repository();
        found.hooks = forbidden("Webhooks: read");
        it.sources[0].repository = Some(RepositoryFacts::Found(Box::new(found)));
    };
    assert_eq!(codes(|_, it| hidden(it)), Vec::<&str>::new());
    let meant = codes(|_, it| {
        hidden(it);
        it.webhook_url = Some("https://gaffer.example.com/github/webhook".to_owned());
    });
    assert_eq!(meant, ["not_looked_at"]);
    let of_app = codes(|_, it| {
        it.github.hook = Fact::Unknown {
            why: "GitHub did not answer".to_owned(),
        };
    });
    assert_eq!(of_app, ["not_looked_at"]);
}

#[test]
fn nobody_says_what_is_fine_with_a_credential_that_is_not() {
    let mut facts = healthy();
    let installation = facts.installation.as_mut().unwrap();
    installation.github.identity = Some(CredentialIdentity::Person {
        login: "ann".to_owned(),
        scopes: Some(Vec::new()),
    });
    let findings = examine(&facts);
    let of_source = findings.iter().find(|it| it.code == "source").unwrap();
    assert_eq!(of_source.what, "Jules and GitHub show it");
}

#[test]
fn a_repository_is_known_by_its_number() {
    let renamed = |number: Option<u64>, id: Option<u64>| {
        codes(|_, it| {
            it.sources[0].number = number.map(RepoId);
            it.sources[0].repository = Some(RepositoryFacts::Renamed {
                to: Some("acme/store".to_owned()),
                id: id.map(RepoId),
            });
        })
    };
    assert_eq!(renamed(Some(7), Some(7)), ["repo_renamed"]);
    assert_eq!(renamed(Some(7), None), ["repo_renamed"]);
    assert_eq!(renamed(Some(7), Some(8)), ["repo_replaced"]);
    assert_eq!(renamed(None, Some(7)), ["repo_moved"]);
    assert_eq!(
        codes(|_, it| it.sources[0].number = Some(RepoId(8))),
        ["repo_replaced"]
    );
    assert_eq!(codes(|_, it| it.sources[0].number = None), [""; 0]);
}

#[test]
fn a_new_repository_is_not_blamed() {
    // A new repository, in which nothing has run yet.
    let found = in_repo(|it, source| {
        it.checks = Fact::Known(ReportedChecks::default());
        source.policy.required_checks = vec!["build".to_owned()];
    });
    assert_eq!(found, Vec::<&str>::new());
}

#[test]
fn a_status_serves_whatever_app_the_rule_names() {
    for (app, wanted) in [
        (None, vec![]),
        (Some(1), vec!["check_wrong_app"]),
        (Some(7), vec![]),
    ] {
        let found = in_repo(|it, _| {
            it.checks = Fact::Known(ReportedChecks {
                heads: 1,
                seen: vec![("build".to_owned(), app)],
            });
            let Fact::Known(mut rules) = demanding(&["build"], 0) else {
                return;
            };
            rules.demands.checks[0].app = Some(7);
            it.rules = Fact::Known(rules);
        });
        assert_eq!(found, wanted, "{app:?}");
    }
}

#[test]
fn approvals_need_people_other_than_the_author() {
    for (approvals, authors, wanted) in [
        (0, vec!["ann", "bob"], vec![]),
        (1, vec![], vec![]),
        (1, vec!["ann"], vec![]),
        (1, vec!["Ann", "BOB"], vec!["author_approves"]),
        (2, vec!["ann"], vec!["author_approves"]),
        (2, vec!["google-labs-jules[bot]"], vec![]),
        (3, vec![], vec!["nobody_approves"]),
    ] {
        let found = in_repo(|it, _| {
            it.rules = demanding(&[], approvals);
            it.authors = authors.iter().map(|author| (*author).to_owned()).collect();
        });
        assert_eq!(found, wanted, "{approvals} {authors:?}");
    }
}

#[test]
fn only_checks_of_the_source_stand_in_for_protection_that_may_not_be_read() {
    let hidden = || forbidden("Administration: read");
    assert_eq!(
        in_repo(|it, _| it.protection = hidden()),
        ["protection_unknown"]
    );
    let by_rules = in_repo(|it, _| {
        it.protection = hidden();
        it.rules = demanding(&["build"], 0);
    });
    assert_eq!(by_rules, ["protection_unknown"]);
    let by_source = in_repo(|it, source| {
        it.protection = hidden();
        it.rules = forbidden("Metadata: read");
        source.policy.required_checks = vec!["build".to_owned()];
    });
    assert_eq!(by_source, Vec::<&str>::new());
}

#[test]
fn a_fine_grained_token_is_told_once() {
    let found = codes(|_, it| {
        it.github.kept = SecretStatus::Here(CredentialKind::GithubFineGrained);
        let mut found = repository();
        found.checks = forbidden("Checks: read");
        found.base = forbidden("Checks: read");
        found.protection = forbidden("Checks: read");
        it.sources[0].repository = Some(RepositoryFacts::Found(Box::new(found)));
    });
    assert_eq!(found, ["checks_forbidden"]);
    let refused = codes(|_, it| {
        it.github.kept = SecretStatus::Here(CredentialKind::GithubFineGrained);
        it.sources[0].repository = Some(RepositoryFacts::Forbidden {
            why: "Checks: read".to_owned(),
        });
    });
    assert_eq!(refused, ["checks_forbidden"]);
}

#[test]
fn a_queue_matters_to_those_who_merge_by_themselves() {
    let queued = |merge| {
        in_repo(|it, source| {
            source.policy.merge = merge;
            source.policy.required_checks = vec!["build".to_owned()];
            let Fact::Known(mut rules) = demanding(&["build"], 0) else {
                return;
            };
            rules.demands.merge_queue = true;
            it.rules = Fact::Known(rules);
        })
    };
    assert_eq!(queued(MergePolicy::OnGreen), ["merge_queue"]);
    assert_eq!(queued(MergePolicy::Human), Vec::<&str>::new());
}

#[test]
fn texts_from_outside_hide_no_secret_and_move_no_cursor() {
    let login = "ghp_0123456789012345678901234567890123456\u{1b}[2J\nok  everything";
    let mut facts = healthy();
    let installation = facts.installation.as_mut().unwrap();
    installation.github.identity = Some(CredentialIdentity::Refused {
        why: login.to_owned(),
    });
    let SourceFacts { repository, .. } = &mut installation.sources[0];
    *repository = Some(RepositoryFacts::Renamed {
        to: Some("`rm -rf ~`".to_owned()),
        id: None,
    });
    for finding in examine(&facts) {
        let text = format!("{finding:?}");
        assert!(
            !text.contains("ghp_0123") && !text.contains("rm -rf"),
            "{text}"
        );
        assert!(!finding.what.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn what_only_deliveries_need_is_told_of_sources_that_have_them() {
    let old_app = [
        "actions: write",
        "deployments: read",
        "issues: write",
        "statuses: write",
    ];
    let lacking = |change: &dyn Fn(&mut Source)| {
        let mut facts = healthy();
        let installation = facts.installation.as_mut().unwrap();
        let of_source = &mut installation.sources[0];
        change(&mut of_source.source);
        let found = Repository {
            missing: old_app.map(str::to_owned).to_vec(),
            ..repository()
        };
        of_source.repository = Some(RepositoryFacts::Found(Box::new(found)));
        let findings = examine(&facts);
        let mut lacking = findings
            .into_iter()
            .filter(|it| it.code == "app_permission");
        lacking.next().map(|finding| finding.what)
    };
    assert_eq!(lacking(&|_| {}), None);
    let labelled = |source: &mut Source| {
        source.deliveries.label = Some("gaffer".parse().unwrap());
    };
    assert_eq!(
        lacking(&labelled).as_deref(),
        Some("it lacks `issues: write`")
    );
    let piped = |source: &mut Source| source.pipeline = Some(PipelineRules::default());
    assert_eq!(
        lacking(&piped).as_deref(),
        Some("it lacks `issues: write`, `statuses: write`")
    );
    for (deploy, permission) in [
        ("workflow:deploy.yml@main", "actions: write"),
        ("deployment:production", "deployments: read"),
    ] {
        let deploys = |source: &mut Source| source.deliveries.deploy = deploy.parse().unwrap();
        let what = format!("it lacks `{permission}`");
        assert_eq!(lacking(&deploys), Some(what), "{deploy}");
    }
    let needed_by_all = in_repo(|found, _| found.missing.push("checks: read".to_owned()));
    assert_eq!(needed_by_all, ["app_permission"]);
}

#[test]
fn issues_that_could_not_be_read_are_told() {
    let told = codes(|_, it| it.sources[0].unread = Some("GitHub answers 502".to_owned()));
    assert_eq!(told, ["issues_unread"]);
    let told = codes(|_, it| it.sources[0].schedule_unread = Some("no such day".to_owned()));
    assert_eq!(told, ["schedule_unread"]);
}

/// Each delivery would be merged and then fail.
#[test]
fn a_workflow_that_deploys_and_is_not_there_is_told() {
    let told = |deploy: &str, endpoint: &str| {
        let codes = in_repo(|_, source| {
            source.deliveries.deploy = deploy.parse().unwrap();
            source.deliveries.endpoint = endpoint.parse().unwrap();
        });
        codes.contains(&"deploy_missing")
    };
    assert!(told("workflow:none.yml@main", "deploy"));
    assert!(told("workflow:none.yml@main", "observe"));
    assert!(!told("workflow:none.yml@main", "verify"));
    assert!(!told("workflow:ci.yml@main", "deploy"));
    assert!(!told("none", "deploy"));
}

#[test]
fn a_webhook_without_the_events_of_issues_is_told_of_sources_that_take_issues() {
    let hear = |extra: &'static [&'static str], label: Option<&str>| {
        codes(|_, it| {
            it.webhook_secret = SecretStatus::Here(CredentialKind::Plain);
            let of_source = &mut it.sources[0];
            of_source.source.deliveries.label = label.map(|label| label.parse().unwrap());
            let events = EVENTS_WANTED.iter().chain(extra);
            let hook = Hook {
                url: "https://gaffer.example.com/github/webhook".to_owned(),
                active: true,
                json: true,
                events: events.map(|event| (*event).to_owned()).collect(),
                answers: Fact::Known(vec![Some(202)]),
            };
            let found = Repository {
                hooks: Fact::Known(vec![hook]),
                ..repository()
            };
            of_source.repository = Some(RepositoryFacts::Found(Box::new(found)));
        })
    };
    let quiet = Vec::<&str>::new();
    assert_eq!(hear(&[], None), quiet);
    assert_eq!(hear(&[], Some("gaffer")), ["webhook_events"]);
    assert_eq!(hear(&["issues"], Some("gaffer")), ["webhook_events"]);
    assert_eq!(hear(&["issues", "issue_comment"], Some("gaffer")), quiet);
}
