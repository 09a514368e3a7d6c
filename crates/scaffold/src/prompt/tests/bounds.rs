//! What templates may not do, and how much fits.

use super::*;
use crate::tree::{Content, Mode};

fn narrator(template: &str) -> String {
    let repository = Repository::new().at_work().with_template(template);
    repository.refuses(&ask(Layer::Narrator))
}

#[test]
fn a_template_that_names_what_is_undefined_is_refused_with_its_line() {
    let said = narrator("One.\n{{ layer }}\n{{ rolle }}");
    assert!(
        said.starts_with(".jules/roles/narrator/narrator_prompt.j2:3: "),
        "{said}"
    );
    assert!(said.contains("rolle"), "{said}");
    for template in [
        "{{ role }}",
        "{{ paths.perspective }}",
        "{{ paths.x }}",
        "{{ ids[9] }}",
    ] {
        let said = narrator(template);
        assert!(said.contains("narrator_prompt.j2:1: undefined"), "{said}");
    }
}

#[test]
fn a_template_that_does_not_end_is_refused() {
    for template in [
        "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}",
        "{{ 'x' * 999999999 }}",
        "{% for a in range(9999) %}{{ include_required(paths.rules) }}{% endfor %}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    ] {
        let said = narrator(template);
        assert!(said.starts_with(".jules/roles/narrator/"), "{said}");
    }
    let deep = format!("{}1{}", "(".repeat(9_000), ")".repeat(9_000));
    assert!(narrator(&format!("{{{{ {deep} }}}}")).contains("_prompt.j2:1: "));
}

#[test]
fn a_template_loads_no_other_template() {
    for template in [
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{% macro x() %}{% endmacro %}",
        "{{ debug() }}",
        "{% if %}",
    ] {
        let said = narrator(template);
        assert!(
            said.contains("narrator_prompt.j2:1: "),
            "{template}: {said}"
        );
    }
    assert!(narrator("{{ layer").contains("narrator_prompt.j2:3: syntax error"));
}

#[test]
fn a_template_reads_nothing_outside_its_folders() {
    for path in [
        "src/lib.rs",
        ".jlo/config.toml",
        ".jlo/setup/secrets.toml",
        ".jlo/roles/../setup/secrets.toml",
        ".jules/../.jlo/setup/secrets.toml",
        "/etc/passwd",
        ".JULES/JULES.md",
        ".jules\\\\JULES.md",
        "",
        ".",
        ".jules",
        ".jules/",
        ".julesx/a",
    ] {
        for call in ["include_required", "include_optional", "file_exists"] {
            let repository = Repository::new()
                .with(".jlo/setup/secrets.toml", "hidden")
                .with(".jlo/config.toml", "hidden")
                .with("src/lib.rs", "hidden")
                .with_template(&format!("{{{{ {call}('{path}') }}}}"));
            let said = repository.refuses(&ask(Layer::Narrator));
            assert!(said.contains("narrator_prompt.j2:1: "), "{path}: {said}");
            assert!(
                !said.contains("is required and not there"),
                "{path}: {said}"
            );
        }
    }
}

#[test]
fn the_setup_is_refused_by_name_since_it_has_secrets() {
    for file in [".jlo/setup/secrets.toml", ".jules/setup/env.toml"] {
        let said = narrator(&format!("{{{{ include_required('{file}') }}}}"));
        assert!(said.contains("/setup/` may hold secrets"), "{said}");
        assert!(said.contains(&format!("`{file}`")), "{said}");
    }
}

#[test]
fn only_regular_text_of_a_sensible_size_is_included() {
    for (mode, content, why) in [
        (
            Mode::Link,
            Content::Text(".jlo/setup/secrets.toml".into()),
            "no regular file",
        ),
        (Mode::Submodule, Content::NotText, "no regular file"),
        (Mode::File, Content::NotText, "not UTF-8"),
        (Mode::File, Content::TooLarge, "more than 65536 bytes"),
    ] {
        for call in ["include_required", "include_optional"] {
            let template = format!("{{{{ {call}('.jules/x') }}}}");
            let mut repository = Repository::new().with_template(&template);
            let content = content.clone();
            let entry = Entry {
                mode,
                blob: None,
                content,
            };
            repository.tree.put(".jules/x".parse().unwrap(), entry);
            let said = repository.refuses(&ask(Layer::Narrator));
            assert!(said.contains(why), "{said}");
        }
    }
}

#[test]
fn a_required_file_that_is_missing_is_named_and_an_optional_one_is_skipped() {
    let said = narrator("{{ include_required('.jules/gone.yml') }}");
    assert!(
        said.contains("`.jules/gone.yml` is required and not there"),
        "{said}"
    );
    let template = "{{ section('Gone', include_optional('.jules/gone.yml')) -}}\nEnd.";
    let repository = Repository::new().with_template(template);
    let prompt = repository.assemble(&ask(Layer::Narrator)).unwrap();
    assert_eq!(prompt.skipped, [".jules/gone.yml"]);
    assert_eq!(prompt.text, "End.\n---\n# Output\nNothing.");
}

#[test]
fn a_required_file_that_is_missing_comes_from_the_schema_of_its_name() {
    let template = "{{ section('Summary', include_required(paths.changes)) }}";
    let repository = Repository::new().with_template(template);
    let prompt = repository.assemble(&ask(Layer::Narrator)).unwrap();
    assert!(
        prompt.text.contains("# Summary\nschema_version: 1\n"),
        "{}",
        prompt.text
    );
    let path = |text: &str| text.parse().unwrap();
    let seed = Origin::Schema(path(".jules/roles/narrator/schemas/changes.yml"));
    assert_eq!(prompt.included[0].path, path(".jules/exchange/changes.yml"));
    assert_eq!(prompt.included[0].origin, seed);
}

#[test]
fn a_template_has_to_end_in_its_output() {
    let path = ".jules/roles/narrator/narrator_prompt.j2";
    for template in [
        "Do something.\n",
        "Do.\n---\n# Output\nThis.\n{{ section('More', 'x') }}\n",
        "Do.\n---\n# Output\nThis.\n---\n# More\n",
        "{{ section('Output', include_optional(paths.changes)) }}\n",
    ] {
        let repository = Repository::new().with(path, template);
        let said = repository.refuses(&ask(Layer::Narrator));
        assert!(
            said.contains("does not end with the section Output"),
            "{said}"
        );
    }
}

/// Twenty events of a kilobyte and a half, the later ones first by name.
fn many_events(bytes: usize) -> Repository {
    let events = (0..20).map(|n| {
        let id = format!("ev{:04}", 20 - n);
        let day = format!("2026-02-{:02}", n + 1);
        let text = event(&id, &day) + "note: " + &"x".repeat(bytes) + "\n";
        (event_path(&id).parse().unwrap(), Entry::text(text))
    });
    let mut repository = Repository::new();
    repository.tree.extend(events);
    repository
}

#[test]
fn the_oldest_whole_events_go_in_and_the_others_wait() {
    let prompt = many_events(1_500).assemble(&ask(Layer::Decider)).unwrap();
    let inside = prompt
        .included
        .iter()
        .filter(|it| it.path.as_str().contains("/pending/"));
    let inside: Vec<_> = inside.map(|it| it.path.clone()).collect();
    assert!(
        inside.len() > 8 && prompt.left.len() > 4,
        "{}",
        inside.len()
    );
    let all = exchange::pending_with_trials(&many_events(0).tree, &crate::layout::EXCHANGE);
    let left = prompt.left.len();
    assert_eq!(
        prompt.note(),
        format!("{left} pending events are left for the next decider")
    );
    let both: Vec<_> = inside.iter().chain(&prompt.left).cloned().collect();
    assert_eq!(both, all);
    assert_eq!(inside[0].as_str(), event_path("ev0020"));
    let one = 1_500 + 600;
    assert!(prompt.bytes <= PROMPT_BYTES_MAX && prompt.bytes + one > PROMPT_BYTES_MAX);
    assert!(prompt.text.ends_with("end without a pull request."));
}

#[test]
fn an_event_that_no_prompt_has_room_for_is_passed_over_and_named() {
    let large = event("ev0000", "2026-01-01") + "note: " + &"x".repeat(31_000) + "\n";
    let repository = many_events(1_500).with(&event_path("ev0000"), &large);
    let prompt = repository.assemble(&ask(Layer::Decider)).unwrap();
    let without = many_events(1_500).assemble(&ask(Layer::Decider)).unwrap();
    let paths: Vec<_> = prompt.oversized.iter().map(|path| path.as_str()).collect();
    assert_eq!(paths, [event_path("ev0000")]);
    let named = format!("no prompt has room for `{}`", event_path("ev0000"));
    assert!(prompt.note().contains(&named), "{}", prompt.note());
    // It takes nothing of the others' room, apart from its title.
    let inside = |prompt: &Prompt| prompt.included.len();
    assert!(inside(&prompt) + 1 >= inside(&without));
    assert_eq!(
        inside(&prompt) + prompt.left.len(),
        inside(&without) + without.left.len()
    );
    assert!(prompt.bytes <= PROMPT_BYTES_MAX);
}

#[test]
fn no_heap_of_requirements_or_events_stops_a_layer() {
    let mut repository = ready_for(Layer::Observers);
    for n in 0..500 {
        for folder in ["requirements", "events/pending"] {
            let path = format!(".jules/exchange/{folder}/ev{n:04}-a-leak.yml");
            repository = repository.with(&path, &format!("title: {}\n", "long ".repeat(30)));
        }
    }
    let prompt = repository.assemble(&ask(Layer::Observers)).unwrap();
    assert_eq!(prompt.text.matches(" more have no room here)\n").count(), 2);
    assert!(prompt.bytes < PROMPT_BYTES_MAX * 3 / 4, "{}", prompt.bytes);
}

#[test]
fn no_decider_gets_more_events_than_it_has_ids() {
    let events = (0..40).map(|n| {
        let id = format!("ev{n:04}");
        (event_path(&id).parse().unwrap(), Entry::text("a: b\n"))
    });
    let mut repository = Repository::new();
    repository.tree.extend(events);
    let prompt = repository.assemble(&ask(Layer::Decider)).unwrap();
    assert_eq!(prompt.left.len(), 40 - EVENTS_MAX);
}

#[test]
fn a_prompt_that_is_too_long_names_its_largest_parts() {
    let rules = "x".repeat(20_000);
    let role = "y".repeat(19_000);
    let repository = Repository::new()
        .with(".jules/JULES.md", &rules)
        .with(".jlo/roles/narrator/role.yml", &role);
    let said = repository.refuses(&ask(Layer::Narrator));
    let largest = "shorten `.jules/JULES.md` (20000), `.jlo/roles/narrator/role.yml` (19043), `";
    assert!(said.contains(largest), "{said}");

    let said = many_events(31_000).refuses(&ask(Layer::Decider));
    let largest = "shorten `.jules/exchange/events/pending/ev0020-a-leak.yml` (";
    assert!(said.contains(largest), "{said}");
}
