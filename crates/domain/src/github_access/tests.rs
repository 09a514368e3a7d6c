//! Which problems with GitHub are announced, how often, and when they are over.

use super::*;
use crate::advice::Advice;
use crate::facts::fixture::at;

fn account() -> AccountName {
    "default".parse().unwrap()
}

fn shop() -> RepoName {
    "acme/shop".parse().unwrap()
}

fn seen(id: u64, name: &str) -> RepositoryIdentity {
    RepositoryIdentity {
        id: RepoId(id),
        name: name.parse().unwrap(),
    }
}

/// A repository that was read once under its own name.
fn known() -> RepositoryAccess {
    answered(
        &RepositoryAccess::new(shop()),
        &account(),
        &seen(5, "Acme/Shop"),
        at(0),
    )
    .aggregate
}

fn fail(class: FailureClass) -> Failure {
    Failure::new(class, "said so")
}

/// Codes of the announcements over a row of readings, one every ten seconds.
fn story(
    reach: &mut RepositoryAccess,
    readings: &[Result<RepositoryIdentity, FailureClass>],
) -> Vec<String> {
    let mut told = Vec::new();
    for (turn, reading) in readings.iter().enumerate() {
        let now = at(10 * i64::try_from(turn).unwrap());
        let step = match reading {
            Ok(seen) => answered(reach, &account(), seen, now),
            Err(class) => refused(reach, &account(), &fail(*class), now),
        };
        let code = step
            .aggregate
            .reasons()
            .first()
            .map_or("", |reason| reason.0);
        told.extend(step.events.iter().map(|_| format!("{turn} {code}")));
        *reach = step.aggregate;
    }
    told
}

#[test]
fn the_number_is_learned_once_and_under_the_own_name_only() {
    let reach = known();
    assert_eq!(reach.id, Some(RepoId(5)));
    assert!(reach.is(RepoId(5)) && !reach.is(RepoId(6)));
    assert!(!RepositoryAccess::new(shop()).is(RepoId(5)));
    let mut new = RepositoryAccess::new(shop());
    let told = story(
        &mut new,
        &[Ok(seen(5, "acme/store")), Ok(seen(5, "acme/store"))],
    );
    assert_eq!((told, new.id), (vec!["0 github_moved".to_owned()], None));
}

#[test]
fn another_repository_of_the_same_name_is_told_once_and_never_believed() {
    let mut reach = known();
    let other = || Ok(seen(6, "acme/shop"));
    let told = story(
        &mut reach,
        &[other(), other(), Err(FailureClass::Network), other()],
    );
    assert_eq!(told, ["0 github_replaced"]);
    assert!(!reach.is(RepoId(6)));
    let told = story(
        &mut reach,
        &[Ok(seen(5, "acme/shop")), other(), Ok(seen(7, "acme/shop"))],
    );
    assert_eq!(told, ["1 github_replaced", "2 github_replaced"]);
    let meant = reach.meant(RepoId(7));
    assert!(meant.is(RepoId(7)) && meant.trouble.is_none());
}

#[test]
fn a_new_name_is_told_once_and_stands_in_nobodys_way() {
    let mut reach = known();
    let store = || Ok(seen(5, "acme/store"));
    let told = story(
        &mut reach,
        &[store(), store(), Ok(seen(5, "acme/shop")), store()],
    );
    assert_eq!(told, ["0 github_renamed", "3 github_renamed"]);
    assert!(reach.is(RepoId(5)) && reach.trouble.is_none());
    let twice = Step::unchanged(known());
    assert_eq!(pull_found(twice, 7).aggregate, known());
}

#[test]
fn a_refusal_is_told_at_once_and_a_404_when_it_comes_again() {
    use FailureClass::{Forbidden, NotFound};
    let mut reach = known();
    assert_eq!(
        story(&mut reach, &[Err(NotFound), Ok(seen(5, "acme/shop"))]),
        [""; 0]
    );
    let told = story(&mut reach, &[Err(NotFound), Err(NotFound), Err(Forbidden)]);
    assert_eq!(told, ["1 github_missing"]);
    let told = story(
        &mut reach,
        &[Ok(seen(5, "acme/shop")), Err(Forbidden), Err(NotFound)],
    );
    assert_eq!(told, ["1 github_blocked"]);
    let again = [Ok(seen(5, "acme/shop")), Err(Forbidden)];
    assert_eq!(story(&mut reach, &again), ["1 github_blocked"]);
}

#[test]
fn trouble_on_the_way_says_nothing_about_a_repository() {
    use FailureClass as Class;
    let silent = [
        Class::Unauthorized,
        Class::Precondition,
        Class::Conflict,
        Class::Invalid,
        Class::Throttled,
        Class::Unavailable,
        Class::Network,
        Class::Garbled,
    ];
    for class in silent {
        let step = refused(&known(), &account(), &fail(class), at(1));
        assert_eq!(
            (step.aggregate, step.events.len()),
            (known(), 0),
            "{class:?}"
        );
    }
}

#[test]
fn a_pull_request_that_is_gone_is_told_once() {
    let mut reach = known();
    let mut told = 0;
    for turn in 0..4 {
        let step = pull_lost(&reach, &account(), 7, at(turn));
        told += step.events.len();
        reach = step.aggregate;
        assert_eq!(told, usize::from(turn > 0));
    }
    assert_eq!(reach.reasons()[0].0, "github_pull_lost");
    reach = pull_found(Step::unchanged(reach), 7).aggregate;
    assert_eq!(reach, known());
    for number in 0..200 {
        reach = pull_lost(&reach, &account(), number, at(9)).aggregate;
    }
    assert_eq!(reach.lost.len(), LOST_MAX);
}

#[test]
fn a_dead_credential_is_told_once_until_it_works_again() {
    let dead = fail(FailureClass::Unauthorized);
    let mut access = CredentialAccess::default();
    let mut told = Vec::new();
    let readings = [Some(&dead), Some(&dead), None, None, Some(&dead)];
    for (turn, failure) in readings.into_iter().enumerate() {
        let now = at(i64::try_from(turn).unwrap());
        let step = signed_in(&access, &account(), failure, now);
        told.extend(step.events.into_iter().map(|event| event.id));
        access = step.aggregate;
    }
    assert_eq!(told.len(), 2);
    assert_ne!(told[0], told[1]);
    for class in [
        FailureClass::Network,
        FailureClass::Throttled,
        FailureClass::Forbidden,
    ] {
        let step = signed_in(&access, &account(), Some(&fail(class)), at(9));
        assert_eq!(step.aggregate, access, "{class:?} proves nothing");
    }
}

#[test]
fn sentences_say_what_to_do() {
    let shown = |obstacle| {
        let said = "401 Bad credentials".to_owned();
        let trouble = AccessProblem {
            obstacle,
            since: at(0),
            said,
            told: true,
        };
        trouble.sentence(Some(&shop()))
    };
    assert!(shown(AccessProblemKind::SignIn).contains("secret `github`"));
    assert!(shown(AccessProblemKind::Blocked).contains("acme/shop"));
    assert!(shown(AccessProblemKind::Missing).contains("pause the source"));
    let (by, was) = (RepoId(6), RepoId(5));
    assert!(shown(AccessProblemKind::Replaced { by, was }).contains("its number is 6"));
    let to = "acme/store".parse().unwrap();
    assert!(shown(AccessProblemKind::Moved { to }).contains("leads on to acme/store"));
}

#[test]
fn what_helps_is_advised() {
    let advised = |obstacle| {
        let mut reach = RepositoryAccess::new(shop());
        reach.trouble = Some(AccessProblem {
            obstacle,
            since: at(0),
            said: String::new(),
            told: true,
        });
        reach.next()
    };
    let (by, was) = (RepoId(6), RepoId(5));
    let to: RepoName = "acme/store".parse().unwrap();
    assert_eq!(advised(AccessProblemKind::SignIn), []);
    assert_eq!(advised(AccessProblemKind::Blocked), []);
    assert_eq!(
        advised(AccessProblemKind::Missing),
        [Advice::PauseSource.about(&shop())]
    );
    assert_eq!(
        advised(AccessProblemKind::Replaced { by, was }),
        [Advice::RenumberSource.about(&shop())]
    );
    let moved = AccessProblemKind::Moved { to: to.clone() };
    assert_eq!(advised(moved), [Advice::AddSource.about(&to)]);
}
