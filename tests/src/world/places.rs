//! A world's AWS as functions with the real time see it, and what all of them asked for.

use std::collections::BTreeSet;

use lambda::FunctionEnvironment;

use super::World;
use crate::cloud::{Asked, Gate};

impl World {
    /// Where a function of this world works that goes by the machine's time; only in a world with a gate.
    pub async fn place(&self, who: &str) -> FunctionEnvironment {
        let cloud = self.cloud.as_ref().expect("a world over AWS");
        let (jules, github) = (self.sandbox.jules_base(), self.sandbox.github_base());
        cloud.place(who, &jules, &github).await
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
