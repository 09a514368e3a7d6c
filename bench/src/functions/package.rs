//! What a function weighs as it is uploaded: its binary, deflated.

use std::fs::File;
use std::io::{self, Write as _};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::subject::Subject;
use super::{KB, SECTION};
use crate::figure::{Figure, Target};

/// Bytes of a zip around its one file named `bootstrap`: 30 and 46 before it and in the directory, the name twice, 22 at the end.
const AROUND: u64 = 30 + 46 + 2 * 9 + 22;

/// Bytes in a megabyte.
const MB: f64 = 1024.0 * 1024.0;

/// The bar of prompts, doctor and pipelines: what reads, assembles and checks files is in the dispatcher alone, which may grow by so many
/// kilobytes, and the other packages by nothing.
const FILES_KB: f64 = 700.0;

/// Kilobytes that the others may grow by all the same, since what they grow from is older than deliveries and sprints: their routes, and
/// what is due of them.
const ROUTES_KB: f64 = 200.0;

/// The part of a package that is the unwinder's tables. They were blanked before an upload until 2026-11-25, and are uploaded since.
const TABLES: f64 = 0.1;

/// Megabytes of our packages in the docs/bench.md of 2026-11-25, the last one from before the crate `scaffold` and without those tables,
/// and how many kilobytes may have come since.
const KEPT: [(&str, f64, f64); 4] = [
    ("poller", 2.71, ROUTES_KB),
    ("dispatcher", 3.17, FILES_KB),
    ("webhook", 2.01, ROUTES_KB),
    ("api", 3.48, ROUTES_KB),
];

/// Counts what is written.
#[derive(Default)]
struct Weight(u64);

impl io::Write for Weight {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the package of one of our functions may weigh, in hundredths of a megabyte as the report shows them.
fn target(name: &str) -> Option<Target> {
    let (_, kept, more_kb) = KEPT.iter().find(|(function, ..)| *function == name)?;
    let most = kept / (1.0 - TABLES) + more_kb / KB;
    Some(Target::AtMost((most * 100.0).round() / 100.0))
}

/// The weight of a function's package, with a target if it is one of ours.
pub(super) fn figure(subject: &Subject) -> Result<Figure> {
    let weight = weight(subject).with_context(|| format!("weighing {}", subject.name))?;
    let name = format!("{}: package", subject.name);
    #[expect(
        clippy::cast_precision_loss,
        reason = "packages weigh a few million bytes"
    )]
    let megabytes = weight as f64 / MB;
    Ok(Figure {
        target: target(&subject.name),
        ..Figure::new(SECTION, name, megabytes, "MB")
    })
}

fn weight(subject: &Subject) -> io::Result<u64> {
    let mut binary = File::open(&subject.program)?;
    let mut deflated = DeflateEncoder::new(Weight::default(), Compression::default());
    io::copy(&mut binary, &mut deflated)?;
    deflated.flush()?;
    Ok(deflated.finish()?.0 + AROUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_our_packages_has_a_target_of_its_own() {
        for (name, aim) in [
            ("poller", "at most 3.21"),
            ("dispatcher", "at most 4.21"),
            ("webhook", "at most 2.43"),
            ("api", "at most 4.06"),
            ("lambda_runtime, bare", ""),
        ] {
            let figure = Figure {
                target: target(name),
                ..Figure::new(SECTION, name, 1.0, "MB")
            };
            assert_eq!(figure.aim().0, aim, "{name}");
        }
    }
}
