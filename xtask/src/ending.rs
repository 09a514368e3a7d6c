//! How an emulator ends: it is asked to, and killed when it does not.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long one may take to end its own processes.
const WITHIN: Duration = Duration::from_secs(20);

/// How often it is looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Ends a process that runs others. A stop request also stops those; a kill would leave them behind, but a test that never ends is worse.
pub(crate) fn end(child: &mut Child) {
    let asked = Command::new("kill").arg(child.id().to_string()).status();
    if asked.is_ok_and(|status| status.success()) {
        let began = Instant::now();
        while began.elapsed() < WITHIN {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            pause();
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[expect(
    clippy::disallowed_methods,
    reason = "the standard library waits for a process with no limit only"
)]
fn pause() {
    std::thread::sleep(LOOK_EVERY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_ends_when_it_is_asked_to() {
        let mut child = Command::new("sh")
            .args(["-c", "exec cat"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let began = Instant::now();
        end(&mut child);
        assert!(child.try_wait().unwrap().is_some() && began.elapsed() < WITHIN);
    }
}
