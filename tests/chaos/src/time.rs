//! One time for two processes: it runs slowly while work is pending, and jumps ahead when idle.
//!
//! Deadlines of minutes then pass in moments, and yet no call outlasts the hold of its effect because a machine is slow.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use engine::ports::Clock;
use jiff::{SignedDuration, Timestamp};

/// How often a story is read for what to do next, in real time.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Where the file tells how much the child has in hand.
const IN_HAND_AT: u64 = 8;

/// A time that is kept in a file of sixteen bytes: the parent writes nanoseconds since 1970, the child how many messages it has in hand.
pub(crate) struct SharedTime {
    file: File,
    last: AtomicI64,
    in_hand: AtomicU64,
}

impl SharedTime {
    /// A new one that shows a time.
    pub(crate) fn begin(path: &Path, at: Timestamp) -> Result<Arc<Self>> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| format!("making the clock {}", path.display()))?;
        let time = Self::of(file, at);
        time.set(at)?;
        time.put_down_all()?;
        Ok(Arc::new(time))
    }

    /// The one that a parent keeps.
    pub(crate) fn follow(path: &Path) -> Result<Arc<Self>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| format!("opening the clock {}", path.display()))?;
        Ok(Arc::new(Self::of(file, Timestamp::UNIX_EPOCH)))
    }

    fn of(file: File, at: Timestamp) -> Self {
        Self {
            file,
            last: AtomicI64::new(nanoseconds(at)),
            in_hand: AtomicU64::new(0),
        }
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, by: SignedDuration) -> Result<()> {
        let now = self.now();
        self.set(now.saturating_add(by).unwrap_or(now))
    }

    fn set(&self, at: Timestamp) -> Result<()> {
        let bytes = nanoseconds(at).to_le_bytes();
        self.file
            .write_all_at(&bytes, 0)
            .context("writing the clock")
    }

    /// The child took a message.
    pub(crate) fn take_up(&self) {
        self.tell(self.in_hand.fetch_add(1, Ordering::SeqCst) + 1);
    }

    /// The child is done with a message.
    pub(crate) fn put_down(&self) {
        self.tell(
            self.in_hand
                .fetch_sub(1, Ordering::SeqCst)
                .saturating_sub(1),
        );
    }

    fn tell(&self, in_hand: u64) {
        // What cannot be told makes time pass too quickly, which is one more thing to survive.
        let _ = self.file.write_all_at(&in_hand.to_le_bytes(), IN_HAND_AT);
    }

    /// The child is dead and has nothing in hand.
    pub(crate) fn put_down_all(&self) -> Result<()> {
        self.file
            .write_all_at(&0_u64.to_le_bytes(), IN_HAND_AT)
            .context("writing the clock")
    }

    /// Whether the child has anything in hand.
    pub(crate) fn is_busy(&self) -> bool {
        self.read(IN_HAND_AT).is_some_and(|in_hand| in_hand > 0)
    }

    fn read(&self, at: u64) -> Option<i64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        Some(i64::from_le_bytes(bytes))
    }
}

impl Clock for SharedTime {
    fn now(&self) -> Timestamp {
        let shown = self
            .read(0)
            .unwrap_or_else(|| self.last.load(Ordering::Relaxed));
        self.last.store(shown, Ordering::Relaxed);
        Timestamp::from_nanosecond(i128::from(shown)).unwrap_or_default()
    }
}

/// Times that the file cannot hold (after 2262) become the last that it can.
fn nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hands_on_one_file_see_one_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clock");
        let start = Timestamp::constant(1_772_355_600, 7);
        let parent = SharedTime::begin(&path, start).unwrap();
        let child = SharedTime::follow(&path).unwrap();
        assert_eq!(child.now(), start);
        parent.pass(SignedDuration::from_secs(90)).unwrap();
        assert_eq!(child.now(), start + SignedDuration::from_secs(90));
        child.take_up();
        child.take_up();
        child.put_down();
        assert!(parent.is_busy());
        parent.put_down_all().unwrap();
        assert!(!parent.is_busy());
    }
}
