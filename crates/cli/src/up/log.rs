//! The log on stderr: how much of it there is, and that what repeats itself is said once and then counted.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, format};
use tracing_subscriber::registry::LookupSpan;

use crate::args::Loudness;

/// How long repetitions of a logged warning or error are only counted.
const ONCE_IN: Duration = Duration::from_secs(60);

/// Maximum number of distinct warnings and errors that are counted; further ones are logged each time.
const COUNTED_MAX: usize = 1_000;

/// Fields in which repetitions of the same problem differ.
const VARYING: [&str; 3] = ["work", "receives", "key"];

/// What the filter lets through. The MCP SDK logs each request three times, and our own line says all of it.
fn filter(loudness: Loudness) -> &'static str {
    match loudness {
        Loudness::Usual => "info,rmcp=warn",
        Loudness::Verbose => {
            "debug,rmcp=warn,hyper=info,hyper_util=info,h2=info,reqwest=info,rustls=info"
        }
        Loudness::Quiet => "warn",
    }
}

/// Starts logging to stderr, so that stdout stays for answers. `RUST_LOG` sets the level unless an option does.
pub(crate) fn log_to_stderr(loudness: Loudness) {
    let typed = (loudness != Loudness::Usual).then(|| EnvFilter::new(filter(loudness)));
    let chosen = typed
        .or_else(|| EnvFilter::try_from_default_env().ok())
        .unwrap_or_else(|| EnvFilter::new(filter(loudness)));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(chosen)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .event_format(Counting::default());
    let _ = logs.try_init();
}

/// The usual lines, without repetitions of recent ones.
#[derive(Default)]
struct Counting {
    line: format::Format,
    said: Mutex<SeenLines>,
}

/// Logged lines, by their digest.
#[derive(Default)]
struct SeenLines(HashMap<u64, SeenLine>);

/// A warning or an error that was logged.
struct SeenLine {
    at: Instant,
    what: String,
    /// How often it came since.
    more: u64,
}

impl SeenLines {
    /// Records a line; returns whether it is new, and what to print of earlier counted ones.
    fn note(&mut self, trouble: Option<(u64, String)>, now: Instant) -> (bool, Vec<String>) {
        let is_over = |it: &SeenLine| now.duration_since(it.at) >= ONCE_IN;
        let over = self.0.extract_if(|_, it| is_over(it));
        let counted = over.filter(|(_, it)| it.more > 0);
        let counted = counted.map(|(_, it)| format!("{} more times: {}", it.more, it.what));
        let counted = counted.collect();
        let Some((digest, what)) = trouble else {
            return (true, counted);
        };
        if let Some(known) = self.0.get_mut(&digest) {
            known.more += 1;
            return (false, counted);
        }
        if self.0.len() < COUNTED_MAX {
            let (at, more) = (now, 0);
            self.0.insert(digest, SeenLine { at, what, more });
        }
        (true, counted)
    }
}

/// The text of an event, without the fields that differ each time.
struct Words {
    digest: DefaultHasher,
    message: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if VARYING.contains(&field.name()) {
            return;
        }
        let text = format!("{value:?}");
        (field.name(), &text).hash(&mut self.digest);
        if field.name() == "message" {
            self.message = text;
        }
    }
}

/// A warning or an error and its digest; `None` for other events.
fn trouble(event: &Event<'_>) -> Option<(u64, String)> {
    let metadata = event.metadata();
    if *metadata.level() > Level::WARN {
        return None;
    }
    let mut words = Words {
        digest: DefaultHasher::new(),
        message: String::new(),
    };
    metadata.callsite().hash(&mut words.digest);
    event.record(&mut words);
    Some((words.digest.finish(), words.message))
}

impl<S, N> FormatEvent<S, N> for Counting
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let (is_new, counted) = {
            let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
            said.note(trouble(event), Instant::now())
        };
        for line in counted {
            writeln!(writer, "{line}")?;
        }
        if is_new {
            self.line.format_event(context, writer, event)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl MakeWriter<'_> for Log {
        type Writer = Self;

        fn make_writer(&self) -> Self {
            self.clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_repeats_itself_is_said_once_and_counted() {
        let log = Log::default();
        let logs = tracing_subscriber::fmt()
            .with_writer(log.clone())
            .with_ansi(false)
            .event_format(Counting::default());
        let _guard = tracing::subscriber::set_default(logs.finish());
        for receives in 0..10_000 {
            for account in ["one", "two"] {
                tracing::warn!(account, receives, "it could not be handled");
            }
            tracing::info!("a job was merged");
        }
        tokio::time::advance(ONCE_IN).await;
        tracing::info!("the end");
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert_eq!(log.matches("WARN").count(), 2, "said more than once");
        assert_eq!(log.matches("a job was merged").count(), 10_000);
        let counted = "9999 more times: it could not be handled\n";
        assert_eq!(log.matches(counted).count(), 2);
    }
}
