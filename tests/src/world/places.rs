//! A world's AWS as functions with the real time see it, and what all of them asked for.

use std::collections::BTreeSet;

use engine::ports::Record;
use lambda::Place;

use super::World;
use crate::cloud::{self, Asked, Gate};

impl World {
    /// Where a function of this world works that goes by the machine's time; only in a world with a gate.
    pub async fn place(&self, who: &str) -> Place {
        let cloud = self.cloud.as_ref().expect("a world over AWS");
        let (jules, github) = (self.sandbox.jules_base(), self.sandbox.github_base());
        cloud.place(who, (&jules, &github)).await
    }

    /// Keeps the records of a partition, and some more, as versions did that gave each an item of its own.
    pub async fn as_before(&self, pk: &str, more: Vec<Record>) {
        let cloud = self.cloud.as_ref().expect("a world over AWS");
        cloud::as_before(cloud.table(), pk, more).await;
    }

    /// Who asked for what at the gate, by the names that resources have in every deployment.
    pub fn asked(&self, gate: &Gate) -> BTreeSet<Asked> {
        let cloud = self.cloud.as_ref().expect("a world over AWS");
        let named = |asked: Asked| Asked {
            on: cloud.resource(&asked.on),
            ..asked
        };
        gate.asked().into_iter().map(named).collect()
    }
}
