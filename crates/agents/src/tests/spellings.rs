//! Forbidden addresses in every spelling we know, sent all the way: nothing is looked up, and no socket is opened.

use std::collections::VecDeque;
use std::net::TcpListener;

use axum::http::StatusCode;
use domain::failure::{CallEffect, FailureClass};
use engine::ports::{AgentsWrite, Delivered};

use super::*;

/// One of each network that must not be reached, and of each metadata service.
const FORBIDDEN: [[u8; 4]; 18] = [
    [127, 0, 0, 1],
    [127, 255, 255, 254],
    [0, 0, 0, 0],
    [10, 0, 0, 1],
    [100, 64, 0, 1],
    [100, 100, 100, 200],
    [168, 63, 129, 16],
    [169, 254, 169, 254],
    [169, 254, 170, 2],
    [172, 16, 0, 1],
    [172, 31, 255, 255],
    [192, 0, 0, 192],
    [192, 168, 0, 1],
    [192, 168, 255, 255],
    [198, 18, 0, 1],
    [224, 0, 0, 1],
    [240, 0, 0, 1],
    [255, 255, 255, 255],
];

/// The same IPv4 address in all spellings that some reader of addresses understands.
fn spellings([a, b, c, d]: [u8; 4]) -> Vec<String> {
    let whole = u32::from_be_bytes([a, b, c, d]);
    let (high, low) = (whole >> 16, whole & 0xffff);
    let dotted = format!("{a}.{b}.{c}.{d}");
    let digits = |from: char| -> String {
        let wide = |digit| char::from_u32(from as u32 + digit).unwrap();
        dotted
            .chars()
            .map(|c| c.to_digit(10).map_or(c, wide))
            .collect()
    };
    let percent: String = dotted.bytes().map(|b| format!("%{b:02x}")).collect();
    vec![
        dotted.clone(),
        format!("{dotted}."),
        whole.to_string(),
        format!("{whole:#x}"),
        format!("{whole:#X}"),
        format!("0{whole:o}"),
        format!("{a}.{}", whole & 0x00ff_ffff),
        format!("{a}.{b}.{low}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.{b}.{c:#x}.{d}"),
        percent,
        digits('０'),
        digits('𝟎'),
        dotted.replace('.', "。"),
        dotted.replace('.', "．"),
        // Mapped, compatible, translated, IPv4-translated, 6to4, both prefixes of NAT64, Teredo's server, ISATAP.
        format!("[::ffff:{dotted}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:FFFF:{high:X}:{low:X}]"),
        format!("[::{dotted}]"),
        format!("[::ffff:0:{dotted}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[64:ff9b::{dotted}]"),
        format!("[64:ff9b:1::{dotted}]"),
        format!("[2001:0:{high:x}:{low:x}::1]"),
        format!("[fe80::5efe:{dotted}]"),
    ]
}

/// IPv6 addresses that stand for no IPv4 address.
const FORBIDDEN_V6: [&str; 14] = [
    "[::]",
    "[::1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[fe80::1]",
    "[febf::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fdff::1]",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[ff02::1]",
    "[ff0e::1]",
    "[2001:db8::1]",
    "[100::1]",
];

fn every_spelling() -> Vec<String> {
    let v4 = FORBIDDEN.into_iter().flat_map(spellings);
    v4.chain(FORBIDDEN_V6.map(str::to_owned)).collect()
}

async fn certainly_not_sent(sender: &Sender, url: &str) {
    let outcome = sender.deliver(&envelope(url)).await;
    let refused = |failure: &domain::failure::Failure| (failure.class, failure.happened);
    assert_eq!(
        outcome.as_ref().map_err(refused),
        Err((FailureClass::Invalid, CallEffect::No)),
        "{url}: {outcome:?}"
    );
}

#[tokio::test]
async fn no_spelling_of_a_forbidden_address_is_looked_up_or_reached() {
    let names = Arc::<Names>::default();
    let sender = sender_with(&[], Some(SECRET), Arc::clone(&names));
    let all = every_spelling();
    assert!(all.len() > 450, "{}", all.len());
    for host in &all {
        for url in [
            format!("https://{host}/wake"),
            format!("https://{host}:443"),
        ] {
            certainly_not_sent(&sender, &url).await;
        }
    }
    // Had a connection been tried, the strange ones would have been names to look up.
    assert_eq!(*names.asked.lock().unwrap(), Vec::<String>::new());
}

/// Addresses that say one host to people and another to programs, other ports, and other protocols.
const TRICKS: [&str; 22] = [
    "https://hooks.example@127.0.0.1/",
    "https://hooks.example:443@127.0.0.1/",
    "https://127.0.0.1@hooks.example/",
    "https://:pass@hooks.example/",
    "https://hooks.example%40@127.0.0.1/",
    "https://127.0.0.1\\@hooks.example/",
    "https://127.0.0.1#@hooks.example/",
    "https://127.0.0.1?@hooks.example/",
    "https://127.0.0.1/@hooks.example",
    "https:127.0.0.1",
    "https:\\\\127.0.0.1\\wake",
    "https:////127.0.0.1/",
    "ht\ntps://127.\t0.0.1/",
    " https://127.0.0.1/ ",
    "https://hooks.example:22/",
    "https://hooks.example:0/",
    "https://hooks.example:80/",
    "https://hooks.example:6379/",
    "http://hooks.example/",
    "http://hooks.example:443/",
    "ftp://hooks.example/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
];

#[tokio::test]
async fn no_trick_of_writing_an_address_is_looked_up_or_reached() {
    let names = Names::one("hooks.example", &[LOCALHOST]);
    let sender = sender_with(&[], Some(SECRET), Arc::clone(&names));
    for url in TRICKS {
        certainly_not_sent(&sender, url).await;
    }
    assert_eq!(*names.asked.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_no_address_cannot_even_be_stored() {
    for text in [
        "https://[fe80::1%25eth0]/",
        "https://[fe80::1%eth0]/",
        "https://256.0.0.1/",
        "https://0x100000000/",
        "https://4294967296/",
        "https://127.0.0.0.1/",
        "https://[::1/",
        "https://127.0.0.1:65536/",
        "https://1.2.3.4.5.6/",
        "https://exa mple/",
        "https://%00/",
        "//127.0.0.1/",
        "127.0.0.1",
    ] {
        assert!(text.parse::<url::Url>().is_err(), "{text}");
    }
}

/// Names that lead inside wherever they are resolved, and names that only their owner leads there.
const NAMES: [(&str, &str); 16] = [
    ("localhost", "127.0.0.1"),
    ("LOCALHOST.", "127.0.0.1"),
    ("localhost.localdomain", "127.0.0.1"),
    ("ip6-localhost", "::1"),
    ("agent.localhost", "::1"),
    ("metadata.google.internal", "169.254.169.254"),
    ("metadata.google.internal.", "fd20:ce::254"),
    ("instance-data.ec2.internal", "169.254.169.254"),
    ("instance-data", "fd00:ec2::254"),
    ("kubernetes.default.svc", "10.96.0.1"),
    ("host.docker.internal", "192.168.65.2"),
    ("router.local", "fe80::1"),
    ("127.0.0.1.nip.io", "127.0.0.1"),
    ("lvh.me", "127.0.0.1"),
    ("mapped.example", "::ffff:a9fe:a9fe"),
    ("hooks.example", "0.0.0.0"),
];

#[tokio::test]
async fn no_name_of_a_forbidden_address_is_reached() {
    for (name, address) in NAMES {
        let url: url::Url = format!("https://{name}/").parse().unwrap();
        let host = url.host_str().unwrap().to_owned();
        let names = Arc::new(Answers::new(vec![vec![address.parse().unwrap()]]));
        let strict = Sender::with_lookup(
            Settings { allow: Vec::new() },
            Arc::new(OneSecret(Some(SECRET))),
            names.clone(),
        );
        certainly_not_sent(&strict, url.as_str()).await;
        assert_eq!(names.asked(), 1, "{host}");
    }
}

/// A resolver with a new answer for each question; a question too many fails.
struct Answers {
    left: Mutex<VecDeque<Vec<IpAddr>>>,
    asked: Mutex<usize>,
}

impl Answers {
    fn new(answers: Vec<Vec<IpAddr>>) -> Self {
        Self {
            left: Mutex::new(answers.into()),
            asked: Mutex::new(0),
        }
    }

    fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}

#[async_trait]
impl Lookup for Answers {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        *self.asked.lock().unwrap() += 1;
        let next = self.left.lock().unwrap().pop_front();
        next.ok_or_else(|| io::Error::other("asked once too often"))
    }
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_reaches_nobody() {
    let (address, got) = receiver(StatusCode::NO_CONTENT).await;
    // The system sends what goes to these addresses to this machine, and so to the very same receiver.
    let elsewhere: [IpAddr; 2] = ["0.0.0.0", "::ffff:127.0.0.1"].map(|it| it.parse().unwrap());
    let mut answers = vec![vec![LOCALHOST]];
    answers.extend(elsewhere.map(|it| vec![it]));
    answers.push(vec![LOCALHOST, elsewhere[0]]);
    let names = Arc::new(Answers::new(answers));
    let allow = vec![
        format!("agent.internal:{}", address.port())
            .parse()
            .unwrap(),
    ];
    let secrets = Arc::new(OneSecret(Some(SECRET)));
    let sender = Sender::with_lookup(Settings { allow }, secrets, names.clone());
    let url = format!("http://agent.internal:{}/", address.port());
    assert_eq!(
        sender.deliver(&envelope(&url)).await,
        Ok(Delivered::Acknowledged)
    );
    for _ in 0..3 {
        certainly_not_sent(&sender, &url).await;
    }
    // One question for each attempt: what was checked is what was reached.
    assert_eq!((names.asked(), got.lock().unwrap().len()), (4, 1));
}

#[tokio::test]
async fn a_rule_for_a_forbidden_spelling_of_this_machine_opens_no_socket() {
    let trap = TcpListener::bind((LOCALHOST, 0)).unwrap();
    trap.set_nonblocking(true).unwrap();
    let port = trap.local_addr().unwrap().port();
    for host in [
        "0.0.0.0",
        "0",
        "0x0",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
    ] {
        let rule = format!("{host}:{port}");
        let sender = sender_with(&[&rule], Some(SECRET), Arc::default());
        certainly_not_sent(&sender, &format!("http://{host}:{port}/")).await;
    }
    assert!(trap.accept().is_err(), "somebody came");
}
