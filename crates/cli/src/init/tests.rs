//! A first hour with a person at the terminal, against the sandbox.

use std::collections::VecDeque;

use clap::Parser;
use sandbox::github::DEFAULT_TOKEN;
use sandbox::{DEFAULT_KEY, Options, Sandbox, Scenario};

use super::person::Scripted;
use super::*;
use crate::args::{Command, CommandLine};
use crate::settings::Environment;

fn parsed(arguments: &[&str]) -> InitArgs {
    let words = ["gaffer", "init"].iter().chain(arguments);
    let Command::Init(args) = CommandLine::try_parse_from(words).unwrap().command else {
        panic!("another command")
    };
    *args
}

async fn answered(
    folder: &std::path::Path,
    sandbox: &Sandbox,
    answers: &[&'static str],
) -> Result<(Answer, usize)> {
    let args = parsed(&[
        "--jules-base",
        &sandbox.jules_base(),
        "--github-base",
        &sandbox.github_base(),
    ]);
    let here = CommandContext {
        stack: None,
        folder: folder.join("data"),
        environment: Environment::default(),
    };
    let person = Scripted {
        answers: VecDeque::from(answers.to_vec()),
        asked: Vec::new(),
    };
    let mut first_hour = InitRun::new(args, &here, Some(Box::new(person))).await?;
    Box::pin(first_hour.run()).await
}

#[tokio::test]
async fn what_is_not_given_is_asked_for_once() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::start(Options::real_time(Scenario::default()))
        .await
        .unwrap();
    let wake = "http://127.0.0.1:9/wake";
    let all = [DEFAULT_KEY, "", DEFAULT_TOKEN, wake, "on-green"];
    let (first, errors) = answered(folder.path(), &sandbox, &all).await.unwrap();
    let told = format!("{first:?}");
    // Nothing listens at the agent's address.
    assert_eq!(errors, 1, "{told}");
    assert!(!told.contains("Start it with"), "{told}");
    for said in [
        "Jules takes the key",
        "source acme/shop is added",
        "agent `helper` is added",
        "on-green",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(
        !told.contains(DEFAULT_KEY) && !told.contains("whsec_"),
        "{told}"
    );
    // What is stored is not asked for again; an agent and a policy are asked for with a new source only.
    let again = answered(folder.path(), &sandbox, &["acme/shop"]).await;
    let told = format!("{:?}", again.unwrap());
    assert!(told.contains("kept     source acme/shop"), "{told}");
    sandbox.stop().await;
}

#[tokio::test]
async fn a_bad_answer_is_asked_for_again() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::start(Options::real_time(Scenario::default()))
        .await
        .unwrap();
    let answers = [
        // The key: a token, then one that Jules refuses, then the right one.
        "ghp_0123456789012345678901",
        "AIzaWrong",
        DEFAULT_KEY,
        // The repository: no name, then one that Jules does not see.
        "shop",
        "acme/shpo",
        "acme/shop",
        // The token: one that GitHub refuses.
        "ghp_wrong",
        DEFAULT_TOKEN,
        "bot",
        "",
        "perhaps",
        "human",
    ];
    let (done, errors) = answered(folder.path(), &sandbox, &answers).await.unwrap();
    assert_eq!(errors, 0, "{done:?}");
    assert!(format!("{done:?}").contains("source acme/shop is added"));
    sandbox.stop().await;
}

#[tokio::test]
async fn a_key_that_jules_refuses_is_not_stored() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::start(Options::real_time(Scenario::default()))
        .await
        .unwrap();
    // An empty answer to the repeated question gives up.
    let error = answered(folder.path(), &sandbox, &["AIzaWrong", ""])
        .await
        .unwrap_err();
    let told = crate::error::describe(&error);
    assert!(told.what.contains("the Jules key is not given"), "{told:?}");
    assert!(!format!("{told:?}").contains("AIzaWrong"), "{told:?}");
    assert!(!folder.path().join("data/secrets/jules").exists());
    sandbox.stop().await;
}
