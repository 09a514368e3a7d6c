//! Ids of deliveries and of what belongs to them: each is a hash of what it is for, so that the same thing seen twice
//! has one id.

use super::{DeliveryId, JobId, PlanId, RepoName, RunId, digest};

/// Digits of a delivery's id that is a hash.
pub(super) const DELIVERY_DIGITS: usize = 12;

/// Digits of the id of a run, and of a plan that was sent.
const RUN_DIGITS: usize = 8;

/// Digits of a hash that fill the random half of a ULID.
const RANDOM_DIGITS: usize = 20;

impl DeliveryId {
    /// The id of the delivery that an issue triggers.
    pub fn of_issue(repo: &RepoName, number: u64) -> Self {
        Self(short(&format!("{}:#{number}", repo.key()), DELIVERY_DIGITS))
    }

    /// The id of the delivery that an issue triggers for the `turn`th time, from 1 on.
    pub fn of_issue_again(repo: &RepoName, number: u64, turn: u32) -> Self {
        match turn {
            0 | 1 => Self::of_issue(repo, number),
            turn => Self(short(
                &format!("{}:#{number}:{turn}", repo.key()),
                DELIVERY_DIGITS,
            )),
        }
    }

    /// The id of a delivery into which another one was split.
    pub fn of_child(parent: &Self, place: usize) -> Self {
        Self(short(&format!("{parent}:child:{place}"), DELIVERY_DIGITS))
    }

    /// The id under which a job that belongs to no delivery is shown as one.
    pub fn of_job(job: &JobId) -> Self {
        Self(job.to_string())
    }

    /// How the causes of its messages to its session begin.
    pub(crate) fn message_prefix(&self) -> String {
        format!("delivery:{self}:")
    }

    /// A new id, for a delivery that no issue triggers.
    pub fn from_ulid(ulid: ulid::Ulid) -> Self {
        Self::of_job(&JobId::from_ulid(ulid))
    }
}

impl RunId {
    /// The id of a delivery's run, by its place among the runs.
    pub fn of_delivery(delivery: &DeliveryId, place: usize) -> Self {
        Self(short(&format!("{delivery}:run:{place}"), RUN_DIGITS))
    }
}

impl PlanId {
    /// The id of a plan that was sent for a delivery, by how many runs it has.
    pub fn of_delivery(delivery: &DeliveryId, runs: usize) -> Self {
        Self(short(&format!("{delivery}:plan:{runs}"), RUN_DIGITS))
    }
}

impl JobId {
    /// The id of a job that a delivery asks for: the same decision made twice asks for the same job.
    pub fn of_delivery(delivery: &DeliveryId, purpose: &str, at: jiff::Timestamp) -> Self {
        Self::asked_by(delivery.as_str(), purpose, at)
    }

    /// The same for whatever else asks for a job under a name of its own.
    pub(crate) fn asked_by(name: &str, purpose: &str, at: jiff::Timestamp) -> Self {
        let hash = short(&format!("{name}:job:{purpose}"), RANDOM_DIGITS);
        let random = u128::from_str_radix(&hash, 16).unwrap_or_default();
        let millis = u64::try_from(at.as_millisecond()).unwrap_or_default();
        Self::from_ulid(ulid::Ulid::from_parts(millis, random))
    }
}

pub(super) fn short(text: &str, digits: usize) -> String {
    let mut hash = digest(text);
    hash.truncate(digits);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_has_one_delivery_however_its_repository_is_spelt() {
        use sha2::{Digest, Sha256};
        let whole = hex::encode(Sha256::digest(b"acme/shop:#12"));
        let id = DeliveryId::of_issue(&"Acme/Shop".parse().unwrap(), 12);
        assert_eq!(id.as_str(), &whole[..12]);
        assert_eq!(id, DeliveryId::of_issue(&"acme/shop".parse().unwrap(), 12));
        assert_ne!(id, DeliveryId::of_issue(&"acme/shop".parse().unwrap(), 13));
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        let turn = |turn| DeliveryId::of_issue_again(&"ACME/shop".parse().unwrap(), 12, turn);
        assert_eq!(turn(1), id);
        assert_ne!(turn(2), id);
        assert_ne!(turn(2), turn(3));
        for wrong in ["", "0123456789ab0", "0123456789AB", "0123456789ag", "a/b"] {
            assert!(wrong.parse::<DeliveryId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_of_what_belongs_to_a_delivery_differ() {
        let id = DeliveryId::of_issue(&"acme/shop".parse().unwrap(), 12);
        assert_ne!(DeliveryId::of_child(&id, 0), DeliveryId::of_child(&id, 1));
        assert_ne!(RunId::of_delivery(&id, 0), RunId::of_delivery(&id, 1));
        let plan = PlanId::of_delivery(&id, 1);
        assert_ne!(plan, PlanId::of_delivery(&id, 2));
        assert_eq!(plan.as_str().parse(), Ok(plan.clone()));
        let at = jiff::Timestamp::from_millisecond(1_772_366_400_123).unwrap();
        let job = JobId::of_delivery(&id, "work:1", at);
        assert_eq!(job, JobId::of_delivery(&id, "work:1", at));
        assert_ne!(job, JobId::of_delivery(&id, "work:2", at));
        assert_eq!(job.drawn_at(), at);
        assert_eq!(job.as_str().parse(), Ok(job.clone()));
        assert_eq!(DeliveryId::of_job(&job).as_str(), job.as_str());
        let edge = JobId::of_delivery(&id, "work:1", jiff::Timestamp::MAX);
        assert_eq!(edge.as_str().parse(), Ok(edge.clone()));
        let before = JobId::of_delivery(&id, "work:1", jiff::Timestamp::MIN);
        assert_eq!(before.as_str().parse(), Ok(before.clone()));
    }
}
