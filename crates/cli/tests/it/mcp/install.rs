//! `gaffer mcp install`: the built binary on settings of other programs, in a home folder of its own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{Ran, Told, ran};

const GAFFER: &str = env!("CARGO_BIN_EXE_gaffer");

/// A person with a home and a project.
struct Person {
    folder: TempDir,
}

impl Person {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    fn home(&self, file: &str) -> PathBuf {
        self.folder.path().join("home").join(file)
    }

    fn project(&self, file: &str) -> PathBuf {
        self.folder.path().join("project").join(file)
    }

    fn run(&self, arguments: &[&str], set: &[(&str, &Path)]) -> Ran {
        let mut command = std::process::Command::new(GAFFER);
        command
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("GAFFER_TOKEN", "gaf_never_to_be_written_down")
            .envs(set.iter().copied())
            .current_dir(self.folder.path().join("project"))
            .args(["mcp", "install"])
            .args(arguments)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        ran(command, "")
    }

    fn install(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat(), &[])
            .ok()
            .json()
    }
}

fn put(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap()
}

/// Where each client keeps a person's servers and a project's, the name of the list, and whether an entry says its
/// kind.
const CLIENTS: [(&str, &str, Option<&str>, &str, bool); 7] = [
    (
        "claude-code",
        ".claude.json",
        Some(".mcp.json"),
        "mcpServers",
        true,
    ),
    (
        "claude-desktop",
        "SETTINGS/Claude/claude_desktop_config.json",
        None,
        "mcpServers",
        false,
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        Some(".cursor/mcp.json"),
        "mcpServers",
        true,
    ),
    (
        "vscode",
        "SETTINGS/Code/User/mcp.json",
        Some(".vscode/mcp.json"),
        "servers",
        true,
    ),
    (
        "gemini",
        ".gemini/settings.json",
        Some(".gemini/settings.json"),
        "mcpServers",
        false,
    ),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        None,
        "mcpServers",
        false,
    ),
    (
        "zed",
        ".config/zed/settings.json",
        Some(".zed/settings.json"),
        "context_servers",
        false,
    ),
];

fn settings(file: &str) -> String {
    let folder = if cfg!(target_os = "macos") {
        "Library/Application Support"
    } else {
        ".config"
    };
    file.replace("SETTINGS", folder)
}

fn entry(typed: bool) -> Value {
    let mut entry = json!({ "command": GAFFER, "args": ["mcp"] });
    if typed {
        entry["type"] = json!("stdio");
    }
    entry
}

#[test]
fn every_client_finds_the_tools_and_twice_is_once() {
    for (client, own, project, list, typed) in CLIENTS {
        let person = Person::new();
        let own = person.home(&settings(own));
        assert_eq!(person.install(&[client])["outcome"], "written", "{client}");
        let first = text(&own);
        let told: Value = serde_json::from_str(&first).unwrap();
        assert_eq!(
            told,
            json!({ list: { "gaffer": entry(typed) } }),
            "{client}"
        );
        assert_eq!(
            fs::metadata(&own).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let told = person.install(&[client]);
        assert_eq!(told["outcome"], "unchanged", "{client}");
        assert_eq!(text(&own), first);
        let Some(project) = project else {
            let told = person.run(&[client, "--project", "--json"], &[]).failure();
            told.is(2, "usage");
            continue;
        };
        assert_eq!(person.install(&[client, "--project"])["outcome"], "written");
        assert_eq!(text(&person.project(project)), first);
        // No token is written anywhere, and nothing is left lying about.
        let left = fs::read_dir(own.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "{client}");
        assert!(!first.contains("gaf_"), "{first}");
    }
}

#[test]
fn codex_is_told_in_toml() {
    let person = Person::new();
    let file = person.home(".codex/config.toml");
    let mine = "# Mine.\nmodel = \"o9\" # the big one\n\n[mcp_servers.docs]\ncommand = \"npx\"\n\n[tui]\ntheme='dark'\n";
    put(&file, mine);
    assert_eq!(person.install(&["codex"])["outcome"], "written");
    let told = text(&file);
    for line in mine.lines() {
        assert!(told.contains(line), "{line:?} in {told}");
    }
    let ours = format!("[mcp_servers.gaffer]\ncommand = \"{GAFFER}\"\nargs = [\"mcp\"]\n");
    assert!(told.contains(&ours), "{told}");
    assert_eq!(person.install(&["codex"])["outcome"], "unchanged");
    assert_eq!(text(&file), told);
    person.install(&["codex", "--project"]);
    assert_eq!(text(&person.project(".codex/config.toml")), ours);
    let elsewhere = person.folder.path().join("codex");
    person.run(&["codex"], &[("CODEX_HOME", &elsewhere)]).ok();
    assert_eq!(text(&elsewhere.join("config.toml")), ours);
    put(&file, "model = ");
    let told = person.run(&["codex", "--json"], &[]).failure();
    assert!(told.next.contains("[mcp_servers.gaffer]"), "{told:?}");
    assert_eq!(text(&file), "model = ");
}

#[test]
fn everything_else_in_a_file_stays_as_it_was() {
    let person = Person::new();
    let file = person.home(".config/zed/settings.json");
    let mine = "// Zed\n{\n  \"theme\": \"One\", // dark\n  /* servers */\n  \"context_servers\": {\n    \"docs\": { \"command\": \"npx\", },\n  },\n\n  \"z\": [1,2],\n  \"a\": 1e3\n}\n";
    put(&file, mine);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    person.run(&["zed"], &[]).ok();
    let told = text(&file);
    for line in mine.lines() {
        assert!(told.contains(line), "{line:?} in {told}");
    }
    assert!(told.contains("\"gaffer\": {\n      \"command\""), "{told}");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o640
    );
    person.run(&["zed"], &[]).ok();
    assert_eq!(text(&file), told);
    // A link to a file elsewhere stays a link.
    let real = person.home("dotfiles/mcp.json");
    put(&real, "");
    fs::create_dir_all(person.home(".cursor")).unwrap();
    symlink(&real, person.home(".cursor/mcp.json")).unwrap();
    person.run(&["cursor"], &[]).ok();
    assert!(
        fs::symlink_metadata(person.home(".cursor/mcp.json"))
            .unwrap()
            .is_symlink()
    );
    assert!(text(&real).contains("mcpServers"));
}

#[test]
fn a_link_to_nothing_is_left_as_it_is() {
    let person = Person::new();
    let (link, behind) = (
        person.home(".cursor/mcp.json"),
        person.home("gone/mcp.json"),
    );
    fs::create_dir_all(person.home(".cursor")).unwrap();
    symlink(&behind, &link).unwrap();
    let told = person.run(&["cursor", "--json"], &[]).failure();
    told.is(1, "dangling_link");
    for path in [&link, &behind] {
        assert!(told.error.contains(path.to_str().unwrap()), "{told:?}");
    }
    assert_eq!(fs::read_link(&link).unwrap(), behind);
    assert!(!behind.exists());
    put(&behind, "");
    assert_eq!(person.install(&["cursor"])["outcome"], "written");
    assert_eq!(fs::read_link(&link).unwrap(), behind);
}

#[test]
fn another_entry_of_the_name_is_kept_unless_it_is_to_be_replaced() {
    let person = Person::new();
    let file = person.home(".cursor/mcp.json");
    let other = r#"{"mcpServers": {"gaffer": {"command": "theirs"}, "docs": {"url": "x"}}}"#;
    put(&file, other);
    let told = person.run(&["cursor", "--json"], &[]).failure();
    told.is(1, "name_taken");
    told.tells("", "--replace");
    assert_eq!(text(&file), other);
    let told = person.install(&["cursor", "--replace"]);
    assert_eq!(told["outcome"], "written");
    let now: Value = serde_json::from_str(&text(&file)).unwrap();
    assert_eq!(
        now,
        json!({ "mcpServers": { "gaffer": entry(true), "docs": { "url": "x" } } })
    );
    // A person's additions to our entry stay.
    let added = text(&file).replace("\"type\"", "\"env\": {\"X\": \"1\"}, \"type\"");
    put(&file, &added);
    assert_eq!(person.install(&["cursor"])["outcome"], "unchanged");
    assert_eq!(text(&file), added);
}

#[test]
fn what_cannot_be_read_is_left_alone_and_the_entry_is_shown() {
    let person = Person::new();
    let file = person.home(".cursor/mcp.json");
    for broken in [
        "{ this is no JSON",
        "[]",
        "7",
        r#"{"mcpServers": []}"#,
        "{'mcpServers': {}}",
    ] {
        put(&file, broken);
        let told = person.run(&["cursor", "--json"], &[]).failure();
        assert_eq!(told.code, "unreadable_settings", "{told:?}");
        told.tells("mcp.json", r#"{"mcpServers":{"gaffer":{"#);
        assert_eq!(text(&file), broken);
    }
    let shown = person.run(&["vscode", "--print"], &[]).ok();
    shown.tells(&["mcp.json", "\"servers\""]);
    assert!(!person.home(&settings("SETTINGS/Code")).exists());
    let told = person.run(&["emacs", "--json"], &[]).failure();
    assert_eq!(told.exit, 2);
    assert!(told.error.contains("emacs"), "{told:?}");
}

#[test]
fn the_command_says_what_the_client_cannot_know() {
    let person = Person::new();
    let data = person.folder.path().join("data");
    let shown = |arguments: &[&str], set: &[(&str, &Path)]| {
        let shown = person.run(&[arguments, &["--print", "--json"]].concat(), set);
        shown.ok().json()["args"].clone()
    };
    let folder = data.display().to_string();
    let named = json!(["--data", folder, "mcp"]);
    assert_eq!(shown(&["cursor", "--data", &folder], &[]), named);
    assert_eq!(shown(&["cursor"], &[("GAFFER_DATA", &data)]), named);
    let below = person
        .folder
        .path()
        .join("project/here")
        .display()
        .to_string();
    let told = shown(&["cursor", "--data", "here"], &[]);
    assert_eq!(told, json!(["--data", below, "mcp"]));
    assert_eq!(
        shown(
            &["cursor", "--toolset", "inbox", "--toolset", "insight,inbox"],
            &[]
        ),
        json!(["mcp", "--toolset", "insight", "--toolset", "inbox"])
    );
    let at = [
        "cursor",
        "--stack",
        "shop",
        "--url",
        "http://127.0.0.1:5000",
    ];
    assert_eq!(
        shown(&at, &[]),
        json!(["--stack", "shop", "mcp", "--url", "http://127.0.0.1:5000/"])
    );
}
