//! The gaffer command.
fn main() {}
