//! Reads the conversation of a session, for a caller of an API that holds no credential.

use domain::conversation::{self, ConversationCursor};
use domain::failure::FailureClass;
use domain::ids::JobId;

use super::Dispatcher;
use crate::backend::{Error, IndexEntry};
use crate::jobs::conversation_key;
use crate::ports::Expect;
use crate::readings::{ReadMessages, reason};
use crate::retention;

impl Dispatcher {
    /// Reads and keeps the page after a cursor.
    pub(super) async fn messages(&self, id: &JobId, after: &str) -> Result<(), Error> {
        let (Some(found), Ok(cursor)) = (
            self.backend.store.job(id).await?,
            after.parse::<ConversationCursor>(),
        ) else {
            return Ok(());
        };
        let read_at = self.backend.now();
        let job = &found.value;
        let nothing = ReadMessages::nothing(read_at, job.session().cloned(), &cursor);
        let kept = match job.session() {
            None => nothing,
            Some(session) => {
                let from = cursor.from(session);
                let log = self
                    .readers
                    .sessions
                    .activities(&job.account, session, from);
                match log.await {
                    Ok(log) => {
                        let page = conversation::page(session, &log, &cursor, read_at);
                        ReadMessages::from_page(read_at, session.clone(), page)
                    }
                    // A log that is not visible yet holds nothing yet.
                    Err(failure) if failure.class == FailureClass::NotFound => nothing,
                    Err(failure) => ReadMessages {
                        failure: Some(reason(&failure)),
                        ..nothing
                    },
                }
            }
        };
        let mut unit = self.backend.unit();
        let place = IndexEntry::until(read_at, retention::ANSWER);
        unit.put_if(conversation_key(id, &cursor), &kept, Expect::Any, place);
        self.backend.commit(unit).await
    }
}
