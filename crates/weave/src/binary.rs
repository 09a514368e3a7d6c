//! The blocks of a `GIT binary patch`: base 85, deflate and git's delta, never larger than the block says.

use flate2::{Decompress, FlushDecompress, Status};

use crate::patch::Block;

/// The largest binary that a patch may make: GitHub refuses files of 100 MB, and its diffs hold no binaries at all.
pub(crate) const BINARY_BYTES_MAX: usize = 20_000_000;

/// The digits of git's base 85.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// What a delta copies where it gives no size.
const COPY_SIZE_DEFAULT: usize = 0x10000;

/// The content that a block makes of an earlier one; none if it is broken or too large.
pub(crate) fn produce(block: &Block, earlier: &[u8]) -> Option<Vec<u8>> {
    let data = data(block)?;
    if block.is_delta {
        follow(&data, earlier)
    } else {
        Some(data)
    }
}

/// Whether a block holds as many bytes as it says.
pub(crate) fn is_whole(block: &Block) -> bool {
    data(block).is_some()
}

fn data(block: &Block) -> Option<Vec<u8>> {
    let size = usize::try_from(block.size).ok()?;
    let size = Some(size).filter(|size| *size <= BINARY_BYTES_MAX)?;
    inflate(&decode(&block.data)?, size)
}

fn inflate(deflated: &[u8], size: usize) -> Option<Vec<u8>> {
    // One byte more than allowed, so that the end of the stream is seen and what is too long is, too.
    let mut out = Vec::with_capacity(size + 1);
    let status = Decompress::new(true).decompress_vec(deflated, &mut out, FlushDecompress::Finish);
    let whole = matches!(status, Ok(Status::StreamEnd)) && out.len() == size;
    whole.then_some(out)
}

fn decode(lines: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(lines.len());
    for line in lines.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some((length, digits)) = line.split_first() {
            decode_line(*length, digits, &mut out)?;
        }
    }
    Some(out)
}

/// A line says first how many bytes it holds, and holds them in groups of four.
fn decode_line(length: u8, digits: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let length = match length {
        b'A'..=b'Z' => usize::from(length - b'A') + 1,
        b'a'..=b'z' => usize::from(length - b'a') + 27,
        _ => return None,
    };
    if digits.len() != length.div_ceil(4) * 5 {
        return None;
    }
    let end = out.len() + length;
    for group in digits.chunks(5) {
        let value = group.iter().try_fold(0_u64, |value, digit| {
            let digit = DIGITS.iter().position(|it| it == digit)?;
            Some(value * 85 + digit as u64)
        })?;
        out.extend(u32::try_from(value).ok()?.to_be_bytes());
    }
    out.truncate(end);
    Some(())
}

/// Follows a delta: pieces of the earlier content and new bytes, as long as it says and no longer.
fn follow(delta: &[u8], earlier: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    if size(&mut rest)? != earlier.len() {
        return None;
    }
    let expected = size(&mut rest).filter(|size| *size <= BINARY_BYTES_MAX)?;
    let mut out = Vec::new();
    while !rest.is_empty() {
        let piece = match byte(&mut rest)? {
            0 => return None,
            code if code & 0x80 != 0 => copied(code, &mut rest, earlier)?,
            length => {
                let (new, after) = rest.split_at_checked(usize::from(length))?;
                rest = after;
                new
            }
        };
        append(&mut out, piece, expected)?;
    }
    (out.len() == expected).then_some(out)
}

/// Appends bytes, unless that makes more than there may be.
fn append(out: &mut Vec<u8>, piece: &[u8], limit: usize) -> Option<()> {
    if out.len() + piece.len() > limit {
        return None;
    }
    out.extend_from_slice(piece);
    Some(())
}

fn copied<'e>(code: u8, rest: &mut &[u8], earlier: &'e [u8]) -> Option<&'e [u8]> {
    let mut number = |bits: std::ops::Range<u8>| {
        bits.clone()
            .filter(|bit| code & (1 << bit) != 0)
            .try_fold(0_usize, |value, bit| {
                Some(value | usize::from(byte(rest)?) << (8 * (bit - bits.start)))
            })
    };
    let from = number(0..4)?;
    let size = number(4..7)?;
    let size = if size == 0 { COPY_SIZE_DEFAULT } else { size };
    earlier.get(from..from.checked_add(size)?)
}

/// A number of seven bits a byte, the lowest first.
fn size(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = byte(rest)?;
        value |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use flate2::{Compress, Compression, FlushCompress};
    use proptest::prelude::*;

    use super::*;

    /// A block as git writes it, whatever it says of its size.
    fn block(is_delta: bool, size: usize, data: &[u8]) -> Block {
        let mut deflated = Vec::with_capacity(data.len() + 100);
        let mut deflate = Compress::new(Compression::default(), true);
        deflate
            .compress_vec(data, &mut deflated, FlushCompress::Finish)
            .unwrap();
        let lines: Vec<u8> = deflated.chunks(52).flat_map(encoded).collect();
        Block {
            is_delta,
            size: size as u64,
            data: lines,
        }
    }

    fn encoded(bytes: &[u8]) -> Vec<u8> {
        let first = if bytes.len() <= 26 {
            b'A' - 1
        } else {
            b'a' - 27
        };
        let mut line = vec![first + u8::try_from(bytes.len()).unwrap()];
        for group in bytes.chunks(4) {
            let mut four = [0; 4];
            four[..group.len()].copy_from_slice(group);
            let value = u32::from_be_bytes(four);
            line.extend(
                (0..5)
                    .rev()
                    .map(|power| DIGITS[(value / 85_u32.pow(power) % 85) as usize]),
            );
        }
        line.push(b'\n');
        line
    }

    #[test]
    fn a_block_of_git_is_read() {
        let data = b"UcmV+l0QLU>0RjUA1qKHQ2>`DEE&u=k\n".to_vec();
        let block = Block {
            is_delta: false,
            size: 10,
            data,
        };
        assert_eq!(produce(&block, b""), Some((0..10).collect()));
    }

    #[test]
    fn a_block_holds_exactly_what_it_says() {
        let data = [7; 300];
        assert_eq!(produce(&block(false, 300, &data), b""), Some(data.to_vec()));
        for size in [0, 299, 301, BINARY_BYTES_MAX + 1, usize::MAX] {
            assert_eq!(produce(&block(false, size, &data), b""), None, "{size}");
        }
        let large = vec![0; BINARY_BYTES_MAX + 1];
        assert_eq!(produce(&block(false, large.len(), &large), b""), None);
        let mut cut = block(false, 300, &data);
        cut.data.truncate(10);
        assert_eq!(produce(&cut, b""), None);
    }

    #[test]
    fn a_delta_takes_from_the_content_before_and_is_as_long_as_it_says() {
        let follows = |delta: &[u8]| produce(&block(true, delta.len(), delta), b"hello");
        for (delta, expected) in [
            (&[5, 4, 0x90, 2, 2, b'X', b'Y'][..], Some(&b"heXY"[..])),
            (&[5, 3, 0x91, 1, 3], Some(b"ell")),
            (&[4, 3, 0x91, 1, 3], None),
            (&[5, 4, 0x91, 1, 3], None),
            (&[5, 2, 0x91, 1, 3], None),
            (&[5, 3, 0x91, 3, 3], None),
            (&[5, 1, 0], None),
            (&[5, 2, 3, b'X'], None),
            (&[5], None),
        ] {
            assert_eq!(follows(delta).as_deref(), expected, "{delta:?}");
        }
    }

    #[test]
    fn a_small_delta_makes_nothing_endless() {
        let mut out = b"he".to_vec();
        assert_eq!(append(&mut out, b"llo", 4), None);
        assert_eq!(out, b"he");
        assert_eq!(append(&mut out, b"llo", 5), Some(()));
        let large = [5, 0xff, 0xff, 0xff, 0x7f];
        assert_eq!(produce(&block(true, large.len(), &large), b"hello"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(is_delta: bool, size in 0..200_u64, data: Vec<u8>, earlier: Vec<u8>) {
            let _ = produce(&Block { is_delta, size, data: data.clone() }, &earlier);
            let size = data.len();
            let _ = produce(&block(is_delta, size, &data), &earlier);
        }
    }
}
