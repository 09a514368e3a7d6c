//! The client, reader and writer against a small scripted server on a real socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod auth;
mod base_merges;
mod budgets;
mod calls;
mod demands;
mod deployments;
mod facts;
mod git;
mod git_writes;
mod hooks;
mod issues;
mod logs;
mod reads;
mod renamed;
mod reviews;
mod sandbox;
mod sandbox_git;
mod sandbox_weaving;
mod server;
mod stage;
mod tokens;
mod weaving;
mod world;
mod writes;
