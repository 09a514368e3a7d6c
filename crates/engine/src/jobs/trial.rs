//! Test messages to agents, which take the way of real wakes.

use std::time::Duration;

use domain::event::{Event, News, Occurrence};
use domain::ids::{AccountName, AgentName, EventId};
use domain::wake::Wake;

use crate::backend::{Backend, Error};
use crate::keys;
use crate::settings::Agent;
use crate::store::Versioned;
use crate::wait::WaitState;

/// The account named in test messages. Nothing is stored under it.
const TEST_ACCOUNT: &str = "test";

impl Backend {
    /// Puts a test message on its way to an agent: `test`, of no job, in the name of the account `test`.
    pub async fn test_wake(&self, agent: &Agent) -> Result<EventId, Error> {
        let mut unit = self.unit();
        let account: AccountName = TEST_ACCOUNT.parse().map_err(|_| Error::NoSuch {
            what: "account",
            name: TEST_ACCOUNT.to_owned(),
        })?;
        let event = Event::new(
            EventId::from_name(&format!("test:{}:{}", agent.name, self.ulid())),
            account,
            unit.now(),
            Occurrence::News(News::Test),
        );
        let id = event.id.clone();
        let pk = keys::wake(&agent.name, &id).pk;
        let wake = Wake::new(event, agent.name.clone(), None, unit.now());
        unit.put_new_wake(&pk, agent, wake);
        self.commit(unit).await?;
        Ok(id)
    }

    /// Waits until a wake is settled, at most `within`; returns its state then.
    pub async fn wake_settled(
        &self,
        agent: &AgentName,
        event: &EventId,
        within: Duration,
    ) -> Result<Versioned<Wake>, Error> {
        self.look_within(within, || async {
            let found = self.must_wake(agent, event).await?;
            let is_enough = found.value.is_settled();
            Ok(WaitState::if_enough(found, is_enough))
        })
        .await
    }
}
