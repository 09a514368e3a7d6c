//! What an agent has to read and write for each merged pull request: with Gaffer, and by asking again and again
//! through Google's own MCP tools.
//!
//! The unit is bytes of JSON: the tools as a client shows them to its model (name, description, arguments), every
//! call with its answer, and every wake.
//! The other agent asks only until a session rests; what it would need to read checks, repair and merge is not
//! counted, since its tools cannot do that.

use std::collections::BTreeMap;
use std::sync::Mutex;

use domain::ids::JobId;
use expect_test::expect_file;
use jiff::{SignedDuration, Timestamp};
use sandbox::jules::SessionView;
use serde_json::{Value, json};
use tests::world::{Demo, MINUTE, World};

/// How often the other agent asks about each of its sessions when it means to be as prompt as Gaffer is: at its tick.
const PROMPTLY: SignedDuration = SignedDuration::from_secs(10);

/// How often it asks when it takes its time.
const AT_LEISURE: SignedDuration = SignedDuration::from_secs(30);

/// Size of the descriptions of Google's tools, in bytes of JSON.
///
/// Source: google-labs-code/jules-sdk, packages/mcp/src/tools: `create_session` 1,330, `list_sessions` 120,
/// `get_session_state` 1,950, `send_reply_to_session` 470, `get_code_review_context` 1,250, `show_code_diff` 950; a
/// seventh is not counted.
const THEIR_TOOLS: usize = 1_330 + 120 + 1_950 + 470 + 1_250 + 950;

/// Bytes of a token, as a rule of thumb for English and JSON.
const BYTES_OF_A_TOKEN: usize = 4;

/// What went through an agent's context, in bytes.
#[derive(Debug, Default)]
struct Read {
    tools: usize,
    calls: usize,
    asked: usize,
    wakes: usize,
}

impl Read {
    fn total(&self) -> usize {
        self.tools + self.calls + self.asked + self.wakes
    }

    fn call(&mut self, name: &str, arguments: &Value, answer: &Value) {
        let call = json!({ "name": name, "arguments": arguments });
        self.calls += bytes(&call) + bytes(answer);
    }

    fn told_line(&self, who: &str, merged: usize) -> String {
        let each = self.total() / merged;
        format!(
            "{who}: {each} bytes or about {} tokens for each of {merged} merges; tools {}, orders {}, asking {}, wakes {}",
            each / BYTES_OF_A_TOKEN,
            self.tools,
            self.calls,
            self.asked,
            self.wakes
        )
    }
}

fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

/// Our tools as a model sees them, without the schemas of answers, which are for programs.
fn our_tools() -> usize {
    let listed = include_str!("../../../crates/client/src/mcp/tests/tools.json");
    let listed: Vec<Value> = serde_json::from_str(listed).expect("a list of tools");
    let shown = |tool: &Value| {
        bytes(&json!({
            "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"],
        }))
    };
    listed.iter().map(shown).sum()
}

/// What `get_session_state` answers about a session.
fn state(session: &SessionView) -> Value {
    let last = session.activities.last();
    let said = session.activities.iter().rev().find_map(|activity| {
        let text = activity["agentMessaged"]["agentMessage"].as_str()?;
        Some(json!({ "activityId": activity["id"], "content": text, "timestamp": activity["createTime"] }))
    });
    let status = match session.state.as_str() {
        "QUEUED" | "PLANNING" | "IN_PROGRESS" => "busy",
        "FAILED" => "failed",
        _ => "stable",
    };
    let mut state = json!({
        "id": session.id, "status": status, "title": session.title, "prompt": session.prompt,
        "url": format!("https://jules.google.com/session/{}", session.id),
        "lastActivity": last.map(|it| json!({ "activityId": it["id"], "type": "progressUpdated", "timestamp": it["createTime"] })),
    });
    if let Some(said) = said {
        state["lastAgentMessage"] = said;
    }
    if let Some((repo, number)) = &session.pull {
        state["pr"] = json!({ "url": format!("https://github.com/{repo}/pull/{number}"), "title": session.title });
    }
    if session.state == "AWAITING_PLAN_APPROVAL" {
        state["pendingPlan"] =
            json!({ "planId": "p", "steps": [{ "title": "Look around", "description": "" }] });
    }
    state
}

/// The agent that asks: who is not at rest yet is asked about again and again.
struct Asking {
    every: SignedDuration,
    read: Read,
    asked: BTreeMap<JobId, Timestamp>,
    rests: Vec<JobId>,
}

impl Asking {
    async fn look(&mut self, world: &World, jobs: &[JobId]) {
        let now = world.clock.now();
        for job in jobs
            .iter()
            .filter(|job| !self.rests.contains(job))
            .cloned()
            .collect::<Vec<_>>()
        {
            let stored = world.backend.must_job(&job).await.expect("a job").value;
            let is_time = self
                .asked
                .get(&job)
                .is_none_or(|at| now.duration_since(*at) >= self.every);
            if stored.session().is_none() || !is_time {
                continue;
            }
            let session = world.session(&job).await;
            let call =
                json!({ "name": "get_session_state", "arguments": { "sessionId": session.id } });
            self.read.asked += bytes(&call) + bytes(&state(&session));
            self.asked.insert(job.clone(), now);
            if session.state == "COMPLETED" {
                self.rests.push(job);
            }
        }
    }
}

/// Both agents through the same stories.
async fn compared(demo: &Demo, every: SignedDuration) -> (Read, Read) {
    let asking = Mutex::new(Some(Asking {
        every,
        read: Read::default(),
        asked: BTreeMap::new(),
        rests: Vec::new(),
    }));
    let take = || asking.lock().expect("a lock").take();
    demo.world
        .until(MINUTE * 180, "all merged", async |world| {
            demo.attend().await;
            let mut looking = take().expect("one look at a time");
            looking.look(world, &demo.jobs).await;
            *asking.lock().expect("a lock") = Some(looking);
            world.all_merged(&demo.jobs).await
        })
        .await;
    let mut theirs = take().expect("the last look").read;
    theirs.tools = THEIR_TOOLS;
    let mut ours = Read {
        tools: our_tools(),
        ..Read::default()
    };
    for job in &demo.jobs {
        let stored = demo.world.backend.must_job(job).await.expect("a job").value;
        let session = demo.world.session(job).await;
        let order =
            json!({ "repo": stored.repo, "branch": stored.branch, "prompt": stored.prompt });
        ours.call(
            "jules_create_job",
            &order,
            &json!({ "job_id": job, "state": "queued", "attempt": 1 }),
        );
        let answer = json!(format!("Session created. ID: {}", session.id));
        theirs.call("create_session", &order, &answer);
        // The word of failed checks is Gaffer's own; the other agent writes it.
        for said in &session.messages {
            let reply = json!({ "sessionId": session.id, "action": "send", "message": said });
            theirs.call("send_reply_to_session", &reply, &json!("Message sent."));
        }
    }
    for wake in demo.world.wakes() {
        ours.wakes += bytes(&wake);
        let (id, done) = (&wake["job_id"], json!({ "done": true }));
        match wake["kind"].as_str() {
            Some("question") => ours.call(
                "jules_send_message",
                &json!({ "job_id": id, "message": "PostgreSQL" }),
                &done,
            ),
            Some("stuck") => ours.call(
                "jules_send_message",
                &json!({ "job_id": id, "message": "Please go on" }),
                &done,
            ),
            Some("plan_approval") => {
                ours.call("jules_approve_plan", &json!({ "job_id": id }), &done)
            }
            _ => {}
        }
    }
    (ours, theirs)
}

/// Plays a demo, in which Gaffer may need at most this part of the bytes that polling needs.
async fn at_most(part: usize, told: &str, (demo, every): (Demo, SignedDuration)) -> String {
    let (ours, theirs) = compared(&demo, every).await;
    let merged = demo.jobs.len();
    let (with, without) = (
        ours.told_line("with Gaffer", merged),
        theirs.told_line("asking", merged),
    );
    assert!(ours.total() * part <= theirs.total(), "{with}\n{without}");
    demo.world.finish().await;
    format!("{told}, asked every {every:#}\n  {with}\n  {without}\n")
}

#[tokio::test]
async fn the_demo_takes_a_quarter_of_what_it_takes_to_be_as_prompt_by_asking() {
    let demo = Demo::begin(true, None).await;
    let told = Box::pin(at_most(4, "the demo's stories", (demo, PROMPTLY))).await;
    expect_file!["attention/promptly.txt"].assert_eq(&told);
}

#[tokio::test]
async fn sessions_of_the_usual_length_take_a_fifth_of_asking_at_leisure() {
    let demo = Demo::begin_at_usual_length().await;
    let name = "the same, a quarter of an hour each";
    let told = Box::pin(at_most(5, name, (demo, AT_LEISURE))).await;
    expect_file!["attention/at_leisure.txt"].assert_eq(&told);
}
