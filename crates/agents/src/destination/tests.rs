//! Every spelling of an address that must not be reached, and every address that a name must not lead to.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::address::{Reach, reach};
use super::*;

fn rules(allow: &[&str]) -> Vec<HostRule> {
    allow.iter().map(|rule| rule.parse().unwrap()).collect()
}

fn checked(url: &str, allow: &[&str]) -> Result<AddressPolicy, Refusal> {
    check(&Url::parse(url).unwrap(), &rules(allow))
}

/// Hosts as an attacker writes them. Each is an address inside.
const INSIDE: [&str; 74] = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "127.0.0.1.",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "0X7F.0.0.1",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "00000177.1",
    "127.0x1",
    "127.0.0x1",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "127。0。0。1",
    "0",
    "0.0.0.0",
    "0x0",
    "0.1.2.3",
    "10.0.0.1",
    "10.1",
    "167772161",
    "0xa.0.0.1",
    "012.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.1",
    "0xc0a80001",
    "3232235521",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "169.254.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "4294967295",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[::a9fe:a9fe]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:8.8.8.8]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::a00:1]",
    "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
    "[2002:a9fe:a9fe::]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[febf:ffff::1]",
    "[fec0::1]",
];

/// More that only IPv6 has.
const INSIDE_V6: [&str; 12] = [
    "[fc00::1]",
    "[fdff:ffff::1]",
    "[fd20:ce::254]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[2001:2::1]",
    "[2001:10::1]",
    "[2001:20::1]",
    "[3fff::1]",
    "[100::1]",
    "[5f00::1]",
    "[4000::1]",
];

#[test]
fn no_spelling_of_an_inside_address_is_reached() {
    for host in INSIDE.iter().chain(&INSIDE_V6) {
        let outcome = checked(&format!("https://{host}/wake"), &[]);
        assert!(
            matches!(outcome, Err(Refusal::Address { .. })),
            "{host}: {outcome:?}"
        );
    }
}

#[test]
fn public_addresses_are_reached_up_to_the_borders() {
    let outside = [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "[2606:4700::1111]",
        "[2001:4860::8888]",
        "[2001:200::1]",
        "[2003::1]",
        "[2a00::1]",
    ];
    for host in outside {
        assert_eq!(
            checked(&format!("https://{host}/wake"), &[]),
            Ok(AddressPolicy::Stranger),
            "{host}"
        );
    }
}

#[test]
fn strangers_speak_https_on_its_port_without_a_password() {
    let cases = [
        (
            "https://hooks.example.org/wake",
            Ok(AddressPolicy::Stranger),
        ),
        (
            "https://hooks.example.org:443/wake",
            Ok(AddressPolicy::Stranger),
        ),
        (
            "http://hooks.example.org/wake",
            Err(Refusal::Scheme("http".to_owned())),
        ),
        (
            "http://hooks.example.org:443/wake",
            Err(Refusal::Scheme("http".to_owned())),
        ),
        (
            "ftp://hooks.example.org/wake",
            Err(Refusal::Scheme("ftp".to_owned())),
        ),
        (
            "gopher://127.0.0.1:6379/_",
            Err(Refusal::Scheme("gopher".to_owned())),
        ),
        ("file:///etc/passwd", Err(Refusal::NoHost)),
        ("data:text/plain,x", Err(Refusal::NoHost)),
        ("https://hooks.example.org:22/wake", Err(Refusal::Port(22))),
        (
            "https://hooks.example.org:8443/wake",
            Err(Refusal::Port(8443)),
        ),
        ("https://hooks.example.org:80/wake", Err(Refusal::Port(80))),
        (
            "https://user@hooks.example.org/wake",
            Err(Refusal::UserInfo),
        ),
        (
            "https://:secret@hooks.example.org/wake",
            Err(Refusal::UserInfo),
        ),
        (
            "https://hooks.example.org@evil.example/wake",
            Err(Refusal::UserInfo),
        ),
    ];
    for (url, expected) in cases {
        assert_eq!(checked(url, &[]), expected, "{url}");
    }
}

#[test]
fn a_rule_allows_its_host_and_port_and_no_other() {
    let cases = [
        ("http://127.0.0.1:9999/", "127.0.0.1:9999", true),
        ("http://2130706433:9999/", "127.0.0.1:9999", true),
        ("http://127.0.0.1:9999/", "127.1:9999", true),
        ("https://127.0.0.1:9999/", "127.0.0.1:9999", true),
        ("http://127.0.0.1:9998/", "127.0.0.1:9999", false),
        ("http://127.0.0.2:9999/", "127.0.0.1:9999", false),
        ("http://127.0.0.1/", "127.0.0.1:80", true),
        ("https://127.0.0.1/", "127.0.0.1:443", true),
        ("https://127.0.0.1/", "127.0.0.1:80", false),
        ("http://localhost:1/", "localhost", true),
        ("http://LOCALHOST.:1/", "localhost", true),
        ("http://localhost.evil.example:1/", "localhost", false),
        ("http://evil-localhost:1/", "localhost", false),
        ("http://[::1]:8080/", "[::1]:8080", true),
        ("http://[::1]:8081/", "[::1]:8080", false),
        ("http://10.0.0.7/", "10.0.0.7", true),
        ("https://agent.internal:8443/", "agent.internal:8443", true),
    ];
    for (url, rule, allowed) in cases {
        let outcome = checked(url, &[rule]);
        assert_eq!(
            outcome.is_ok_and(|trust| trust == AddressPolicy::Allowed),
            allowed,
            "{url} under {rule}"
        );
    }
    assert_eq!(
        checked("http://user@localhost/", &["localhost"]),
        Err(Refusal::UserInfo)
    );
    assert_eq!(
        checked("ftp://localhost/", &["localhost"]),
        Err(Refusal::Scheme("ftp".to_owned()))
    );
}

#[test]
fn no_rule_opens_what_is_never_a_receiver() {
    for host in [
        "169.254.169.254",
        "[fd00:ec2::254]",
        "0.0.0.0",
        "255.255.255.255",
        "[::ffff:127.0.0.1]",
        "[fe80::1]",
    ] {
        let outcome = checked(&format!("https://{host}/"), &[host]);
        assert!(
            matches!(outcome, Err(Refusal::Address { .. })),
            "{host}: {outcome:?}"
        );
    }
}

#[test]
fn what_names_no_host_is_no_rule() {
    for text in [
        "",
        ":80",
        "*",
        "*.example.org",
        "http://localhost",
        "a b",
        "user@localhost",
        "localhost/",
        "localhost:99999",
        "10.0.0.0/8",
        "localhost:x",
        "[::1",
    ] {
        assert_eq!(
            text.parse::<HostRule>(),
            Err(InvalidHostRule(text.to_owned()))
        );
    }
}

#[test]
fn the_kinds_of_addresses_are_told_apart() {
    let kind = |text: &str| reach(text.parse().unwrap());
    assert_eq!(kind("8.8.8.8"), Reach::Public);
    assert!(matches!(
        kind("127.0.0.1"),
        Reach::Private("a loopback address")
    ));
    assert!(matches!(
        kind("169.254.169.254"),
        Reach::Never("a metadata service of a cloud")
    ));
    assert!(matches!(
        kind("169.254.169.253"),
        Reach::Never("a link-local address")
    ));
    assert!(matches!(
        kind("fd00:ec2::254"),
        Reach::Never("a metadata service of a cloud")
    ));
    assert!(matches!(
        kind("fd00:ec2::255"),
        Reach::Private("a private address")
    ));
    assert!(matches!(kind("::1"), Reach::Private("a loopback address")));
    assert!(matches!(
        kind("::2"),
        Reach::Never("an IPv6 spelling of an IPv4 address")
    ));
}

/// Answers each lookup with the next of its answers, as a name with a short life does.
struct Changing(Mutex<VecDeque<Vec<IpAddr>>>);

impl Changing {
    fn answers(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |answer: &&[&str]| {
            answer
                .iter()
                .map(|address| address.parse().unwrap())
                .collect()
        };
        Arc::new(Self(Mutex::new(answers.iter().map(parse).collect())))
    }
}

#[async_trait]
impl Lookup for Changing {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.0
            .lock()
            .unwrap()
            .pop_front()
            .ok_or_else(|| io::Error::other("asked once too often"))
    }
}

async fn resolved(lookup: &Arc<Changing>, trust: AddressPolicy) -> Result<Vec<String>, Refusal> {
    let resolver = CheckedResolver {
        lookup: Arc::<Changing>::clone(lookup),
        trust,
    };
    match resolver.resolve("name.example".parse().unwrap()).await {
        Ok(addresses) => Ok(addresses.map(|address| address.to_string()).collect()),
        Err(error) => Err(*error.downcast::<Refusal>().unwrap()),
    }
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_checked_at_every_lookup() {
    let lookup = Changing::answers(&[
        &["8.8.8.8", "2606:4700::1111"],
        &["127.0.0.1"],
        &["8.8.4.4"],
    ]);
    let first = resolved(&lookup, AddressPolicy::Stranger).await;
    assert_eq!(
        first,
        Ok(vec![
            "8.8.8.8:0".to_owned(),
            "[2606:4700::1111]:0".to_owned()
        ])
    );
    assert!(matches!(
        resolved(&lookup, AddressPolicy::Stranger).await,
        Err(Refusal::Address { .. })
    ));
    assert_eq!(
        resolved(&lookup, AddressPolicy::Stranger).await,
        Ok(vec!["8.8.4.4:0".to_owned()])
    );
}

#[tokio::test]
async fn no_name_leads_to_an_inside_address() {
    for host in INSIDE.iter().chain(&INSIDE_V6) {
        let url = Url::parse(&format!("https://{host}/")).unwrap();
        let address = match url.host().unwrap() {
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
            Host::Domain(name) => panic!("{name} is no address"),
        };
        // Alone, and hidden behind a public one.
        let lookup =
            Changing::answers(&[&[&address], &["8.8.8.8", &address], &[&address, "8.8.8.8"]]);
        for _ in 0..3 {
            let outcome = resolved(&lookup, AddressPolicy::Stranger).await;
            assert!(
                matches!(outcome, Err(Refusal::Address { .. })),
                "{host}: {outcome:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_allowed_name_may_be_private_but_no_metadata_service() {
    let lookup = Changing::answers(&[
        &["10.0.0.7"],
        &["8.8.8.8"],
        &["169.254.169.254"],
        &["10.0.0.7", "fd00:ec2::254"],
        &[],
    ]);
    assert_eq!(
        resolved(&lookup, AddressPolicy::Allowed).await,
        Ok(vec!["10.0.0.7:0".to_owned()])
    );
    assert_eq!(
        resolved(&lookup, AddressPolicy::Allowed).await,
        Ok(vec!["8.8.8.8:0".to_owned()])
    );
    assert!(matches!(
        resolved(&lookup, AddressPolicy::Allowed).await,
        Err(Refusal::Address { .. })
    ));
    assert!(matches!(
        resolved(&lookup, AddressPolicy::Allowed).await,
        Err(Refusal::Address { .. })
    ));
    assert_eq!(
        resolved(&lookup, AddressPolicy::Allowed).await,
        Err(Refusal::NoAddress)
    );
}
