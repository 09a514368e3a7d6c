//! What is refused: by field, value and remedy, and with nothing half done.

use super::*;
use crate::world::Told;

/// What follows `jules-mail send`, what is told of it, and a part of the value.
fn letters() -> Vec<(String, &'static str, &'static str)> {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let link = "--attach https://github.com/acme/shop/pull/1.patch";
    let good = "--from weaver --to art";
    let rest = "--subject Hi --body x";
    let with = |more: &str| format!("{good} {more}");
    vec![
        (format!("--from weaver --to Art {rest}"), "--to", "Art"),
        (format!("--from 'a b' --to art {rest}"), "--from", "a b"),
        (with("--subject '' --body x"), "--subject", "1 to 200"),
        (
            with("--subject \"$(printf 'x%.0s' {1..201})\" --body x"),
            "--subject",
            "xxx",
        ),
        (with("--subject $'a\\nb' --body x"), "--subject", "a b"),
        (
            with("--subject Hi --body \"$(printf 'x%.0s' {1..16001})\""),
            "body",
            "16,000",
        ),
        (
            with(&format!("--subject {secret} --body x")),
            "--subject",
            "[secret]",
        ),
        (
            with(&format!("--subject Hi --body 'key {secret}'")),
            "body",
            "[secret]",
        ),
        (
            with(&format!("{rest} --attach http://github.com/a")),
            "--attach",
            "http://github.com/a",
        ),
        (
            with(&format!("{rest} --attach pull/1.patch")),
            "--attach",
            "pull/1.patch",
        ),
        (
            with(&format!("{rest} {}", [link; 11].join(" "))),
            "attachments",
            "11",
        ),
    ]
}

#[test]
fn what_cannot_be_sent_is_refused_and_nothing_is_written() {
    let office = Office::new();
    for (letter, field, value) in letters() {
        let line = format!("jules-mail send {letter}");
        let refused = office.refused(&line);
        refused.is(2, "usage");
        let told = &refused.error;
        told.tells(&[field, value]);
        assert!(!told.contains("ghp_") && told.len() < 1_000, "{told}");
        assert!(!refused.next.is_empty(), "{refused:?}");
    }
    let piped = office.refused(
        "printf 'x%.0s' {1..16001} | jules-mail send --from weaver --to art --subject Hi --body -",
    );
    assert_eq!(piped.exit, 2);
    piped.tells("16000", "");
    let odd = office
        .refused("printf '\\xff' | jules-mail send --from weaver --to art --subject Hi --body -");
    odd.is(2, "usage");
    odd.tells("not UTF-8", "");
    assert!(!office.file(".jules").exists(), "nothing was sent");
}

#[test]
fn without_a_name_it_is_nobodys_mail() {
    let office = Office::new();
    office.sent(&["art"]);
    for (command, option) in [
        ("send --to art --subject Hi --body x", "--from"),
        ("inbox", "--persona"),
        ("read 1", "--persona"),
        ("tag ls 1", "--persona"),
    ] {
        for before in ["", "JULES_PERSONA= ", "JULES_PERSONA=' ' "] {
            let refused = office.refused(&format!("{before}jules-mail {command}"));
            refused.is(1, "no_persona");
            refused.tells("", option);
        }
        let refused = office.refused(&format!("JULES_PERSONA=A jules-mail {command}"));
        assert_eq!(refused.exit, 2, "{refused:?}");
        assert!(refused.error.contains("JULES_PERSONA") && refused.error.contains("`A`"));
    }
    let named = office.prints("JULES_PERSONA=art jules-mail inbox");
    assert_eq!(named, "* #1 | weaver | Hi\n");
    assert_eq!(office.text().lines().count(), 1);
}

#[test]
fn an_unknown_message_and_one_of_another_persona_answer_alike() {
    let office = Office::new();
    office.sent(&["artisan"]);
    for command in [
        "read ID",
        "read ID --no-mark-read",
        "tag add ID x",
        "tag rm ID x",
        "tag ls ID",
        "trash ID",
        "untrash ID",
    ] {
        let refused = |id: &str| {
            let command = command.replace("ID", id);
            let refused = office.refused(&format!("jules-mail {command} --persona art"));
            refused.is(1, "no_such");
            (refused.error.replace(id, "N"), refused.next)
        };
        assert_eq!(refused("1"), refused("7"), "{command}");
    }
    for id in ["0", "-1", "x", "1.5"] {
        let line = format!("jules-mail read --persona art --json -- {id}");
        let refused = office.types(&line).failure();
        assert_eq!(refused.exit, 2, "{refused:?}");
        assert!(refused.error.contains("a number from 1"), "{refused:?}");
    }
    assert_eq!(office.text().lines().count(), 1);
}

#[test]
fn what_is_no_regular_file_is_no_log() {
    let office = Office::new();
    fs::create_dir_all(office.log()).unwrap();
    let refused = office.refused("jules-mail inbox --persona art");
    refused.is(2, "no_file");
    fs::remove_dir(office.log()).unwrap();
    office.prints("mkfifo .jules/mail/events.jsonl");
    let refused = office.refused("jules-mail inbox --persona art");
    refused.is(2, "no_file");
}

#[test]
fn what_is_no_folder_is_named_with_what_to_do() {
    for path in [".jules", ".jules/mail", ".jules/mail/backups"] {
        let office = Office::new();
        let file = office.file(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine\n").unwrap();
        for command in [
            "inbox --persona art",
            "send --from weaver --to art --subject Hi --body x",
            "verify",
            "rebuild",
            "seal",
        ] {
            let refused = office.refused(&format!("jules-mail {command}"));
            let told = (refused.code.as_str(), refused.exit);
            assert_eq!(told, ("no_folder", 2), "{path}: {command}");
            refused.tells(path, "move it away");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    }
}
