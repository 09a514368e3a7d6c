//! Logs that are broken, their backups, and what makes them whole.

use serde_json::json;

use super::*;
use crate::world::{Fields, Told};

/// Everything that needs a log that is whole.
const COMMANDS: [&str; 9] = [
    "inbox --persona art",
    "sent --persona weaver",
    "read 1 --persona art",
    "tag ls 1 --persona art",
    "trash 1 --persona art",
    "stats",
    "export",
    "seal",
    "send --from weaver --to art --subject Hi --body x",
];

#[test]
fn a_broken_log_is_never_an_empty_inbox() {
    for (damage, told) in [
        (
            "truncate -s -9 events.jsonl",
            "line 3: the last line is torn",
        ),
        ("sed -i 2s/{// events.jsonl", "line 2: it is no JSON object"),
        (
            "sed -n 1p events.jsonl >> events.jsonl",
            "line 4: the event id",
        ),
        (
            "sed -i 2d events.jsonl",
            "line 2: there is a gap: no line sends message #2",
        ),
    ] {
        let office = Office::new();
        office.sent(&["art", "bolt", "art"]);
        office.prints(&format!("cd .jules/mail; {damage}"));
        let before = office.text();
        for command in COMMANDS {
            let refused = office.refused(&format!("jules-mail {command}"));
            refused.is(1, "broken_mail");
            refused.tells(told, "jules-mail rebuild");
        }
        let log = office.types("jules-mail log");
        assert_eq!((log.code, log.stdout.as_str()), (1, before.as_str()));
        let verified = office.types("jules-mail verify");
        assert_eq!(verified.code, 1);
        assert!(verified.stdout.starts_with(told), "{verified:?}");
        assert_eq!(office.text(), before, "nothing was written");
    }
}

#[test]
fn a_rebuild_keeps_what_is_valid_and_lays_the_rest_aside() {
    let office = Office::new();
    office.sent(&["art", "bolt", "art"]);
    office.prints("sed -i '2s/.*/nonsense/' .jules/mail/events.jsonl; printf torn >> .jules/mail/events.jsonl");
    let verified = office.types("jules-mail verify");
    let told = verified.stdout.lines().count();
    assert_eq!(told, 3, "all of it: {verified:?}");
    let told = office.json("jules-mail rebuild");
    told.holds(&json!({ "kept": 2, "rejected": 2, "lost": [2] }));
    let aside = fs::read_to_string(office.file(".jules/mail/events.rejected")).unwrap();
    assert_eq!(aside, "nonsense\ntorn\n");
    office.prints("jules-mail verify");
    let told = office.prints("jules-mail inbox --persona art");
    assert_eq!(told, "* #1 | weaver | Hi\n* #3 | weaver | Hi\n");
    let again = office.prints("jules-mail rebuild");
    assert_eq!(again, "Events kept: 3.\n");
    let sent = office.prints("jules-mail send --from weaver --to bolt --subject Hi --body x");
    assert_eq!(sent, "✅ Sent message #4\n", "no number is given twice");
}

#[test]
fn a_restore_brings_back_what_was_sealed() {
    let office = Office::new();
    office.refused("jules-mail restore").is(1, "no_backup");
    office.sent(&["art", "bolt", "art"]);
    assert_eq!(office.prints("jules-mail seal"), "Events backed up: 3.\n");
    assert_eq!(office.prints("jules-mail seal"), "Events backed up: 0.\n");
    office.prints("jules-mail read 1 --persona art; jules-mail verify");
    let whole = office.text();

    for damage in [
        "sed -i 2,3d events.jsonl",
        "sed -i 2s/bolt/volt/ events.jsonl",
        "rm events.jsonl",
    ] {
        fs::write(office.log(), &whole).unwrap();
        office.prints(&format!("cd .jules/mail; {damage}"));
        let verified = office.types("jules-mail verify");
        assert_eq!(verified.code, 1, "{damage}: {verified:?}");
        office.prints("jules-mail restore; jules-mail verify");
        let text = office.text();
        assert!(whole.starts_with(&text), "{damage}: {text}");
        let lost = if damage.starts_with("rm") { 1 } else { 0 };
        let told = text.lines().count();
        assert_eq!(told, 4 - lost, "what came after the page stays");
    }
    // A tag has no number of its own that would be missed.
    office.prints("jules-mail tag add 3 x --persona art; jules-mail seal");
    office.prints("cd .jules/mail; sed -i '$d' events.jsonl");
    let refused = office.refused("jules-mail inbox --persona art");
    assert_eq!(refused.code, "broken_mail");
    assert!(refused.error.contains("events are missing"), "{refused:?}");
    office.prints("jules-mail restore; jules-mail verify");
    let gone =
        office.prints("rm .jules/mail/events.jsonl; jules-mail inbox --persona art 2>&1 || true");
    gone.tells(&["no line sends the messages #1 to #3"]);
}

#[test]
fn a_page_that_was_changed_is_told_and_not_used() {
    let office = Office::new();
    office.sent(&["art"]);
    office.prints("jules-mail seal");
    office.sent(&["bolt"]);
    office.prints("jules-mail seal");
    office.prints("jules-mail verify");
    office.prints("sed -i s/bolt/volt/ .jules/mail/backups/page-000002.jsonl");
    let verified = office.types("jules-mail verify");
    assert_eq!(verified.code, 1);
    verified.tells(&["page 2 of the backups"]);
    assert!(verified.stderr.contains("move this page"), "{verified:?}");
    for command in COMMANDS {
        let refused = office.refused(&format!("jules-mail {command}"));
        let told = (refused.code.as_str(), refused.exit);
        assert_eq!(told, ("broken_backups", 1), "{command}");
        assert!(refused.error.contains("page 2"), "{command}: {refused:?}");
    }
    let log = office.types("jules-mail log");
    assert_eq!((log.code, log.stdout.as_str()), (1, office.text().as_str()));
    office.prints("sed -i '1s/.*/nonsense/' .jules/mail/events.jsonl");
    let told = office.json("jules-mail restore");
    assert_eq!((&told["kept"], &told["restored"]), (&1.into(), &1.into()));
    office.prints("rm .jules/mail/backups/page-000002.jsonl; jules-mail seal; jules-mail verify");
    assert!(
        office
            .file(".jules/mail/backups/page-000002.jsonl")
            .exists()
    );
}

#[test]
fn a_rebuild_says_what_only_the_backups_have_and_which_page_is_broken() {
    let office = Office::new();
    office.sent(&["art", "bolt"]);
    office.prints("jules-mail seal; sed -i 2d .jules/mail/events.jsonl");
    let told = office.prints("jules-mail rebuild");
    told.tells(&[
        "Messages lost: #2.",
        "otherwise: 1; `jules-mail restore` brings",
    ]);
    office.prints("jules-mail stats");
    assert_eq!(office.types("jules-mail verify").code, 1);
    let told = office.json("jules-mail restore");
    told.holds(&json!({ "in_backups": 0, "broken_page": null }));
    office.prints("jules-mail verify");

    let page = ".jules/mail/backups/page-000001.jsonl";
    office.prints(&format!("sed -i s/bolt/volt/ {page}"));
    let refused = office.refused("jules-mail restore");
    refused.is(1, "no_backup");
    refused.tells("page-000001.jsonl", "");
    assert!(refused.next.starts_with("move this page"), "{refused:?}");
    let told = office.prints("jules-mail rebuild");
    told.tells(&[
        "The backups are still broken: page 1",
        "Next: move this page",
    ]);
    office.prints(&format!("rm {page}; jules-mail seal; jules-mail verify"));
}

#[test]
fn each_hundred_events_are_sealed_by_themselves() {
    let office = Office::new();
    let line = "{event_id:\"e\\(.)\",ts:\"2026-01-01T00:00:00Z\",event_type:\"send\",message_id:.,actor:\"weaver\",from_persona:\"weaver\",to_persona:\"art\",subject:\"Hi\",body:\"x\"}";
    office.prints(&format!("seq 99 | jq -c '{line}' > many"));
    let told = office.prints("jules-mail import many");
    assert_eq!(told, "Events added: 99, already there: 0.\n");
    let page = |number: u32| office.file(&format!(".jules/mail/backups/page-00000{number}.jsonl"));
    assert!(!page(1).exists());
    office.sent(&["art"]);
    let sealed = fs::read_to_string(page(1)).unwrap();
    assert_eq!(sealed.lines().count(), 101, "a head and a hundred events");
    office.prints(&format!(
        "seq 101 350 | jq -c '{line}' | jules-mail import -"
    ));
    assert!(page(2).exists() && page(3).exists() && !page(4).exists());
    office.prints("jules-mail verify");
}

#[test]
fn an_export_is_imported_whole_or_not_at_all() {
    let (office, other) = (Office::new(), Office::new());
    office.sent(&["art", "bolt"]);
    office.prints("jules-mail read 1 --persona art; jules-mail export > all");
    let all = office.file("all").display().to_string();
    assert_eq!(fs::read_to_string(&all).unwrap(), office.text());
    let import = format!("jules-mail import {all}");
    let added =
        |added: u32, there: u32| format!("Events added: {added}, already there: {there}.\n");
    assert_eq!(other.prints(&import), added(3, 0));
    assert_eq!(other.text(), office.text());
    assert_eq!(other.prints(&import), added(0, 3));
    office.sent(&["art"]);
    office.prints("jules-mail export > all");
    assert_eq!(other.prints(&import), added(1, 3));

    let mixed = Office::new();
    mixed.sent(&["curator"]);
    let before = mixed.text();
    let refused = mixed.refused(&import);
    refused.is(1, "bad_import");
    refused.tells("message #1 is sent twice", "");
    let refused = mixed.refused("printf '\\nx\\n' | jules-mail import -");
    refused.tells("line 2: it is no JSON object", "");
    let refused = mixed.refused("jules-mail import nothing");
    assert_eq!(refused.exit, 2);
    assert_eq!(mixed.text(), before);
}
