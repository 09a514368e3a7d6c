//! Which texts are addresses of the web, and of what.

use crate::redact::holds_secret;

/// Whether an address has only characters that end it nowhere.
pub(crate) fn is_plain(address: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !"\"'`<>\\^{|}".contains(c);
    address.chars().all(plain)
}

/// Whether a text is the address of anything on the public web, with https and without a user or a secret.
pub(crate) fn is_link(address: &str) -> bool {
    is_plain(address) && is_https(address) && !holds_secret(address)
}

/// Whether an address is one of the public web, with https and without a user.
pub(crate) fn is_https(address: &str) -> bool {
    let host = address.strip_prefix("https://").map(host_of);
    host.is_some_and(|(host, _)| is_name(host) && host.contains('.'))
}

/// Whether an address is one on this machine.
pub(crate) fn is_local(address: &str) -> bool {
    let host = address.strip_prefix("http://").map(host_of);
    host.is_some_and(|(host, port)| {
        ["127.0.0.1", "localhost"].contains(&host) && port.is_some_and(is_port)
    })
}

/// Host and port. An address with user information yields an invalid host.
fn host_of(rest: &str) -> (&str, Option<&str>) {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    }
}

fn is_name(host: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'.';
    !host.is_empty() && host.bytes().all(plain)
}

fn is_port(port: &str) -> bool {
    port.parse::<u16>().is_ok()
}
