//! One page of any list: its items as raw text, and where to go on.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::loose::{Loose, Text};

#[derive(Debug)]
pub(crate) struct Page<'a> {
    items: Vec<&'a RawValue>,
    /// The next page's token; none on the last page.
    pub(crate) next: Option<String>,
}

/// The JSON of a page; a page has at most one of the three lists.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageWire<'a> {
    #[serde(borrow)]
    sessions: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    activities: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    sources: Option<Vec<&'a RawValue>>,
    next_page_token: Loose<Text>,
    error: Loose<IgnoredAny>,
}

impl<'a> Page<'a> {
    /// Reads a page. `{}` is an empty last page; an empty body is not, since a lost page must never read as "there is none".
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, String> {
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err("the page is not a JSON object".to_owned());
        }
        let wire: PageWire<'a> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if wire.error.0.is_some() {
            return Err("the page holds an error instead of a list".to_owned());
        }
        let lists = [wire.sessions, wire.activities, wire.sources];
        Ok(Self {
            items: lists.into_iter().flatten().flatten().collect(),
            next: wire.next_page_token.some().map(str::to_owned),
        })
    }

    /// Reads every item; those that cannot be read are handed to `lost` as raw text.
    pub(crate) fn items<T>(
        &self,
        read: impl Fn(&'a str) -> Option<T>,
        mut lost: impl FnMut(&'a str),
    ) -> Vec<T> {
        let mut readable = Vec::with_capacity(self.items.len());
        for item in &self.items {
            match read(item.get()) {
                Some(value) => readable.push(value),
                None => lost(item.get()),
            }
        }
        readable
    }
}
