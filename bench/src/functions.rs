//! Our four functions behind a local Lambda Runtime API, beside the smallest function of three runtime clients: their
//! start times, costs and memory.

mod doubles;
mod instructions;
mod package;
mod process;
mod runtime_api;
mod subject;

use anyhow::{Context, Result};

use crate::figure::{Figure, Target};
use crate::machine::one_thread;
use crate::options::Options;
use crate::spread::Spread;
use doubles::Doubles;
use instructions::Counter;
use process::Process;
use subject::Subject;

const SECTION: &str = "functions";

/// How often each is started.
const STARTS: usize = 30;

/// Invocations of one process, and after how many of them it must have grown as far as it ever does.
const INVOCATIONS: usize = 1_000;
const SETTLED: usize = 100;

/// Milliseconds and millions of instructions until a function of ours asks for its first event.
const READY: Target = Target::AtMost(4.0);
const READY_INSTRUCTIONS: Target = Target::AtMost(6.0);

/// Millions of instructions that the first hello of TLS may take.
const HELLO_INSTRUCTIONS: Target = Target::AtMost(1.0);

/// Memory limit of a function in megabytes after a thousand invocations, and its growth after the first hundred: a page more or less is
/// no growth.
const HELD: Target = Target::AtMost(10.0);
const GROWN: Target = Target::AtMost(0.25);

/// Kilobytes in a megabyte.
const KB: f64 = 1024.0;

/// Where everything is that this section measures.
struct Places<'a> {
    binaries: &'a std::path::Path,
    python: &'a std::path::Path,
    node: &'a std::path::Path,
}

/// Starts, counts, invokes and weighs all of them.
pub(crate) fn measure(options: &Options) -> Result<Vec<Figure>> {
    let runtime = one_thread()?;
    let places = places(options).context(
        "this section stands beside other runtime clients: run `cargo xtask bench`, which builds and fetches what it needs",
    )?;
    runtime.block_on(everything(&places))
}

fn places(options: &Options) -> Option<Places<'_>> {
    Some(Places {
        binaries: options.functions.as_deref()?,
        python: options.awslambdaric.as_deref()?,
        node: options.aws_lambda_ric.as_deref()?,
    })
}

async fn everything(places: &Places<'_>) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let counter = Counter::new(folder.path()).await?;
    let plain = Doubles::plain().await?;
    let mut figures = Vec::new();
    for subject in subject::ours(places.binaries, &plain)? {
        let measured = one(&subject, &counter).await;
        figures.extend(aimed(measured.with_context(|| subject.name.clone())?));
        figures.push(package::figure(&subject)?);
    }
    let peers = [
        subject::hello(places.binaries),
        subject::python(places.python).await?,
        subject::node(places.node).await?,
    ];
    for subject in &peers {
        let measured = one(subject, &counter).await;
        figures.extend(measured.with_context(|| subject.name.clone())?);
    }
    figures.push(package::figure(&peers[0])?);
    figures.extend(tls(places.binaries, &counter, folder.path()).await?);
    Ok(figures)
}

/// What one of them shows, in the order of [`aimed`].
async fn one(subject: &Subject, counter: &Counter) -> Result<Vec<Figure>> {
    let figure = |what: &str, value, unit| {
        Figure::new(SECTION, format!("{}: {what}", subject.name), value, unit)
    };
    let ready = starts(subject).await?;
    let instructions = counter.until_ready(subject).await?;
    let worked = work(subject).await?;
    Ok(vec![
        figure("spawn to first /next, p50", ready.p50, "ms"),
        figure("spawn to first /next, p99", ready.p99, "ms"),
        figure("spawn to first /next", instructions, "M instructions"),
        figure(
            "peak memory after 1,000 invocations",
            worked.peak_kb / KB,
            "MB",
        ),
        figure(
            "growth of it after the first 100",
            worked.grown_kb / KB,
            "MB",
        ),
        figure("an invocation, p50", worked.took.p50, "ms"),
        figure("an invocation, p99", worked.took.p99, "ms"),
    ])
}

/// Ours have targets. The 99th percentile of thirty starts is the slowest, which the machine chooses.
fn aimed(figures: Vec<Figure>) -> Vec<Figure> {
    let targets = [
        Some(READY),
        None,
        Some(READY_INSTRUCTIONS),
        Some(HELD),
        Some(GROWN),
    ];
    let targets = targets.into_iter().chain(std::iter::repeat(None));
    let aim = |(figure, target): (Figure, Option<Target>)| Figure { target, ..figure };
    figures.into_iter().zip(targets).map(aim).collect()
}

/// Milliseconds of each start.
async fn starts(subject: &Subject) -> Result<Spread> {
    let mut samples = Vec::with_capacity(STARTS);
    // The first start reads the binary from the disk, as no other does.
    for turn in 0..=STARTS {
        let (process, took) = Process::start(subject, &[]).await?;
        process.end().await?;
        if turn > 0 {
            samples.push(took.as_secs_f64() * 1e3);
        }
    }
    Ok(Spread::from_samples(samples))
}

/// What a thousand invocations showed.
struct Worked {
    took: Spread,
    peak_kb: f64,
    grown_kb: f64,
}

async fn work(subject: &Subject) -> Result<Worked> {
    let (mut process, _) = Process::start(subject, &[]).await?;
    let mut samples = Vec::with_capacity(INVOCATIONS);
    let mut settled_kb = 0.0;
    for turn in 1..=INVOCATIONS {
        let (took, answer) = process.invoke(&subject.event).await?;
        let answer = String::from_utf8_lossy(&answer);
        anyhow::ensure!(answer.contains(subject.answers), "it answered {answer}");
        samples.push(took.as_secs_f64() * 1e3);
        if turn == SETTLED {
            settled_kb = process.peak_kb()?;
        }
    }
    let peak_kb = process.peak_kb()?;
    process.end().await?;
    Ok(Worked {
        took: Spread::from_samples(samples),
        peak_kb,
        grown_kb: peak_kb - settled_kb,
    })
}

/// What cryptography adds: one hello by itself, and the start of a function whose connections are opened over TLS.
async fn tls(
    binaries: &std::path::Path,
    counter: &Counter,
    folder: &std::path::Path,
) -> Result<Vec<Figure>> {
    let program = binaries.join("hello-tls");
    let without = counter.of_program(&program, "settings").await?;
    let with = counter.of_program(&program, "hello").await?;
    let name = "the first hello of TLS (rustls with ring)";
    let hello = Figure::new(SECTION, name, with - without, "M instructions");
    let mut figures = vec![hello.aimed(HELLO_INSTRUCTIONS)];
    let secured = Doubles::secured(folder).await?;
    for subject in subject::ours(binaries, &secured)? {
        let name = |what: &str| {
            format!(
                "{}, its connections to AWS opened over TLS: {what}",
                subject.name
            )
        };
        let ready = starts(&subject).await;
        let ready = ready.with_context(|| subject.name.clone())?;
        let took = name("spawn to first /next, p50");
        figures.push(Figure::new(SECTION, took, ready.p50, "ms"));
        let counted = counter.until_ready(&subject).await?;
        let took = name("spawn to first /next");
        figures.push(Figure::new(SECTION, took, counted, "M instructions"));
    }
    Ok(figures)
}
