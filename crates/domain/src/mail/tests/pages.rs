//! Sealed pages, and what is taken from them.

use super::*;

fn events(count: u32) -> Vec<MailEvent> {
    (1..=count)
        .map(|number| send(number, number.into(), "art"))
        .collect()
}

/// Pages of so many events each.
fn pages(events: &[MailEvent], each: usize) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for events in events.chunks(each) {
        let lines = events.iter().map(|event| event.clone().line());
        pages.push(Page::seal(pages.last(), lines.collect()));
    }
    pages
}

#[test]
fn pages_are_read_as_they_were_sealed() {
    let pages = pages(&events(5), 2);
    let again = pages.iter().map(|page| Page::parse(&page.text()).unwrap());
    assert_eq!(again.collect::<Vec<_>>(), pages);
    let seal = seal(5, 5);
    assert_eq!(chain(&pages), Ok(seal));
    assert_eq!(chain(&[]), Ok(Seal::default()));
}

#[test]
fn a_change_anywhere_in_a_page_shows() {
    let text = pages(&events(3), 3)[0].text();
    for (at, _) in text.char_indices() {
        let mut changed = text.clone().into_bytes();
        changed[at] ^= 1;
        let Ok(changed) = String::from_utf8(changed) else {
            continue;
        };
        assert_eq!(Page::parse(&changed), Err(BadPage::Changed), "{at}");
        assert_eq!(Page::parse(&text[..at]), Err(BadPage::Changed), "{at}");
    }
}

#[test]
fn a_page_that_is_missing_swapped_or_of_another_log_shows() {
    let ours = pages(&events(6), 2);
    let other = pages(&events(7)[1..], 2);
    let [one, two, three] = <[Page; 3]>::try_from(ours).unwrap();
    for (wrong, number) in [
        (vec![two.clone(), three.clone()], 1),
        (vec![one.clone(), three.clone()], 2),
        (vec![two.clone(), one.clone()], 1),
        (vec![one.clone(), two.clone(), two], 3),
        (vec![one, other[1].clone(), three], 2),
    ] {
        assert_eq!(chain(&wrong), Err((number, BadPage::Apart)));
    }
}

#[test]
fn a_sealed_number_beyond_all_reason_is_not_believed() {
    let page = Page::seal(None, vec![send(1, i64::MAX, "art").line()]);
    assert_eq!(chain(&[page]), Err((1, BadPage::Apart)));
}

#[test]
fn what_is_not_sealed_yet_is_found() {
    let all = events(5);
    let text = log(all.clone());
    let read = Log::read(text.as_bytes(), &Seal::default());
    let pages = pages(&all[..4], 2);
    assert_eq!(unsealed(&read, &pages), [all[4].clone().line()]);
    assert_eq!(unsealed(&read, &[]).len(), 5);
}

#[test]
fn a_log_that_differs_from_its_pages_is_told() {
    let all = events(4);
    let pages = pages(&all[..3], 2);
    let text = log(all.clone());
    let differs = |text: &str| -> Vec<String> {
        let read = Log::read(text.as_bytes(), &Seal::default());
        compare(&read, &pages)
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(differs(&text), [""; 0]);
    let changed = text.replacen("Your changes", "My changes", 1);
    assert_eq!(
        differs(&changed),
        ["line 1: the event `e1` is not as page 1 of the backups has it"]
    );
    let gone = log([all[0].clone(), all[1].clone()]);
    assert_eq!(
        differs(&gone),
        ["line 3: the event `e3` is missing, which page 2 of the backups has"]
    );
}

#[test]
fn a_restore_takes_the_pages_and_what_is_valid_after_them() {
    let all = events(5);
    let pages = pages(&all[..3], 2);
    let seal = chain(&pages).unwrap();
    let line = |at: usize| all[at].clone().line();
    let changed = line(1).replacen("Your changes", "My changes", 1);
    let broken = format!("{}\n{changed}\nnonsense\n{}\n{}", line(0), line(3), line(4));
    let mended = restore(broken.as_bytes(), &pages, &seal, at(99));
    assert_eq!(String::from_utf8(mended.text).unwrap(), log(all.clone()));
    assert_eq!((mended.kept, mended.restored), (3, 2));
    let rejected: Vec<_> = mended.rejected.iter().map(Vec::as_slice).collect();
    assert_eq!(rejected, [&b"nonsense"[..], changed.as_bytes()]);
    let gone = restore(b"", &pages, &seal, at(99));
    assert_eq!(
        String::from_utf8(gone.text).unwrap(),
        log(all[..3].to_vec())
    );
}
