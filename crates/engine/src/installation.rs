//! Which installation a store belongs to.

use domain::ids::InstallationId;
use jiff::Timestamp;

use crate::backend::Error;
use crate::keys;
use crate::ports::{CommitError, Expect, Ids, Record, Records, Write};
use crate::settings::Installation;
use crate::store::{Store, encode};

/// The installation's id, drawn and stored at the first call: another Gaffer on the same Jules account must not take
/// our sessions for its own.
pub async fn load_or_create(
    store: &Store,
    ids: &dyn Ids,
    now: Timestamp,
) -> Result<InstallationId, Error> {
    loop {
        if let Some(known) = store.installation().await? {
            return Ok(known.id);
        }
        let drawn = Installation {
            id: InstallationId::from_ulid(ids.ulid(now)),
            since: now,
        };
        match record(store.records(), &drawn).await {
            Ok(()) => return Ok(drawn.id),
            // Another process was first, or the answer was lost: the stored id counts.
            Err(CommitError::Conflict { .. } | CommitError::Unknown(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

async fn record(records: &dyn Records, drawn: &Installation) -> Result<(), CommitError> {
    let record = Record {
        key: keys::installation(),
        version: 0,
        body: encode(drawn),
        due: None,
        list: None,
        forget: None,
    };
    let expect = Expect::Absent;
    records.commit(vec![Write::Put { record, expect }]).await
}
