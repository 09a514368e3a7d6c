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
        if out.len() + piece.len() > expected {
            return None;
        }
        out.extend_from_slice(piece);
    }
    (out.len() == expected).then_some(out)
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
