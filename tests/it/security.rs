//! What outsiders, forgers and texts can do: nothing more than without them.

mod corpus;
mod deliveries;
mod injection;
mod links;
mod matrix;
mod payloads;
mod pipelines;
mod replays;
