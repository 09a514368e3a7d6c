//! The arrows between our own crates: who may depend on whom (ARCHITECTURE.md, "Crates").

use std::error::Error;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use super::Finding;

/// What a crate may depend on, of our own crates.
enum Allowed {
    /// These and no others.
    Only(&'static [&'static str]),
    /// Anything: nothing depends on it.
    Anything,
}

use Allowed::{Anything, Only};

/// Dependencies of a function that only wires: the core and the adapters, never another API.
const DOOR: Allowed = Only(&[
    "agents", "api", "aws", "client", "domain", "engine", "github", "jules", "lambda", "local",
]);

/// Every crate of the workspace, those to come included.
const ARROWS: [(&str, Allowed); 29] = [
    ("domain", Only(&[])),
    ("engine", Only(&["domain", "scaffold", "weave"])),
    // Adapters never see each other.
    ("agents", Only(&["domain", "engine"])),
    ("aws", Only(&["domain", "engine"])),
    // The files that agents work by, and the trees that are woven, are named in its port.
    ("github", Only(&["domain", "engine", "scaffold", "weave"])),
    ("jules", Only(&["domain", "engine"])),
    ("local", Only(&["domain", "engine"])),
    // Shared by the functions: it reads their environment and opens their stores.
    ("lambda", Only(&["aws", "domain", "engine"])),
    // It deploys the functions and depends on none of them: they read their settings themselves.
    ("deploy", Only(&["aws", "engine"])),
    // It knows files only.
    // The wire types carry the domain's ids.
    ("client", Only(&["domain"])),
    // It renders the views of the wire and knows nothing that could decide.
    ("dashboard", Only(&["client", "domain"])),
    // Pure as the domain is, and below the engine.
    ("scaffold", Only(&["domain"])),
    // It knows trees and patches, and nothing of what they are for.
    ("weave", Only(&[])),
    // `github` only for the verification of webhooks: the raw bytes are checked here.
    (
        "api",
        Only(&["client", "dashboard", "domain", "engine", "github"]),
    ),
    // It wires the roles to the adapters of one machine.
    (
        "server",
        Only(&[
            "agents", "api", "domain", "engine", "github", "jules", "local",
        ]),
    ),
    // A world of its own: knowing our types, it could not contradict them.
    ("sandbox", Only(&[])),
    // It wires a sandbox to a server, and has the doctor examine what came of a pipeline.
    (
        "demo",
        Only(&[
            "agents", "client", "domain", "engine", "sandbox", "scaffold", "server",
        ]),
    ),
    ("bench", Anything),
    // It is compared with our functions and is none of them.
    ("hello-function", Only(&[])),
    ("cli", Anything),
    ("tests", Anything),
    ("chaos", Anything),
    ("deployed", Anything),
    // It compares the weaver with git, and needs nothing else.
    ("against-git", Only(&["weave"])),
    ("xtask", Only(&[])),
    ("poller", DOOR),
    ("dispatcher", DOOR),
    ("webhook", DOOR),
    ("api-function", DOOR),
];

/// One package of the workspace, as its manifest says.
#[derive(Clone)]
pub(super) struct Package {
    /// Its name.
    pub(super) name: String,
    /// Where its manifest is, from the root.
    pub(super) manifest: String,
    /// The manifest itself, to find lines in.
    pub(super) text: String,
    /// Its dependencies, without those of its tests.
    pub(super) dependencies: Vec<Dependency>,
}

/// One dependency, under the name of its package.
#[derive(Clone, Deserialize)]
pub(super) struct Dependency {
    /// The name of the package, also where it is renamed here.
    pub(super) name: String,
    /// `dev`, `build`, or nothing for a usual one.
    kind: Option<String>,
    /// Set for our own crates.
    path: Option<String>,
}

impl Dependency {
    /// Whether it is one of our own crates.
    pub(super) fn is_ours(&self) -> bool {
        self.path.is_some()
    }
}

impl Package {
    /// The line of the manifest that names a dependency; the first if it is not spelt out.
    pub(super) fn line_of(&self, dependency: &str) -> usize {
        let names_it = |line: &str| {
            let rest = line.trim_start().strip_prefix(dependency);
            rest.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
        };
        self.text.lines().position(names_it).map_or(1, |at| at + 1)
    }
}

/// Dependencies that go against the arrows, and crates that have none written down.
pub(super) fn along(packages: &[Package]) -> Vec<Finding> {
    packages.iter().flat_map(against_arrows).collect()
}

fn against_arrows(package: &Package) -> Vec<Finding> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
        let advice = format!(
            "`{}` is new: give it its line in ARROWS (tests/it/tidy)",
            package.name
        );
        return vec![Finding::new(&package.manifest, 1, advice)];
    };
    let may = |name: &str| match allowed {
        Only(names) => names.contains(&name),
        Anything => true,
    };
    let ours = package
        .dependencies
        .iter()
        .filter(|it| it.is_ours() && !may(&it.name));
    let advice = |name: &str| {
        format!(
            "`{}` must not know `{name}`: move what it needs, or pass it in",
            package.name
        )
    };
    ours.map(|it| {
        Finding::new(
            &package.manifest,
            package.line_of(&it.name),
            advice(&it.name),
        )
    })
    .collect()
}

/// The workspace's packages, as cargo reads them.
pub(super) fn packages(root: &Path) -> Result<Vec<Package>, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    metadata
        .packages
        .into_iter()
        .map(|listed| listed.read(root))
        .collect()
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

impl Listed {
    fn read(self, root: &Path) -> Result<Package, Box<dyn Error>> {
        let text = std::fs::read_to_string(&self.manifest_path)?;
        let manifest = Path::new(&self.manifest_path).strip_prefix(root)?;
        let built_from = |it: &Dependency| it.kind.as_deref() != Some("dev");
        Ok(Package {
            name: self.name,
            manifest: manifest.to_string_lossy().into_owned(),
            text,
            dependencies: self.dependencies.into_iter().filter(built_from).collect(),
        })
    }
}

/// A package as a test needs it: our own dependencies are those in `ours`.
#[cfg(test)]
pub(super) fn package(name: &str, ours: &[&str], others: &[&str]) -> Package {
    let dependency = |name: &str, path: Option<&str>| Dependency {
        name: name.to_owned(),
        kind: None,
        path: path.map(str::to_owned),
    };
    let ours = ours.iter().map(|name| dependency(name, Some("crates")));
    let dependencies: Vec<_> = ours
        .chain(others.iter().map(|name| dependency(name, None)))
        .collect();
    let lines = dependencies
        .iter()
        .map(|it| format!("{}.workspace = true\n", it.name));
    Package {
        name: name.to_owned(),
        manifest: format!("crates/{name}/Cargo.toml"),
        text: format!("[dependencies]\n{}", lines.collect::<String>()),
        dependencies,
    }
}

#[test]
fn an_arrow_the_wrong_way_is_found_with_its_line() {
    let findings = along(&[package("engine", &["domain", "jules"], &["serde"])]);
    let advice = "`engine` must not know `jules`: move what it needs, or pass it in";
    assert_eq!(
        findings,
        [Finding::new("crates/engine/Cargo.toml", 3, advice)]
    );
}

#[test]
fn adapters_do_not_see_each_other_and_the_core_sees_no_one() {
    for (name, ours) in [
        ("domain", "engine"),
        ("jules", "github"),
        ("github", "agents"),
        ("local", "aws"),
        ("client", "engine"),
        ("dashboard", "engine"),
        ("scaffold", "engine"),
        ("weave", "domain"),
        ("api", "jules"),
        ("sandbox", "domain"),
        ("xtask", "domain"),
        ("webhook", "cli"),
        ("poller", "sandbox"),
    ] {
        let told = along(&[package(name, &[ours], &[])]);
        assert_eq!(told.len(), 1, "{name} → {ours}");
    }
}

#[test]
fn a_crate_without_arrows_is_found() {
    let findings = along(&[package("newcomer", &[], &[])]);
    assert_eq!(findings.len(), 1);
    let told = along(&[package("api", &["client", "engine", "github"], &["jules"])]);
    assert_eq!(told, []);
    assert_eq!(along(&[package("cli", &["sandbox", "api"], &[])]), []);
}

#[test]
fn cargo_tells_what_tests_alone_use_from_what_is_built() -> Result<(), Box<dyn Error>> {
    let root = tempfile::tempdir()?;
    let root = root.path().canonicalize()?;
    let manifest = "[package]\nname = \"engine\"\nedition = \"2024\"\n\n\
        [dependencies]\nrenamed = { package = \"jules\", path = \"jules\" }\n\n\
        [dev-dependencies]\nlocal = { path = \"local\" }\n\n\
        [build-dependencies]\nagents = { path = \"agents\" }\n\n[workspace]\n";
    std::fs::write(root.join("Cargo.toml"), manifest)?;
    std::fs::create_dir(root.join("src"))?;
    std::fs::write(root.join("src/lib.rs"), "")?;
    for name in ["jules", "local", "agents"] {
        let text = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
        std::fs::create_dir_all(root.join(name).join("src"))?;
        std::fs::write(root.join(name).join("Cargo.toml"), text)?;
        std::fs::write(root.join(name).join("src/lib.rs"), "")?;
    }
    let packages = packages(&root)?;
    let engine: Vec<_> = packages
        .into_iter()
        .filter(|it| it.name == "engine")
        .collect();
    let found: Vec<_> = along(&engine)
        .into_iter()
        .map(|finding| finding.line)
        .collect();
    assert_eq!(
        found.len(),
        2,
        "jules under another name, and agents for the build"
    );
    Ok(())
}
