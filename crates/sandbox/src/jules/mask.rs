//! Partial responses: `fields=sessions(name,id),nextPageToken`, and the dotted form of `X-Goog-FieldMask`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::refusal::JulesRefusal;

/// Which members to keep; no members below a name keep everything there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask(BTreeMap<String, Mask>);

impl Mask {
    /// Reads a mask; an empty text keeps everything.
    pub(crate) fn read(text: &str) -> Result<Self, JulesRefusal> {
        let mut mask = Self::default();
        let mut rest = text.trim();
        if rest.is_empty() {
            return Ok(mask);
        }
        mask.read_list(&mut rest)?;
        if rest.is_empty() {
            Ok(mask)
        } else {
            Err(invalid(text))
        }
    }

    /// `item (',' item)*`
    fn read_list(&mut self, rest: &mut &str) -> Result<(), JulesRefusal> {
        loop {
            self.read_item(rest)?;
            match rest.strip_prefix(',') {
                Some(after) => *rest = after,
                None => return Ok(()),
            }
        }
    }

    /// `name (('/' | '.') name)* ['(' list ')']`
    fn read_item(&mut self, rest: &mut &str) -> Result<(), JulesRefusal> {
        let end = rest.find(['/', '.', '(', ')', ',']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name.trim().is_empty() {
            return Err(invalid(rest));
        }
        let below = self.0.entry(name.trim().to_owned()).or_default();
        *rest = after;
        if let Some(after) = rest.strip_prefix(['/', '.']) {
            *rest = after;
            return below.read_item(rest);
        }
        if let Some(after) = rest.strip_prefix('(') {
            *rest = after;
            below.read_list(rest)?;
            *rest = rest.strip_prefix(')').ok_or_else(|| invalid(rest))?;
        }
        Ok(())
    }

    /// Keeps only what the mask names.
    pub(crate) fn apply(&self, value: Value) -> Value {
        if self.0.is_empty() || self.0.contains_key("*") {
            return value;
        }
        match value {
            Value::Object(members) => Value::Object(
                members
                    .into_iter()
                    .filter_map(|(name, member)| {
                        let below = self.0.get(&name)?;
                        Some((name, below.apply(member)))
                    })
                    .collect(),
            ),
            Value::Array(items) => items.into_iter().map(|item| self.apply(item)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
        }
    }
}

fn invalid(text: &str) -> JulesRefusal {
    JulesRefusal::invalid_field(
        "fields",
        &format!("Error expanding 'fields' parameter near '{text}'."),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masked(mask: &str) -> Value {
        let page = json!({ "sessions": [{ "id": "1", "state": "QUEUED", "prompt": "long" }], "nextPageToken": "t" });
        Mask::read(mask).unwrap().apply(page)
    }

    #[test]
    fn both_forms_keep_only_what_they_name() {
        let wanted =
            json!({ "sessions": [{ "id": "1", "state": "QUEUED" }], "nextPageToken": "t" });
        assert_eq!(masked("sessions(id,state),nextPageToken"), wanted);
        assert_eq!(masked("sessions.id,sessions.state,nextPageToken"), wanted);
        assert_eq!(
            masked("sessions/id"),
            json!({ "sessions": [{ "id": "1" }] })
        );
        assert_eq!(masked("*"), masked(""));
    }

    #[test]
    fn a_broken_mask_is_refused() {
        for broken in ["sessions(id", "a,,b", ")", "sessions()"] {
            assert!(Mask::read(broken).is_err(), "{broken}");
        }
    }
}
