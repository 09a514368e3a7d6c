//! Whatever a template says and whatever files there are: no panic, and nothing from outside.

use proptest::prelude::*;

use super::*;
use crate::tree::{Content, Mode};

/// Paths near the borders of what may be included.
fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(".jules"),
        Just(".jlo"),
        Just("roles"),
        Just("setup"),
        Just("secrets.toml"),
        Just(".."),
        Just("."),
        Just(""),
        Just("a"),
        Just(".JULES"),
        Just(".jlo\u{200b}"),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.join("/"))
}

/// Pieces of templates, whole and broken.
fn template() -> impl Strategy<Value = String> {
    let call = (
        prop_oneof![
            Just("include_required"),
            Just("include_optional"),
            Just("file_exists")
        ],
        path(),
    );
    let piece = prop_oneof![
        call.prop_map(|(call, path)| format!("{{{{ {call}('{path}') }}}}")),
        Just("{% for x in range(99) %}".to_owned()),
        Just("{% endfor %}".to_owned()),
        Just("{{ section('T', layer) }}".to_owned()),
        Just("{% set y = layer * 9999 %}{{ y }}".to_owned()),
        "\\PC{0,12}",
        Just("{{".to_owned()),
        Just("%}".to_owned()),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// A repository in which every file that no prompt may hold says so.
fn guarded() -> Repository {
    let hidden = Content::Text("HIDDEN".to_owned());
    let mut repository = Repository::new();
    for path in [
        "a",
        "a/a",
        ".jlo/a",
        ".jlo/setup/a",
        ".jlo/setup/secrets.toml",
        ".JULES/a",
        "roles/a",
        "setup/secrets.toml",
        "secrets.toml",
    ] {
        let entry = Entry {
            mode: Mode::File,
            blob: None,
            content: hidden.clone(),
        };
        repository.tree.put(path.parse().unwrap(), entry);
    }
    for path in [".jules/a", ".jlo/roles/a"] {
        let entry = Entry {
            mode: Mode::Link,
            blob: None,
            content: hidden.clone(),
        };
        repository.tree.put(path.parse().unwrap(), entry);
    }
    repository
}

proptest! {
    #[test]
    fn no_template_reads_outside_its_folders(template in template()) {
        let repository = guarded().with_template(&template);
        if let Ok(prompt) = repository.assemble(&ask(Layer::Narrator)) {
            prop_assert!(!prompt.text.contains("HIDDEN"), "{template}");
        }
    }

    #[test]
    fn no_artefact_makes_a_decider_or_an_implementer_panic(text in "\\PC{0,40}(\n\\PC{0,40}){0,4}") {
        let repository = Repository::new()
            .with(&event_path("aa11bb"), &text)
            .with(REQUIREMENT, &text)
            .with(".jules/github-labels.json", &text);
        let _ = repository.assemble(&ask(Layer::Decider));
        let _ = repository.assemble(&ask(Layer::Implementer));
    }
}
