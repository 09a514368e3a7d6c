//! Prompts of the older generation: lists of files, put in one after the other.

use super::*;

const LIST: &str = ".jules/roles/observers/qa/prompt.yml";
const ISSUE: &str = ".jules/workstreams/generic/issues/bugs/close-the-file.yml";
const EVENT: &str = ".jules/workstreams/generic/events/pending/a-leak.yml";

/// A repository as the older generation left it.
fn repository() -> Repository {
    let mut repository = Repository {
        tree: Tree::default(),
    };
    for (layer, role, name) in [
        ("narrator", "", ""),
        ("observers", "/qa", "schemas/event.yml"),
        ("deciders", "/triage", "schemas/issue.yml"),
        ("planners", "/one", ""),
        ("implementers", "/one", ""),
    ] {
        let folder = format!(".jules/roles/{layer}");
        let list = format!(
            "role: {layer}\ncontracts:\n  - .jules/JULES.md (global)\n  - {folder}/contracts.yml (layer)\n\
             instructions: Read every file of the list before you begin.\n"
        );
        repository = repository
            .with(&format!("{folder}{role}/prompt.yml"), &list)
            .with(
                &format!("{folder}/contracts.yml"),
                &format!("purpose: Of {layer}.\n"),
            );
        if !name.is_empty() {
            repository = repository.with(&format!("{folder}/{name}"), &format!("form: {layer}\n"));
        }
    }
    let list = repository.tree.text(LIST).unwrap().to_owned();
    let role = ".jules/roles/observers/qa/role.yml";
    let list = list.replace(
        "instructions",
        &format!("  - {role} (role)\n  - {role}\ninstructions"),
    );
    repository
        .with(LIST, &list)
        .with(role, "focus: Errors.\n")
        .with(".jules/JULES.md", "The rules of all.\n")
        .with(".jules/roles/narrator/schemas/change.yml", "form: change\n")
        .with(".jules/changes/latest.yml", "id: ch0001\n")
        .with(EVENT, "id: aa11bb\ntitle: A leak\n")
        .with(ISSUE, &requirement_text("bugs", false))
}

fn asked(layer: Layer) -> Ask {
    let role = (layer == Layer::Observers).then(|| "qa".parse().unwrap());
    let requirement = ask(layer).requirement.map(|_| ISSUE.parse().unwrap());
    Ask {
        role,
        requirement,
        ..ask(layer)
    }
}

fn text(layer: Layer) -> String {
    let issue = requirement_text("bugs", layer == Layer::Planner);
    repository()
        .with(ISSUE, &issue)
        .assemble(&asked(layer))
        .unwrap()
        .text
}

#[test]
fn the_listed_files_stand_in_their_order_and_orders_to_read_them_do_not() {
    let prompt = repository().assemble(&asked(Layer::Observers)).unwrap();
    let paths: Vec<_> = prompt.included.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            ".jules/JULES.md",
            ".jules/roles/observers/contracts.yml",
            ".jules/roles/observers/qa/role.yml",
            ".jules/changes/latest.yml",
            ".jules/roles/observers/schemas/event.yml",
        ]
    );
    let titles = [
        "---\n# .jules/JULES.md\nThe rules of all.\n---\n# .jules/roles/observers/contracts.yml\n",
        "# .jules/roles/observers/qa/role.yml\nfocus: Errors.\n",
        "# Open requirements\n",
        "# Pending events\n",
        "---\n# Output\n",
        "`.jules/workstreams/generic/events/pending/<id>-<a-few-words>.yml`",
        "```yaml\nform: observers\n```\n",
    ];
    let at: Vec<_> = titles
        .iter()
        .map(|it| prompt.text.find(it).expect(it))
        .collect();
    assert!(at.is_sorted(), "{}", prompt.text);
    assert!(!prompt.text.contains("Read every file"), "{}", prompt.text);
}

#[test]
fn every_layer_has_a_prompt_that_ends_in_its_output() {
    for (layer, branch) in [
        (Layer::Narrator, "jules-narrator-id0000"),
        (Layer::Observers, "jules-observer-id0000"),
        (Layer::Decider, "jules-decider-id0000"),
        (Layer::Planner, "jules-planner-id0000"),
        (
            Layer::Implementer,
            "jules-implementer-bugs-id0000-close-the-file",
        ),
    ] {
        let text = text(layer);
        let (_, output) = text.rsplit_once("\n---\n# Output\n").unwrap();
        assert!(output.contains(&format!("`{branch}`.\n")), "{output}");
        assert!(output.ends_with("end without a pull request."), "{output}");
        assert!(!output.contains("\n\n\n"), "{output}");
    }
    assert!(text(Layer::Decider).contains("events/pending/a-leak.yml\nid: aa11bb\n"));
    assert!(text(Layer::Planner).contains("issues/bugs/close-the-file.yml\nschema_version: 2\n"));
}

#[test]
fn a_list_that_says_nothing_or_leaves_its_folders_is_refused() {
    let said = |list: &str| {
        let said = repository()
            .with(LIST, list)
            .assemble(&asked(Layer::Observers));
        said.unwrap_err().to_string()
    };
    let nothing = "prompt.yml:2: `contracts` lists no file to make a prompt of";
    assert!(said("a: b\ncontracts: []\n").ends_with(nothing));
    assert!(said("contracts: [\n").contains("prompt.yml:"));
    for path in [
        ".jlo/setup/secrets.toml",
        "src/lib.rs",
        "../x",
        "/etc/passwd",
    ] {
        let said = said(&format!("contracts: [{path}]\n"));
        assert!(
            said.contains("cannot be included") || said.contains("is never included"),
            "{said}"
        );
    }
    assert!(said("contracts: [.jules/gone.md]\n").contains("`.jules/gone.md` is required"));
    assert!(said("contracts: [.jules/JULES.md]\nworkstream: billing\n").contains("`billing`"));
}

#[test]
fn a_list_names_its_stream() {
    let list = "contracts: [.jules/JULES.md]\nworkstream: billing\n";
    let event = ".jules/workstreams/billing/events/pending/bb22cc-b.yml";
    let named = repository()
        .with(".jules/roles/deciders/triage/prompt.yml", list)
        .with(event, "id: bb22cc\ntitle: A sum\n");
    let text = named.assemble(&asked(Layer::Decider)).unwrap().text;
    assert!(
        text.contains("bb22cc") && !text.contains("aa11bb"),
        "{text}"
    );
    let wrong = named.with(
        ".jules/roles/deciders/triage/prompt.yml",
        "contracts: [a]\nworkstream: ../x\n",
    );
    let said = wrong.refuses(&asked(Layer::Decider));
    assert!(said.contains("triage/prompt.yml:2"), "{said}");
}

#[test]
fn a_role_is_named_where_there_are_several() {
    let said = |layer, role: Option<&str>| {
        let role = role.map(|role| role.parse().unwrap());
        let asked = Ask {
            role,
            ..asked(layer)
        };
        repository()
            .with(".jules/roles/deciders/other/prompt.yml", "")
            .refuses(&asked)
    };
    assert!(said(Layer::Observers, None).ends_with("name one of them: qa"));
    assert!(said(Layer::Observers, Some("qaa")).contains("did you mean `qa`?"));
    assert!(said(Layer::Decider, None).ends_with("name one of them: other, triage"));
    assert!(
        said(Layer::Innovators, None).contains("`.jules/roles/innovators/prompt.yml` is not there")
    );
}

#[test]
fn roles_lie_beside_their_layer_or_below_roles_in_it() {
    let list = ".jules/roles/observers/roles/billing/prompt.yml";
    let repository = repository().with(list, "contracts: [.jules/JULES.md]\n");
    let of = |role: &str| Ask {
        role: Some(role.parse().unwrap()),
        ..asked(Layer::Observers)
    };
    for role in ["qa", "billing"] {
        assert!(repository.assemble(&of(role)).is_ok(), "{role}");
    }
    let said = repository.refuses(&of("biling"));
    assert!(said.contains("did you mean `billing`?"), "{said}");
}

#[test]
fn a_list_works_in_no_other_stream_than_the_one_it_names() {
    let list = "contracts: [.jules/JULES.md]\nworkstream: billing\n";
    let named = repository()
        .with(LIST, list)
        .with(".jules/workstreams/billing/events/pending/.gitkeep", "");
    let in_stream = |stream: &str| Ask {
        stream: Some(stream.parse().unwrap()),
        ..asked(Layer::Observers)
    };
    assert!(named.assemble(&in_stream("billing")).is_ok());
    let said = named.refuses(&in_stream("generic"));
    let why = "qa/prompt.yml:2: the list is of the stream `billing`, and not of `generic`";
    assert!(said.ends_with(why), "{said}");
    let own = |tree: &Tree| stream_of_role(tree, Layer::Observers, &"qa".parse().unwrap());
    assert_eq!(own(&named.tree), Some("billing".parse().unwrap()));
    assert_eq!(own(&repository().tree), None);
    assert_eq!(own(&Repository::new().tree), None);
}

#[test]
fn of_several_planners_the_first_works_and_a_folder_may_say_the_label() {
    let issue = requirement_text("bugs", true).replace("label: bugs\n", "");
    let planned = repository()
        .with(
            ".jules/roles/planners/two/prompt.yml",
            "contracts: [gone]\n",
        )
        .with(ISSUE, &issue);
    assert!(planned.assemble(&asked(Layer::Planner)).is_ok());
    let ready = requirement_text("bugs", false).replace("label: bugs\n", "");
    let prompt = planned
        .with(ISSUE, &ready)
        .assemble(&asked(Layer::Implementer));
    let text = prompt.unwrap().text;
    let branch = "`jules-implementer-bugs-id0000-close-the-file`";
    assert!(text.contains(branch), "{text}");
}

#[test]
fn an_implementer_gets_the_plan_that_another_one_made() {
    let records = Records {
        plan: "First the test.".to_owned(),
        ..Records::default()
    };
    let planned = Ask {
        records,
        ..asked(Layer::Implementer)
    };
    let text = repository().assemble(&planned).unwrap().text;
    assert!(
        text.contains("---\n# The plan\nFirst the test.\n"),
        "{text}"
    );
}
