//! All events from the first on, for a program that keeps a copy of them.

use domain::event::Event;

use super::EventsPage;
use crate::backend::{Backend, Error};
use crate::keys;
use crate::ports::PageToken;
use crate::store::decode;

/// Events read at once.
const PAGE: usize = 100;

impl Backend {
    /// A page of all events, the oldest first.
    pub async fn all_events(&self, after: Option<PageToken>) -> Result<EventsPage, Error> {
        let records = self.store.records();
        let page = records.list(keys::EVENTS, false, after, PAGE).await?;
        let mut events = Vec::with_capacity(page.records.len());
        for record in &page.records {
            events.push(decode::<Event>(record)?.value);
        }
        Ok((self.with_repositories(events).await?, page.next))
    }
}
