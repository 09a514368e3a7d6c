//! What an address is: reached over the internet, private, or never a receiver of ours.
//!
//! Facts: the IANA registries of special-purpose IPv4 and IPv6 addresses, and the metadata addresses that cloud providers document.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Who can be reached at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anyone on the internet.
    Public,
    /// Someone on this machine or network: only if the configuration names the host.
    Private(&'static str),
    /// Never woken, whatever the configuration says.
    Never(&'static str),
}

const LOOPBACK: Reach = Reach::Private("a loopback address");
const PRIVATE: Reach = Reach::Private("a private address");
const SHARED: Reach = Reach::Private("an address shared behind a carrier's translation");
const METADATA: Reach = Reach::Never("a metadata service of a cloud");
const LINK_LOCAL: Reach = Reach::Never("a link-local address");
const THIS_NETWORK: Reach = Reach::Never("an address of \"this network\"");
const PROTOCOL: Reach = Reach::Never("reserved for protocols");
const DOCUMENTATION: Reach = Reach::Never("an address for documentation");
const BENCHMARKING: Reach = Reach::Never("an address for benchmarks");
const MULTICAST: Reach = Reach::Never("a multicast address");
const RESERVED: Reach = Reach::Never("a reserved address");
const EMBEDDED: Reach = Reach::Never("an IPv6 spelling of an IPv4 address");
const TUNNEL: Reach = Reach::Never("the address of a tunnel");
const TRANSLATED: Reach = Reach::Never("the address of a translator to IPv4");

/// A network (its first address and the length of its prefix) and its kind. The first that contains an address counts.
type Network<A> = (A, u32, Reach);

const V4: [Network<Ipv4Addr>; 18] = [
    (Ipv4Addr::new(169, 254, 169, 254), 32, METADATA),
    (Ipv4Addr::new(100, 100, 100, 200), 32, METADATA),
    (Ipv4Addr::new(168, 63, 129, 16), 32, METADATA),
    (Ipv4Addr::new(0, 0, 0, 0), 8, THIS_NETWORK),
    (Ipv4Addr::new(10, 0, 0, 0), 8, PRIVATE),
    (Ipv4Addr::new(100, 64, 0, 0), 10, SHARED),
    (Ipv4Addr::new(127, 0, 0, 0), 8, LOOPBACK),
    (Ipv4Addr::new(169, 254, 0, 0), 16, LINK_LOCAL),
    (Ipv4Addr::new(172, 16, 0, 0), 12, PRIVATE),
    (Ipv4Addr::new(192, 0, 0, 0), 24, PROTOCOL),
    (Ipv4Addr::new(192, 0, 2, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(192, 88, 99, 0), 24, TUNNEL),
    (Ipv4Addr::new(192, 168, 0, 0), 16, PRIVATE),
    (Ipv4Addr::new(198, 18, 0, 0), 15, BENCHMARKING),
    (Ipv4Addr::new(198, 51, 100, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(203, 0, 113, 0), 24, DOCUMENTATION),
    (Ipv4Addr::new(224, 0, 0, 0), 4, MULTICAST),
    // The broadcast address is the last of these.
    (Ipv4Addr::new(240, 0, 0, 0), 4, RESERVED),
];

const V6: [Network<Ipv6Addr>; 19] = [
    (
        Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254),
        128,
        METADATA,
    ),
    (
        Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254),
        128,
        METADATA,
    ),
    (Ipv6Addr::UNSPECIFIED, 128, THIS_NETWORK),
    (Ipv6Addr::LOCALHOST, 128, LOOPBACK),
    // Compatible, mapped and translated spellings.
    (Ipv6Addr::UNSPECIFIED, 96, EMBEDDED),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, EMBEDDED),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, EMBEDDED),
    (
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0),
        96,
        TRANSLATED,
    ),
    (
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0),
        48,
        TRANSLATED,
    ),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, TUNNEL),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, BENCHMARKING),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, PROTOCOL),
    (
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),
        32,
        DOCUMENTATION,
    ),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, TUNNEL),
    (
        Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0),
        20,
        DOCUMENTATION,
    ),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, PRIVATE),
    // Link-local, then the abandoned site-local block.
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, LINK_LOCAL),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, LINK_LOCAL),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, MULTICAST),
];

/// All assigned global unicast addresses.
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Who can be reached at an address.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    let holds = |(first, prefix, _): &&Network<Ipv4Addr>| {
        // A prefix has 1 to 32 bits.
        let rest = 32 - prefix;
        u32::from(address) >> rest == u32::from(*first) >> rest
    };
    V4.iter()
        .find(holds)
        .map_or(Reach::Public, |(_, _, reach)| *reach)
}

/// An address that is neither listed nor global unicast is not assigned yet, and refused.
fn reach_v6(address: Ipv6Addr) -> Reach {
    let holds = |first: Ipv6Addr, prefix: u32| {
        // A prefix has 1 to 128 bits.
        let rest = 128 - prefix;
        u128::from(address) >> rest == u128::from(first) >> rest
    };
    let (first, prefix) = GLOBAL_UNICAST;
    let otherwise = if holds(first, prefix) {
        Reach::Public
    } else {
        RESERVED
    };
    V6.iter()
        .find(|(first, prefix, _)| holds(*first, *prefix))
        .map_or(otherwise, |(_, _, reach)| *reach)
}
