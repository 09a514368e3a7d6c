//! Weaves what several members changed into one tree: patches as git places them, three-way, groups and order.
//!
//! Nothing here reads a disk, a network or a clock: every function depends on its arguments alone.
//! [`weave::needs`] says which blobs the caller has to load, and [`weave::weave`] takes them.
//! Whatever the bytes, the answer is a value: limits are named, and no input makes a function panic.

pub mod apply;
pub mod group;
pub mod held;
pub mod member;
pub mod patch;
pub mod path;
pub mod place;
pub mod three_way;
pub mod tree;
pub mod verdict;
pub mod weave;

mod answer;
mod attempt;
mod binary;
