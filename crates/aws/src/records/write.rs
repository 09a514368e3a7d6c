//! Plans a commit: which items of the table it writes, depending on their contents.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use engine::ports::{CommitError, Expect, Key, RecordsError, Write};
use ulid::Ulid;

use super::parts::{Part, send};
use super::shared_item::{SharedItem, WriteVerdict};
use super::{Table, read};

/// Maximum re-reads of an item that others keep writing, before the write fails as contended: each time another
/// writer succeeded.
const READ_AGAIN_MAX: u32 = 24;

/// The plan of a commit.
enum Plan<'a> {
    Parts(Vec<Part<'a>>),
    /// A condition does not hold, by the item that was read.
    Refused(&'a Key),
    /// Nor by the cache, which may be stale.
    Doubtful,
}

/// Writes all items or none.
pub(super) async fn commit(table: &Table, items: &[Write]) -> Result<(), CommitError> {
    // Checks without a condition need no request.
    let items: Vec<&Write> = items.iter().filter(|item| !is_idle(item)).collect();
    let mut contended = None;
    for tried in 0..READ_AGAIN_MAX {
        let parts = match plan(table, &items, tried).await? {
            Plan::Parts(parts) => parts,
            Plan::Refused(key) => return Err(CommitError::Conflict { key: key.clone() }),
            Plan::Doubtful => continue,
        };
        let writer = Ulid::generate();
        let sent = send(table, &parts, writer).await;
        let Err(error) = sent else {
            remember(table, parts, writer);
            return Ok(());
        };
        parts.iter().for_each(|it| table.homes.forget(it.key()));
        // Another item of the commit's basis may have changed, not necessarily its own.
        match error {
            CommitError::Conflict { key } if parts.iter().any(|it| it.rests_on(&key)) => {
                contended = Some(key);
            }
            CommitError::Conflict { .. }
            | CommitError::TooLarge { .. }
            | CommitError::Unavailable(_)
            | CommitError::Unknown(_) => return Err(error),
        }
    }
    let key = contended.or_else(|| items.first().map(|item| item.key().clone()));
    match key {
        Some(key) => Err(CommitError::Conflict { key }),
        None => Ok(()),
    }
}

fn is_idle(item: &Write) -> bool {
    matches!(
        item,
        Write::Check {
            expect: Expect::Any,
            ..
        }
    )
}

/// The home of an aggregate as it becomes.
struct PendingItem {
    home: SharedItem,
    is_remembered: bool,
    is_changed: bool,
}

impl PendingItem {
    /// One that may be stale, or never existed: if the write fails because of that, the table is read.
    fn guessed(home: SharedItem) -> Self {
        Self {
            home,
            is_remembered: true,
            is_changed: false,
        }
    }
}

/// Whether a write creates an aggregate: if its writer is right, the item does not exist and need not be read.
fn begins(write: &Write, home: &Key) -> bool {
    write.key() == home
        && matches!(
            write,
            Write::Put {
                expect: Expect::Absent,
                ..
            }
        )
}

async fn plan<'a>(table: &Table, items: &[&'a Write], tried: u32) -> Result<Plan<'a>, CommitError> {
    let mut homes: BTreeMap<Key, PendingItem> = BTreeMap::new();
    let mut parts = Vec::new();
    for item in items {
        let alone = |expect, base| Part::Record {
            write: item,
            expect,
            base,
        };
        let Some(key) = read::home_of(item.key()) else {
            parts.push(alone(item.expect(), 0));
            continue;
        };
        let becoming = match homes.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let is_new = tried == 0 && begins(item, place.key());
                let loaded = load(table, place.key(), is_new).await?;
                place.insert(loaded)
            }
        };
        match becoming.home.apply(item) {
            WriteVerdict::Done { changed } => becoming.is_changed |= changed,
            WriteVerdict::Apart { base, changed } => {
                becoming.is_changed |= changed;
                // The record moves out of this item, so its own item does not exist yet.
                let expect = if changed {
                    Expect::Absent
                } else {
                    item.expect()
                };
                parts.push(alone(expect, base));
            }
            WriteVerdict::Refused => {
                let remembered = homes.iter().filter(|(_, home)| home.is_remembered);
                let remembered: Vec<&Key> = remembered.map(|(key, _)| key).collect();
                remembered.iter().for_each(|key| table.homes.forget(key));
                return Ok(match remembered.is_empty() {
                    true => Plan::Refused(item.key()),
                    false => Plan::Doubtful,
                });
            }
        }
    }
    parts.extend(
        homes
            .into_values()
            .map(|becoming| match becoming.is_changed {
                true => Part::Home(becoming.home),
                false => Part::Unchanged(becoming.home),
            }),
    );
    Ok(Plan::Parts(parts))
}

/// The item of an aggregate, from the cache, assumed new, or read.
async fn load(table: &Table, key: &Key, is_new: bool) -> Result<PendingItem, CommitError> {
    let unavailable = |error: RecordsError| CommitError::Unavailable(error.to_string());
    if let Some(home) = table.homes.get(key) {
        return Ok(PendingItem::guessed(home));
    }
    let item = match is_new {
        true => None,
        false => read::item(table, key).await.map_err(unavailable)?,
    };
    let home = match item {
        Some(item) => SharedItem::from_item(&item).map_err(unavailable)?,
        None => SharedItem::new(key.clone()),
    };
    Ok(PendingItem {
        home,
        is_remembered: is_new,
        is_changed: false,
    })
}

fn remember(table: &Table, parts: Vec<Part<'_>>, writer: Ulid) {
    for part in parts {
        match part {
            Part::Record { .. } => {}
            Part::Unchanged(home) => table.homes.keep(home),
            Part::Home(home) if home.is_empty() => table.homes.forget(&home.key),
            Part::Home(home) => table.homes.keep(home.by(writer)),
        }
    }
}
