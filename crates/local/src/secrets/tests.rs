//! Secret files: modes, refusals, and what the environment lays over them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::ids::{AccountName, AgentName};
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;

use super::SecretFiles;

fn world() -> (TempDir, SecretFiles) {
    let folder = tempfile::tempdir().unwrap();
    let secrets = SecretFiles::new(&folder.path().join("secrets"), BTreeMap::new());
    (folder, secrets)
}

fn jules(account: &str) -> SecretName {
    SecretName::Jules(account.parse::<AccountName>().unwrap())
}

fn secret(value: &str) -> SecretString {
    SecretString::from(value)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn entries(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

async fn read(secrets: &SecretFiles, name: &SecretName) -> Result<String, SecretsError> {
    secrets
        .read(name)
        .await
        .map(|value| value.expose_secret().to_owned())
}

async fn refusal(secrets: &SecretFiles, name: &SecretName) -> String {
    match read(secrets, name).await {
        Err(SecretsError::Unusable { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_secret_is_written_for_its_owner_alone_and_read_back() {
    let (folder, secrets) = world();
    let names = [
        jules("default"),
        SecretName::GitHub,
        SecretName::App(7),
        SecretName::Webhook,
        SecretName::Agent("claude".parse::<AgentName>().unwrap()),
        SecretName::ApiToken,
    ];
    for name in names {
        assert_eq!(
            read(&secrets, &name).await,
            Err(SecretsError::Missing(name.path()))
        );
        secrets.write(&name, &secret("first")).await.unwrap();
        secrets.write(&name, &secret(&name.path())).await.unwrap();
        assert_eq!(read(&secrets, &name).await.unwrap(), name.path());
        let file = folder.path().join("secrets").join(name.path());
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    }
    assert_eq!(mode(&folder.path().join("secrets")), 0o700);
    assert_eq!(entries(&folder.path().join("secrets/jules")), ["default"]);
}

#[tokio::test]
async fn a_file_that_others_can_read_is_refused_with_the_mending_command() {
    let (folder, secrets) = world();
    secrets
        .write(&SecretName::GitHub, &secret("x"))
        .await
        .unwrap();
    let file = folder.path().join("secrets/github");
    for mode in [0o640, 0o604, 0o660, 0o601, 0o644] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let message = refusal(&secrets, &SecretName::GitHub).await;
        assert!(
            message.contains(&format!("chmod 600 {}", file.display())),
            "{message}"
        );
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(read(&secrets, &SecretName::GitHub).await.unwrap(), "x");
}

#[tokio::test]
async fn the_mending_command_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("it's my data");
    let secrets = SecretFiles::new(&root, BTreeMap::new());
    secrets
        .write(&SecretName::GitHub, &secret("x"))
        .await
        .unwrap();
    fs::set_permissions(root.join("github"), fs::Permissions::from_mode(0o644)).unwrap();
    let message = refusal(&secrets, &SecretName::GitHub).await;
    assert!(message.contains(r"it'\''s my data/github'"), "{message}");
}

#[tokio::test]
async fn one_trailing_newline_is_trimmed() {
    let (folder, secrets) = world();
    let file = folder.path().join("secrets/webhook");
    secrets
        .write(&SecretName::Webhook, &secret("x"))
        .await
        .unwrap();
    for (stored, expected) in [
        ("a,b\n", "a,b"),
        ("a\r\n", "a"),
        ("a", "a"),
        ("a\n\n", "a\n"),
        (" a \n", " a "),
    ] {
        fs::write(&file, stored).unwrap();
        assert_eq!(
            read(&secrets, &SecretName::Webhook).await.unwrap(),
            expected
        );
    }
}

#[tokio::test]
async fn what_is_no_secret_is_refused() {
    let (folder, secrets) = world();
    let file = folder.path().join("secrets/webhook");
    secrets
        .write(&SecretName::Webhook, &secret("x"))
        .await
        .unwrap();
    for stored in [b"".as_slice(), b"\n", b"\xff\xfe", &[b'x'; 20_000]] {
        fs::write(&file, stored).unwrap();
        refusal(&secrets, &SecretName::Webhook).await;
    }
    for value in ["", "\n", &"x".repeat(20_000)] {
        let refused = secrets.write(&SecretName::GitHub, &secret(value)).await;
        assert!(matches!(refused, Err(SecretsError::Unusable { .. })));
    }
    fs::create_dir(folder.path().join("secrets/token")).unwrap();
    refusal(&secrets, &SecretName::ApiToken).await;
}

#[tokio::test]
async fn a_failed_write_leaves_nothing_behind() {
    let (folder, secrets) = world();
    // A folder in the place of the file: everything goes well until the rename.
    fs::create_dir_all(folder.path().join("secrets/github")).unwrap();
    assert!(
        secrets
            .write(&SecretName::GitHub, &secret("x"))
            .await
            .is_err()
    );
    assert_eq!(entries(&folder.path().join("secrets")), ["github"]);
}

#[tokio::test]
async fn removing_forgets_and_may_be_repeated() {
    let (_folder, secrets) = world();
    secrets.remove(&jules("default")).await.unwrap();
    secrets
        .write(&jules("default"), &secret("x"))
        .await
        .unwrap();
    secrets.remove(&jules("default")).await.unwrap();
    secrets.remove(&jules("default")).await.unwrap();
    assert_eq!(
        read(&secrets, &jules("default")).await,
        Err(SecretsError::Missing("jules/default".to_owned()))
    );
}

#[tokio::test]
async fn the_environment_goes_before_the_files_and_cannot_be_written() {
    let (folder, files) = world();
    files
        .write(&jules("default"), &secret("stored"))
        .await
        .unwrap();
    let overlay = BTreeMap::from([("jules/default".to_owned(), secret("environment"))]);
    let secrets = SecretFiles::new(&folder.path().join("secrets"), overlay);
    assert_eq!(
        read(&secrets, &jules("default")).await.unwrap(),
        "environment"
    );
    assert!(
        secrets
            .write(&jules("default"), &secret("new"))
            .await
            .is_err()
    );
    assert!(secrets.remove(&jules("default")).await.is_err());
    assert_eq!(read(&files, &jules("default")).await.unwrap(), "stored");
    secrets
        .write(&jules("other"), &secret("new"))
        .await
        .unwrap();
    assert_eq!(read(&secrets, &jules("other")).await.unwrap(), "new");
}

#[tokio::test]
async fn secrets_are_shown_nowhere() {
    let overlay = BTreeMap::from([("github".to_owned(), secret("canary"))]);
    let secrets = SecretFiles::new(Path::new("nowhere"), overlay);
    assert!(!format!("{secrets:?}").contains("canary"));
}
