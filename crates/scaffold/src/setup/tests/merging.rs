//! What becomes of the user's values, and which files are written.

use proptest::prelude::*;

use super::super::{Given, INSTALL, Planned, SECRETS, VARS, plan};
use super::{Catalogue, Component, component};

/// A component with a variable `KIND`, a secret `TOKEN` and a variable that another one calls secret.
fn catalogue() -> Catalogue {
    let one = "[vars.KIND]\ndescription = \"The kind.\"\ndefault = \"small\"\n\
        [vars.SHARED]\ndescription = \"Of one.\"\n[secrets.TOKEN]\ndescription = \"A token.\"\n";
    let two = "[secrets.SHARED]\ndescription = \"Of two.\"\n\
        [vars.KIND]\ndescription = \"Second.\"\ndefault = \"large\"\n";
    let parts: [Component; 2] =
        [("one", one), ("two", two)].map(|(name, meta)| component(name, meta, "true\n").unwrap());
    Catalogue::from_components(parts)
}

fn planned(given: &Given<'_>) -> Vec<Planned> {
    plan(&catalogue(), b"tools: [one, two]\n", given).unwrap()
}

/// The texts of `vars.toml` and `secrets.toml`.
fn merged(given: &Given<'_>) -> (String, String) {
    let files = planned(given);
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.unwrap().text.clone()
    };
    (text(VARS), text(SECRETS))
}

fn given<'a>(vars: &'a str, secrets: &'a str) -> Given<'a> {
    Given {
        vars: Some(vars),
        secrets: Some(secrets),
        ..Given::default()
    }
}

const NEW_VARS: &str = "[KIND]\nvalue = \"small\"\nnote = \"The kind.\"\n";
const NEW_SECRETS: &str =
    "[TOKEN]\nvalue = \"\"\nnote = \"A token.\"\n\n[SHARED]\nvalue = \"\"\nnote = \"Of two.\"\n";

#[test]
fn new_names_come_with_their_defaults_and_the_first_component_counts() {
    let (vars, secrets) = merged(&Given::default());
    assert_eq!((vars.as_str(), secrets.as_str()), (NEW_VARS, NEW_SECRETS));
}

#[test]
fn nobody_else_reads_the_secrets_and_the_script_can_be_run() {
    let files = planned(&Given::default());
    let modes: Vec<_> = files.iter().map(|it| (it.path, it.mode)).collect();
    let ignored = ".jlo/setup/.gitignore";
    let expected = [
        (ignored, 0o644),
        (SECRETS, 0o600),
        (VARS, 0o644),
        (INSTALL, 0o755),
    ];
    assert_eq!(modes, expected);
    assert_eq!(files[0].text, "secrets.toml\n");
}

#[test]
fn the_users_list_of_ignored_files_stays_and_names_the_secrets() {
    for (before, after) in [
        ("env.toml", "env.toml\nsecrets.toml\n"),
        ("/secrets.toml\nx\n", "/secrets.toml\nx\n"),
        (
            "secrets.toml\n!secrets.toml\n",
            "secrets.toml\n!secrets.toml\nsecrets.toml\n",
        ),
    ] {
        let given = Given {
            ignored: Some(before),
            ..Given::default()
        };
        assert_eq!(planned(&given)[0].text, after);
    }
}

#[test]
fn what_the_user_wrote_stays_as_it_is() {
    let vars = "# Mine.\nOWN = 7 # seven\n\n# The kind that fits.\n[KIND]\nvalue = 'large' # really\n\n[GONE]\nvalue = \"x\"\n# The end.\n";
    let (after, secrets) = merged(&given(vars, NEW_SECRETS));
    assert_eq!((after.as_str(), secrets.as_str()), (vars, NEW_SECRETS));
}

#[test]
fn a_key_that_changes_files_takes_its_value_and_its_comments_along() {
    let vars = "# From the safe.\n[TOKEN]\nvalue = \"t0p\" # not the old one\nnote = \"Mine.\"\n";
    let secrets = "SHARED = \"s\"\n\n# Big.\n[KIND]\nvalue = \"large\"\n";
    let (vars, secrets) = merged(&given(vars, secrets));
    assert_eq!(vars, "\n# Big.\n[KIND]\nvalue = \"large\"\n");
    let moved = "# From the safe.\n[TOKEN]\nvalue = \"t0p\" # not the old one\nnote = \"Mine.\"\n";
    assert_eq!(secrets, format!("SHARED = \"s\"\n{moved}"));
}

#[test]
fn the_older_file_is_read_once() {
    let env = "KIND = \"large\"\n# Unknown.\nEXTRA = \"e\"\n[TOKEN]\nvalue = \"t\"\n# End.\n";
    let older = Given {
        env: Some(env),
        ..Given::default()
    };
    let (vars, secrets) = merged(&older);
    assert_eq!(vars, "KIND = \"large\"\n");
    assert!(secrets.starts_with("# Unknown.\nEXTRA = \"e\"\n[TOKEN]\nvalue = \"t\"\n"));
    assert!(secrets.ends_with("# End.\n"), "{secrets}");
    let later = Given {
        env: Some("KIND = \"other\"\nLATE = \"l\"\n"),
        ..given(&vars, &secrets)
    };
    assert_eq!(merged(&later), (vars, secrets));
}

#[test]
fn a_name_in_both_files_is_refused_with_its_line() {
    let said = |vars, secrets| {
        let tools = b"tools: [one]\n";
        let planned = plan(&catalogue(), tools, &given(vars, secrets));
        planned.unwrap_err().to_string()
    };
    assert_eq!(
        said("A = 1\n", "\n[A]\nvalue = 2\n"),
        ".jlo/setup/secrets.toml:2: `A` stands here and in `.jlo/setup/vars.toml`; keep one of the two"
    );
    assert!(said("[A]\nvalue = 1\nvalue = 2\n", "").starts_with(".jlo/setup/vars.toml:3: "));
    assert!(said("", "A = \n").starts_with(".jlo/setup/secrets.toml:1: "));
}

/// A row as a user may write it, with a comment that nothing else has.
fn row(name: &str, value: &str, form: u8, mark: usize) -> String {
    match form {
        0 => format!("# c{mark}\n[{name}]\nvalue = \"{value}\"\n\n"),
        1 => format!("[{name}] # c{mark}\nnote = \"n\"\nvalue = '{value}'\n"),
        2 => format!("# c{mark}\n[{name}]\n[{name}.value]\ndeep = \"{value}\"\n"),
        3 => format!("[[{name}]]\nvalue = \"{value}\" # c{mark}\n[[{name}]]\nb = 2\n"),
        _ => format!("# c{mark}\n{name}.value = \"{value}\"\n"),
    }
}

const NAMES: [&str; 6] = ["KIND", "TOKEN", "SHARED", "OWN", "EXTRA", "LAST"];

/// Which file each name stands in, 3 for none, with its value and its form.
fn rows() -> impl Strategy<Value = Vec<(u8, String, u8)>> {
    let row = (0_u8..4, "[a-zA-Z0-9 #=\\[\\]]{1,8}", 0_u8..5);
    prop::collection::vec(row, NAMES.len())
}

proptest! {
    #[test]
    fn merging_never_loses_a_value(rows in rows()) {
        let file = |file: u8| {
            let mut text = String::new();
            // Dotted keys belong to the root only as long as no table has begun.
            for dotted in [true, false] {
                for (at, (place, value, form)) in rows.iter().enumerate() {
                    if *place == file && (*form > 3) == dotted {
                        text.push_str(&row(NAMES[at], &format!("v{at} {value}"), *form, at));
                    }
                }
            }
            text
        };
        let (vars, secrets, env) = (file(0), file(1), file(2));
        let older = vars.is_empty() && secrets.is_empty();
        let given = Given {
            vars: (!older).then_some(vars.as_str()),
            secrets: (!older).then_some(secrets.as_str()),
            env: Some(&env),
            ignored: None,
        };
        let after = merged(&given);
        let parsed = |text: &str| text.parse::<toml_edit::DocumentMut>().unwrap();
        let (vars_after, secrets_after) = (parsed(&after.0), parsed(&after.1));
        for (at, (place, value, _)) in rows.iter().enumerate() {
            if *place == 3 || (*place == 2 && !older) {
                continue;
            }
            let name = NAMES[at];
            let is_secret = match name {
                "TOKEN" | "SHARED" => true,
                "KIND" => false,
                _ => *place != 0,
            };
            prop_assert_eq!(secrets_after.contains_key(name), is_secret, "{}", name);
            prop_assert_eq!(vars_after.contains_key(name), !is_secret, "{}", name);
            let text = if is_secret { &after.1 } else { &after.0 };
            let item = format!("{:?}", parsed(text)[name]);
            prop_assert!(item.contains(&format!("v{at} {value}")), "{}: {}", name, item);
            prop_assert!(text.contains(&format!("# c{at}")), "{}", text);
        }
        let again = Given { vars: Some(&after.0), secrets: Some(&after.1), env: Some(&env), ignored: None };
        prop_assert_eq!(merged(&again), after);
    }
}
