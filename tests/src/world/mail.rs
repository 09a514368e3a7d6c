//! Handmade webhook deliveries, like those of a holder of the secret, and edits that people make on GitHub's pages.

use sandbox::webhook::sign;
use serde_json::Value;

use super::{REPO, WEBHOOK_SECRET, World};

/// Posts deliveries to a world's webhook endpoint over one connection.
pub struct Postman {
    client: reqwest::Client,
    url: String,
}

impl World {
    /// A client that posts to the webhook's route.
    pub fn postman(&self) -> Postman {
        Postman {
            client: plain_client(),
            url: self.webhook_url().to_owned(),
        }
    }

    /// Changes the title or body of a pull request, as its author does on GitHub's pages.
    pub async fn edit_pull(&self, number: u64, change: &Value) {
        let url = format!("{}/repos/{REPO}/pulls/{number}", self.sandbox.github_base());
        let token = self.secrets.get("github").expect("a token");
        must_succeed(plain_client().patch(url).bearer_auth(token).json(change)).await;
    }
}

impl Postman {
    /// Posts a body with a good signature under these unsigned headers; the API's status.
    pub async fn post(&self, event: &str, guid: &str, body: String) -> u16 {
        let signature = sign(WEBHOOK_SECRET, body.as_bytes());
        let request = self.client.post(&self.url).body(body);
        let request = request
            .header("x-hub-signature-256", signature)
            .header("x-github-event", event)
            .header("x-github-delivery", guid);
        let answer = request.send().await.expect("an answer");
        answer.status().as_u16()
    }
}

pub(super) async fn must_succeed(request: reqwest::RequestBuilder) {
    let answer = request.send().await.expect("an answer");
    assert!(answer.status().is_success(), "{answer:?}");
}

/// A client without the proxies of the machine.
pub fn plain_client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client")
}
