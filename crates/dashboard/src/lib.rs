//! The dashboard's pages: views of the HTTP API as HTML, and the static files that the pages use.
//!
//! Pure rendering: the views, the viewer and the time are arguments.
//! A page shows the sentences of the views and none of its own about a delivery, so that all surfaces tell the same.
//! Text from outside is only escaped, and an address becomes a link only as a [`domain::web_page::WebPage`].

mod assets;
mod board;
mod delivery;
mod entry;
mod history;
mod operation;
mod pipelines;
mod shell;
mod sources;
mod text;
mod transcript;
mod trouble;

pub use assets::{Asset, asset};
pub use board::{Board, board};
pub use delivery::{Delivery, delivery, standing};
pub use entry::{SignIn, entered, refusal, sign_in};
pub use operation::{DeadLetter, Wakes, accounts, wakes, workers};
pub use pipelines::{PipelineStates, RequirementStatus, pipelines};
pub use shell::{Frame, Live, Page, Viewer};
pub use sources::{SourceState, sources};
pub use transcript::{Transcript, transcript};
pub use trouble::{Trouble, troubles};

/// Why a page could not be rendered.
pub use askama::Error;

#[cfg(test)]
mod tests;
