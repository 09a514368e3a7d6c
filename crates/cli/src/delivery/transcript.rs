//! `gaffer delivery transcript`.

use anyhow::Result;
use client::wire::{EntryView, Transcript};
use client::{Answer as Came, Client};
use domain::ids::RunId;
use serde_json::json;

use crate::args::delivery::DeliveryName;
use crate::error::Error;
use crate::render::{Answer, moment, value};

/// The run that is shown where none is named.
const LATEST: &str = "latest";

/// Reads all of a transcript.
pub(super) async fn read(
    client: &Client,
    id: &DeliveryName,
    run: Option<&RunId>,
) -> Result<Answer> {
    let run = run.map_or(LATEST, RunId::as_str);
    match client.whole_transcript(id.as_str(), run).await? {
        Came::Done(whole) => Ok(shown(&whole)),
        Came::Later(later) => Err(Error::not_read_yet(later.sentence).into()),
    }
}

fn shown(whole: &Transcript) -> Answer {
    let pairs = vec![
        ("run", format!("{} ({})", whole.run_id, whole.mode)),
        ("read", moment(whole.read_at)),
        (
            "not kept",
            match whole.left_out {
                0 => String::new(),
                count => format!("{count} earlier entries: Jules has them"),
            },
        ),
    ];
    let answer = Answer::new(json!({ "transcript": value(whole) })).pairs(pairs);
    whole.leader.iter().fold(answer.line(""), |answer, entry| {
        let EntryView {
            at,
            role,
            kind,
            text,
        } = entry;
        let head = format!("{} {role} {kind}", moment(*at));
        answer.line(head).line(text.clone()).line("")
    })
}
