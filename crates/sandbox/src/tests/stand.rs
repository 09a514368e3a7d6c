//! A running sandbox with a hand-moved clock and a client, as the tests use it.

use jiff::SignedDuration;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::github::{DEFAULT_TOKEN, PullView};
use crate::jules::Switches;
use crate::story::{Step, Story};
use crate::{DEFAULT_KEY, DEFAULT_REPO, ManualClock, Options, Sandbox, Scenario};

/// A running sandbox, its clock and a client with the default account's key.
pub(crate) struct Stand {
    pub(crate) clock: ManualClock,
    pub(crate) sandbox: Sandbox,
    pub(crate) http: Client,
    pub(crate) key: String,
}

/// An answer read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The `status` and `message` of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String, String) {
        let error = self.json()["error"].clone();
        assert_eq!(error["code"], self.status);
        (
            self.status,
            string(&error["status"]),
            string(&error["message"]),
        )
    }

    /// The id of the session that was created.
    pub(crate) fn id(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.text);
        string(&self.json()["id"])
    }
}

pub(crate) fn string(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("no string: {value}"))
        .to_owned()
}

/// A client; it never leaves this machine.
pub(crate) fn client() -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

impl Stand {
    /// A sandbox that plays this scenario.
    pub(crate) async fn new(scenario: Scenario) -> Self {
        let clock = ManualClock::new("2026-11-20T10:00:00Z".parse().unwrap());
        let sandbox = Sandbox::start(Options::manual(&clock, scenario))
            .await
            .unwrap();
        Self {
            clock,
            sandbox,
            http: client(),
            key: DEFAULT_KEY.to_owned(),
        }
    }

    /// The default scenario in which every session plays these steps.
    pub(crate) async fn playing(steps: Vec<Step>) -> Self {
        Self::new(scenario_of(steps)).await
    }

    /// Moves the clock and performs what is due.
    pub(crate) fn pass(&self, millis: i64) {
        self.clock.advance(SignedDuration::from_millis(millis));
        self.sandbox.advance();
    }

    /// Turns switches of the sandbox's Jules.
    pub(crate) fn switch(&self, change: impl FnOnce(&mut Switches)) {
        self.sandbox.jules().switch(change);
    }

    /// The first pull request of the default repository.
    pub(crate) fn pull(&self) -> PullView {
        self.sandbox.github().pull(DEFAULT_REPO, 1).unwrap()
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.sandbox.jules_base());
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.http
            .request(method, url)
            .header("X-Goog-Api-Key", &self.key)
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        read(self.request("GET", path)).await
    }

    pub(crate) async fn get_filtered(&self, path: &str, filter: &str) -> Reply {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        self.get(&format!(
            "{path}?{}",
            query.append_pair("filter", filter).finish()
        ))
        .await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        read(self.request("POST", path).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        read(self.request("DELETE", path)).await
    }

    /// Creates a session with a pull request in the default repository.
    pub(crate) async fn create(&self) -> String {
        self.post("/sessions", &body()).await.id()
    }

    pub(crate) async fn say(&self, id: &str, text: &str) -> Reply {
        self.post(
            &format!("/sessions/{id}:sendMessage"),
            &json!({ "prompt": text }),
        )
        .await
    }

    pub(crate) async fn approve(&self, id: &str) -> Reply {
        self.post(&format!("/sessions/{id}:approvePlan"), &json!({}))
            .await
    }

    pub(crate) async fn session(&self, id: &str) -> Value {
        self.get(&format!("/sessions/{id}")).await.json()
    }

    pub(crate) async fn state(&self, id: &str) -> String {
        string(&self.session(id).await["state"])
    }

    /// The activities, each as its kind's name.
    pub(crate) async fn kinds(&self, id: &str) -> Vec<String> {
        self.activities(id).await.iter().map(kind_of).collect()
    }

    pub(crate) async fn activities(&self, id: &str) -> Vec<Value> {
        let page = self
            .get(&format!("/sessions/{id}/activities?pageSize=100"))
            .await
            .json();
        page["activities"].as_array().cloned().unwrap_or_default()
    }

    /// The check runs of a commit.
    pub(crate) async fn check_runs(&self, sha: &str) -> Vec<Value> {
        let base = self.sandbox.github_base();
        let url = format!("{base}/repos/{DEFAULT_REPO}/commits/{sha}/check-runs");
        let page = read(self.http.get(url).bearer_auth(DEFAULT_TOKEN))
            .await
            .json();
        page["check_runs"].as_array().cloned().unwrap()
    }

    /// A control request that changes something.
    pub(crate) async fn order(&self, path: &str, body: &str) -> Reply {
        self.control("POST", path, Some(body)).await
    }

    /// A control request.
    pub(crate) async fn control(&self, method: &str, path: &str, body: Option<&str>) -> Reply {
        let url = format!("{}{path}", self.sandbox.control_base());
        let mut request = self
            .http
            .request(Method::from_bytes(method.as_bytes()).unwrap(), url);
        if let Some(body) = body {
            request = request.body(body.to_owned());
        }
        read(request).await
    }
}

/// Sends a request and reads the answer to its end.
pub(crate) async fn read(request: RequestBuilder) -> Reply {
    let response = request.send().await.unwrap();
    let retry_after = response
        .headers()
        .get("retry-after")
        .map(|it| it.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    Reply {
        status,
        retry_after,
        text: response.text().await.unwrap(),
    }
}

/// A well-formed body of create.
pub(crate) fn body() -> Value {
    json!({
        "prompt": "Add unit tests for the cart\nand run them",
        "title": "[gaffer i/j#1] Add cart tests",
        "sourceContext": {
            "source": "sources/github/acme/shop",
            "githubRepoContext": { "startingBranch": "main" },
        },
        "automationMode": "AUTO_CREATE_PR",
    })
}

/// The default scenario in which every session starts at once and plays these steps.
pub(crate) fn scenario_of(steps: Vec<Step>) -> Scenario {
    let story = Story {
        queued_for: SignedDuration::from_secs(1),
        approved_after: SignedDuration::from_secs(1),
        steps,
        ..Story::default()
    };
    Scenario {
        default_story: story,
        ..Scenario::default()
    }
}

/// Steps from their JSON.
pub(crate) fn steps(json: Value) -> Vec<Step> {
    serde_json::from_value(json).unwrap()
}

/// The member of an activity that names its kind; `-` for none of the known ones.
fn kind_of(activity: &Value) -> String {
    const KINDS: [&str; 7] = [
        "agentMessaged",
        "userMessaged",
        "planGenerated",
        "planApproved",
        "progressUpdated",
        "sessionCompleted",
        "sessionFailed",
    ];
    let kind = KINDS.into_iter().find(|it| activity.get(it).is_some());
    kind.unwrap_or("-").to_owned()
}
