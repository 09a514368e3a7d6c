//! Ids of pipelines and of what belongs to them: those of jobs and files are hashes, so that a repeated decision has the same ones.

use std::collections::BTreeSet;

use super::{ArtefactId, DeliveryId, JobId, RepoName, StreamName, digest, ulid_id};

/// What an id of a file is written with.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Characters of the id of a file.
const ARTEFACT_CHARS: usize = 6;

ulid_id!(
    /// One run of a repository's pipeline: a ULID in lower case.
    PipelineId, "pipeline id"
);

impl JobId {
    /// The id of a job that a run asks for: the same decision made twice asks for the same job.
    pub fn of_pipeline(pipeline: &PipelineId, purpose: &str, at: jiff::Timestamp) -> Self {
        Self::asked_by(pipeline.as_str(), purpose, at)
    }
}

impl StreamName {
    /// The stream that every repository has: the flat exchange.
    pub const GENERIC: &str = "generic";

    /// Whether it is the stream that every repository has.
    pub fn is_generic(&self) -> bool {
        self.0 == Self::GENERIC
    }
}

impl Default for StreamName {
    fn default() -> Self {
        Self(Self::GENERIC.to_owned())
    }
}

impl ArtefactId {
    /// Ids that the agent of a job gives to what it writes: different ones, and other ones for each job.
    pub fn of_job(job: &JobId, count: usize) -> Vec<Self> {
        let mut seen = BTreeSet::new();
        (0..)
            .map(|turn: usize| Self(spelt(&digest(&format!("{job}:id:{turn}")))))
            .filter(|id| seen.insert(id.clone()))
            .take(count)
            .collect()
    }
}

/// The first characters of an id, out of the digits of a hash.
fn spelt(hash: &str) -> String {
    let digits = u128::from_str_radix(hash, 16).unwrap_or_default();
    let places = (0..ARTEFACT_CHARS).scan(digits, |rest, _| {
        let letter = usize::try_from(*rest % 36).ok()?;
        *rest /= 36;
        LETTERS.get(letter).copied().map(char::from)
    });
    places.collect()
}

impl DeliveryId {
    /// The id of the delivery that implements a requirement for the `turn`th time, from 1 on.
    pub fn of_requirement(repo: &RepoName, requirement: &ArtefactId, turn: u32) -> Self {
        let name = format!("{}:requirement:{requirement}:{turn}", repo.key());
        Self(super::delivery::short(
            &name,
            super::delivery::DELIVERY_DIGITS,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_hands_out_different_ids_and_always_the_same() {
        let job: JobId = "01j00000000000000000000000".parse().unwrap();
        let other: JobId = "01j00000000000000000000001".parse().unwrap();
        let ids = ArtefactId::of_job(&job, 25);
        let distinct: BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), 25);
        assert!(
            ids.iter()
                .all(|id| id.as_str().parse::<ArtefactId>().is_ok())
        );
        assert_eq!(ArtefactId::of_job(&job, 4), ids[..4]);
        let others = ArtefactId::of_job(&other, 25);
        assert!(others.iter().all(|id| !ids.contains(id)));
    }

    #[test]
    fn each_turn_of_a_requirement_has_a_delivery_of_its_own() {
        let repo = "Acme/Shop".parse().unwrap();
        let id: ArtefactId = "abc123".parse().unwrap();
        let turn = |turn| DeliveryId::of_requirement(&repo, &id, turn);
        assert_eq!(
            turn(1),
            DeliveryId::of_requirement(&"acme/shop".parse().unwrap(), &id, 1)
        );
        assert_ne!(turn(1), turn(2));
        assert_eq!(turn(1).as_str().parse(), Ok(turn(1)));
    }
}
