//! The static files: compiled in, and named after their content, so that a browser may keep them for ever.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// How much of its digest is in the name of a file, in bytes.
const NAMED_BYTES: usize = 6;

/// One static file.
#[derive(Debug)]
pub struct Asset {
    /// Its name with a part of its digest, without a folder.
    pub name: String,
    /// Its media type.
    pub media_type: &'static str,
    /// Its content.
    pub content: &'static str,
}

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let content = include_str!("../static/style.css");
    Asset::new("style", "css", "text/css; charset=utf-8", content)
});

static MORPH: LazyLock<Asset> = LazyLock::new(|| {
    let content = include_str!("../static/idiomorph-0.8.0.min.js");
    Asset::new("idiomorph", "js", "text/javascript; charset=utf-8", content)
});

static LIVE: LazyLock<Asset> = LazyLock::new(|| {
    let content = include_str!("../static/live.js");
    Asset::new("live", "js", "text/javascript; charset=utf-8", content)
});

static ICON: LazyLock<Asset> = LazyLock::new(|| {
    let content = include_str!("../static/icon.svg");
    Asset::new("icon", "svg", "image/svg+xml", content)
});

impl Asset {
    fn new(stem: &str, ending: &str, media_type: &'static str, content: &'static str) -> Self {
        let digest = Sha256::digest(content);
        let named: Vec<u8> = digest.into_iter().take(NAMED_BYTES).collect();
        Self {
            name: format!("{stem}.{}.{ending}", hex::encode(named)),
            media_type,
            content,
        }
    }

    /// Its path on the server.
    pub(crate) fn path(&self) -> String {
        format!("/dashboard/static/{}", self.name)
    }
}

/// The style sheet.
pub(crate) fn style() -> &'static Asset {
    &STYLE
}

/// The icon, without which browsers ask for one where none is.
pub(crate) fn icon() -> &'static Asset {
    &ICON
}

/// The scripts in the order in which they run.
pub(crate) fn scripts() -> [&'static Asset; 2] {
    [&MORPH, &LIVE]
}

/// The static file of a name, if there is one.
pub fn asset(name: &str) -> Option<&'static Asset> {
    let mut all = [style(), icon()].into_iter().chain(scripts());
    all.find(|asset| asset.name == name)
}
