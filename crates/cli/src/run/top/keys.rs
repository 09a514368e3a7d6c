//! Single keys from the terminal, which is left as it was found.

use std::io::{IsTerminal, Read};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

/// What ends the view.
const QUIT: [u8; 2] = [b'q', b'Q'];

/// Keys as they are pressed, for as long as this is held.
pub(super) struct Keys {
    /// How the terminal was; none where there is none.
    before: Option<Termios>,
    pressed: mpsc::UnboundedReceiver<u8>,
}

impl Keys {
    /// Has keys told one by one, and not shown.
    pub(super) fn listen() -> Self {
        let (tell, pressed) = mpsc::unbounded_channel();
        let before = single_keys();
        if before.is_some() {
            // A read of a terminal cannot be called off; the thread ends with the process.
            std::thread::spawn(move || {
                for key in std::io::stdin().lock().bytes() {
                    if key.is_err() || tell.send(key.unwrap_or_default()).is_err() {
                        return;
                    }
                }
            });
        }
        Self { before, pressed }
    }

    /// Resolves when somebody has seen enough.
    pub(super) async fn quit(&mut self) {
        while let Some(key) = self.pressed.recv().await {
            if QUIT.contains(&key) {
                return;
            }
        }
        // Nobody types.
        std::future::pending().await
    }
}

/// Switches the terminal to single keys; Ctrl-C stays a signal.
fn single_keys() -> Option<Termios> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return None;
    }
    let before = tcgetattr(&stdin).ok()?;
    let mut single = before.clone();
    single
        .local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Now, &single).ok()?;
    Some(before)
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // There is nobody left to be told.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}
