//! What is read of a patch, and what is refused.

use proptest::prelude::*;

use super::*;

/// Two commits as `git format-patch` writes them, with what surrounds their diffs.
const MAILS: &str = "From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
From: A <a@b>
Subject: [PATCH 1/2] One

--- not a diff
---
 a | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/a b/a
index 1111111..2222222 100755
--- a/a
+++ b/a
@@ -1 +1 @@
-one
\\ No newline at end of file
+two
--
2.39.5

From 2222222222222222222222222222222222222222 Mon Sep 17 00:00:00 2001
Subject: [PATCH 2/2] Two

---
 a => b | 0

diff --git a/a b/b
similarity index 100%
rename from a
rename to b
--
2.39.5
";

fn fault(text: &str) -> Fault {
    parse(text.as_bytes()).unwrap_err()
}

fn actions(text: &str) -> Vec<Action> {
    let patch = parse(text.as_bytes()).unwrap();
    patch.files.into_iter().map(|file| file.action).collect()
}

#[test]
fn mails_are_read_for_their_diffs() {
    let mails = MAILS.replace("--\n2", "-- \n2");
    let patch = parse(mails.as_bytes()).unwrap();
    let [first, second] = &patch.files[..] else {
        panic!("{patch:?}")
    };
    assert_eq!(first.action, Action::Modify("a".to_owned()));
    assert_eq!(first.old_mode, Some(Mode::Executable));
    assert_eq!(
        first.index.as_ref().map(|index| index.old.as_str()),
        Some("1111111")
    );
    let lines = [
        Line::Removed(b"one".to_vec()),
        Line::Added(b"two\n".to_vec()),
    ];
    assert_eq!(first.body.hunks()[0].lines, lines);
    assert_eq!(
        second.action,
        Action::Rename {
            from: "a".to_owned(),
            to: "b".to_owned()
        }
    );
}

#[test]
fn every_kind_of_diff_is_read() {
    let path = || "a b".to_owned();
    for (text, expected) in [
        (
            "diff --git a/a b b/a b\nnew file mode 100644\n",
            Action::Create(path()),
        ),
        (
            "diff --git a/a b b/a b\ndeleted file mode 100644\n",
            Action::Delete(path()),
        ),
        (
            "diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n",
            Action::Modify(path()),
        ),
        (
            "diff --git a/x b/a b\ncopy from x\ncopy to a b\n",
            Action::Copy {
                from: "x".to_owned(),
                to: path(),
            },
        ),
        (
            "--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n",
            Action::Modify(path()),
        ),
        (
            "junk\n--- /dev/null\n+++ b/a b\n@@ -0,0 +1 @@\n+b\n",
            Action::Create(path()),
        ),
        (
            "diff --git \"a/\\303\\274\\t\" \"b/\\303\\274\\t\"\nold mode 100644\nnew mode 100755\n",
            Action::Modify("ü\t".to_owned()),
        ),
    ] {
        assert_eq!(actions(text), [expected], "{text}");
    }
    let marker = "diff --git a/a b/a\nindex 11111..22222 100644\nBinary files a/a and b/a differ\n";
    assert_eq!(
        parse(marker.as_bytes()).unwrap().files[0].body,
        Body::Untold
    );
}

#[test]
fn what_is_no_patch_is_refused() {
    assert_eq!(fault(""), Fault::NoDiff);
    assert_eq!(fault("{\"message\": \"Not Found\"}"), Fault::NoDiff);
    assert_eq!(parse(&vec![b'x'; PATCH_BYTES_MAX + 1]), Err(Fault::TooLong));
    let no_prefix = "diff --git a/a b/a\n--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(fault(no_prefix), Fault::NoPrefix("a".to_owned()));
    let idle = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n a\n";
    assert_eq!(fault(idle), Fault::Empty("a".to_owned()));
    assert_eq!(
        fault("diff --git a/a b/a\nindex 11111..22222 100644\n"),
        Fault::Empty("a".to_owned())
    );
    let dangerous = "diff --git a/.git/config b/.git/config\nnew file mode 100644\n";
    assert_eq!(
        fault(dangerous),
        Fault::Path(".git/config".to_owned(), path::InvalidPath::GitFolder)
    );
    let upwards = "diff --git a/x b/x\nrename from x\nrename to ../x\n";
    assert_eq!(
        fault(upwards),
        Fault::Path("../x".to_owned(), path::InvalidPath::Upwards)
    );
}

#[test]
fn a_header_that_contradicts_the_names_is_refused() {
    for text in [
        "diff --git a/a b/a\nnew file mode 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/a b/a\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b\n",
        "diff --git a/a b/b\nrename from a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/a b/b\nrename from a\nrename to b\n--- a/c\n+++ b/b\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/a b/a\n--- a/a\n+++ b/b\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/a b/a\n--- a/a\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+b\n",
        "diff --git a/a b/a\nold mode 100644\nindex 1111..2222 160000\nnew mode 100755\n",
        "diff --git a/a b/a\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
    ] {
        assert!(matches!(fault(text), Fault::Contradiction(_)), "{text}");
    }
}

#[test]
fn no_hunk_is_lost() {
    let file = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n";
    let plain = file.split_once('\n').unwrap().1;
    for text in [
        format!("{file}junk\n@@ -9 +9 @@\n-c\n+d\n"),
        format!("@@ -9 +9 @@\n-c\n+d\n{file}"),
        format!("{plain}junk\n@@ -9 +9 @@\n-c\n+d\n"),
        format!("{file}\n--- a/c\n+++ b/c\n@@ -9 +9 @@\n-c\n+d\n"),
        file.replace("-1 +1", "-1,2 +1"),
        file.replace("-1 +1", "-1 +1,2"),
        file.replace("-1 +1", "-1,0 +1"),
        file.replace("-1 +1", "-1 +99999999999999999999"),
        file.replace("-1 +1", "-1,18446744073709551615 +1"),
        file.replace("+b\n", ""),
        file.replace("+b\n", "+b"),
        file.to_owned() + "\\ Kein Zeilenumbruch am Dateiende.\n",
    ] {
        assert!(matches!(fault(&text), Fault::Malformed(_)), "{text}");
    }
}

#[test]
fn a_header_that_takes_long_to_cut_is_refused() {
    let text = format!("diff --git {}\n", "a/a b/a ".repeat(10_000));
    assert_eq!(
        fault(&text),
        Fault::Malformed("a line of its header is too long".to_owned())
    );
}

#[test]
fn a_binary_that_breaks_off_is_refused() {
    let text = "diff --git a/a b/a\nindex 11111..22222 100644\nGIT binary patch\n\
        literal 0\nHcmV?d00001\n\nliteral 0\nHcmV?d00001\n\n";
    assert!(parse(text.as_bytes()).is_ok());
    let cut = text.strip_suffix('\n').unwrap();
    assert!(matches!(fault(cut), Fault::Malformed(_)));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn no_spoilt_patch_makes_it_panic(
        cuts in proptest::collection::vec((0..MAILS.len(), "[-+ @\\\\a-c0-9\n\"/]{0,3}"), 1..6)
    ) {
        let mut text = MAILS.as_bytes().to_vec();
        for (at, new) in cuts {
            let at = at.min(text.len());
            let end = (at + 2).min(text.len());
            text.splice(at..end, new.into_bytes());
        }
        let _ = parse(&text);
    }
}
