//! Reads a list to its last page, or fails.

use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use serde::de::DeserializeOwned;

use super::Client;
use super::refusal::failure;

/// The most that GitHub puts on a page.
pub(crate) const PAGE_SIZE: usize = 100;

pub(crate) trait Page: DeserializeOwned {
    /// An item of the page.
    type Item;

    /// The number of items on all pages, where the service returns it.
    fn total(&self) -> Option<u64>;

    /// The items of this page.
    fn items(self) -> Vec<Self::Item>;
}

impl<T: DeserializeOwned> Page for Vec<T> {
    type Item = T;

    fn total(&self) -> Option<u64> {
        None
    }

    fn items(self) -> Self {
        self
    }
}

impl Client {
    /// Everything on all pages at an encoded path. A list that is cut short, too long or leads elsewhere is `Garbled`, never a part
    /// of it.
    pub(crate) async fn list<P: Page>(
        &self,
        repo: &RepoName,
        path: &str,
        pages_max: usize,
        doing: &str,
    ) -> Result<Vec<P::Item>, Failure> {
        let garbled = |what: &str| Err(failure(FailureClass::Garbled, &format!("{doing}: {what}")));
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut url = self
            .base()
            .rest(&format!("{path}{joint}per_page={PAGE_SIZE}"));
        let mut items = Vec::new();
        for _ in 0..pages_max {
            let answer = self.read(repo, url, doing).await?;
            let page: P = answer.json(doing)?;
            let total = page.total();
            let found = page.items();
            let full = found.len() >= PAGE_SIZE;
            items.extend(found);
            match answer.next {
                Some(next) if self.base().contains(&next) => url = next,
                Some(_) => {
                    return garbled(
                        "the next page is said to be on another host; it was not asked for",
                    );
                }
                None if total.is_some_and(|total| total != items.len() as u64) => {
                    return garbled(&format!(
                        "{} of {} came",
                        items.len(),
                        total.unwrap_or_default()
                    ));
                }
                None => {
                    if full {
                        // When one more is added, this page stays the same and would go on saying that it is the last.
                        if let Some(place) = &answer.place {
                            self.memory().forget(place);
                        }
                    }
                    return Ok(items);
                }
            }
        }
        garbled(&format!("there are more than {pages_max} pages"))
    }
}
