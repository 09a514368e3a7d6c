//! Compression of texts: short ones are stored plain, longer ones deflated, since a write unit is a kilobyte.
//!
//! Both sides share a dictionary of what most of our texts have in common (`packed/words-1.txt`): deflate takes it as
//! if it had come before the text.
//! Source of the format: RFC 1951, sections 3.2.2 and 3.2.4.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// The dictionary. Never change it: what was stored with it could no longer be read. Another dictionary is another
/// file with another number.
const WORDS: &[u8] = include_bytes!("packed/words-1.txt");

/// The first byte of a text that was deflated with this dictionary.
const AFTER_WORDS_1: u8 = 1;

/// Up to this many bytes a text stays plain: people can read it in the table, and it takes no more than one unit.
const PLAIN_MAX: usize = 256;

/// Longest text, in bytes: a longer claim does not come from us.
const TEXT_MAX: usize = 1 << 20;

/// Room that deflate may need beyond the text, in bytes: what cannot be made smaller grows by five for each 16 KB.
const RESERVE: usize = 1_024;

pub(super) fn pack(text: &str) -> AttributeValue {
    let packed = (text.len() > PLAIN_MAX).then(|| deflated(text)).flatten();
    match packed {
        Some(packed) if packed.len() < text.len() => AttributeValue::B(Blob::new(packed)),
        Some(_) | None => AttributeValue::S(text.to_owned()),
    }
}

/// The text of an attribute; `None` for anything else.
pub(super) fn unpack(value: &AttributeValue) -> Option<String> {
    if let Ok(text) = value.as_s() {
        return Some(text.clone());
    }
    match value.as_b().ok()?.as_ref().split_first()? {
        (&AFTER_WORDS_1, packed) => String::from_utf8(inflated(packed)?).ok(),
        _ => None,
    }
}

/// `None` if deflate fails.
fn deflated(text: &str) -> Option<Vec<u8>> {
    let mut deflate = Compress::new(Compression::default(), false);
    let mut packed = Vec::with_capacity(WORDS.len() + RESERVE);
    deflate
        .compress_vec(WORDS, &mut packed, FlushCompress::Sync)
        .ok()?;
    // All of it was said, to the end of a byte, and the reader knows it.
    let is_said = deflate.total_in() == WORDS.len() as u64 && packed.len() < packed.capacity();
    packed.clear();
    packed.push(AFTER_WORDS_1);
    packed.reserve(text.len() + RESERVE);
    let status = deflate.compress_vec(text.as_bytes(), &mut packed, FlushCompress::Finish);
    (is_said && matches!(status, Ok(Status::StreamEnd))).then_some(packed)
}

fn inflated(packed: &[u8]) -> Option<Vec<u8>> {
    let mut inflate = Decompress::new(false);
    let mut before = Vec::with_capacity(WORDS.len() + RESERVE);
    inflate
        .decompress_vec(&stored(WORDS)?, &mut before, FlushDecompress::None)
        .ok()?;
    if before != WORDS {
        return None;
    }
    let begun = inflate.total_in();
    let mut text = Vec::with_capacity(packed.len() * 4 + RESERVE);
    loop {
        let before = (inflate.total_in(), text.len());
        let read = usize::try_from(inflate.total_in() - begun).ok()?;
        let rest = packed.get(read..)?;
        let status = inflate.decompress_vec(rest, &mut text, FlushDecompress::None);
        if status.ok()? == Status::StreamEnd {
            return Some(text);
        }
        let is_full = text.len() == text.capacity();
        let went_on = (inflate.total_in(), text.len()) != before;
        if !(is_full || went_on) || text.len() > TEXT_MAX {
            return None;
        }
        text.reserve(text.len());
    }
}

/// A stored block of deflate, which is not the last one.
fn stored(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(bytes.len()).ok()?;
    let mut block = vec![0];
    block.extend(length.to_le_bytes());
    block.extend((!length).to_le_bytes());
    block.extend(bytes);
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(value: &AttributeValue) -> usize {
        let text = value.as_s().map(String::len);
        text.unwrap_or_else(|_| value.as_b().unwrap().as_ref().len())
    }

    proptest! {
        #[test]
        fn every_text_is_read_as_it_was_written(text in "(?s).{0,2000}") {
            prop_assert_eq!(unpack(&pack(&text)), Some(text));
        }

        #[test]
        fn what_is_no_packed_text_is_none_and_no_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = unpack(&AttributeValue::B(Blob::new(bytes.clone())));
            bytes.insert(0, AFTER_WORDS_1);
            let _ = unpack(&AttributeValue::B(Blob::new(bytes)));
        }
    }

    #[test]
    fn long_texts_and_those_that_do_not_shrink_are_kept_too() {
        let long = "a word ".repeat(9_000);
        let packed = pack(&long);
        assert!(size(&packed) < 1_000);
        assert_eq!(unpack(&packed), Some(long));
        let mut state = 7_u64;
        let noise: String = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from_u32(0x4e00 + u32::try_from(state >> 51).unwrap()).unwrap()
        })
        .take(20_000)
        .collect();
        assert_eq!(unpack(&pack(&noise)), Some(noise));
    }

    #[test]
    fn a_cut_text_is_none() {
        let AttributeValue::B(bytes) = pack(&"a word ".repeat(100)) else {
            panic!()
        };
        for end in 0..bytes.as_ref().len() {
            let cut = AttributeValue::B(Blob::new(&bytes.as_ref()[..end]));
            assert_eq!(unpack(&cut), None, "after {end} bytes");
        }
    }

    /// Stored texts stay readable: this one must be read whatever else changes.
    #[test]
    fn a_body_that_was_stored_once_is_still_read() {
        let text = r#"{"it":{"account":"default","attempt":1,"branch":"main","created_at":"2026-03-01T09:00:00Z","earlier":[],"id":"01kjma0fm00000000000000000","installation":"tests","origin":"created","phase":{"phase":"creating","refusals":0,"since":"2026-03-01T09:00:01Z"},"priority":5,"prompt":"merge this","repo":"acme/shop","title":"merge this"},"schema":1}"#;
        let AttributeValue::B(now) = pack(text) else {
            panic!()
        };
        assert!(now.as_ref().len() < 120, "{} bytes", now.as_ref().len());
        let stored = AttributeValue::B(Blob::new(unhex(include_str!("packed/stored-1.hex"))));
        assert_eq!(unpack(&stored).as_deref(), Some(text));
    }

    fn unhex(text: &str) -> Vec<u8> {
        let digits = text.trim().as_bytes();
        let pairs = digits
            .chunks(2)
            .map(|pair| std::str::from_utf8(pair).unwrap());
        pairs
            .map(|pair| u8::from_str_radix(pair, 16).unwrap())
            .collect()
    }
}
