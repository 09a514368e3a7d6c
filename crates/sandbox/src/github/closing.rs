//! The issues that a merge closes, since its pull request's body says so.

use super::world::GitHubWorld;

/// GitHub's words for it.
const VERBS: [&str; 9] = [
    "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
];

impl GitHubWorld {
    /// The issues that a pull request's body closes: `Closes #12`, `fixes: acme/shop#3`, `Resolves https://…/issues/4`.
    pub(crate) fn closing_references(&self, repo: &str, number: u64) -> Vec<u64> {
        let (Ok(found), Ok(pull)) = (self.repo(repo), self.issue(repo, number)) else {
            return Vec::new();
        };
        let mut named = references(&pull.body, found.full_name());
        named.retain(|target| *target != number && self.issue(repo, *target).is_ok());
        named
    }
}

/// The issues of a repository that a text closes.
fn references(text: &str, repo: &str) -> Vec<u64> {
    let text = text.to_ascii_lowercase();
    let repo = repo.to_ascii_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let named = words.windows(2).filter_map(|pair| match pair {
        [verb, target] if VERBS.contains(&verb.trim_start_matches('(').trim_end_matches(':')) => {
            target_of(target, &repo)
        }
        _ => None,
    });
    named.collect()
}

fn target_of(word: &str, repo: &str) -> Option<u64> {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')', '!']);
    let page = format!("https://github.com/{repo}/issues/");
    let number = word
        .strip_prefix(&page)
        .or_else(|| word.strip_prefix(repo).unwrap_or(word).strip_prefix('#'))?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_closes_what_github_would_close() {
        let closes = |text: &str| references(text, "Acme/Shop");
        assert_eq!(closes("Closes #12"), [12]);
        assert_eq!(closes("CLOSES: #1, fixes #2. (Resolved #3)"), [1, 2, 3]);
        assert_eq!(closes("Does it.\n\nfix acme/shop#4"), [4]);
        assert_eq!(closes("Fixes https://github.com/acme/shop/issues/5"), [5]);
        for odd in [
            "See #12",
            "Closes the door #12",
            "Closes other/repo#12",
            "Closes #x",
            "Discloses #12",
            "Closes\u{a0}",
        ] {
            assert_eq!(closes(odd), Vec::<u64>::new(), "{odd}");
        }
    }
}
