//! What is an id and what is not.

use std::cmp::Ordering;

use super::*;

fn ok<T: FromStr>(texts: &[&str]) {
    for text in texts {
        assert!(text.parse::<T>().is_ok(), "{text}");
    }
}

fn refused<T: FromStr>(texts: &[&str]) {
    for text in texts {
        assert!(text.parse::<T>().is_err(), "{text}");
    }
}

#[test]
fn text_ids() {
    ok::<SessionId>(&["14550388554331055113", "a-b_c"]);
    refused::<SessionId>(&["", "a/b", "..", "a b", "a\nb", &"1".repeat(65)]);
    ok::<InstallationId>(&["home", "g0-1"]);
    refused::<InstallationId>(&["", "Home", "0home", "-a", "a_b", &"a".repeat(33)]);
    ok::<RoleName>(&["taxonomy", "data_arch", "cli-2"]);
    refused::<RoleName>(&[
        "",
        "Taxonomy",
        "_a",
        "1a",
        "a.b",
        "a/b",
        "..",
        &"a".repeat(41),
    ]);
    ok::<ArtefactId>(&["ab12cd", "000000", "123e45"]);
    refused::<ArtefactId>(&["", "ab12c", "ab12cde", "AB12CD", "ab-2cd", "äbcde"]);
    ok::<CommitSha>(&[&"0a".repeat(20), &"f".repeat(64)]);
    refused::<CommitSha>(&["", &"0A".repeat(20), &"a".repeat(41), &"g".repeat(40)]);
    ok::<BranchName>(&["main", "feat/x-1", "a@b", "jules/ünïcode"]);
    refused::<BranchName>(&[
        "",
        "a..b",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "/a",
        "a/",
        "-a",
        "a.",
        "a\\b",
        "a\u{7}",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "@",
        "a@{b",
        "a\u{202e}b",
    ]);
    ok::<JobId>(&["01jv0000000000000000000007"]);
    refused::<JobId>(&[
        "",
        "01JV0000000000000000000007",
        "01jv",
        "81jv0000000000000000000007",
        "01jv000000000000000000000u",
    ]);
    ok::<EventId>(&[EventId::from_name("x").as_str()]);
    refused::<EventId>(&["evt_", "evt_zz", &"0".repeat(32)]);
}

#[test]
fn what_we_make_is_valid() {
    let ulid = ulid::Ulid::from_parts(1_800_000_000_000, 1 << 79);
    ok::<JobId>(&[JobId::from_ulid(ulid).as_str()]);
    ok::<InstallationId>(&[InstallationId::from_ulid(ulid).as_str()]);
    ok::<EffectId>(&[EffectId::from_name("merge:acme/shop#7@a").as_str()]);
    for since in [
        jiff::Timestamp::MIN,
        jiff::Timestamp::UNIX_EPOCH,
        jiff::Timestamp::MAX,
    ] {
        ok::<PlanId>(&[PlanId::unnamed(since).as_str()]);
        assert!(PlanId::unnamed(since).is_unnamed());
    }
}

#[test]
fn the_same_name_is_the_same_id_and_other_names_are_others() {
    assert_eq!(EffectId::from_name("a"), EffectId::from_name("a"));
    assert_ne!(EffectId::from_name("a"), EffectId::from_name("b"));
    assert_eq!(
        EventId::from_name("a").as_str(),
        "evt_ca978112ca1bbdcafac231b39a23dc4d"
    );
}

#[test]
fn repositories_compare_without_case() {
    let (lower, upper): (RepoName, RepoName) =
        ("acme/shop".parse().unwrap(), "Acme/SHOP".parse().unwrap());
    assert_eq!(lower, upper);
    assert_eq!(
        (lower.cmp(&upper), lower.key()),
        (Ordering::Equal, upper.key())
    );
    assert_eq!(
        (upper.owner(), upper.name(), upper.as_str()),
        ("Acme", "SHOP", "Acme/SHOP")
    );
    refused::<RepoName>(&[
        "",
        "acme",
        "acme/",
        "/shop",
        "acme/shop/x",
        "acme/..",
        "./x",
        "a b/c",
        "ä/b",
    ]);
}

#[test]
fn pull_requests() {
    ok::<PullRef>(&["acme/shop#7"]);
    refused::<PullRef>(&[
        "acme/shop",
        "acme/shop#0",
        "acme/shop#",
        "acme/shop#+7",
        "acme/shop#-7",
        "acme#7",
    ]);
    let from = |url| PullRef::from_url(url).map(|pull| pull.to_string());
    for url in [
        "https://github.com/acme/shop/pull/7",
        "https://github.com/acme/shop/pull/7/files",
        "https://github.com/acme/shop/pull/7?x=1#y",
    ] {
        assert_eq!(from(url).as_deref(), Some("acme/shop#7"), "{url}");
    }
    for url in [
        "http://github.com/acme/shop/pull/7",
        "https://github.com.evil.example/acme/shop/pull/7",
        "https://github.com/acme/shop/issues/7",
        "https://github.com/acme/shop/pull/x",
        "https://github.com/acme/shop/pull/0",
        "https://github.com/acme",
    ] {
        assert_eq!(from(url), None, "{url}");
    }
}

#[test]
fn ids_are_checked_when_they_are_read_back() {
    assert!(serde_json::from_str::<SessionId>("\"../x\"").is_err());
    assert!(serde_json::from_str::<PullRef>("\"acme/shop#0\"").is_err());
    let error = "a\u{7}b/".repeat(50).parse::<SessionId>().unwrap_err();
    assert_eq!(error.value.chars().count(), 80);
    assert!(!error.to_string().contains('\u{7}'));
}

#[test]
fn a_secret_in_the_place_of_an_id_is_not_repeated() {
    let secret = format!("ghp_{}", "A1b2".repeat(9));
    let refused = [
        secret.parse::<JobId>().unwrap_err(),
        format!("acme/shop#{secret}")
            .parse::<PullRef>()
            .unwrap_err(),
        format!("acme/shop/{secret}")
            .parse::<RepoName>()
            .unwrap_err(),
    ];
    for error in refused {
        let shown = format!("{error} {error:?}");
        assert!(
            shown.contains("[secret]") && !shown.contains("A1b2"),
            "{shown}"
        );
    }
}
