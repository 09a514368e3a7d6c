//! What becomes of the settings, byte for byte, and what is refused.

use proptest::prelude::*;

use super::*;
use crate::tree::Entry;

const OWN: &str = ".jlo/roles/observers/billing/role.yml";

fn target() -> Tree {
    let mut tree = Tree::default();
    tree.put(OWN.parse().unwrap(), Entry::text("role: billing\n"));
    tree
}

const SETTINGS: &str = "\
# Ours.
[run]
jules_worker_branch = 'jules'   # as ever

[innovators]
roles = []

[observers] # look
roles = [
    # The first of all.
    { name = \"taxonomy\", enabled = true }, # words
    { enabled = false, name = 'cov' } # later
    # The end.
]

# Last.
";

fn name(role: &str) -> RoleName {
    role.parse().unwrap()
}

fn added(config: &str, layer: Layer, role: &str) -> String {
    add(&target(), config, layer, &name(role)).unwrap()
}

fn deleted(config: &str, layer: Layer, role: &str) -> String {
    delete(&target(), config, layer, &name(role))
        .unwrap()
        .config
}

#[test]
fn an_added_role_is_the_last_of_its_list_and_nothing_else_changes() {
    let line = "    { name = \"qa\", enabled = true },\n]\n";
    let expected = SETTINGS
        .replace("'cov' } # later", "'cov' }, # later")
        .replace("]\n\n# Last.", &format!("{line}\n# Last."));
    assert_eq!(added(SETTINGS, Layer::Observers, "qa"), expected);
    let row = "{ name = \"recruiter\", enabled = true }";
    let expected = SETTINGS.replace("[]", &format!("[{row}]"));
    assert_eq!(added(SETTINGS, Layer::Innovators, "recruiter"), expected);
}

#[test]
fn a_role_is_added_however_the_list_is_written() {
    let row = "{ name = \"qa\", enabled = true }";
    let section = format!("[observers]\nroles = [\n  {row},\n]\n");
    let tables = "[[observers.roles]]\nname = \"cov\" # c\n\n[run]\n";
    let table = "[[observers.roles]]\nname = \"cov\" # c\n\n[[observers.roles]]\nname = \"qa\"\nenabled = true\n\n[run]\n";
    for (before, after) in [
        (String::new(), section.clone()),
        ("# c".to_owned(), format!("# c\n\n{section}")),
        ("[run]\n".to_owned(), format!("[run]\n\n{section}")),
        ("[observers]".to_owned(), section.clone()),
        (
            "[observers] # x\n\n[run]\n".to_owned(),
            section.replace("s]\n", "s] # x\n") + "\n[run]\n",
        ),
        (
            "observers.roles = [{ name = 'cov' }]\n".to_owned(),
            format!("observers.roles = [{{ name = 'cov' }}, {row}]\n"),
        ),
        (
            "observers = { roles = [{ name = 'cov' },] }\n".to_owned(),
            format!("observers = {{ roles = [{{ name = 'cov' }}, {row}] }}\n"),
        ),
        (
            "[observers]\r\nroles = [\r\n]\r\n".to_owned(),
            format!("[observers]\r\nroles = [\r\n  {row},\r\n]\r\n"),
        ),
        (tables.to_owned(), table.to_owned()),
    ] {
        assert_eq!(added(&before, Layer::Observers, "qa"), after, "{before}");
    }
}

#[test]
fn a_deleted_role_leaves_every_comment_where_it_is() {
    let without_words = SETTINGS.replace(
        "{ name = \"taxonomy\", enabled = true }, # words",
        "# words",
    );
    assert_eq!(
        deleted(SETTINGS, Layer::Observers, "taxonomy"),
        without_words
    );
    let without_cov = SETTINGS.replace("{ enabled = false, name = 'cov' } # later", "# later");
    assert_eq!(deleted(SETTINGS, Layer::Observers, "cov"), without_cov);
    let tables = "[[observers.roles]]\nname = \"cov\"\n\n# q\n[[observers.roles]]\nname = \"qa\"\n";
    let kept = "[[observers.roles]]\nname = \"cov\"\n\n# q\n";
    assert_eq!(deleted(tables, Layer::Observers, "qa"), kept);
    let one_line = "[observers]\nroles = [{ name = 'qa' }, { name = 'cov' }]\n";
    let kept = "[observers]\nroles = [{ name = 'cov' }]\n";
    assert_eq!(deleted(one_line, Layer::Observers, "qa"), kept);
    let lines = "[observers]\nroles = [\n  { name = 'qa' },\n  { name = 'cov' },\n]\n";
    let kept = "[observers]\nroles = [\n  { name = 'cov' },\n]\n";
    assert_eq!(deleted(lines, Layer::Observers, "qa"), kept);
}

#[test]
fn a_list_that_only_a_person_can_change_stays() {
    let config = "[observers]\nroles = [{ name = 'qa' } # x\n  , { name = 'cov' }]\n";
    let refused = delete(&target(), config, Layer::Observers, &name("qa"));
    assert_eq!(refused, Err(RoleError::ByHand(Layer::Observers)));
}

#[test]
fn single_layers_traversal_and_doubles_are_refused() {
    let tree = target();
    let all = |layer, role: &RoleName| {
        [
            add(&tree, SETTINGS, layer, role).err(),
            create(&tree, layer, role).err(),
            delete(&tree, SETTINGS, layer, role).err(),
            show(&tree, layer, role).err(),
            validate(&tree, layer, role).err(),
        ]
    };
    for layer in Layer::ALL.into_iter().filter(|it| !LAYERS.contains(it)) {
        let refused = Some(RoleError::SingleLayer(layer));
        assert!(all(layer, &name("qa")).iter().all(|it| *it == refused));
    }
    for odd in ["", "..", "../qa", "a/b", "Qa", "q\u{202e}a", "-x"] {
        assert!(odd.parse::<RoleName>().is_err(), "{odd}");
    }
    let said = |error: Option<RoleError>| error.unwrap().to_string();
    assert_eq!(
        said(add(&tree, SETTINGS, Layer::Observers, &name("cov")).err()),
        ".jlo/config.toml:12: `cov` is there already; `enabled` says whether it takes part"
    );
    for role in ["qa", "billing"] {
        let there = create(&tree, Layer::Observers, &name(role));
        assert!(matches!(there, Err(RoleError::There { .. })), "{role}");
    }
    assert_eq!(
        said(add(&tree, SETTINGS, Layer::Observers, &name("taxonmy")).err()),
        "the layer observers has no role `taxonmy`: did you mean `taxonomy`?"
    );
    assert_eq!(
        said(delete(&tree, SETTINGS, Layer::Observers, &name("qa")).err()),
        "the role `qa` has no file of its own, and the settings do not name it"
    );
    let broken = add(&tree, "[run]\nx = 1\n", Layer::Observers, &name("qa"));
    assert!(said(broken.err()).starts_with(".jlo/config.toml:2: `x` is no key"));
}

#[test]
fn a_new_role_has_places_to_fill_in_and_is_valid_once_they_are() {
    let mut tree = target();
    let (path, text) = create(&tree, Layer::Innovators, &name("writer")).unwrap();
    assert_eq!(path.as_str(), ".jlo/roles/innovators/writer/role.yml");
    assert!(text.starts_with("role: writer\nlayer: innovators\n"));
    tree.put(path.clone(), Entry::text(&text));
    let found = validate(&tree, Layer::Innovators, &name("writer")).unwrap();
    let lines: Vec<_> = found.iter().map(|it| (it.rule.id(), it.line)).collect();
    assert_eq!(lines, [("placeholder", 3), ("placeholder", 7)]);
    let why = unusable(&tree, Layer::Innovators, &name("writer")).unwrap();
    assert!(
        why.starts_with(&format!("{path}:3: `description` still holds")),
        "{why}"
    );
    let filled = text
        .replace("<what this role does, in one sentence>", "Writes.")
        .replace("<what it looks at, in one sentence>", "Words.");
    tree.put(path.clone(), Entry::text(&filled));
    assert_eq!(
        validate(&tree, Layer::Innovators, &name("writer")),
        Ok(Vec::new())
    );
    assert_eq!(unusable(&tree, Layer::Innovators, &name("writer")), None);
    assert_eq!(show(&tree, Layer::Innovators, &name("writer")), Ok(filled));
    let config = add(&tree, SETTINGS, Layer::Innovators, &name("writer")).unwrap();
    let deleted = delete(&tree, &config, Layer::Innovators, &name("writer")).unwrap();
    assert_eq!(
        (deleted.config.as_str(), deleted.file),
        (SETTINGS, Some(path))
    );
}

#[test]
fn built_in_roles_are_what_the_form_asks_for() {
    for layer in LAYERS {
        for role in assets::roles(layer) {
            let text = assets::role(layer, &role).unwrap();
            assert_eq!(show(&Tree::default(), layer, &role), Ok(text.to_owned()));
            let mut tree = Tree::default();
            let path = own_role(layer, Some(&role)).parse().unwrap();
            tree.put(path, Entry::text(text));
            assert_eq!(validate(&tree, layer, &role), Ok(Vec::new()), "{role}");
        }
    }
}

#[test]
fn the_list_has_files_built_in_roles_and_the_schedule() {
    let config = format!("{SETTINGS}[workstreams]\n").replace("'cov'", "'gone'");
    let rows = list(&target(), &config::parse(CONFIG, &config).unwrap());
    let row = |name: &str| {
        let row = rows.iter().find(|row| row.role.as_str() == name).unwrap();
        (row.layer, row.is_own, row.is_built_in, row.scheduled)
    };
    assert_eq!(row("billing"), (Layer::Observers, true, false, None));
    assert_eq!(row("taxonomy"), (Layer::Observers, false, true, Some(true)));
    assert_eq!(row("gone"), (Layer::Observers, false, false, Some(false)));
    assert_eq!(row("recruiter"), (Layer::Innovators, false, true, None));
    assert_eq!(rows.len(), 23 + 2);
}

/// A list of roles written in any of several ways.
fn written() -> impl Strategy<Value = String> {
    let rows = prop::collection::vec((0_usize..4, any::<bool>()), 0..4);
    let gap = prop_oneof![
        Just(" "),
        Just("\n  "),
        Just(" # c\n  "),
        Just("\n# d\n"),
        Just("\r\n")
    ];
    let gaps = prop::collection::vec(gap, 10);
    (rows, gaps, any::<bool>(), any::<bool>()).prop_map(|(rows, gaps, comma, tables)| {
        let names = ["taxonomy", "cov", "qa", "billing"];
        let mut text = "# a\n[run]\n".to_owned();
        if tables {
            for ((name, enabled), gap) in rows.iter().zip(gaps) {
                let name = names[*name];
                text += &format!(
                    "{gap}\n[[observers.roles]]\nname = '{name}' # x\nenabled = {enabled}\n"
                );
            }
            return text;
        }
        text += "[observers]\nroles = [";
        let last = rows.len().saturating_sub(1);
        for (at, (name, enabled)) in rows.iter().enumerate() {
            let (before, after) = (gaps[at], gaps[at + 5]);
            let comma = if at < last || comma { "," } else { "" };
            let name = names[*name];
            text += &format!("{before}{{ name = '{name}', enabled = {enabled} }}{after}{comma}");
        }
        text + gaps[9] + "]\n# z\n"
    })
}

proptest! {
    #[test]
    fn a_change_is_the_wanted_one_or_none(text in written(), at in 0_usize..4) {
        let role = name(["taxonomy", "cov", "qa", "billing"][at]);
        let Ok(before) = config::parse(CONFIG, &text) else { return Ok(()) };
        let names = |text: &str| -> Vec<RoleName> {
            let config = config::parse(CONFIG, text).unwrap();
            config.observers.into_iter().map(|it| it.name).collect()
        };
        let comments = |text: &str| text.matches('#').count();
        match add(&target(), &text, Layer::Observers, &role) {
            Ok(after) => {
                let mut wanted = names(&text);
                wanted.push(role.clone());
                prop_assert_eq!(names(&after), wanted);
                prop_assert_eq!(comments(&after), comments(&text));
            }
            Err(RoleError::Scheduled { .. }) => {
                prop_assert!(before.observers.iter().any(|it| it.name == role));
            }
            Err(other) => prop_assert!(false, "{}: {}", other, text),
        }
        if let Ok(after) = delete(&target(), &text, Layer::Observers, &role) {
            prop_assert!(!names(&after.config).contains(&role));
        }
    }
}
