//! Which paths a patch may name: those that git lets into a tree.

/// The longest path in bytes: what Linux allows, and no repository needs more.
const PATH_BYTES_MAX: usize = 4_096;

/// Why a path may not be in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// It starts at the root of a disk.
    #[error("a path starts at the root of the repository, not at the root of a disk")]
    Absolute,
    /// It is empty, or one of its parts is, or is a dot.
    #[error("a path has no empty part and no part `.`")]
    EmptyPart,
    /// It leaves the repository.
    #[error("a path never goes up with `..`")]
    Upwards,
    /// It reaches into git's own folder, on one system or another.
    #[error("a path has no part `.git`")]
    GitFolder,
    /// It is longer than a path may be.
    #[error("a path has at most {PATH_BYTES_MAX} bytes")]
    Long,
    /// It is no UTF-8, or holds a zero byte.
    #[error("a path is UTF-8 and holds no zero byte")]
    Encoding,
}

/// Checks a path as git does before it writes one into a tree.
pub fn check(path: &str) -> Result<(), InvalidPath> {
    if path.len() > PATH_BYTES_MAX {
        return Err(InvalidPath::Long);
    }
    if path.starts_with('/') {
        return Err(InvalidPath::Absolute);
    }
    if path.contains('\0') {
        return Err(InvalidPath::Encoding);
    }
    path.split('/').try_for_each(check_part)
}

fn check_part(part: &str) -> Result<(), InvalidPath> {
    match part {
        "" | "." => Err(InvalidPath::EmptyPart),
        ".." => Err(InvalidPath::Upwards),
        other if is_git_folder(other) => Err(InvalidPath::GitFolder),
        _ => Ok(()),
    }
}

/// Whether some file system takes the name for `.git`: case, short names, streams, trailing dots, hidden characters.
fn is_git_folder(part: &str) -> bool {
    let seen: String = part.chars().filter(|it| !is_ignored(*it)).collect();
    let name = seen.to_ascii_lowercase();
    let name = name.split([':', '\\']).next().unwrap_or_default();
    matches!(name.trim_end_matches([' ', '.']), ".git" | "git~1")
}

/// Characters that HFS+ leaves out when it compares names.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_refuses_is_refused() {
        for (path, expected) in [
            ("/etc/passwd", InvalidPath::Absolute),
            ("", InvalidPath::EmptyPart),
            ("a//b", InvalidPath::EmptyPart),
            ("a/", InvalidPath::EmptyPart),
            ("./a", InvalidPath::EmptyPart),
            ("a/../b", InvalidPath::Upwards),
            (".git/config", InvalidPath::GitFolder),
            ("a/.GiT/hooks/x", InvalidPath::GitFolder),
            ("a/.git. /x", InvalidPath::GitFolder),
            ("git~1/x", InvalidPath::GitFolder),
            (".git::$INDEX_ALLOCATION/x", InvalidPath::GitFolder),
            (".g\u{200c}it/x", InvalidPath::GitFolder),
            ("a\0b", InvalidPath::Encoding),
        ] {
            assert_eq!(check(path), Err(expected), "{path:?}");
        }
        assert_eq!(check(&"a/".repeat(3_000)), Err(InvalidPath::Long));
    }

    #[test]
    fn other_paths_are_taken() {
        for path in [
            "a",
            "a/b c/ü.rs",
            ".github/x",
            ".gitignore",
            "a/.gitmodules",
            "a..b",
            "git",
        ] {
            assert_eq!(check(path), Ok(()), "{path}");
        }
    }
}
