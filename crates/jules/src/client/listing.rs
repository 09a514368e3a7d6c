//! Lists of many pages: read to the end, in pages that fit, and never for ever.

use std::collections::HashSet;

use domain::failure::Failure;
use domain::ids::AccountName;

use super::refusal::garbled;
use super::{Call, Cause, Client, Refusal, RefusedParameters};
use crate::wire::Page;

/// The fields that a session list is needed for; a whole list can weigh eighty times more.
const SESSION_FIELDS: &str = "sessions(name,id,state,title,updateTime,createTime,url,sourceContext,\
                              outputs(pullRequest(url)),archived),nextPageToken";

pub(crate) struct Listing {
    /// Its purpose, as a phrase.
    pub(crate) doing: String,
    /// Where the list is.
    pub(crate) path: Vec<String>,
    /// How many items a page is asked to have at first.
    pub(crate) page_size: u32,
    /// Maximum number of pages, after which the list counts as endless.
    pub(crate) pages_max: usize,
    /// A parameter that the service may refuse.
    pub(crate) extra: Option<Extra>,
}

/// A parameter that makes a list cheaper and that the service may refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extra {
    /// Only activities after a time.
    Filter(String),
    /// Only the fields of sessions that we read.
    Mask,
}

impl Extra {
    fn parameter(&self) -> (&'static str, &str) {
        match self {
            Self::Filter(filter) => ("filter", filter),
            Self::Mask => ("fields", SESSION_FIELDS),
        }
    }

    fn refused<'a>(&self, client: &'a Client) -> &'a RefusedParameters {
        match self {
            Self::Filter(_) => &client.0.filter,
            Self::Mask => &client.0.mask,
        }
    }
}

impl Client {
    /// Reads one page. An extra that is refused is dropped from the listing and, if the page comes without it, cached
    /// as refused.
    pub(crate) async fn page(
        &self,
        account: &AccountName,
        listing: &mut Listing,
        token: Option<&str>,
    ) -> Result<Vec<u8>, Refusal> {
        let now = self.0.clock.now();
        // A page token belongs to the filter of the first page, so only there a filter can be dropped.
        let droppable = token.is_none() || listing.extra == Some(Extra::Mask);
        if droppable {
            let wanted = listing.extra.take();
            listing.extra = wanted.filter(|extra| !extra.refused(self).stands(now));
        }
        let answer = self.call(account, &call(listing, token)).await;
        match answer {
            Err(refusal) if refusal.cause == Cause::BadRequest && droppable => {
                let Some(extra) = listing.extra.take() else {
                    return Err(refusal);
                };
                let answer = self.call(account, &call(listing, token)).await;
                // Only if it goes better without it was the parameter to blame.
                if !matches!(&answer, Err(refusal) if refusal.cause != Cause::TooLarge) {
                    let name = extra.parameter().0;
                    tracing::warn!("Jules refuses the parameter `{name}`; going on without it");
                    extra.refused(self).note(now);
                }
                answer
            }
            Ok(_) | Err(_) => answer,
        }
    }

    /// Hands every page to `read`, to the last one. A page that does not fit is asked for again at half the size.
    pub(crate) async fn pages<F>(
        &self,
        account: &AccountName,
        mut listing: Listing,
        mut read: F,
    ) -> Result<(), Failure>
    where
        F: FnMut(&Page<'_>) -> Result<(), Failure> + Send,
    {
        let mut seen = HashSet::new();
        let mut token: Option<String> = None;
        loop {
            let body = match self.page(account, &mut listing, token.as_deref()).await {
                Err(refusal) if refusal.cause == Cause::TooLarge && listing.page_size > 1 => {
                    listing.page_size /= 2;
                    continue;
                }
                answer => answer?,
            };
            let page = Page::read(&body).map_err(|why| garbled(&listing.doing, &why))?;
            read(&page)?;
            let Some(next) = page.next else {
                return Ok(());
            };
            if !seen.insert(next.clone()) {
                return Err(garbled(&listing.doing, "a page token came twice"));
            }
            if seen.len() >= listing.pages_max {
                let why = format!("the list does not end after {} pages", listing.pages_max);
                return Err(garbled(&listing.doing, &why));
            }
            token = Some(next);
        }
    }
}

fn call(listing: &Listing, token: Option<&str>) -> Call {
    let mut call = Call::get(listing.doing.clone(), listing.path.clone())
        .with("pageSize", listing.page_size.to_string());
    if let Some(token) = token {
        call = call.with("pageToken", token);
    }
    if let Some(extra) = &listing.extra {
        let (name, value) = extra.parameter();
        call = call.with(name, value);
    }
    call
}
