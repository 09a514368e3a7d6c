//! Kills a process at a chosen moment: from then on its ports are dead until it is restarted.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// On which side of an act the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The act never happens.
    Before,
    /// The act happens, and its outcome is lost.
    After,
}

/// The outcome of an act.
pub(super) enum Acted<T> {
    /// It was answered.
    Answered(T),
    /// The process was dead before.
    Never,
    /// The process died right after it.
    Unheard,
}

/// The fate of the process; clones are the same one. An act is a commit, a message sent or removed, or a call that writes outside.
#[derive(Clone, Default)]
pub struct Fate {
    inner: Arc<Mutex<FateState>>,
}

#[derive(Default)]
struct FateState {
    acts: Vec<String>,
    kill: Option<(usize, Moment)>,
    dead: bool,
    deaths: u32,
    hook: Option<Hook>,
}

/// A hook that runs right before an act.
struct Hook {
    act: &'static str,
    then: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Whether stories of deaths die after each single act, and not after some: with `GAFFER_ACTS=all`, which takes long.
pub fn dies_after_each_act() -> bool {
    std::env::var_os("GAFFER_ACTS").is_some_and(|acts| acts == "all")
}

impl Fate {
    /// The names of all acts so far.
    pub fn acts(&self) -> Vec<String> {
        self.inner().acts.clone()
    }

    /// How many acts there were so far.
    pub fn count(&self) -> usize {
        self.inner().acts.len()
    }

    /// Dies at the act of this number, counted from 0 since the world began.
    pub fn kill_at(&self, act: usize, moment: Moment) {
        self.inner().kill = Some((act, moment));
    }

    /// Runs a hook right before the next act, or the next read of a record, whose name begins so.
    pub fn before_next(&self, act: &'static str, then: impl Future<Output = ()> + Send + 'static) {
        let then = Box::pin(then);
        self.inner().hook = Some(Hook { act, then });
    }

    /// Whether the process is dead.
    pub fn is_dead(&self) -> bool {
        self.inner().dead
    }

    /// How often it died.
    pub fn deaths(&self) -> u32 {
        self.inner().deaths
    }

    /// Starts the process again.
    pub fn revive(&self) {
        self.inner().dead = false;
    }

    pub(super) async fn act<T>(&self, name: &str, perform: impl Future<Output = T>) -> Acted<T> {
        let Some(number) = self.begin(name).await else {
            return Acted::Never;
        };
        if self.dies(number, Moment::Before) {
            return Acted::Never;
        }
        let answer = perform.await;
        if self.dies(number, Moment::After) {
            return Acted::Unheard;
        }
        Acted::Answered(answer)
    }

    /// Runs a hook right before a read, which is no act.
    pub(super) async fn reads(&self, name: &str) {
        let hook = self.inner().hook.take_if(|hook| name.starts_with(hook.act));
        if let Some(hook) = hook {
            hook.then.await;
        }
    }

    async fn begin(&self, name: &str) -> Option<usize> {
        let (number, hook) = {
            let mut inner = self.inner();
            if inner.dead {
                return None;
            }
            inner.acts.push(name.to_owned());
            let hook = inner.hook.take_if(|hook| name.starts_with(hook.act));
            (inner.acts.len() - 1, hook)
        };
        if let Some(hook) = hook {
            hook.then.await;
        }
        Some(number)
    }

    fn dies(&self, number: usize, moment: Moment) -> bool {
        let mut inner = self.inner();
        let dies = inner.kill == Some((number, moment));
        if dies {
            inner.dead = true;
            inner.deaths += 1;
        }
        dies
    }

    fn inner(&self) -> MutexGuard<'_, FateState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
