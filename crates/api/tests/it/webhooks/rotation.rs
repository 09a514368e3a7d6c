//! The webhook's secret is replaced while deliveries and forgeries keep coming.

use jiff::Timestamp;

use super::*;

/// How far the clock moves between two bursts.
const BEAT: SignedDuration = SignedDuration::from_secs(7);

/// Deliveries of each signer in a burst.
const BURST: usize = 4;

/// How many of a burst's deliveries were believed, by what they were signed with.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Believed {
    old: usize,
    new: usize,
    forged: usize,
}

/// All at once: GitHub's under the old and the new secret, and forged ones.
async fn burst(hook: &Hook) -> Believed {
    let body = pull_request().to_string();
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..BURST {
        for signer in ["old", "forged", "new", "old,new", "new,old"] {
            let request = Request::post("/github/webhook")
                .header("x-hub-signature-256", sign(signer, body.as_bytes()))
                .body(Body::from(body.clone()))
                .unwrap();
            let router = hook.router.clone();
            all.spawn(async move { (signer, send(&router, request).await.status.as_u16()) });
        }
    }
    let mut believed = Believed::default();
    while let Some(outcome) = all.join_next().await {
        let count = match outcome.unwrap() {
            ("old", 202) => &mut believed.old,
            ("new", 202) => &mut believed.new,
            (_, 202) => &mut believed.forged,
            (_, status) => {
                assert_eq!(status, 401);
                continue;
            }
        };
        *count += 1;
    }
    believed
}

/// Bursts for so long; what was believed in each, with its time.
async fn under_load(hook: &Hook, time: SignedDuration) -> Vec<(Timestamp, Believed)> {
    let end = hook.clock.now() + time;
    let mut seen = Vec::new();
    while hook.clock.now() < end {
        seen.push((hook.clock.now(), burst(hook).await));
        hook.clock.advance(BEAT);
    }
    seen
}

/// Whether each burst from a moment on was believed exactly so.
fn all_from(seen: &[(Timestamp, Believed)], from: Timestamp, wanted: Believed) {
    let later: Vec<_> = seen.iter().filter(|(at, _)| *at >= from).collect();
    assert!(later.len() > 20, "{}", later.len());
    for (at, believed) in later {
        assert_eq!(*believed, wanted, "at {at}");
    }
}

#[tokio::test]
async fn under_load_no_valid_delivery_is_lost_in_the_overlap_and_no_old_one_accepted_after_it() {
    let hook = Hook::new("old");
    let wanted = |old: usize, new: usize| Believed {
        old: old * BURST,
        new: new * BURST,
        forged: 0,
    };
    let long = SignedDuration::from_mins(15);
    let begin = hook.clock.now();
    all_from(&under_load(&hook, long).await, begin, wanted(1, 0));

    // Both are stored; GitHub gets the new one once the overlap has begun.
    hook.secrets.set(Some(Ok("new,old")));
    let stored = hook.clock.now();
    let seen = under_load(&hook, long).await;
    all_from(&seen, stored + SECRET_READ_AGAIN, wanted(1, 1));
    assert!(seen.iter().all(|(_, it)| it.old == BURST && it.forged == 0));

    // The old one is taken out.
    hook.secrets.set(Some(Ok("new")));
    let removed = hook.clock.now();
    let seen = under_load(&hook, long).await;
    all_from(&seen, removed + SECRET_KEPT, wanted(0, 1));
    assert!(seen.iter().all(|(_, it)| it.new == BURST && it.forged == 0));
    // Whatever came, the secret was read about once a minute.
    let minutes = usize::try_from(hook.clock.now().duration_since(begin).as_mins()).unwrap();
    assert!(
        hook.secrets.reads() <= minutes + 2,
        "{}",
        hook.secrets.reads()
    );
}
