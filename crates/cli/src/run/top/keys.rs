//! Single keys from the terminal, whose mode is restored afterwards.

use std::io::{IsTerminal, Read as _};
use std::time::Duration;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long the rest of a key may take that a terminal sends as several bytes: a lone Escape is followed by nothing.
const REST_WITHIN: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    Enter,
    Escape,
    Backspace,
    /// A letter or another sign.
    Char(char),
}

/// A stream of keys, while this is held.
pub(super) struct Keys {
    /// How the terminal was; `None` where there is none.
    before: Option<Termios>,
    pressed: mpsc::UnboundedReceiver<u8>,
    /// Bytes of a key that is not whole yet.
    begun: Vec<u8>,
}

/// What bytes from a terminal are.
#[derive(Debug, PartialEq, Eq)]
enum KeyRead {
    Whole(Key),
    /// More has to come.
    Begun,
    /// No key of ours.
    Unknown,
}

fn read(bytes: &[u8]) -> KeyRead {
    match bytes {
        [0x1b] | [0x1b, b'[' | b'O'] => KeyRead::Begun,
        [0x1b, b'[' | b'O', b'A'] => KeyRead::Whole(Key::Up),
        [0x1b, b'[' | b'O', b'B'] => KeyRead::Whole(Key::Down),
        // A longer one ends with a letter or `~`.
        [0x1b, b'[', .., last] if !last.is_ascii_alphabetic() && *last != b'~' => KeyRead::Begun,
        [0x1b, ..] => KeyRead::Unknown,
        [b'\r' | b'\n'] => KeyRead::Whole(Key::Enter),
        [0x7f | 0x08] => KeyRead::Whole(Key::Backspace),
        [control] if control.is_ascii_control() => KeyRead::Unknown,
        other => match str::from_utf8(other) {
            Ok(text) => text
                .chars()
                .next()
                .map_or(KeyRead::Unknown, |sign| KeyRead::Whole(Key::Char(sign))),
            Err(wrong) if wrong.error_len().is_none() => KeyRead::Begun,
            Err(_) => KeyRead::Unknown,
        },
    }
}

impl Keys {
    /// Reads keys one by one, without echo.
    pub(super) fn listen() -> Self {
        let (tell, pressed) = mpsc::unbounded_channel();
        let before = single_keys();
        if before.is_some() {
            // A read of a terminal cannot be cancelled; the thread ends with the process.
            std::thread::spawn(move || {
                for key in std::io::stdin().lock().bytes() {
                    if key.is_err() || tell.send(key.unwrap_or_default()).is_err() {
                        return;
                    }
                }
            });
        }
        let begun = Vec::new();
        Self {
            before,
            pressed,
            begun,
        }
    }

    /// The next key. Nothing is lost when it is not waited for to the end.
    pub(super) async fn next(&mut self) -> Key {
        loop {
            let more = if self.begun.is_empty() {
                self.pressed.recv().await
            } else {
                timeout(REST_WITHIN, self.pressed.recv())
                    .await
                    .unwrap_or_default()
            };
            let Some(byte) = more else {
                if std::mem::take(&mut self.begun) == [0x1b] {
                    return Key::Escape;
                }
                if self.pressed.is_closed() {
                    // No key was pressed.
                    return std::future::pending().await;
                }
                continue;
            };
            self.begun.push(byte);
            let read = read(&self.begun);
            if read != KeyRead::Begun {
                self.begun.clear();
            }
            if let KeyRead::Whole(key) = read {
                return key;
            }
        }
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
            // A failure here has no reader any more.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keys_are_read_as_terminals_send_them() {
        let (tell, pressed) = mpsc::unbounded_channel();
        let mut keys = Keys {
            before: None,
            pressed,
            begun: Vec::new(),
        };
        for (bytes, key) in [
            ("j".as_bytes(), Key::Char('j')),
            ("\u{1b}[A".as_bytes(), Key::Up),
            ("\u{1b}OB".as_bytes(), Key::Down),
            // Another key of several bytes is ignored.
            ("\u{1b}[3~\r".as_bytes(), Key::Enter),
            ("ü".as_bytes(), Key::Char('ü')),
            (b"\xff\x7f", Key::Backspace),
        ] {
            for byte in bytes {
                tell.send(*byte).unwrap();
            }
            assert_eq!(keys.next().await, key, "{bytes:?}");
        }
        tell.send(0x1b).unwrap();
        // The end of input is noticed at once.
        drop(tell);
        assert_eq!(keys.next().await, Key::Escape);
    }
}
