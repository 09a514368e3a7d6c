//! The gate between stdin and the server: a message a line. What is none is answered here, because the server passes over it in silence.

use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result};
use client::CALL_TIMEOUT;
use client::mcp::Server;
use serde_json::{Map, Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader, duplex, split,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::time::timeout;

/// Longest line that is read, in bytes: the longest prompt fits however it is escaped.
const LINE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Bytes on their way between the gate and the server.
const PIPE_BYTES: usize = 64 * 1024;

/// Capacity of the queue of refusals.
const REFUSALS_MAX: usize = 16;

/// How long the last answers may take to be read once nothing more is asked.
const GOODBYE: Duration = Duration::from_secs(10);

/// Codes of JSON-RPC 2.0 for what is no message.
const NO_JSON: i32 = -32_700;
const NO_REQUEST: i32 = -32_600;

/// Serves until there is nothing more to read and everything that was asked is answered.
pub(super) async fn serve(
    server: Server,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> Result<()> {
    let (ours, theirs) = duplex(PIPE_BYTES);
    let (from_server, to_server) = split(ours);
    let (reader, writer) = split(theirs);
    let (refuse, refused) = channel(REFUSALS_MAX);
    let owed = watch::Sender::new(0);
    let serving = async { Ok(server.over(reader, writer).await?) };
    let writing = async {
        let told = tell(BufReader::new(from_server), refused, &owed, output).await;
        told.context("writing answers")
    };
    let mut talk = pin!(async { tokio::try_join!(serving, writing).map(|_| ()) });
    tokio::select! {
        ended = &mut talk => return ended,
        read = pass_on(input, to_server, refuse, &owed) => read.context("reading messages")?,
    }
    // A client that hung up and reads no answers must not keep the process alive.
    timeout(GOODBYE, talk).await.unwrap_or(Ok(()))
}

/// One line, or its replacement.
enum InputLine {
    /// It is in the buffer.
    Whole,
    /// It was longer than any message may be.
    TooLong,
    /// There is none.
    End,
}

/// Passes messages on to the server, and refuses what is none.
async fn pass_on(
    mut input: impl AsyncBufRead + Unpin,
    mut to_server: impl AsyncWrite + Unpin,
    refuse: Sender<String>,
    owed: &watch::Sender<i64>,
) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        let refusal = match next_line(&mut input, &mut line).await? {
            InputLine::End => {
                // Accepted calls are done, and a client that still listens gets their answers.
                let mut owed = owed.subscribe();
                let _ = timeout(CALL_TIMEOUT, owed.wait_for(|owed| *owed <= 0)).await;
                return to_server.shutdown().await;
            }
            InputLine::TooLong => Err(refusal(
                NO_REQUEST,
                &format!("a message has at most {LINE_BYTES_MAX} bytes"),
            )),
            InputLine::Whole if line.trim_ascii().is_empty() => continue,
            InputLine::Whole => read(&line),
        };
        match refusal {
            // A client that reads no more answers needs no refusal either.
            Err(refusal) => drop(refuse.send(refusal).await),
            Ok(wants_answer) => {
                owed.send_modify(|owed| *owed += i64::from(wants_answer));
                // A server that has ended reads nothing more; the loop ends with its client.
                let _ = to_server.write_all(&line).await;
            }
        }
    }
}

/// Reads a line with its end, at most as much as a message may have.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> std::io::Result<InputLine> {
    line.clear();
    let mut is_long = false;
    loop {
        let some = input.fill_buf().await?;
        if some.is_empty() {
            // A last line without an end is no message: its writer was cut off.
            return Ok(InputLine::End);
        }
        let end = some.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(some.len(), |end| end + 1);
        is_long |= line.len() + used > LINE_BYTES_MAX;
        if !is_long {
            line.extend_from_slice(some.get(..used).unwrap_or_default());
        }
        input.consume(used);
        if end.is_some() {
            return Ok(if is_long {
                InputLine::TooLong
            } else {
                InputLine::Whole
            });
        }
    }
}

/// Whether a message wants an answer, or why the line is no message. It reads like the server, which skips unreadable lines.
fn read(line: &[u8]) -> Result<bool, String> {
    let read = serde_json::from_slice::<Value>(line);
    match read.map_err(|error| refusal(NO_JSON, &format!("the line is no JSON: {error}")))? {
        Value::Object(message) => Ok(is_request(&message)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(refusal(
                NO_REQUEST,
                "a message is one JSON object on a line",
            ))
        }
    }
}

fn is_request(message: &Map<String, Value>) -> bool {
    message.contains_key("method") && message.contains_key("id")
}

fn refusal(code: i32, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()
}

/// Writes answers and refusals, each on a line of its own.
async fn tell(
    from_server: impl AsyncBufRead + Unpin,
    mut refused: Receiver<String>,
    owed: &watch::Sender<i64>,
    mut output: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let mut answers = from_server.lines();
    let (mut serves, mut refuses) = (true, true);
    while serves || refuses {
        let line = tokio::select! {
            answer = answers.next_line(), if serves => {
                let answer = answer?;
                let paid = answer.as_deref().is_some_and(is_answer);
                owed.send_modify(|owed| *owed -= i64::from(paid));
                answer
            }
            refusal = refused.recv(), if refuses => match refusal {
                Some(refusal) => Some(refusal),
                None => {
                    refuses = false;
                    continue;
                }
            },
        };
        let Some(mut line) = line else {
            serves = false;
            continue;
        };
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

fn is_answer(line: &str) -> bool {
    let said = serde_json::from_str::<Map<String, Value>>(line);
    said.is_ok_and(|said| said.contains_key("id") && !said.contains_key("method"))
}
