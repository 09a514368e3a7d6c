//! Secrets in the parameter store.

use aws::Parameters;
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};

use tests::cloud;

#[tokio::test]
async fn a_secret_is_kept_replaced_and_forgotten() {
    let secrets = Parameters::new(&cloud::config().await, &cloud::name("stack"));
    let name = SecretName::Jules("default".parse().expect("a name"));
    let missing = secrets.read(&name).await.expect_err("no secret");
    assert_eq!(missing, SecretsError::Missing(secrets.path(&name)));
    for value in ["one", "two\n"] {
        let value = SecretString::from(value);
        secrets.write(&name, &value).await.expect("written");
        let read = secrets.read(&name).await.expect("read");
        assert_eq!(read.expose_secret(), value.expose_secret().trim_end());
    }
    secrets.remove(&name).await.expect("removed");
    secrets.remove(&name).await.expect("removed again");
    assert!(secrets.read(&name).await.is_err());
}
