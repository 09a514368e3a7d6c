//! Where the coding agents keep which MCP servers they start, as their own documentation says.

use std::path::PathBuf;

use crate::args::mcp::ClientName;
use crate::error::Error;
use crate::settings::ClientHomes;

/// Where an entry goes.
pub(super) struct SettingsFile {
    /// The client, for people.
    pub(super) client: &'static str,
    pub(super) file: PathBuf,
    /// How it is written.
    pub(super) format: SettingsFormat,
    /// Whether it belongs to a project, and so to all who work on that.
    pub(super) is_shared: bool,
}

/// How a client writes its settings.
pub(super) enum SettingsFormat {
    /// JSON, in some clients with comments: an object of entries under this name.
    Json {
        list: &'static str,
        /// Whether an entry says that it is `stdio`.
        typed: bool,
    },
    /// TOML: a table of entries under this name.
    Toml { list: &'static str },
}

/// Where a client is documented to look, a person's settings or a project's.
pub(super) fn place(
    client: ClientName,
    in_project: bool,
    person: &ClientHomes,
) -> Result<SettingsFile, Error> {
    let (client, own, project) = match client {
        ClientName::ClaudeCode => claude_code(person),
        ClientName::ClaudeDesktop => claude_desktop(person),
        ClientName::Cursor => cursor(person),
        ClientName::Vscode => vscode(person),
        ClientName::Codex => codex(person),
        ClientName::Gemini => gemini(person),
        ClientName::Windsurf => windsurf(person),
        ClientName::Zed => zed(person),
    };
    let (file, format) = if in_project {
        let Some((file, format)) = project else {
            let what = format!("{client} has no settings of its own for a project");
            return Err(Error::usage(what, "leave `--project` out"));
        };
        (Some(PathBuf::from(file)), format)
    } else {
        own
    };
    let Some(file) = file else {
        let what = format!("there is no folder for the settings of {client}: HOME is not set");
        return Err(Error::usage(what, "set HOME, or give `--project`"));
    };
    Ok(SettingsFile {
        client,
        file,
        format,
        is_shared: in_project,
    })
}

/// A client's name, its file for a person, and its file in a project.
type ClientInfo = (
    &'static str,
    (Option<PathBuf>, SettingsFormat),
    Option<(&'static str, SettingsFormat)>,
);

/// What most clients have taken over from the first.
fn usual(typed: bool) -> SettingsFormat {
    SettingsFormat::Json {
        list: "mcpServers",
        typed,
    }
}

fn below(folder: Option<&PathBuf>, file: &str) -> Option<PathBuf> {
    folder.map(|folder| folder.join(file))
}

/// Where graphical programs keep settings: `~/.config` or what XDG_CONFIG_HOME says, on macOS `~/Library/Application Support`.
fn settings(person: &ClientHomes) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return below(person.home.as_ref(), "Library/Application Support");
    }
    let usual = below(person.home.as_ref(), ".config");
    person.config.clone().or(usual)
}

/// User scope in `~/.claude.json`, project scope in `.mcp.json`: <https://code.claude.com/docs/en/mcp>.
/// CLAUDE_CONFIG_DIR moves the first: <https://code.claude.com/docs/en/settings>.
fn claude_code(person: &ClientHomes) -> ClientInfo {
    let folder = person.claude.as_ref().or(person.home.as_ref());
    let own = below(folder, ".claude.json");
    let project = (".mcp.json", usual(true));
    ("Claude Code", (own, usual(true)), Some(project))
}

/// <https://modelcontextprotocol.io/docs/develop/connect-local-servers>
fn claude_desktop(person: &ClientHomes) -> ClientInfo {
    let own = settings(person).map(|folder| folder.join("Claude/claude_desktop_config.json"));
    ("Claude Desktop", (own, usual(false)), None)
}

/// <https://cursor.com/docs/context/mcp>
fn cursor(person: &ClientHomes) -> ClientInfo {
    let own = below(person.home.as_ref(), ".cursor/mcp.json");
    let project = (".cursor/mcp.json", usual(true));
    ("Cursor", (own, usual(true)), Some(project))
}

/// <https://code.visualstudio.com/docs/copilot/reference/mcp-configuration>; the default profile is in the folder `User` of its settings.
fn vscode(person: &ClientHomes) -> ClientInfo {
    let servers = || SettingsFormat::Json {
        list: "servers",
        typed: true,
    };
    let own = settings(person).map(|folder| folder.join("Code/User/mcp.json"));
    (
        "VS Code",
        (own, servers()),
        Some((".vscode/mcp.json", servers())),
    )
}

/// <https://developers.openai.com/codex/mcp>; a project's is read once the project is trusted.
fn codex(person: &ClientHomes) -> ClientInfo {
    let servers = || SettingsFormat::Toml {
        list: "mcp_servers",
    };
    let usual = below(person.home.as_ref(), ".codex");
    let folder = person.codex.clone().or(usual);
    let own = below(folder.as_ref(), "config.toml");
    (
        "Codex",
        (own, servers()),
        Some((".codex/config.toml", servers())),
    )
}

/// <https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md>
fn gemini(person: &ClientHomes) -> ClientInfo {
    let own = below(person.home.as_ref(), ".gemini/settings.json");
    let project = (".gemini/settings.json", usual(false));
    ("Gemini CLI", (own, usual(false)), Some(project))
}

/// <https://docs.windsurf.com/windsurf/cascade/mcp>
fn windsurf(person: &ClientHomes) -> ClientInfo {
    let own = below(person.home.as_ref(), ".codeium/windsurf/mcp_config.json");
    ("Windsurf", (own, usual(false)), None)
}

/// <https://zed.dev/docs/ai/mcp>, with the files of <https://zed.dev/docs/configuring-zed>: `~/.config/zed` on macOS too.
fn zed(person: &ClientHomes) -> ClientInfo {
    let servers = || SettingsFormat::Json {
        list: "context_servers",
        typed: false,
    };
    let usual = below(person.home.as_ref(), ".config");
    let folder = person.config.clone().filter(|_| !cfg!(target_os = "macos"));
    let own = below(folder.or(usual).as_ref(), "zed/settings.json");
    (
        "Zed",
        (own, servers()),
        Some((".zed/settings.json", servers())),
    )
}
