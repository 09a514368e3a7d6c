//! What may be asked of which layer.

use super::*;

#[test]
fn a_role_is_named_where_there_are_roles_and_nowhere_else() {
    let with_role = |layer, role: Option<&str>| {
        let role = role.map(|role| role.parse().unwrap());
        let ask = Ask { role, ..ask(layer) };
        ready_for(layer).refuses(&ask)
    };
    let said = with_role(Layer::Observers, None);
    let first = "name one of them: cli_sentinel, codifier,";
    assert!(said.contains(first), "{said}");
    let said = with_role(Layer::Observers, Some("taxonmy"));
    assert!(said.contains("did you mean `taxonomy`?"), "{said}");
    let said = with_role(Layer::Innovators, Some("taxonomy"));
    assert!(said.contains("no role `taxonomy`"), "{said}");
    for layer in [
        Layer::Narrator,
        Layer::Decider,
        Layer::Planner,
        Layer::Implementer,
    ] {
        let said = with_role(layer, Some("taxonomy"));
        assert!(said.contains("leave the role out"), "{said}");
    }
}

#[test]
fn a_role_of_the_users_own_needs_no_built_in_one() {
    let repository =
        Repository::new().with(".jlo/roles/observers/billing/role.yml", "role: billing\n");
    let role = Some("billing".parse().unwrap());
    let ask = Ask {
        role,
        ..ask(Layer::Observers)
    };
    let prompt = repository.assemble(&ask).unwrap();
    assert!(prompt.text.contains("as the role `billing`."));
}

#[test]
fn only_innovators_choose_their_task() {
    let with_task = |layer, task: &str| Ask {
        task: Some(task.to_owned()),
        ..ask(layer)
    };
    let said = ready_for(Layer::Observers).refuses(&with_task(Layer::Observers, "observe"));
    assert!(said.contains("leave the task out"), "{said}");
    let wrong = with_task(Layer::Innovators, "create_three");
    let said = ready_for(Layer::Innovators).refuses(&wrong);
    assert!(
        said.contains("did you mean `create_three_proposals`?"),
        "{said}"
    );
    let outside = with_task(Layer::Innovators, "../../observers/tasks/observe");
    assert!(
        ready_for(Layer::Innovators)
            .refuses(&outside)
            .contains("there is no task")
    );
    let own = ".jules/roles/innovators/tasks/one_idea.yml";
    let repository = ready_for(Layer::Innovators).with(own, "task: one_idea\n");
    let prompt = repository
        .assemble(&with_task(Layer::Innovators, "one_idea"))
        .unwrap();
    assert!(prompt.text.contains("# Your task\ntask: one_idea\n"));
}

#[test]
fn a_requirement_lies_in_its_folder_and_is_there() {
    for layer in [Layer::Planner, Layer::Implementer] {
        let with = |path: Option<&str>| {
            let requirement = path.map(|path| path.parse().unwrap());
            ready_for(layer).refuses(&Ask {
                requirement,
                ..ask(layer)
            })
        };
        assert!(with(None).contains("name its file"), "{}", with(None));
        for path in [
            "src/lib.rs",
            ".jules/exchange/requirements",
            ".jules/exchange/requirements/a.md",
            ".jules/exchange/events/pending/aa11bb-a-leak.yml",
            ".jules/exchange/requirements.yml",
        ] {
            assert!(with(Some(path)).contains("is no requirement"), "{path}");
        }
        let gone = with(Some(".jules/exchange/requirements/gone.yml"));
        assert!(gone.contains("is not there as a text: "), "{gone}");
        let near = with(Some(REQUIREMENT.replace("close", "clsoe").as_str()));
        let meant = format!("(did you mean `{REQUIREMENT}`?)");
        assert!(near.contains(&meant), "{near}");
    }
    let requirement = Some(REQUIREMENT.parse().unwrap());
    let ask = Ask {
        requirement,
        ..ask(Layer::Decider)
    };
    assert!(
        ready_for(Layer::Decider)
            .refuses(&ask)
            .contains("leave it out")
    );
}

#[test]
fn a_requirement_goes_to_the_layer_that_it_is_ready_for() {
    let said = |layer, text: &str| {
        let repository = Repository::new().with(REQUIREMENT, text);
        match repository.assemble(&ask(layer)) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let (ready, not_ready) = (
        requirement_text("bugs", false),
        requirement_text("bugs", true),
    );
    assert_eq!(said(Layer::Implementer, &ready), "");
    assert_eq!(said(Layer::Planner, &not_ready), "");
    assert!(said(Layer::Implementer, &not_ready).contains("let the planner expand it first"));
    assert!(said(Layer::Planner, &ready).contains("can be implemented as it is"));
    let records = Records {
        as_it_is: true,
        ..Records::default()
    };
    let started = Ask {
        records,
        ..ask(Layer::Implementer)
    };
    let repository = Repository::new().with(REQUIREMENT, &not_ready);
    assert!(repository.assemble(&started).is_ok(), "a person wants it");
    let older = |ready: bool| {
        let mark = format!("implementation_ready: {ready}");
        requirement_text("bugs", false).replace("requires_deep_analysis: false", &mark)
    };
    assert_eq!(said(Layer::Implementer, &older(true)), "");
    assert_eq!(said(Layer::Planner, &older(false)), "");
    let unmarked = requirement_text("bugs", false).replace("requires_deep_analysis", "other");
    assert!(said(Layer::Planner, &unmarked).contains("does not say"));
}

#[test]
fn a_requirement_has_an_id_and_a_label_that_is_known() {
    let said = |text: &str| {
        let repository = Repository::new().with(REQUIREMENT, text);
        repository.refuses(&ask(Layer::Implementer))
    };
    let wrong = said(&requirement_text("bug", false));
    assert!(wrong.contains("did you mean `bugs`?"), "{wrong}");
    let sly = said(&requirement_text("'../bugs'", false));
    assert!(sly.contains("has the label `../bugs`"), "{sly}");
    let unnamed = said(&requirement_text("bugs", false).replace("cc22dd", "cc"));
    assert!(
        unnamed.contains("has no `id` of six characters"),
        "{unnamed}"
    );
    let broken = said("id: [\n");
    assert!(broken.contains(&format!("{REQUIREMENT}:")), "{broken}");
}

#[test]
fn the_implementers_task_is_that_of_the_label() {
    for label in ["bugs", "feats", "refacts", "tests", "docs"] {
        let repository = Repository::new().with(REQUIREMENT, &requirement_text(label, false));
        let prompt = repository.assemble(&ask(Layer::Implementer)).unwrap();
        assert!(
            prompt
                .text
                .contains(&format!("# Your task\ntask: {label}\n"))
        );
        let branch = format!("`jules-implementer-{label}-id0000-close-the-file`");
        assert!(prompt.text.contains(&branch), "{}", prompt.text);
    }
}

#[test]
fn a_prompt_hands_out_different_ids() {
    for layer in Layer::ALL {
        let mut few = ask(layer);
        few.ids.pop();
        assert!(
            ready_for(layer).refuses(&few).contains("different ids"),
            "{layer}"
        );
    }
    let mut twice = ask(Layer::Observers);
    twice.ids[1] = twice.ids[0].clone();
    assert!(
        ready_for(Layer::Observers)
            .refuses(&twice)
            .contains("and 3 were given")
    );
}

#[test]
fn a_tree_without_the_systems_files_says_what_is_missing() {
    let empty = Repository {
        tree: Tree::default(),
    };
    assert!(
        empty
            .refuses(&ask(Layer::Narrator))
            .contains("bootstrap the repository first")
    );
    let mut repository = Repository::new();
    let template = ".jules/roles/narrator/narrator_prompt.j2".parse().unwrap();
    repository.tree.remove(&template);
    let said = repository.refuses(&ask(Layer::Narrator));
    assert!(said.contains(template.as_str()), "{said}");
}

#[test]
fn a_decider_is_not_shown_what_is_being_implemented() {
    for (layer, is_shown) in [
        (Layer::Decider, false),
        (Layer::Observers, true),
        (Layer::Innovators, true),
    ] {
        let taken = vec![REQUIREMENT.parse().unwrap()];
        let ask = Ask {
            records: Records {
                taken,
                ..Records::default()
            },
            ..ask(layer)
        };
        let prompt = ready_for(layer).assemble(&ask).unwrap();
        assert_eq!(prompt.text.contains(REQUIREMENT), is_shown, "{layer}");
    }
}

#[test]
fn a_plan_that_was_given_stands_before_the_output() {
    let plan = "Work along this plan.\n```text plan\nTake the first way.\n```".to_owned();
    let section = format!("\n---\n# The plan\n{plan}\n---\n# Output\n");
    let records = Records {
        plan,
        ..Records::default()
    };
    let ask = Ask {
        records,
        ..ask(Layer::Implementer)
    };
    let prompt = ready_for(Layer::Implementer).assemble(&ask).unwrap();
    assert!(prompt.text.contains(&section), "{}", prompt.text);
}
