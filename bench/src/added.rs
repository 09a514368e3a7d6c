//! What a delivery adds to a bare job: one of each in the same repository, for as long, with webhooks.

use anyhow::{Result, ensure};
use domain::delivery::{Checkpoints, Delivery, Endpoint, ReviewBy};
use domain::ids::DeliveryId;
use jiff::SignedDuration;
use sandbox::Service;
use sandbox::github::NewIssue;
use tests::world::{REPO, Setup, World, on_green};

use crate::machine::one_thread;

/// How long each is given: both end within minutes, and the readings of a source come as often in both.
const LONG: SignedDuration = SignedDuration::from_mins(30);

/// Bytes of a write unit of DynamoDB.
const WRITE_UNIT_BYTES: usize = 1_024;

const LABEL: &str = "gaffer";

/// What was counted so far, or in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// Requests to GitHub that its budget counts.
    pub(crate) requests: f64,
    /// Write units of the records that were put.
    pub(crate) write_units: f64,
}

impl Counted {
    fn by_now(world: &World) -> Self {
        let all = world.sandbox.requests().into_iter();
        let counted = all.filter(|it| it.service == Service::GitHub && it.status != 304);
        let bodies = world.ledger.bodies();
        let units = bodies
            .iter()
            .map(|(_, body)| body.len().div_ceil(WRITE_UNIT_BYTES));
        Self {
            requests: counted.count() as f64,
            write_units: units.sum::<usize>() as f64,
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests - before.requests,
            write_units: self.write_units - before.write_units,
        }
    }
}

/// What a delivery without checkpoints took more than a job that was merged.
pub(crate) fn measure() -> Result<Counted> {
    let runtime = one_thread()?;
    runtime.block_on(Box::pin(played()))
}

async fn played() -> Result<Counted> {
    let mut source = on_green();
    let rules = &mut source.deliveries;
    rules.label = Some(LABEL.parse()?);
    rules.checkpoints = Checkpoints::none();
    rules.endpoint = Endpoint::VERIFY;
    rules.review_by = Some(ReviewBy::Nobody);
    let world = World::with(Setup {
        source,
        webhooks: true,
        ..Setup::default()
    })
    .await;
    // Another one went before, so that nothing is read for the first time.
    job(&world).await?;
    let job = job(&world).await?;
    Ok(delivery(&world).await?.since(job))
}

async fn job(world: &World) -> Result<Counted> {
    let before = Counted::by_now(world);
    let job = world.submit("add a page").await;
    world.pass(LONG).await;
    ensure!(world.all_merged(&[job]).await, "the job was not merged");
    Ok(Counted::by_now(world).since(before))
}

async fn delivery(world: &World) -> Result<Counted> {
    let before = Counted::by_now(world);
    let issue = NewIssue {
        title: "add a page".to_owned(),
        body: String::new(),
        author_login: "ann".to_owned(),
        labels: vec![LABEL.to_owned()],
    };
    let number = world
        .sandbox
        .github()
        .open_issue(world.clock.now(), REPO, issue);
    world.pass(LONG).await;
    let id = DeliveryId::of_issue(&REPO.parse()?, number);
    let found = world.backend.store.get::<Delivery>(&id).await?;
    let closed = found.is_some_and(|found| found.value.is_terminal());
    ensure!(closed, "the delivery was not closed");
    Ok(Counted::by_now(world).since(before))
}
