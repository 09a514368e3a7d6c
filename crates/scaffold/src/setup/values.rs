//! The values of variables: what the user wrote stays, what is new is added, and each stands in its own file.

use toml_edit::{DocumentMut, Item, Table, value};

use super::{Component, ENV, SECRETS, VARS, Variable};
use crate::fault::{Fault, line_at};

/// The files of values as they are now, where they are there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// `vars.toml`.
    pub vars: Option<&'a str>,
    /// `secrets.toml`.
    pub secrets: Option<&'a str>,
    /// `env.toml`, the one file of the older generation.
    pub env: Option<&'a str>,
    /// `.gitignore` of the same folder.
    pub ignored: Option<&'a str>,
}

/// Both files as they should be: the variables, and the secrets.
pub(super) fn merge(
    components: &[&Component],
    given: &Given<'_>,
) -> Result<(String, String), Fault> {
    let mut files = Files {
        vars: document(VARS, given.vars)?,
        secrets: document(SECRETS, given.secrets)?,
    };
    files.refuse_doubles(given.secrets.unwrap_or_default())?;
    let secrets: Vec<_> = components.iter().flat_map(|it| &it.secrets).collect();
    let vars: Vec<_> = components.iter().flat_map(|it| &it.vars).collect();
    // Once one of the newer files is there, the older one has been read.
    if given.vars.is_none() && given.secrets.is_none() {
        files.take_older(document(ENV, given.env)?, &vars);
    }
    // A name that one component calls a secret is a secret, whatever another one calls it.
    for secret in &secrets {
        take(&mut files.vars, &mut files.secrets, &secret.name);
        add(&mut files.secrets, secret);
    }
    for var in vars {
        if !secrets.iter().any(|secret| secret.name == var.name) {
            take(&mut files.secrets, &mut files.vars, &var.name);
            add(&mut files.vars, var);
        }
    }
    Ok((files.vars.to_string(), files.secrets.to_string()))
}

struct Files {
    vars: DocumentMut,
    secrets: DocumentMut,
}

impl Files {
    /// A name in both files has two values, and only its owner knows which counts.
    fn refuse_doubles(&self, secrets: &str) -> Result<(), Fault> {
        let doubled = self.secrets.iter().map(|(name, _)| name);
        let Some(name) = doubled
            .into_iter()
            .find(|name| self.vars.contains_key(name))
        else {
            return Ok(());
        };
        // The parsed text that is edited has lost its places, so it is read once more.
        let places = toml_edit::Document::parse(secrets).ok();
        let span = places.as_ref().and_then(|it| {
            let (key, item) = it.get_key_value(name)?;
            key.span().or_else(|| item.span())
        });
        let line = line_at(secrets, span.map_or(0, |span| span.start));
        let what = format!("`{name}` stands here and in `{VARS}`; keep one of the two");
        Err(Fault::new(SECRETS, line, what))
    }

    /// The older file was ignored as a whole, so what no component calls a variable stays ignored.
    fn take_older(&mut self, mut older: DocumentMut, vars: &[&Variable]) {
        let names: Vec<_> = older.iter().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let is_var = vars.iter().any(|var| var.name == name);
            let file = if is_var {
                &mut self.vars
            } else {
                &mut self.secrets
            };
            take(&mut older, file, &name);
        }
        let rest = older.trailing().as_str().unwrap_or_default().to_owned();
        if !rest.trim().is_empty() {
            self.secrets.set_trailing(rest);
        }
    }
}

fn document(file: &str, text: Option<&str>) -> Result<DocumentMut, Fault> {
    let text = text.unwrap_or_default();
    text.parse::<DocumentMut>().map_err(|error| {
        let line = line_at(text, error.span().map_or(0, |span| span.start));
        let what = error.message().lines().next().unwrap_or_default();
        Fault::new(file, line, what)
    })
}

/// Moves a key with all that belongs to it: its value as it is written, its note and its comments.
fn take(from: &mut DocumentMut, to: &mut DocumentMut, name: &str) {
    if let Some((key, item)) = from.as_table_mut().remove_entry(name) {
        to.as_table_mut().insert_formatted(&key, item);
    }
}

/// Adds a variable that is not there yet.
fn add(to: &mut DocumentMut, variable: &Variable) {
    if to.contains_key(&variable.name) {
        return;
    }
    let mut row = Table::new();
    row.insert("value", value(variable.default.clone().unwrap_or_default()));
    row.insert("note", value(&variable.description));
    if !to.is_empty() {
        row.decor_mut().set_prefix("\n");
    }
    to.insert(&variable.name, Item::Table(row));
}
