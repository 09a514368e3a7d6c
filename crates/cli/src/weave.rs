//! `gaffer weave`: what several people or sessions changed, woven into one change, as far as it fits.

mod index_lines;
mod local;
mod remote;
mod show;

use anyhow::{Context, Result};
use weave::weave::Excess;

use crate::args::weave::WeaveArgs;
use crate::context::CommandContext;
use crate::error::Error;
use crate::render;

/// Weaves, and prints what came of it. Ends with 1 when any is not in.
pub(crate) async fn run(
    args: &WeaveArgs,
    here: impl FnOnce() -> Result<CommandContext, Error>,
    as_json: bool,
) -> Result<()> {
    let report = match &args.local {
        Some(folder) => local::weave(folder, args)?,
        None => Box::pin(remote::weave(args, &here()?)).await?,
    };
    render::answer(&show::answer(&report), as_json).context("writing the answer")?;
    ended(&report, args)
}

fn too_much(excess: Excess) -> Error {
    Error::usage(excess.to_string(), "nothing was woven: give less at once")
}

fn nothing_woven() -> Error {
    let what = "nothing was woven, so there is nothing to push or to write";
    Error::refused("nothing_woven", what, "do it once any of them is in")
}

/// What is in is in the base too.
fn nothing_new() -> Error {
    let what = "the base has what is in already, so there is nothing to push or to write";
    Error::refused("no_change", what, "weave what the base lacks")
}

fn ended(report: &show::WeaveReport, args: &WeaveArgs) -> Result<()> {
    let (all, inside) = (report.all(), report.inside());
    if report.files == 0 && (args.push.is_some() || args.patch.is_some()) {
        return Err(match inside {
            0 => nothing_woven(),
            _ => nothing_new(),
        }
        .into());
    }
    if inside == all {
        return Ok(());
    }
    let what = format!("{} of {all} are not in", all - inside);
    let next = "change those on what is woven from the others, or weave without them";
    Err(Error::refused("not_all_in", what, next).into())
}
