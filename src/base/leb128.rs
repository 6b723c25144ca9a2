//! Varints, FORMAT.md section 1.1: numbers of sizes, lists and filters.
//!
//! A byte holds seven bits, the lowest first; its top bit is set if more bytes follow (the LEB128
//! of DWARF).

use crate::base::error::Flaw;

/// Appends `number` to `out`.
pub(crate) fn write(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number below 2^40, of up to six bytes, and removes it from the front of `bytes`.
pub(crate) fn read(bytes: &mut &[u8]) -> Result<usize, Flaw> {
    let mut number = 0;
    for shift in (0..42).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(CUT)?;
        *bytes = rest;
        number |= usize::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return if number < 1 << 40 {
                Ok(number)
            } else {
                Err(LARGE)
            };
        }
    }
    Err(LARGE)
}

pub(crate) const CUT: Flaw = Flaw("the parameters of a block's filters end too early");
const LARGE: Flaw = Flaw("a number in the file is out of range");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_and_large_ones_do_not() {
        for number in [0, 1, 127, 128, 300, 16_383, 16_384, (1 << 40) - 1] {
            let mut bytes = Vec::new();
            write(number, &mut bytes);
            for cut in 0..bytes.len() {
                assert!(read(&mut &bytes[..cut]).is_err());
            }
            let mut rest = &bytes[..];
            assert_eq!((read(&mut rest), rest.len()), (Ok(number), 0));
        }
        assert_eq!(
            read(&mut &[0x80, 0x80, 0x80, 0x80, 0x80, 0x20][..]),
            Err(LARGE)
        );
        assert_eq!(read(&mut &[0x80; 7][..]), Err(LARGE));
    }
}
