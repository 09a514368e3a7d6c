//! Innovators: each makes three proposals, every one of which becomes an issue once.

use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, PipelineAsk};
use engine::pipelines::PipelineOrder;
use sandbox::story::Story;
use sandbox::{Fault, FaultKind, Service};
use tests::world::{REPO, World, hour};

use super::{
    begin, begin_and_end, call_off, files_with, findings, piped, push, rules, steps, tree,
    until_over, world_with,
};

pub(super) const CONFIG: &str = r#"[run]
jlo_target_branch = "main"
jules_worker_branch = "jules"

[innovators]
roles = [
  { name = "recruiter", enabled = true },
  { name = "leverage_architect", enabled = true },
]
"#;

async fn world() -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    world_with(source, vec![Story::layer()], files_with(CONFIG)).await
}

fn waiting(world: &World) -> usize {
    tree(world, "jules")
        .below(".jules/exchange/proposals")
        .filter(|(path, _)| path.as_str().ends_with(".yml"))
        .count()
}

#[tokio::test]
async fn proposals_become_issues_once_and_their_files_go() {
    let world = world().await;
    let lost = Fault::new(Service::GitHub, "/issues", FaultKind::CutAfterEffect);
    world.sandbox.faults().add(lost.on("POST").next(1));
    let begun = begin(&world, EntryPoint::Innovators).await;
    let (backend, id) = (world.backend.clone(), begun.id.clone());
    let (looked, seen) = std::sync::mpsc::channel();
    world.fate.before_next("open_issue", async move {
        let why = Box::pin(backend.pipeline_why(&id)).await;
        looked.send(why).expect("a story that waits");
    });
    let over = until_over(&world, &begun).await;
    let because = seen.try_recv().expect("a look").expect("a why").because;
    let told = because.last().expect("a reason");
    assert_eq!(told.code, "opening_issues", "{because:?}");
    let left = "; 6 are left, and its pull request comes after them.";
    assert!(told.sentence.contains(left), "{told:?}");
    assert!(!told.sentence.contains("To do then"), "{told:?}");
    assert_eq!(
        steps(&over),
        ["bootstrap done", "innovators done", "proposals done"],
        "{}",
        world.story().await
    );
    let github = world.sandbox.github();
    let issues = github.issues(REPO).into_iter();
    let issues: Vec<_> = issues
        .filter_map(|number| github.issue(REPO, number))
        .collect();
    let of = |role: &str| {
        let of_role = issues.iter().filter(|issue| {
            let label = format!("innovator/{role}");
            issue.title.starts_with(&format!("[{label}] ")) && issue.labels == [label]
        });
        of_role.count()
    };
    assert_eq!(
        (of("recruiter"), of("leverage_architect")),
        (3, 3),
        "{issues:?}"
    );
    assert!(issues[0].body.contains("## Problem") && issues[0].body.contains("## Verification"));
    assert_eq!(waiting(&world), 0);
    assert_eq!(findings(&world), [""; 0]);
    let over = begin_and_end(&world, EntryPoint::Proposals).await;
    assert_eq!(steps(&over)[1], "proposals skipped (No proposal waits)");
}

#[tokio::test]
async fn proposals_of_a_trial_do_not_wait() {
    let world = world().await;
    let bootstrap = begin(&world, EntryPoint::Proposals).await;
    until_over(&world, &bootstrap).await;
    let ask = PipelineAsk {
        layer: Some(Layer::Innovators),
        mock: Some("mock-1".parse().expect("a tag")),
        ..PipelineAsk::default()
    };
    let repo = REPO.parse().expect("a repository");
    let order = PipelineOrder::Only(ask);
    let tried = world.backend.start_pipeline(&repo, &order, "ann").await;
    let tried = until_over(&world, &tried.expect("a run")).await;
    assert_eq!(steps(&tried), ["innovators done"]);
    assert!(waiting(&world) > 0);
    let over = begin_and_end(&world, EntryPoint::Proposals).await;
    assert_eq!(steps(&over)[1], "proposals skipped (No proposal waits)");
}

#[tokio::test]
async fn one_proposal_that_is_not_in_order_holds_up_all() {
    let world = world().await;
    begin_and_end(&world, EntryPoint::Decider).await;
    let odd = ".jules/exchange/proposals/recruiter-odd.yml";
    push(&world, "jules", (odd, "id: abc123\nunknown: true\n"));
    let over = begin_and_end(&world, EntryPoint::Proposals).await;
    let told = &steps(&over)[1];
    assert!(
        told.contains("nothing is published") && told.contains(odd),
        "{told}"
    );
    assert_eq!(world.sandbox.github().issues(REPO), [0; 0]);
}

#[tokio::test]
async fn a_run_that_is_called_off_opens_no_further_issue() {
    let world = world().await;
    let begun = begin(&world, EntryPoint::Innovators).await;
    let off = call_off(&world, &begun, "proposals");
    world.fate.before_next("open_issue", off);
    world.pass(hour(2)).await;
    let over = super::run(&world, &begun).await;
    assert!(over.is_over(), "{:?}", steps(&over));
    let opened = world.sandbox.github().issues(REPO).len();
    assert!(opened <= 1, "{opened}, of which one was under way");
    assert_eq!(waiting(&world), 6);
}
