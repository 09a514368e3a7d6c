//! Deploys a stack to AWS or an emulator of it, rolls it back a version, reports its state, and takes it down.
//!
//! CloudFormation makes the stores and the triggers; `cargo lambda` builds and uploads the functions between the two.

mod alias;
mod build;
mod cloud;
mod destroy;
mod error;
mod function;
mod name;
mod publish;
mod put;
mod secrets;
mod smoke;
mod stacks;
mod status;

pub mod command;

pub use alias::LIVE;
pub use build::{Binaries, Workshop, workspace};
pub use cloud::{Cloud, Place};
pub use destroy::LeftOver;
pub use error::Error;
pub use function::{Function, FunctionOptions};
pub use name::{STACK_MAX, STACK_MIN, StackName};
pub use put::{DeployRequest, Endpoints};
