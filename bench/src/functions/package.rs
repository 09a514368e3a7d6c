//! What a function weighs as it is uploaded: its binary, deflated.

use std::fs::File;
use std::io::{self, Write as _};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::SECTION;
use super::subject::Subject;
use crate::figure::Figure;

/// Bytes of a zip around its one file named `bootstrap`: 30 and 46 before it and in the directory, the name twice, 22 at the end.
const AROUND: u64 = 30 + 46 + 2 * 9 + 22;

/// Bytes in a megabyte.
const MB: f64 = 1024.0 * 1024.0;

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

/// The weight of a function's package.
pub(super) fn figure(subject: &Subject) -> Result<Figure> {
    let weight = weight(subject).with_context(|| format!("weighing {}", subject.name))?;
    let name = format!("{}: package", subject.name);
    #[expect(
        clippy::cast_precision_loss,
        reason = "packages weigh a few million bytes"
    )]
    let megabytes = weight as f64 / MB;
    Ok(Figure::new(SECTION, name, megabytes, "MB"))
}

fn weight(subject: &Subject) -> io::Result<u64> {
    let mut binary = File::open(&subject.program)?;
    let mut deflated = DeflateEncoder::new(Weight::default(), Compression::default());
    io::copy(&mut binary, &mut deflated)?;
    deflated.flush()?;
    Ok(deflated.finish()?.0 + AROUND)
}
