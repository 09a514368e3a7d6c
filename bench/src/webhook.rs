//! A `pull_request` webhook of 24 KB, verified and classified: ours beside npm's `@octokit/webhooks` on the same bytes.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use github::webhook::{Classified, Rejected, classify, verify};
use jiff::Timestamp;
use sandbox::webhook::sign;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;

use crate::figure::{Figure, Target};
use crate::options::Options;
use crate::spread::{Spread, time_each};

const SECTION: &str = "webhook";
const EXAMPLE: &str = include_str!("../../tests/fixtures/pull_request.synchronize.json");
const PEER: &str = include_str!("octokit.mjs");
const SECRET: &str = "a webhook secret with high entropy";

/// The size of the payload that is measured.
const PAYLOAD_BYTES: usize = 24 * 1024;

/// How often each thing is done, besides a tenth more to warm up.
const TIMES: usize = 20_000;

/// Microseconds that verifying and classifying may take.
const TARGET: Target = Target::AtMost(28.0);

/// Measures ours, then theirs.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>> {
    let raw = payload()?;
    let mut figures = ours(&raw)?;
    let Some(folder) = &options.octokit else {
        bail!(
            "the webhook section stands beside npm's @octokit/webhooks: run `cargo xtask bench`, which fetches it, or give its folder with --octokit"
        );
    };
    let theirs = theirs(folder, &raw)?;
    let name = format!(
        "@octokit/webhooks {} on node {}",
        theirs.version, theirs.node
    );
    let figure = |what: &str| format!("{name}: {what}");
    figures.extend(
        theirs
            .valid
            .figures(SECTION, &figure("verify and parse"), "us", None),
    );
    figures.extend(
        theirs
            .forged
            .figures(SECTION, &figure("a forged body"), "us", None),
    );
    Ok(figures)
}

/// The example, its description made as long as it takes to weigh what the target speaks of.
pub(crate) fn payload() -> Result<Vec<u8>> {
    let mut example: Value =
        serde_json::from_str(EXAMPLE).context("reading the example payload")?;
    example["pull_request"]["body"] = Value::from("");
    let room = PAYLOAD_BYTES.checked_sub(example.to_string().len());
    let room = room.context("the example payload is heavier than what is measured")?;
    let words = "Adds a test for the search box. ".repeat(room / 32 + 1);
    example["pull_request"]["body"] = Value::from(words.get(..room).unwrap_or_default());
    let raw = example.to_string().into_bytes();
    ensure!(
        raw.len() == PAYLOAD_BYTES,
        "the payload weighs {} bytes",
        raw.len()
    );
    Ok(raw)
}

fn ours(raw: &[u8]) -> Result<Vec<Figure>> {
    let secrets = [SecretString::from(SECRET)];
    let (good, bad) = (sign(SECRET, raw), sign("another secret", raw));
    let look = || classify(black_box(raw), Timestamp::UNIX_EPOCH);
    ensure!(
        verify(&secrets, Some(&good), raw).is_ok(),
        "the payload does not verify"
    );
    ensure!(
        matches!(look(), Classified::Look(_)),
        "the payload is not understood"
    );
    let refused = verify(&secrets, Some(&bad), raw);
    ensure!(
        refused == Err(Rejected::Mismatch),
        "a forged payload is taken"
    );
    let both = time_each(TIMES, || {
        if verify(&secrets, Some(&good), black_box(raw)).is_ok() {
            black_box(look());
        }
    });
    let forged = time_each(TIMES, || {
        black_box(verify(&secrets, Some(&bad), black_box(raw))).ok();
    });
    let parsed = time_each(TIMES, || {
        black_box(look());
    });
    let name = |what: &str| format!("24 KB pull_request: {what}");
    let mut figures = both.figures(SECTION, &name("verify and classify"), "us", Some(TARGET));
    figures.extend(forged.figures(
        SECTION,
        &name("a forged body, which is never parsed"),
        "us",
        None,
    ));
    figures.extend(parsed.figures(SECTION, &name("classify alone"), "us", None));
    Ok(figures)
}

/// What the other side measured of itself.
#[derive(Deserialize)]
struct Theirs {
    version: String,
    node: String,
    valid: Spread,
    forged: Spread,
}

fn theirs(folder: &Path, raw: &[u8]) -> Result<Theirs> {
    let script = folder.join("measure.mjs");
    let body = folder.join("payload.json");
    fs::write(&script, PEER).with_context(|| format!("writing {}", script.display()))?;
    fs::write(&body, raw).with_context(|| format!("writing {}", body.display()))?;
    let output = Command::new("node")
        .arg("measure.mjs")
        .args([SECRET, &sign(SECRET, raw), &TIMES.to_string()])
        .current_dir(folder)
        .output()
        .context("starting `node`: install Node.js 20 or later")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "measuring @octokit/webhooks failed: {said}"
    );
    serde_json::from_slice(&output.stdout).context("reading what was measured of @octokit/webhooks")
}
