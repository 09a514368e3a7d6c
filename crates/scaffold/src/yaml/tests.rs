//! What is read of a file, and what is refused in it.

use proptest::prelude::*;
use serde::Deserialize;

use super::{
    ALIASES_MAX, DEPTH_MAX, NODES_MAX, Node, Plain, REPLAYED_EVENTS_MAX, TOO_MUCH, Value,
    YAML_BYTES_MAX, parse, read,
};

const EVENT: &str = "\
schema_version: 1
id: 123e45
created_at: 2026-02-17
confidence: low
closed: false
nothing:
evidence:
  - path: src/a.rs
    loc: [12, '13-15']
    note: >
      folded
      text
";

fn said(text: &str) -> String {
    match parse("f.yml", text.as_bytes()) {
        Ok(node) => panic!("it is read: {node:?}"),
        Err(fault) => fault.to_string(),
    }
}

fn get<'a>(node: &'a Node, key: &str) -> &'a Node {
    node.get(key).expect(key)
}

#[test]
fn every_value_has_its_line_and_the_text_of_the_file() {
    let node = parse("e.yml", EVENT.as_bytes()).unwrap();
    assert_eq!(get(&node, "schema_version").integer(), Some(1));
    assert_eq!(get(&node, "id").text(), Some("123e45"));
    assert_eq!(get(&node, "created_at").text(), Some("2026-02-17"));
    assert_eq!(get(&node, "closed").boolean(), Some(false));
    assert!(get(&node, "nothing").is_null());
    let first = &get(&node, "evidence").list().unwrap()[0];
    assert_eq!(first.line, 8);
    assert_eq!(first.entry("loc").unwrap().line, 9);
    assert_eq!(get(first, "note").text(), Some("folded text\n"));
    let loc = get(first, "loc").list().unwrap();
    assert_eq!(loc[0].text(), Some("12"));
    assert_eq!(loc[1].value, Value::Scalar("13-15".into(), Plain::Text));
}

#[test]
fn ids_that_look_like_numbers_keep_their_text() {
    for id in [
        "000123", "123e45", "1e9999", "0x12ab", "1_0000", "-.inf", "12.340",
    ] {
        let node = parse("e.yml", format!("é: ü\nid: {id}  # why\n").as_bytes()).unwrap();
        assert_eq!(get(&node, "id").text(), Some(id));
    }
}

#[test]
fn words_of_yaml_1_1_are_texts() {
    let node = parse("e.yml", b"a: no\nb: on\nc: true\n").unwrap();
    assert_eq!(get(&node, "a").text(), Some("no"));
    assert_eq!(get(&node, "b").boolean(), None);
    assert_eq!(get(&node, "c").boolean(), Some(true));
}

#[test]
fn doubled_keys_are_refused_at_any_depth() {
    assert_eq!(
        said("a: 1\nb: 2\na: 3\n"),
        "f.yml:3: the key `a` stands here twice; keep one"
    );
    assert_eq!(
        said("x:\n  - k: 1\n    k: 2\n"),
        "f.yml:3: the key `k` stands here twice; keep one"
    );
}

#[test]
fn growing_aliases_are_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..9 {
        let before = vec![format!("*a{}", n - 1); 9].join(", ");
        bomb.push_str(&format!("a{n}: &a{n} [{before}]\n"));
    }
    assert_eq!(said(&bomb), format!("f.yml:4: {TOO_MUCH}"));
}

#[test]
fn one_alias_is_read() {
    let node = parse("f.yml", b"a: &x [1]\nb: *x\n").unwrap();
    assert_eq!(get(&node, "b").list().unwrap()[0].text(), Some("1"));
    assert_eq!(get(&node, "b").line, 2);
}

#[test]
fn merge_keys_are_refused() {
    assert_eq!(
        said("a: &a {x: 1}\nb:\n  <<: *a\n"),
        "f.yml:3: merge keys (`<<`) are not read; write the keys out"
    );
}

#[test]
fn tabs_are_refused_with_their_line() {
    assert_eq!(
        said("a:\n  b: 1\n\tc: 2\n"),
        "f.yml:2: while scanning a plain scalar, found a tab"
    );
}

#[test]
fn broken_files_name_their_line() {
    assert_eq!(said("a: 1\nb: [1, 2\n"), "f.yml:2: unclosed bracket '['");
    assert!(said("a: 1\nb: \"x\n").starts_with("f.yml:"));
    assert_eq!(
        said("a: 1\n---\nb: 2\n"),
        "f.yml:3: the file has a second document after `---`; keep one"
    );
    assert!(said("? [a]\n: 1\n").starts_with("f.yml:1: "));
}

#[test]
fn a_byte_order_mark_and_crlf_change_nothing() {
    let windows = format!("\u{feff}{}", EVENT.replace('\n', "\r\n"));
    let node = parse("e.yml", windows.as_bytes()).unwrap();
    assert_eq!(node, parse("e.yml", EVENT.as_bytes()).unwrap());
}

#[test]
fn ten_megabytes_are_refused_unread() {
    let bytes = vec![b'a'; 10 * 1_024 * 1_024];
    let fault = parse("f.yml", &bytes).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "f.yml:1: the file has 10485760 bytes, and at most 524288 are read; shorten or split it"
    );
    assert!(parse("f.yml", &vec![b'a'; YAML_BYTES_MAX]).is_ok());
}

#[test]
fn bytes_that_are_not_utf8_name_their_line() {
    let fault = parse("f.yml", b"a: 1\nb: \xff\n").unwrap_err();
    assert_eq!(
        fault.to_string(),
        "f.yml:2: the file is not UTF-8; save it as UTF-8"
    );
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{a: "] {
        assert_eq!(
            said(&open.repeat(100_000)),
            "f.yml:1: recursion limit exceeded"
        );
    }
    let blocks: String = (0..60).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert!(said(&blocks).ends_with(TOO_MUCH));
    assert!(said(&"- ".repeat(10_000)).starts_with("f.yml:1: "));
}

#[test]
fn each_limit_is_the_one_that_is_written_down() {
    let refused = |text: &str| parse("f.yml", text.as_bytes()).is_err();
    let flow = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    assert!(refused(&flow(DEPTH_MAX + 1)) && !refused(&flow(DEPTH_MAX - 2)));
    let block = |depth: usize| -> String {
        (0..depth)
            .map(|n| format!("{}a:\n", " ".repeat(n)))
            .collect()
    };
    assert!(refused(&block(DEPTH_MAX + 2)) && !refused(&block(DEPTH_MAX - 2)));
    let list = |items: usize| "- a\n".repeat(items);
    assert!(refused(&list(NODES_MAX + 1)) && !refused(&list(NODES_MAX - 2)));
    let aliases = |count: usize| format!("a: &x y\nb:\n{}", "  - *x\n".repeat(count));
    assert!(refused(&aliases(ALIASES_MAX + 1)) && !refused(&aliases(ALIASES_MAX - 1)));
    let replayed = |times: usize| {
        let list = vec!["x"; REPLAYED_EVENTS_MAX / 4].join(", ");
        format!("a: &x [{list}]\nb:\n{}", "  - *x\n".repeat(times))
    };
    assert!(refused(&replayed(5)) && !refused(&replayed(3)));
}

#[test]
fn an_empty_file_is_nothing() {
    assert!(parse("f.yml", b"").unwrap().is_null());
    assert!(parse("f.yml", b"# only a comment\n").unwrap().is_null());
}

#[test]
fn types_of_ours_are_read_with_the_line_of_what_is_wrong() {
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Tools {
        tools: Vec<String>,
    }
    let tools: Tools = read("t.yml", b"tools: [gh, uv]\n").unwrap();
    assert_eq!(tools.tools, ["gh", "uv"]);
    let fault = read::<Tools>("t.yml", b"tools: []\ntols: []\n").unwrap_err();
    assert_eq!(
        fault.to_string(),
        "t.yml:2: unknown field `tols`, expected one of tools"
    );
}

/// A valid file with some bytes put in, taken out or changed.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(vec![
        "&a", "*a", "<<: ", "\t", "\r", "- ", "? ", ": ", "{", "}", "[", "]", "\"", "'", "|", ">",
        "!!", "%", "---\n", "...\n", "\u{feff}", "\0", "#", "1e999", "\n",
    ]);
    let piece = prop_oneof![
        pieces.prop_map(|piece| piece.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..4)
    ];
    prop::collection::vec((any::<prop::sample::Index>(), piece, 0..6_usize), 1..8).prop_map(
        |changes| {
            let mut bytes = EVENT.as_bytes().to_vec();
            for (at, piece, removed) in changes {
                let at = at.index(bytes.len() + 1);
                let end = (at + removed).min(bytes.len());
                bytes.splice(at..end, piece);
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop_oneof![mutated(), prop::collection::vec(any::<u8>(), 0..200)]) {
        if let Err(fault) = parse("f.yml", &bytes) {
            let lines = bytes.iter().filter(|&&b| b == b'\n' || b == b'\r').count() + 2;
            prop_assert!(fault.line >= 1 && fault.line <= lines, "{fault} of {lines} lines");
            prop_assert!(!fault.what.is_empty());
        }
    }
}
