//! Which addresses need a rule.

use super::*;

#[test]
fn addresses_that_the_sender_refuses_need_a_rule() {
    for url in [
        "http://bot.example.com/",
        "https://bot.example.com:8443/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://bot/",
    ] {
        assert!(is_unusual(&url.parse().unwrap()), "{url}");
    }
    assert!(!is_unusual(
        &"https://bot.example.com/wake".parse().unwrap()
    ));
    assert_eq!(host(&"http://[::1]:8080/x".parse().unwrap()), "[::1]:8080");
    assert!(
        host(&"http://127.0.0.1:9000/x".parse().unwrap())
            .parse::<agents::HostRule>()
            .is_ok()
    );
}
