//! Writes to Jules. Nothing here is retried: each failure says whether the call may have worked.

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, SessionId};
use domain::session::SessionView;
use engine::ports::{NewSession, SessionsWrite};
use serde::Serialize;

use crate::client::{Call, Client, garbled};
use crate::wire::{self, CreateSession, Empty, SendMessage};

/// Writes to Jules; only the dispatcher holds one.
#[derive(Debug, Clone)]
pub struct Writer {
    client: Client,
}

impl Writer {
    /// A writer over a client.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// Makes a call whose answer says no more than that it is done.
    async fn act(&self, account: &AccountName, call: &Call) -> Result<(), Failure> {
        let answer = self.client.call(account, call).await?;
        check_done(&call.doing, &answer)
    }
}

fn custom_method(
    doing: &str,
    session: &SessionId,
    method: &str,
    body: &impl Serialize,
) -> Result<Call, Failure> {
    let path = vec!["sessions".to_owned(), format!("{session}:{method}")];
    Call::post(format!("{doing} session {session}"), path, body)
}

#[async_trait]
impl SessionsWrite for Writer {
    async fn create(
        &self,
        account: &AccountName,
        session: &NewSession,
    ) -> Result<SessionView, Failure> {
        let doing = format!("creating the session `{}`", session.title);
        check_said(&doing, &session.prompt)?;
        let path = vec!["sessions".to_owned()];
        let call = Call::post(doing, path, &CreateSession::new(session))?;
        let answer = self.client.call(account, &call).await?;
        let text = std::str::from_utf8(&answer).unwrap_or_default();
        let mut view = wire::session(text)
            .ok_or_else(|| garbled(&call.doing, "it is not a session with an id"))?;
        // The first answer may leave out what we just said.
        if view.title.is_empty() {
            view.title.clone_from(&session.title);
        }
        view.repo.get_or_insert_with(|| session.repo.clone());
        view.branch.get_or_insert_with(|| session.branch.clone());
        Ok(view)
    }

    async fn send(
        &self,
        account: &AccountName,
        session: &SessionId,
        text: &str,
    ) -> Result<(), Failure> {
        check_said(&format!("sending a message to session {session}"), text)?;
        let body = SendMessage { prompt: text };
        let call = custom_method("sending a message to", session, "sendMessage", &body)?;
        self.act(account, &call).await
    }

    async fn approve(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        let call = custom_method("approving the plan of", session, "approvePlan", &Empty {})?;
        self.act(account, &call).await
    }

    async fn archive(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        let call = custom_method("archiving", session, "archive", &Empty {})?;
        self.act(account, &call).await
    }

    async fn unarchive(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        let call = custom_method("unarchiving", session, "unarchive", &Empty {})?;
        self.act(account, &call).await
    }

    async fn delete(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        let path = vec!["sessions".to_owned(), session.to_string()];
        let call = Call::delete(format!("deleting session {session}"), path);
        match self
            .client
            .call(account, &call)
            .await
            .map_err(Failure::from)
        {
            Err(failure) if failure.class == FailureClass::NotFound => Ok(()),
            Err(failure) => Err(failure),
            Ok(answer) => check_done(&call.doing, &answer),
        }
    }
}

/// Refuses an empty text, which Jules would accept and ignore.
fn check_said(doing: &str, text: &str) -> Result<(), Failure> {
    if text.trim().is_empty() {
        let message = format!("{doing}: the text is empty, which Jules would accept and ignore");
        return Err(Failure::new(FailureClass::Invalid, message));
    }
    Ok(())
}

/// Accepts an empty body and any JSON object; anything else was not said by Jules.
fn check_done(doing: &str, answer: &[u8]) -> Result<(), Failure> {
    let text = answer.trim_ascii();
    if text.is_empty() {
        return Ok(());
    }
    let object: Result<serde_json::Map<String, serde_json::Value>, _> =
        serde_json::from_slice(text);
    object
        .map(drop)
        .map_err(|error| garbled(doing, &error.to_string()))
}
