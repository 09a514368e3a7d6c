//! The bodies of records: a value, and the version of the shape it is stored in.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ports::{Record, RecordsError};

/// The schema version of stored bodies. Readers accept this one and earlier ones.
pub const BODY_SCHEMA: u32 = 1;

/// A stored value and the version it was read at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The value.
    pub value: T,
    /// Its version, for the condition of the next write.
    pub version: u64,
    /// When its row is due; `None` for one that is in no index of time, or was never stored.
    pub due: Option<Timestamp>,
}

impl<T> Versioned<T> {
    /// A value that was never stored, at version 0.
    pub fn unstored(value: T) -> Self {
        Self {
            value,
            version: 0,
            due: None,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Body<T> {
    schema: u32,
    it: T,
}

/// What of a body every version can read.
#[derive(Deserialize)]
struct Head {
    schema: u32,
}

/// Encodes a value as a record's body. Absent fields are omitted, which reads the same: a store charges by the kilobyte.
pub(crate) fn encode<T: Serialize>(value: &T) -> String {
    // Our records are plain data with text keys: serializing them cannot fail, and an empty body would be refused when read.
    let mut body = serde_json::to_value(Body {
        schema: BODY_SCHEMA,
        it: value,
    })
    .unwrap_or_default();
    leave_out_nothings(&mut body);
    body.to_string()
}

/// Takes the members out that are null. Elements of arrays stay, since their places count.
pub fn leave_out_nothings(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(leave_out_nothings);
        }
        Value::Array(elements) => elements.iter_mut().for_each(leave_out_nothings),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Reads a record's body.
pub(crate) fn decode<T: DeserializeOwned>(record: &Record) -> Result<Versioned<T>, RecordsError> {
    let unreadable = |message: String| RecordsError::Unreadable {
        key: record.key.clone(),
        message,
    };
    refuse_newer(record)?;
    let body: Body<T> =
        serde_json::from_str(&record.body).map_err(|error| unreadable(error.to_string()))?;
    Ok(Versioned {
        value: body.it,
        version: record.version,
        due: record.due,
    })
}

/// Refuses a body that a newer gaffer wrote, before anything of it is read or the record is written.
pub(crate) fn refuse_newer(record: &Record) -> Result<(), RecordsError> {
    let unreadable = |message: String| RecordsError::Unreadable {
        key: record.key.clone(),
        message,
    };
    let head: Head =
        serde_json::from_str(&record.body).map_err(|error| unreadable(error.to_string()))?;
    if head.schema > BODY_SCHEMA {
        return Err(unreadable(format!(
            "a newer gaffer wrote it (schema {}, this one knows up to {BODY_SCHEMA})",
            head.schema
        )));
    }
    Ok(())
}
