//! Git's index file, written and read without a process: two of three processes for each case would do nothing else.

use weave::tree::{Entry, Mode, Tree};

/// The bytes of an entry before its path.
const HEAD_BYTES: usize = 62;

/// Where the mode lies in an entry.
const MODE_AT: usize = 24;

/// Where the id lies in an entry.
const ID_AT: usize = 40;

/// Where the flags lie in an entry.
const FLAGS_AT: usize = 60;

/// The bits of the flags that hold the length of the path.
const LENGTH_BITS: u16 = 0xfff;

/// The bits of the flags that are set for a path in conflict.
const STAGE_BITS: u16 = 0x3000;

/// The file for a tree. Its end is the hash of nothing, which git takes.
pub(crate) fn written(tree: &Tree) -> Vec<u8> {
    let count = u32::try_from(tree.len()).unwrap();
    let mut file = b"DIRC".to_vec();
    file.extend(2_u32.to_be_bytes());
    file.extend(count.to_be_bytes());
    for (path, entry) in tree.iter() {
        let mode = u32::from_str_radix(entry.mode.octal(), 8).unwrap();
        let length = u16::try_from(path.len()).unwrap().min(LENGTH_BITS);
        file.extend([0; MODE_AT]);
        file.extend(mode.to_be_bytes());
        file.extend([0; ID_AT - MODE_AT - 4]);
        file.extend(hex::decode(entry.id.to_string()).unwrap());
        file.extend(length.to_be_bytes());
        file.extend(path.as_bytes());
        file.extend(vec![0; padding(path.len())]);
    }
    file.extend([0; 20]);
    file
}

/// The tree that a file holds; none if a path is in conflict, or is no UTF-8, which our trees are.
pub(crate) fn read(file: &[u8]) -> Option<Tree> {
    let count = u32::from_be_bytes(file[8..12].try_into().unwrap());
    let mut rest = &file[12..];
    let mut entries = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(rest[FLAGS_AT..HEAD_BYTES].try_into().unwrap());
        if flags & STAGE_BITS != 0 {
            return None;
        }
        let mode = u32::from_be_bytes(rest[MODE_AT..MODE_AT + 4].try_into().unwrap());
        let mode = Mode::from_octal(&format!("{mode:o}")).unwrap();
        let id = hex::encode(&rest[ID_AT..FLAGS_AT]).parse().unwrap();
        let path = rest[HEAD_BYTES..].split(|byte| *byte == 0).next().unwrap();
        let length = path.len();
        let path = String::from_utf8(path.to_vec()).ok()?;
        entries.push((path, Entry { mode, id }));
        rest = &rest[HEAD_BYTES + length + padding(length)..];
    }
    Some(entries.into_iter().collect())
}

/// An entry ends in one to eight zero bytes, so that its length is a multiple of eight.
fn padding(length: usize) -> usize {
    8 - (HEAD_BYTES + length) % 8
}
