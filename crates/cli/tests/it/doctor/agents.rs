//! Agents that cannot be woken.

use std::fs;

use engine::settings::Disabled;
use expect_test::expect;

use super::clinic::Clinic;
use crate::jobs::save;
use crate::world::HeldPort;

#[test]
fn it_is_disabled() {
    let clinic = Clinic::new();
    clinic.with_backend(async |backend| {
        let name = "helper".parse().unwrap();
        let found = backend.store.agent(&name).await.unwrap().unwrap();
        let mut agent = found.value;
        agent.disabled = Some(Disabled {
            at: "2026-11-20T10:00:00Z".parse().unwrap(),
            why: "the receiver answered 410 Gone".to_owned(),
        });
        save(backend, &name, &agent).await;
    });
    expect![[r#"
        error    agent_disabled  agent `helper`: it is disabled: the receiver answered 410 Gone (since 2026-11-20T10:00:00Z) | cause: the agent takes no more wakes, usually because its receiver answered 410 | mend: mend its receiver and run `gaffer agent set helper --enable`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn its_secret_is_gone() {
    let clinic = Clinic::new();
    fs::remove_file(clinic.world.data().join("secrets/agents/helper")).unwrap();
    expect![[r#"
        error    agent_secret  agent `helper`: its secret is not kept | cause: wakes are signed, and without a secret that begins with `whsec_` none can be sent | mend: run `gaffer agent remove helper` and `gaffer agent add helper --url URL`, and give the receiver the new secret
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn its_secret_is_of_another_kind() {
    let clinic = Clinic::new();
    let file = clinic.world.data().join("secrets/agents/helper");
    fs::write(file, "ghp_0123456789012345678901234567890123456").unwrap();
    expect![[r#"
        error    agent_secret  agent `helper`: what is kept as its secret is a token of GitHub's | cause: wakes are signed, and without a secret that begins with `whsec_` none can be sent | mend: run `gaffer agent remove helper` and `gaffer agent add helper --url URL`, and give the receiver the new secret
    "#]]
    .assert_eq(&clinic.ills(&[]));
}

#[test]
fn its_address_is_refused() {
    let clinic = Clinic::new();
    clinic.ok(&[
        "agent",
        "set",
        "helper",
        "--url",
        "http://169.254.169.254/wake?token=canary",
    ]);
    let ills = clinic.ills(&[]);
    expect![[r#"
        error    agent_address  agent `helper`: 169.254.169.254: `http` is not https; use https, or allow the host in the configuration if it is yours | cause: the address filter refuses where the agent is: wakes go to public addresses over HTTPS, or to hosts that you allow | mend: start `gaffer up` with `--allow-host 169.254.169.254` if the host is yours, or run `gaffer agent set helper --url URL`
    "#]].assert_eq(&ills);
    assert!(!ills.contains("canary"));
}

#[test]
fn nobody_listens_there() {
    let port = HeldPort::take();
    let closed = port.address();
    let clinic = Clinic::new().set("GAFFER_ALLOW_HOSTS", closed.clone());
    clinic.ok(&[
        "agent",
        "set",
        "helper",
        "--url",
        &format!("http://{closed}/wake"),
    ]);
    expect![[r#"
        error    agent_unreachable  agent `helper`: CLOSED: Connection refused (os error 111) | cause: no connection to the agent comes about, so wakes wait and are given up in the end | mend: start its receiver, or run `gaffer agent set helper --url URL`
    "#]].assert_eq(&clinic.ills(&[]).replace(&closed, "CLOSED"));
}
