//! Rendering a template: strict, with a limit of work, and with nothing to load but what may be included.

use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value};

use super::PromptError;
use super::inclusion::{IncludeError, Included, Shelf, Text};
use crate::engine::strict;

/// What a template may cost: instructions, with 64 bytes of text counted as one.
///
/// The largest built-in prompt takes a twentieth of it; a loop that goes on ends after milliseconds and about 3 MB.
const FUEL: u64 = 50_000;

/// How deep loops may call themselves. No built-in template does.
const DEPTH_MAX: usize = 20;

/// What a template asked for while it was rendered, in its order.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) included: Vec<Included>,
    pub(super) skipped: Vec<String>,
}

/// The text of a template, and what it asked for.
pub(super) fn render(
    file: &str,
    source: &str,
    variables: Value,
    shelf: &Arc<Shelf>,
) -> Result<(String, Asked), PromptError> {
    let asked = Arc::new(Mutex::new(Asked::default()));
    let environment = environment(shelf, &asked)?;
    let text = environment
        .template_from_named_str(file, source)
        .and_then(|template| template.render(variables))
        .map_err(|error| {
            // A list is put into a template of Gaffer's own, whose lines are not those of the list.
            let line = error.line().filter(|_| !shelf.is_older);
            prompt_error(file, line.unwrap_or(1), &error)
        })?;
    let asked = std::mem::take(&mut *asked.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((text, asked))
}

fn environment(
    shelf: &Arc<Shelf>,
    asked: &Arc<Mutex<Asked>>,
) -> Result<Environment<'static>, PromptError> {
    let environment = strict(&mut SyntaxConfig::builder());
    let mut environment = environment.map_err(|error| prompt_error("", 1, &error))?;
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH_MAX);
    environment.remove_global("debug");
    environment.add_function("section", section);
    let (stock, log) = (Arc::clone(shelf), Arc::clone(asked));
    environment.add_function("include_required", move |path: String| {
        let text = stock.required(&path).map_err(refused)?;
        Ok::<_, Error>(noted(&log, text))
    });
    let (stock, log) = (Arc::clone(shelf), Arc::clone(asked));
    environment.add_function("include_optional", move |path: String| {
        match stock.optional(&path).map_err(refused)? {
            Some(text) => Ok(noted(&log, text)),
            None => {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.skipped.push(path);
                Ok::<_, Error>(String::new())
            }
        }
    });
    let stock = Arc::clone(shelf);
    environment.add_function("file_exists", move |path: String| {
        Ok::<_, Error>(stock.optional(&path).map_err(refused)?.is_some())
    });
    Ok(environment)
}

/// A part of a prompt with its title; nothing where there is nothing to say.
fn section(title: String, content: String) -> String {
    let content = content.trim_end();
    if content.is_empty() {
        String::new()
    } else {
        format!("---\n# {title}\n{content}\n")
    }
}

fn noted(log: &Mutex<Asked>, text: Text) -> String {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log.included.push(text.included);
    text.shown
}

fn refused(error: IncludeError) -> Error {
    Error::new(ErrorKind::InvalidOperation, error.to_string()).with_source(error)
}

/// The engine's error as ours, at a line of a file.
fn prompt_error(file: &str, line: usize, error: &Error) -> PromptError {
    let file = file.to_owned();
    let include = error
        .source()
        .and_then(|source| source.downcast_ref::<IncludeError>());
    if let Some(why) = include {
        let why = why.clone();
        return PromptError::Include { file, line, why };
    }
    let what = if error.kind() == ErrorKind::OutOfFuel {
        "the template does not come to an end, or its text is far too long".to_owned()
    } else {
        let detail = error.detail().map(|detail| format!(": {detail}"));
        format!("{}{}", error.kind(), detail.unwrap_or_default())
    };
    PromptError::Template { file, line, what }
}
