//! Wakes as the Standard Webhooks project's own libraries verify them, for Python and for JavaScript.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{node, printed, python};
use crate::processes::Stage;
use crate::world::Fields;

/// Longest wait for a wake.
const WITHIN: Duration = Duration::from_secs(120);

/// What both libraries say of a message that they believe.
const VERIFIED: &str = "verified";

/// Older than the five minutes that both libraries allow, in seconds.
const TOO_OLD: i64 = 600;

/// Verifies every case of a list, and answers what came of each.
const PYTHON: &str = r#"
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
def said(case):
    try:
        Webhook(case["secret"]).verify(case["body"], case["headers"])
        return "verified"
    except WebhookVerificationError as error:
        return str(error)
print(json.dumps([said(case) for case in json.load(sys.stdin)]))
"#;

/// The same in JavaScript.
const NODE: &str = r#"
const { Webhook, WebhookVerificationError } = require("standardwebhooks");
const said = ({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return "verified";
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
};
console.log(JSON.stringify(JSON.parse(require("fs").readFileSync(0, "utf8")).map(said)));
"#;

/// One request as it came.
#[derive(Debug, Clone)]
struct Message {
    headers: Map<String, Value>,
    body: String,
}

impl Message {
    /// Checked with a secret.
    fn with(&self, secret: &str) -> Value {
        json!({ "secret": secret, "headers": self.headers, "body": self.body })
    }

    /// The same with a header changed.
    fn header(&self, name: &str, value: &str) -> Self {
        let mut changed = self.clone();
        changed.headers.insert(name.to_owned(), value.into());
        changed
    }

    fn text(&self, name: &str) -> &str {
        self.headers[name].as_str().unwrap()
    }
}

/// An agent that keeps what it gets and acknowledges it, until the test process ends.
fn agent() -> (SocketAddr, Receiver<Message>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, tell) = (stream.unwrap(), tell.clone());
            thread::spawn(move || received(stream).map(|message| tell.send(message)));
        }
    });
    (address, told)
}

/// The request of a connection; `None` when the connection closes without one, which any client may do.
fn received(mut stream: TcpStream) -> Option<Message> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut headers = Map::new();
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap() == 0 {
        return None;
    }
    assert!(line.starts_with("POST /wake "), "{line}");
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.into());
    }
    let length = headers["content-length"].as_str().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    stream
        .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
        .unwrap();
    let body = String::from_utf8(body).unwrap();
    Some(Message { headers, body })
}

/// What both libraries say of each case.
#[track_caller]
fn both_say(cases: &[Value]) -> [Vec<String>; 2] {
    let list = json!(cases).to_string();
    let said = |text: String| serde_json::from_str(&text).unwrap();
    [
        said(printed(
            python("GAFFER_PEER_WEBHOOKS_PYTHON", PYTHON),
            &list,
        )),
        said(printed(node("GAFFER_PEER_WEBHOOKS_NODE", NODE), &list)),
    ]
}

/// Both libraries believe the first cases and none of the others.
#[track_caller]
fn both_believe(believed: &[Value], refused: &[Value]) {
    let cases = [believed, refused].concat();
    for said in both_say(&cases) {
        let (yes, no) = said.split_at(believed.len());
        assert!(yes.iter().all(|it| it == VERIFIED), "{said:?}");
        assert!(no.iter().all(|it| it != VERIFIED), "{said:?}");
    }
}

#[test]
fn wakes_are_verified_also_while_the_secret_changes() {
    let (address, got) = agent();
    let mut stage = Stage::new();
    stage.world = stage.world.set("GAFFER_ALLOW_HOSTS", address.to_string());
    let url = format!("http://{address}/wake");
    let added = stage.world.json(&["agent", "add", "bot", "--url", &url]);
    let old = added["secret"].as_str().unwrap().to_owned();
    let set = ["source", "set", "acme/shop", "--agent", "bot"];
    stage.world.run(&set).ok();
    let up = stage.up();
    let job = stage.create(&up.text("url"));
    let wake = got.recv_timeout(WITHIN).unwrap();
    let body: Value = serde_json::from_str(&wake.body).unwrap();
    body.holds(&json!({
        "event": "completed", "job_id": job, "event_id": wake.text("webhook-id"),
    }));
    both_believe(&[wake.with(&old)], &tampered(&wake, &old));
    both_find_old(&wake, &old);

    let test = || {
        stage.world.run(&["agent", "test", "bot"]).ok();
        got.recv_timeout(WITHIN).unwrap()
    };
    let begun = stage.world.json(&["agent", "rotate", "bot"]);
    let new = begun["secret"].as_str().unwrap().to_owned();
    let wake = test();
    both_believe(&[wake.with(&old), wake.with(&new)], &tampered(&wake, &new));
    let finish = ["agent", "rotate", "bot", "--finish"];
    stage.world.run(&finish).ok();
    let wake = test();
    both_believe(&[wake.with(&new)], &[wake.with(&old)]);
    assert_eq!(up.stop(), Some(0));
}

/// The same message with one thing changed each.
fn tampered(wake: &Message, secret: &str) -> Vec<Value> {
    let body = Message {
        body: wake.body.replacen("\"event\"", "\"Event\"", 1),
        ..wake.clone()
    };
    assert_ne!(body.body, wake.body);
    let second = wake.text("webhook-timestamp").parse::<i64>().unwrap() - 1;
    [
        body,
        wake.header("webhook-id", "evt_00000000000000000000000000000000"),
        wake.header("webhook-timestamp", &second.to_string()),
        wake.header("webhook-signature", "v1,AAAA"),
    ]
    .map(|it| it.with(secret))
    .to_vec()
}

/// A message that is replayed long after is refused for its age, before anything else is checked.
#[track_caller]
fn both_find_old(wake: &Message, secret: &str) {
    let at = wake.text("webhook-timestamp").parse::<i64>().unwrap();
    let old = wake.header("webhook-timestamp", &(at - TOO_OLD).to_string());
    for said in both_say(&[old.with(secret)]) {
        assert!(said[0].contains("too old"), "{said:?}");
    }
}
