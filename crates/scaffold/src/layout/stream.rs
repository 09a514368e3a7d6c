//! Streams: exchanges beside the one of every repository, each with its own events, requirements and perspectives.

use std::borrow::Cow;
use std::collections::BTreeSet;

use domain::ids::StreamName;
use domain::nearest::nearest;

use super::{Layout, LayoutError, Paths};
use crate::tree::{Tree, TreePath};

/// Where streams lie.
const STREAMS: &str = ".jules/workstreams";

/// The streams that a tree has folders of, that of every repository first.
pub fn streams(tree: &Tree) -> Vec<StreamName> {
    let named = tree.below(STREAMS).filter_map(|(path, _)| named(path));
    let named: BTreeSet<_> = named.filter(|stream| !stream.is_generic()).collect();
    std::iter::once(StreamName::default())
        .chain(named)
        .collect()
}

/// The stream that a file lies in.
pub fn stream_of(path: &TreePath) -> StreamName {
    named(path).unwrap_or_default()
}

fn named(path: &TreePath) -> Option<StreamName> {
    let (stream, _) = path.below(STREAMS)?.split_once('/')?;
    stream.parse().ok()
}

fn folder(stream: &StreamName) -> String {
    format!("{STREAMS}/{stream}")
}

/// The file in which the older generation says who works in a stream.
pub fn schedule_file(stream: &StreamName) -> String {
    format!("{}/scheduled.toml", folder(stream))
}

impl Layout {
    /// The paths of one stream of a tree.
    ///
    /// # Errors
    /// When the tree has no layout, or no folder of that stream.
    pub fn paths_of(tree: &Tree, stream: &StreamName) -> Result<Cow<'static, Paths>, LayoutError> {
        Self::paths(tree)?.in_stream(tree, stream)
    }
}

impl Paths {
    /// The stream that they are of.
    pub fn stream(&self) -> StreamName {
        self.named.clone().unwrap_or_default()
    }

    /// The paths of every stream that a tree has, that of every repository first.
    pub fn of_streams(&self, tree: &Tree) -> Vec<Self> {
        let streams = streams(tree).into_iter();
        streams
            .map(|stream| self.of_stream(tree, &stream))
            .collect()
    }

    /// The folders that a stream begins with.
    pub fn folders(&self) -> [&str; 3] {
        [&self.pending, &self.decided, &self.requirements]
    }

    /// The same in a stream, if that is there.
    pub(crate) fn in_stream(
        &'static self,
        tree: &Tree,
        stream: &StreamName,
    ) -> Result<Cow<'static, Self>, LayoutError> {
        if stream.is_generic() {
            return Ok(Cow::Borrowed(self));
        }
        let folder = folder(stream);
        if tree.has_folder(&folder) {
            return Ok(Cow::Owned(self.of_stream(tree, stream)));
        }
        let known = streams(tree);
        let near = nearest(stream.as_str(), known.iter().map(StreamName::as_str));
        Err(LayoutError::NoStream {
            offer: match near {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.is_older() => "make it, or migrate the repository".to_owned(),
                None => "name it in `.jlo/config.toml`, and the next bootstrap makes it".to_owned(),
            },
            stream: stream.clone(),
            folder,
        })
    }

    /// The same in a stream, whether it is there or not.
    pub fn of_stream(&self, tree: &Tree, stream: &StreamName) -> Self {
        if stream.is_generic() {
            return self.clone();
        }
        let root = folder(stream);
        let exchange = format!("{root}/exchange");
        let (base, requirements) = match self.is_older() {
            false => (&exchange, "requirements"),
            true if tree.has_folder(&exchange) => (&exchange, "issues"),
            true => (&root, "issues"),
        };
        Self {
            named: Some(stream.clone()),
            pending: format!("{base}/events/pending").into(),
            decided: format!("{base}/events/decided").into(),
            requirements: format!("{base}/{requirements}").into(),
            workstations: match self.is_older() {
                true => self.workstations.clone(),
                // Two of one role would otherwise write one file.
                false => format!("{root}/workstations").into(),
            },
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{EXCHANGE, WORKSTREAMS};
    use crate::tree::Entry;

    fn tree(files: &[&str]) -> Tree {
        let file = |path: &&str| (path.parse().unwrap(), Entry::text(""));
        files.iter().map(file).collect()
    }

    fn stream(name: &str) -> StreamName {
        name.parse().unwrap()
    }

    const FILES: [&str; 3] = [
        ".jules/exchange/changes.yml",
        ".jules/workstreams/billing/exchange/events/pending/.gitkeep",
        ".jules/workstreams/Not A Name/exchange/events/pending/.gitkeep",
    ];

    #[test]
    fn a_named_stream_has_an_exchange_of_its_own() {
        let files = tree(&FILES);
        assert_eq!(streams(&files), [stream("generic"), stream("billing")]);
        let paths = Layout::paths_of(&files, &stream("billing")).unwrap();
        assert_eq!(paths.stream(), stream("billing"));
        assert_eq!(
            paths.folders(),
            [
                ".jules/workstreams/billing/exchange/events/pending",
                ".jules/workstreams/billing/exchange/events/decided",
                ".jules/workstreams/billing/exchange/requirements",
            ]
        );
        assert_eq!(
            paths.perspective(&"qa".parse().unwrap()),
            ".jules/workstreams/billing/workstations/qa/perspective.yml"
        );
        assert_eq!(paths.changes, EXCHANGE.changes, "one summary for all");
        let generic = Layout::paths_of(&files, &StreamName::default()).unwrap();
        assert_eq!(*generic, EXCHANGE);
        assert_eq!(
            EXCHANGE.of_streams(&files),
            [EXCHANGE.clone(), paths.into_owned()]
        );
    }

    #[test]
    fn a_stream_without_a_folder_fails_at_once_and_names_the_nearest() {
        let files = tree(&FILES);
        let refused = |name| {
            let found = Layout::paths_of(&files, &stream(name));
            found.unwrap_err().to_string()
        };
        assert!(refused("biling").contains("did you mean `billing`?"));
        assert!(refused("shipping").contains(".jules/workstreams/shipping/"));
    }

    #[test]
    fn a_file_says_its_stream_by_where_it_lies() {
        for (path, of) in [
            (
                ".jules/workstreams/billing/exchange/requirements/a.yml",
                "billing",
            ),
            (".jules/workstreams/generic/issues/bugs/a.yml", "generic"),
            (".jules/workstreams/billing", "generic"),
            (".jules/exchange/requirements/a.yml", "generic"),
            ("src/.jules/workstreams/billing/a.yml", "generic"),
        ] {
            assert_eq!(stream_of(&path.parse().unwrap()), stream(of), "{path}");
        }
    }

    #[test]
    fn the_older_generation_has_its_streams_side_by_side() {
        let files = tree(&[
            ".jules/workstreams/generic/events/pending/.gitkeep",
            ".jules/workstreams/billing/events/pending/.gitkeep",
            ".jules/workstreams/late/exchange/issues/bugs/.gitkeep",
        ]);
        let paths = |name| Layout::paths_of(&files, &stream(name)).unwrap();
        assert_eq!(*paths("generic"), WORKSTREAMS);
        let billing = ".jules/workstreams/billing/issues";
        assert_eq!(paths("billing").requirements, billing);
        let late = ".jules/workstreams/late/exchange/events/pending";
        assert_eq!(paths("late").pending, late);
        let refused = Layout::paths_of(&files, &stream("shipping")).unwrap_err();
        assert!(
            refused
                .to_string()
                .ends_with("make it, or migrate the repository")
        );
    }
}
