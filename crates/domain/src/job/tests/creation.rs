//! New jobs: what they are called, and what they may not hold.

use super::*;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

fn refused(change: impl FnOnce(&mut NewJob)) -> &'static str {
    let mut new = new_job();
    change(&mut new);
    create(new, at(0)).map_or_else(|not_now| not_now.code, |_| "created")
}

#[test]
fn a_secret_is_refused_wherever_it_stands() {
    assert_eq!(refused(|_| {}), "created");
    assert_eq!(
        refused(|new| new.prompt = format!("Use {SECRET}")),
        "secret_in_prompt"
    );
    assert_eq!(
        refused(|new| new.title = Some(SECRET.to_owned())),
        "secret_in_prompt"
    );
    assert_eq!(
        refused(|new| new.branch = SECRET.parse().unwrap()),
        "secret_in_prompt"
    );
}

#[test]
fn a_session_beside_the_known_one_is_put_away() {
    let effects = |session: &str| {
        let view = view(session, "QUEUED");
        let step = created(&watched_job(), &view, at(5), &Timing::default());
        step.effects
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert!(effects(SESSION).is_empty());
    assert_eq!(effects("77"), ["archive:77"]);
}

#[test]
fn a_job_is_called_by_its_title_or_by_its_first_line() {
    let title = |title: Option<&str>| {
        let new = NewJob {
            title: title.map(str::to_owned),
            ..new_job()
        };
        create(new, at(0)).unwrap().aggregate.title
    };
    assert_eq!(title(Some(" Mend it ")), "Mend it");
    assert_eq!(title(Some("  ")), "Fix the cart");
    assert_eq!(title(None), "Fix the cart");
}

#[test]
fn a_title_of_many_lines_is_its_first_one_and_short() {
    for title in [
        "Tidy up\nand more",
        &format!("\n Tidy up \n{}", "x".repeat(5_000)),
    ] {
        let mut new = new_job();
        new.title = Some(title.to_owned());
        assert_eq!(create(new, at(0)).unwrap().aggregate.title, "Tidy up");
    }
    let mut new = new_job();
    new.title = Some("x".repeat(5_000));
    let title = create(new, at(0)).unwrap().aggregate.title;
    // The mark of the cut comes on top.
    assert!(title.chars().count() <= 121, "{title}");
}
