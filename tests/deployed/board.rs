//! The dashboard at the URL of the API's function: it asks for a token, and shows the board to who has one.

use reqwest::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HeaderName, LOCATION, ORIGIN, SET_COOKIE,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use secrecy::ExposeSecret;

use crate::stage::Stage;

/// Signed out, signing in, and signed in.
pub(crate) async fn is_behind_the_url_of_the_api(stage: &Stage) {
    let browser = Client::builder().redirect(Policy::none()).build();
    let browser = browser.expect("a client");
    let at = |path: &str| stage.api.join(path).expect("an address");
    let answer = browser.get(at("dashboard")).send().await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status(), 401, "{answer:?}");
    let page = text(answer).await;
    assert!(page.contains("action=\"/dashboard/sign-in\""), "{page}");

    let token = stage.token.expose_secret();
    // A token needs no escaping, and a browser names the address that it sees.
    let form = browser
        .post(at("dashboard/sign-in"))
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(format!("token={token}"));
    let foreign = form.try_clone().expect("a form");
    let foreign = foreign
        .header(ORIGIN, "https://elsewhere.example")
        .send()
        .await;
    assert_eq!(foreign.expect("an answer").status(), 403);
    let own = form.header(ORIGIN, stage.public.origin().ascii_serialization());
    let answer = own.send().await.expect("an answer");
    assert_eq!(answer.status(), 303, "{answer:?}");
    assert_eq!(header(&answer, LOCATION), "/dashboard");
    let set = header(&answer, SET_COOKIE);
    let (cookie, _) = set.split_once(';').expect("a cookie with its rules");

    let board = browser.get(at("dashboard")).header(COOKIE, cookie);
    let answer = board.send().await.expect("an answer");
    assert_eq!(answer.status(), 200, "{answer:?}");
    assert!(set.contains("; Secure"), "{set}");
    assert!(header(&answer, CONTENT_SECURITY_POLICY).starts_with("default-src 'none'"));
    let page = text(answer).await;
    assert!(page.contains("<h1>Deliveries</h1>"), "{page}");
    // Where waiting is billed, the page asks from time to time.
    assert!(page.contains("data-live=\"poll\""), "{page}");
}

fn header(answer: &Response, name: HeaderName) -> String {
    let value = answer.headers().get(&name);
    let value = value.unwrap_or_else(|| panic!("no {name}: {answer:?}"));
    value.to_str().expect("a text").to_owned()
}

async fn text(answer: Response) -> String {
    answer.text().await.expect("a page")
}
