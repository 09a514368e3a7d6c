//! Everything that is tested over more than one crate: first of all that the tree is tidy.

mod tidy;

mod contract;
