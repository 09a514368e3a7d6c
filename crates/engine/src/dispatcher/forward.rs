//! What is due later than it should be is brought forward.

use domain::account::{Account, Health};
use domain::ids::AccountName;
use jiff::Timestamp;

use super::Dispatcher;
use crate::desk::{Error, Place, ignore_conflict};
use crate::keys;
use crate::ports::{Expect, Key, Record, Write};

impl Dispatcher {
    /// Brings an idle account's next poll forward. Trouble with the account keeps its own pace.
    pub(super) async fn watch_soon(&self, name: &AccountName) -> Result<(), Error> {
        let Some(found) = self.desk.store.account(name).await? else {
            return Ok(());
        };
        let soon = self.desk.now() + found.value.pace.tick;
        if found.value.next_poll <= soon || found.value.health != Health::Working {
            return Ok(());
        }
        let account = Account {
            next_poll: soon,
            ..found.value
        };
        let mut unit = self.desk.unit();
        let place = Place {
            due: Some(soon),
            list: keys::listed(keys::ACCOUNTS, name.as_str()),
        };
        unit.put(keys::account(name), &account, Some(found.version), place);
        ignore_conflict(self.desk.commit(unit).await)
    }

    /// Makes a row due earlier than it was. A settled one, which has no due, stays so.
    pub(super) async fn bring_forward(&self, key: &Key, at: Timestamp) -> Result<(), Error> {
        let records = self.desk.store.records();
        let Some(record) = records.get(key).await? else {
            return Ok(());
        };
        if record.due.is_none_or(|due| due <= at) {
            return Ok(());
        }
        let expect = Expect::Version(record.version);
        let record = Record {
            due: Some(at),
            ..record
        };
        let write = Write::Put { record, expect };
        ignore_conflict(records.commit(vec![write]).await.map_err(Error::from))
    }
}
