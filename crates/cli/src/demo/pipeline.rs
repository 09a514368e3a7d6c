//! `gaffer demo --pipeline`: a whole pipeline, and the repository that it leaves.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Result;

use super::{shower, stay, tell};
use crate::args::demo::DemoArgs;
use crate::error::Error;

/// Plays the story, and leaves its repository where that is wanted.
pub(super) async fn run(args: &DemoArgs) -> Result<()> {
    let keep = args.keep.as_deref().map(free).transpose()?;
    let stay = async |at| stay(args, at).await;
    let report = demo::play_pipeline(!args.no_webhooks, keep, shower(args), stay).await?;
    let mut lines = report.lines();
    lines
        .extend(keep.map(|folder| format!("The repository is in {}: clone it.", folder.display())));
    tell(args, &report, &lines)?;
    report.verdict()
}

/// The folder, if it is empty or not there.
fn free(folder: &Path) -> Result<&Path> {
    let is_empty = fs::read_dir(folder).map(|mut entries| entries.next().is_none());
    let why = match is_empty {
        Ok(true) => return Ok(folder),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(folder),
        Ok(false) => "it is there and not empty".to_owned(),
        Err(error) => error.to_string(),
    };
    let what = format!(
        "the repository cannot be left in {}: {why}",
        folder.display()
    );
    let next = "name a folder that is empty or not there";
    Err(Error::unfit("not_empty", what, next).into())
}
