//! What settings of deliveries may be.

use expect_test::expect;

use super::*;

#[test]
fn defaults_are_safe_and_a_source_without_settings_takes_nothing_in() {
    let rules: Rules = serde_json::from_str("{}").unwrap();
    assert_eq!(rules, Rules::default());
    expect![[r#"{"endpoint":"deploy","checkpoints":["plan","implement","review"],"checkpoints_by":"people","plan_by":"jules","review_rounds":3,"attempts":3,"deploy":"none","observe":"none","comment":true}"#]]
        .assert_eq(&serde_json::to_string(&rules).unwrap());
}

#[test]
fn the_agent_reviews_where_there_is_one_else_a_person() {
    let unset = Rules::default();
    assert_eq!(unset.with_agent(true).reviewer(), ReviewBy::Agent);
    assert_eq!(unset.with_agent(false).reviewer(), ReviewBy::Human);
    let by_agent = Rules {
        review_by: Some(ReviewBy::Agent),
        ..Rules::default()
    };
    assert_eq!(by_agent.with_agent(true).reviewer(), ReviewBy::Agent);
    assert_eq!(by_agent.with_agent(false).reviewer(), ReviewBy::Human);
    for by in [ReviewBy::Human, ReviewBy::Jules, ReviewBy::Nobody] {
        let rules = Rules {
            review_by: Some(by),
            ..Rules::default()
        };
        assert_eq!(rules.with_agent(true).reviewer(), by);
        assert_eq!(rules.with_agent(false).reviewer(), by);
    }
}

#[test]
fn what_would_never_act_is_refused() {
    let ending = |endpoint: &str, deploy: &str, observe: &str| {
        let rules = Rules {
            endpoint: endpoint.parse().unwrap(),
            deploy: deploy.parse().unwrap(),
            observe: observe.parse().unwrap(),
            ..Rules::default()
        };
        rules.check()
    };
    let workflow = "workflow:ship.yml@main";
    assert_eq!(
        ending("verify", workflow, "none"),
        Err(OddRules::NeverDeployed)
    );
    assert_eq!(ending("deploy", workflow, "none"), Ok(()));
    assert_eq!(
        ending("deploy", "none", "soak:30m"),
        Err(OddRules::NeverObserved)
    );
    assert_eq!(ending("observe", workflow, "soak:30m"), Ok(()));
}

#[test]
fn odd_settings_are_refused() {
    for label in ["jules", "JULES", " Jules "] {
        assert_eq!(label.parse::<IntakeLabel>(), Err(OddRules::LabelOfJules));
    }
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for label in ["", "  ", "a\nb", "a,b", &"x".repeat(51), &token] {
        let refused = label.parse::<IntakeLabel>();
        assert!(matches!(refused, Err(OddRules::Label(_))), "{refused:?}");
    }
    for wrong in [
        "",
        "None",
        "workflow:",
        "workflow:a.yml",
        "workflow:a.sh@main",
        "workflow:../a.yml@main",
        "workflow:a.yml@",
        "deployment:",
        "deployment:a\nb",
    ] {
        assert_eq!(
            wrong.parse::<Deploy>(),
            Err(OddRules::Deploy(wrong.to_owned()))
        );
    }
    for wrong in ["", "soak:", "soak:30", "soak:0s", "soak:-5m", "soak:200h"] {
        assert_eq!(
            wrong.parse::<Observe>(),
            Err(OddRules::Observe(wrong.to_owned()))
        );
    }
    let check = |review_rounds, attempts| {
        let rules = Rules {
            review_rounds,
            attempts,
            ..Rules::default()
        };
        rules.check()
    };
    let ends = |endpoint: &str, checkpoints: &[Phase]| {
        let rules = Rules {
            endpoint: endpoint.parse().unwrap(),
            checkpoints: Checkpoints::at(checkpoints).unwrap(),
            ..Rules::default()
        };
        rules.check()
    };
    let late = OddRules::NeverReached(Phase::Review, Phase::Implement);
    assert_eq!(ends("implement", &[Phase::Plan, Phase::Review]), Err(late));
    assert_eq!(ends("implement", &[Phase::Plan, Phase::Implement]), Ok(()));
    assert_eq!(check(0, 1), Ok(()));
    assert_eq!(check(21, 1), Err(OddRules::Rounds(21)));
    assert_eq!(check(3, 0), Err(OddRules::Attempts(0)));
}

#[test]
fn ways_to_deploy_and_observe_are_written_as_they_are_read() {
    for text in ["none", "workflow:deploy.yml@main", "deployment:production"] {
        assert_eq!(text.parse::<Deploy>().unwrap().to_string(), text);
    }
    for text in ["none", "soak:30m"] {
        assert_eq!(text.parse::<Observe>().unwrap().to_string(), text);
    }
    let label: IntakeLabel = "Gaffer".parse().unwrap();
    assert!(label.is_among(&["bug".to_owned(), "gaffer".to_owned()]));
    assert!(!label.is_among(&["bug".to_owned()]));
}
