//! Adapter: records on DynamoDB, queues on SQS and secrets in SSM, behind the ports of the engine.

mod connect;
mod dead_letters;
mod lambda_client;
mod meter;
mod queue;
mod records;
mod secrets;
mod setup;
mod stack;
mod trace;

pub use connect::{ATTEMPT_WITHIN, ATTEMPTS_MAX, CALL_WITHIN, CONNECT_WITHIN, connect};
pub use lambda_client::{LambdaEnvironment, connect_inside};
pub use meter::{Counters, OfTable};
pub use queue::{DELAY_MAX, SqsQueue, VISIBILITY_MAX};
pub use records::Table;
pub use secrets::Parameters;
pub use stack::{Stack, StackError};
pub use trace::{TRACE_HEADER, within};
