//! `gaffer up --service`: what systemd or launchd need to run this command for ever. Nothing is installed, and no secret is in it.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use crate::args::service::ServiceKind;
use crate::context::CommandContext;
use crate::render::Answer;
use server::STOP_WITHIN;

/// Its name in lists of services.
const LABEL: &str = "dev.gaffer.up";

/// Seconds until a process that ended is started again.
const RESTART_SECONDS: u32 = 5;

/// Seconds that a stop may take beyond what the process itself waits for.
const STOP_SECONDS_MORE: u64 = 15;

pub(crate) fn print(kind: ServiceKind, here: &CommandContext) -> Result<Answer> {
    let program = std::env::current_exe().context("finding this program")?;
    let folder = std::path::absolute(&here.folder).context("finding the data folder")?;
    let mut words = vec![program.display().to_string()];
    words.extend(command(std::env::args_os().skip(1), here, &folder));
    let (text, place) = match kind {
        ServiceKind::Systemd => (unit(&words), "~/.config/systemd/user/gaffer.service"),
        ServiceKind::Launchd => (
            property_list(&words, &folder),
            "~/Library/LaunchAgents/dev.gaffer.up.plist",
        ),
    };
    let json = json!({ "place": place, "text": text });
    Ok(Answer::new(json).line(text.trim_end()))
}

/// The typed command, for the same Gaffer from any folder.
fn command(
    typed: impl Iterator<Item = OsString>,
    here: &CommandContext,
    folder: &Path,
) -> Vec<String> {
    let typed = typed.map(|word| word.to_string_lossy().into_owned());
    let mut words = Vec::new();
    let mut is_folder = false;
    for word in typed {
        let is_ours = word == "--json" || word == "--service" || word.starts_with("--service=");
        let was_folder = std::mem::replace(&mut is_folder, word == "--data");
        if !(is_ours || was_folder || is_folder || word.starts_with("--data=")) {
            words.push(word);
        }
    }
    let names_stack = words
        .iter()
        .any(|word| word == "--aws" || word == "--stack" || word.starts_with("--stack="));
    match &here.stack {
        Some(stack) if !names_stack => words.extend(["--stack".to_owned(), stack.clone()]),
        Some(_) => {}
        None => words.extend(["--data".to_owned(), folder.display().to_string()]),
    }
    words
}

/// For `systemctl --user`.
fn unit(words: &[String]) -> String {
    let command: Vec<String> = words.iter().map(|word| in_unit(word)).collect();
    let stop = STOP_WITHIN.as_secs() + STOP_SECONDS_MORE;
    format!(
        "\
# Keep this as ~/.config/systemd/user/gaffer.service, then:
#   systemctl --user enable --now gaffer
#   loginctl enable-linger       so that it runs while you are logged out
# A machine that is off may start with a clock that is wrong: there keep this as
# /etc/systemd/system/gaffer.service, with a User= of yours, and enable
# systemd-time-wait-sync.service. Only there a service waits for network and time.
# Keys and tokens are read from the data folder: store them with `gaffer init`.
[Unit]
Description=Gaffer, the foreman of Jules
After=network-online.target time-sync.target
Wants=network-online.target time-sync.target

[Service]
ExecStart={}
Restart=on-failure
RestartSec={RESTART_SECONDS}
TimeoutStopSec={stop}

[Install]
WantedBy=default.target
",
        command.join(" ")
    )
}

/// A word as `systemd.service(5)` and `systemd.unit(5)` read it: in quotes, with specifiers and variables written twice.
fn in_unit(word: &str) -> String {
    let mut quoted = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' | '$' => quoted.extend([c, c]),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// For `launchctl`.
fn property_list(words: &[String], folder: &Path) -> String {
    let lines: String = words
        .iter()
        .map(|word| format!("    <string>{}</string>\n", in_xml(word)))
        .collect();
    let log = in_xml(&folder.join("gaffer.log").display().to_string());
    format!(
        "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<!-- Keep this as ~/Library/LaunchAgents/{LABEL}.plist, then: launchctl bootstrap gui/$UID ~/Library/LaunchAgents/{LABEL}.plist -->
<!-- Keys and tokens are read from the data folder: store them with `gaffer init`. -->
<plist version=\"1.0\">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{lines}  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>{RESTART_SECONDS}</integer>
  <key>StandardErrorPath</key>
  <string>{log}</string>
</dict>
</plist>
"
    )
}

fn in_xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Environment;

    fn command_line(typed: &[&str], stack: Option<&str>) -> Vec<String> {
        let here = CommandContext {
            folder: "data".into(),
            environment: Environment::default(),
            stack: stack.map(str::to_owned),
        };
        let typed = typed.iter().map(OsString::from);
        command(typed, &here, Path::new("/srv/gaffer"))
    }

    #[test]
    fn the_command_is_the_typed_one_about_the_same_gaffer() {
        let typed = [
            "--json",
            "--data",
            "data",
            "up",
            "--no-webhooks",
            "--service=launchd",
        ];
        let words = command_line(&typed, None);
        assert_eq!(words, ["up", "--no-webhooks", "--data", "/srv/gaffer"]);
        let words = command_line(&["up", "--service", "--data=data"], None);
        assert_eq!(words, ["up", "--data", "/srv/gaffer"]);
        let words = command_line(&["up", "--service"], Some("gaffer"));
        assert_eq!(words, ["up", "--stack", "gaffer"]);
        assert_eq!(
            command_line(&["up", "--aws", "--service"], Some("gaffer")),
            ["up", "--aws"]
        );
    }

    #[test]
    fn odd_words_mean_the_same_in_a_unit_and_in_a_property_list() {
        assert_eq!(in_unit("a b%\"$\\"), r#""a b%%\"$$\\""#);
        let words = ["/bin/gaffer".to_owned(), "<a&b>".to_owned()];
        let list = property_list(&words, Path::new("/srv/gaffer"));
        assert!(list.contains("<string>&lt;a&amp;b&gt;</string>"), "{list}");
        assert!(
            list.contains("<string>/srv/gaffer/gaffer.log</string>"),
            "{list}"
        );
    }
}
