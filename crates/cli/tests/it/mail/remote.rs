//! The same commands with `--repo`: the mail of a source, through the API.

use super::*;
use crate::jobs::{self, TOKEN};
use crate::world::World;

/// A source with its API, and a folder whose mail is a file.
struct Both {
    world: World,
    office: Office,
    url: String,
}

impl Both {
    fn new() -> Self {
        let world = World::with_account();
        world.run(&["source", "add", "acme/shop"]).ok();
        let url = format!("http://{}", jobs::serve(&world));
        Self {
            world,
            office: Office::new(),
            url,
        }
    }

    fn shell(&self, line: &str, token: &str) -> Ran {
        let mut shell = self.office.shell(line);
        shell
            .env("GAFFER_URL", &self.url)
            .env("GAFFER_TOKEN", token)
            .env("GAFFER_DATA", self.world.data());
        ran(shell, "")
    }

    /// What a line prints that has to work.
    #[track_caller]
    fn prints(&self, line: &str) -> String {
        self.shell(line, TOKEN).ok().stdout
    }

    #[track_caller]
    fn refused(&self, line: &str, token: &str) -> FailureText {
        self.shell(&format!("{line} --json"), token).failure()
    }

    /// What a line is refused with about a source, and in the same words about the file.
    #[track_caller]
    fn refuse_alike(&self, line: &str, code: &str, exit: i32) -> FailureText {
        let here = self.office.refused(line);
        let there = self.refused(&format!("{line} --repo acme/shop"), TOKEN);
        for told in [&here, &there] {
            told.is(exit, code);
        }
        assert!(there.error.contains(&here.error), "{there:?}: {here:?}");
        there
    }
}

/// What is typed, with and without `--repo`, and printed by both.
const LINES: [(&str, &str); 17] = [
    (
        "jules-mail send --from weaver --to curator --subject 'Conflict in PR #102' --body 'See it'",
        "✅ Sent message #1\n",
    ),
    (
        "printf 'one\\ntwo\\n' | jules-mail send --from curator --to art --subject Hi --body -",
        "✅ Sent message #2\n",
    ),
    (
        "JULES_PERSONA=art jules-mail send --to all@team --subject Hi --body x",
        "✅ Sent message #3\n",
    ),
    (
        "jules-mail inbox --persona curator",
        "* #1 | weaver | Conflict in PR #102\n* #3 | art | Hi\n",
    ),
    (
        "jules-mail read 1 --persona curator >/dev/null; jules-mail inbox --persona curator",
        "  #1 | weaver | Conflict in PR #102\n* #3 | art | Hi\n",
    ),
    (
        "jules-mail read 2 --persona art --no-mark-read | tail -n 2",
        "one\ntwo\n",
    ),
    (
        "jules-mail inbox --persona curator --unread",
        "* #3 | art | Hi\n",
    ),
    ("jules-mail tag add 3 later --persona curator", "later\n"),
    ("jules-mail tag ls 3 --persona curator", "later\n"),
    (
        "jules-mail tag rm 3 later --persona curator",
        "Message #3 has no tags.\n",
    ),
    (
        "jules-mail trash 3 --persona curator",
        "Message #3 is in the trash.\n",
    ),
    (
        "jules-mail untrash 3 --persona curator",
        "Message #3 is in the inbox.\n",
    ),
    (
        "jules-mail sent --persona weaver",
        "#1 | curator | Conflict in PR #102\n",
    ),
    (
        "jules-mail stats",
        "art: 1 unread of 1\ncurator: 1 unread of 2\nweaver: 0 unread of 0\n",
    ),
    ("jules-mail seal", "Events backed up: 8.\n"),
    (
        "jules-mail verify",
        "Nothing is wrong. Events: 8, pages of backups: 1.\n",
    ),
    (
        "jules-mail log | jq -r .event_type | sort -u | wc -l",
        "6\n",
    ),
];

#[test]
fn what_is_typed_prints_the_same_about_a_source() {
    let both = Both::new();
    for (line, printed) in LINES {
        assert_eq!(both.office.prints(line), printed, "{line}");
        let line = line.replace("jules-mail", "jules-mail --repo acme/shop");
        assert_eq!(both.prints(&line), printed, "{line}");
    }
    let gaffer = both.prints("gaffer mail inbox --persona art --repo acme/shop");
    assert_eq!(gaffer, "* #2 | curator | Hi\n");
    let rebuilt = both.prints("jules-mail rebuild --repo acme/shop");
    assert_eq!(rebuilt, "Rows made again: 0.\n");
}

#[test]
fn the_mail_of_one_store_goes_to_the_other_and_back() {
    let both = Both::new();
    both.office.sent(&["art", "bolt"]);
    both.office.prints("jules-mail read 1 --persona art");
    let import = "jules-mail export | jules-mail import - --repo acme/shop";
    let added =
        |added: u32, there: u32| format!("Events added: {added}, already there: {there}.\n");
    assert_eq!(both.prints(import), added(3, 0));
    assert_eq!(both.prints(import), added(0, 3));
    both.prints("jules-mail send --from weaver --to art --subject Hi --body x --repo acme/shop");
    let export = both.prints("jules-mail export --repo acme/shop");
    assert!(export.starts_with(&both.office.text()), "{export}");
    let back = "jules-mail export --repo acme/shop | jules-mail import -";
    assert_eq!(both.prints(back), added(1, 3));
    assert_eq!(both.office.text(), export);
    both.office.prints("jules-mail verify");
    both.prints("jules-mail verify --repo acme/shop");
    // What fits neither is refused, and nothing is added.
    both.office.sent(&["art"]);
    both.prints(
        "jules-mail send --from weaver --to bolt --subject Other --body x --repo acme/shop",
    );
    let refused = both.refused(import, TOKEN);
    refused.is(1, "bad_import");
    refused.tells("message #4 is sent twice", "");
}

#[test]
fn a_fault_of_an_import_is_told_with_the_line_of_the_file() {
    let both = Both::new();
    both.office.sent(&["art", "bolt", "art"]);
    both.office
        .prints("sed -i 2d .jules/mail/events.jsonl; jules-mail rebuild");
    let import = "jules-mail export | sed '2s/\"Hi\"/\"\"/' | jules-mail import - --repo acme/shop";
    let faulty = both.refused(import, TOKEN);
    faulty.is(1, "bad_import");
    faulty.tells("line 2: ", "");
    let whole = "echo '{\"bad\":1}' | jules-mail import - --repo acme/shop";
    let said = both.refused(whole, TOKEN).error;
    assert!(said.contains("`event_type` is missing"), "{said}");
    let stats = both.prints("jules-mail stats --repo acme/shop --json");
    assert!(!stats.contains("art"), "{stats}");
}

#[test]
fn a_mended_log_is_imported_though_messages_of_it_are_lost() {
    let both = Both::new();
    both.office.sent(&["art", "bolt", "art"]);
    both.office
        .prints("sed -i 2d .jules/mail/events.jsonl; jules-mail rebuild");
    let import = "jules-mail export | jules-mail import - --repo acme/shop";
    assert_eq!(both.prints(import), "Events added: 3, already there: 0.\n");
    both.prints("jules-mail verify --repo acme/shop");
    let inbox = both.prints("jules-mail inbox --persona art --repo acme/shop");
    assert_eq!(inbox, "* #1 | weaver | Hi\n* #3 | weaver | Hi\n");
}

#[test]
fn a_token_of_a_persona_says_who_it_is() {
    let both = Both::new();
    let made = both
        .world
        .json(&["token", "create", "mail-curator", "--persona", "curator"]);
    assert_eq!(made["token"]["persona"], "curator");
    let token = made["value"].as_str().unwrap();
    let listed = both.world.run(&["token", "list"]).ok().stdout;
    assert!(listed.contains("curator"), "{listed}");
    let send = "jules-mail send --to art --subject Hi --body x --repo acme/shop";
    both.shell(send, token).ok();
    let sent = both.prints("jules-mail sent --persona curator --repo acme/shop");
    assert_eq!(sent, "#1 | art | Hi\n");
    let actor = both.prints("jules-mail log --repo acme/shop | jq -r .actor");
    assert_eq!(actor, "mail-curator\n");
    for line in [
        "jules-mail send --from art --to bolt --subject Hi --body x",
        "jules-mail inbox --persona art",
        "jules-mail read 1 --persona art",
    ] {
        let refused = both.refused(&format!("{line} --repo acme/shop"), token);
        refused.is(1, "not_its_persona");
    }
    for persona in ["curator", "art"] {
        let line = format!("jules-mail sent --persona {persona} --repo acme/shop");
        let refused = both.refused(&line, token);
        assert_eq!(refused.code, "not_its_persona");
        refused.tells("a token without a persona", "");
    }
    let unnamed = both.refused(send, TOKEN);
    assert_eq!(unnamed.code, "missing_field");
    assert!(unnamed.error.contains("`from`"), "{unnamed:?}");
}

#[test]
fn what_is_refused_is_refused_in_the_same_words() {
    let both = Both::new();
    both.refuse_alike(
        "jules-mail send --from art --to all@team --subject Hi --body x",
        "no_team",
        2,
    );
    let send = "jules-mail send --from weaver --to artisan --subject Hi --body x";
    both.office.prints(send);
    both.prints(&format!("{send} --repo acme/shop"));
    let tag = "for n in $(seq 20); do jules-mail tag add 1 t$n --persona artisan; done";
    both.office.prints(tag);
    both.prints(&tag.replace("artisan", "artisan --repo acme/shop"));
    let more = "jules-mail tag add 1 more --persona artisan";
    both.refuse_alike(more, "too_many_tags", 1);
    for line in [
        "jules-mail read 1 --persona art",
        "jules-mail tag ls 7 --persona art",
        "jules-mail trash 7 --persona art",
        "jules-mail inbox",
    ] {
        let here = both.office.refused(line);
        let there = both.refuse_alike(line, &here.code, here.exit);
        let next = here
            .next
            .replace("--persona art`", "--persona art --repo acme/shop`");
        assert_eq!(there.next, next);
    }
    let none = both.prints("jules-mail inbox --persona bolt --repo acme/shop");
    assert_eq!(none, "No messages for bolt in the mail of acme/shop.\n");
    let restore = both.refused("jules-mail restore --repo acme/shop", TOKEN);
    assert_eq!(restore.exit, 2);
    let unknown = both.refused("jules-mail stats --repo acme/none", TOKEN);
    unknown.is(1, "no_such_source");
    let nowhere = "jules-mail stats --repo acme/shop --url http://127.0.0.1:1";
    assert_eq!(both.refused(nowhere, TOKEN).exit, 1);
}
