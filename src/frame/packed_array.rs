//! Packed_Array and Column, FORMAT.md section 8.1: integers in the fewest bits that hold the
//! largest, or their differences from the smallest.
//!
//! Samples are rows: random numbers that use all of these bits. No general compressor makes them
//! smaller than this.

use super::field_bytes::ensure;
use crate::base::error::Flaw;
use crate::base::leb128;
use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::view::BitView;

/// Maximum width of a value, in bits.
pub(crate) const WIDEST: u8 = 40;

/// Appends `values` to `out` as a packed array.
pub(crate) fn write<T: Copy + Into<u64>>(values: &[T], out: &mut Vec<u8>) {
    let all = values
        .iter()
        .fold(0, |all, &value| all | value.into());
    let width = (u64::BITS - all.leading_zeros()).max(1) as usize;
    out.push(width as u8);
    put_values(values.iter().map(|&value| value.into()), width, out);
}

/// Appends `values` in `width` bits each, at least 1.
fn put_values(values: impl ExactSizeIterator<Item = u64>, width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + (values.len() * width).div_ceil(8), 0);
    let bits = out[start..].view_bits_mut::<Lsb0>();
    for (slot, value) in bits.chunks_exact_mut(width).zip(values) {
        slot.store_le::<u64>(value);
    }
}

/// Appends `values`, at least one, to `out` as a column.
pub(crate) fn write_column(values: &[u64], out: &mut Vec<u8>) {
    let least = values.iter().copied().min().unwrap_or(0);
    let most = values.iter().copied().max().unwrap_or(0);
    let width = (u64::BITS - (most - least).leading_zeros()) as usize;
    leb128::write(least as usize, out);
    out.push(width as u8);
    if width > 0 {
        put_values(values.iter().map(|&value| value - least), width, out);
    }
}

/// Takes a column of `count` values off the front of `bytes`. Checks that they are there before it
/// allocates memory for them; values that are all equal take 8 bytes of memory each and none of
/// `bytes`.
pub(crate) fn read_column(bytes: &mut &[u8], count: usize) -> Result<Vec<u64>, Flaw> {
    let least = leb128::read(bytes)? as u64;
    let (&width, behind) = bytes.split_first().ok_or(CUT)?;
    if width == 0 {
        *bytes = behind;
        return Ok(vec![least; count]);
    }
    let differences = read::<u64>(bytes, count)?;
    let most = differences.iter().copied().max().unwrap_or(0);
    ensure(least + most < 1 << WIDEST, LARGE.0)?;
    Ok(differences
        .into_iter()
        .map(|difference| least + difference)
        .collect())
}

/// Takes `count` values off the front of `bytes`. Checks that they are there before it allocates
/// memory for them. The array is damaged if a value does not fit `T`, which is as wide as the block
/// needs.
pub(crate) fn read<T: From<u32> + TryFrom<u64>>(
    bytes: &mut &[u8],
    count: usize,
) -> Result<Vec<T>, Flaw> {
    let width = *bytes.split_off_first().ok_or(CUT)?;
    check_width(width)?;
    let used = count.checked_mul(usize::from(width)).ok_or(CUT)?;
    let width = usize::from(width);
    let packed = bytes.split_off(..used.div_ceil(8)).ok_or(CUT)?;
    let (values, padding) = packed.view_bits::<Lsb0>().split_at(used);
    ensure(
        padding.not_any(),
        "a table of the block has bits set after its last value",
    )?;
    let slots = values.chunks_exact(width);
    if width <= 32 {
        return Ok(slots
            .map(|slot| T::from(slot.load_le::<u32>()))
            .collect());
    }
    slots
        .map(|slot| T::try_from(slot.load_le::<u64>()).map_err(|_| LARGE))
        .collect()
}

fn check_width(width: u8) -> Result<(), Flaw> {
    ensure(
        (1..=WIDEST).contains(&width),
        "a table of the block has an impossible width",
    )
}

/// The stored size of an array of `count` values of `width` bits.
pub(crate) fn size(width: u8, count: usize) -> Result<u64, Flaw> {
    check_width(width)?;
    Ok(1 + (count as u64 * u64::from(width)).div_ceil(8))
}

const LARGE: Flaw = Flaw("a table of the block has a value larger than any block");
const CUT: Flaw = Flaw("a table of the block is longer than the block");

#[cfg(test)]
mod tests {
    use super::*;

    fn written<T: Copy + Into<u64>>(values: &[T]) -> Vec<u8> {
        let mut out = Vec::new();
        write(values, &mut out);
        out
    }

    #[test]
    fn columns_survive() {
        for values in [
            &[7][..],
            &[7, 7, 7],
            &[1000, 1001, 1003],
            &[0, (1 << 40) - 1],
        ] {
            let mut bytes = Vec::new();
            write_column(values, &mut bytes);
            let mut rest = &bytes[..];
            assert_eq!(read_column(&mut rest, values.len()), Ok(values.to_vec()));
            assert!(rest.is_empty());
            for cut in 0..bytes.len() {
                assert!(read_column(&mut &bytes[..cut], values.len()).is_err());
            }
        }
        let mut bytes = Vec::new();
        write_column(&[1000, 1001, 1003], &mut bytes);
        assert_eq!(bytes, [0xE8, 7, 2, 0b11_0100]);
    }

    #[test]
    fn the_example_of_the_format() {
        // 1 = 00001, 18 = 10010, 31 = 11111: 010 00001, then 0 11111 10.
        assert_eq!(written(&[1_u32, 18, 31]), [5, 0b0100_0001, 0b0111_1110]);
    }

    #[test]
    fn what_is_written_is_read() {
        for values in [
            vec![],
            vec![0],
            vec![u32::MAX, 0, 7],
            (0..1000).collect::<Vec<u32>>(),
        ] {
            let bytes = written(&values);
            let mut left = &bytes[..];
            assert_eq!(read(&mut left, values.len()), Ok(values));
            assert!(left.is_empty());
        }
    }

    #[test]
    fn damage_is_noticed() {
        let mut bytes = written(&[1_u32, 18, 31]);
        assert!(read::<u32>(&mut &bytes[..2], 3).is_err(), "cut");
        assert!(read::<u32>(&mut &[][..], 0).is_err(), "empty");
        bytes[2] |= 0x80;
        assert!(read::<u32>(&mut &bytes[..], 3).is_err(), "padding");
        bytes[0] = 41;
        assert!(read::<u32>(&mut &bytes[..], 3).is_err(), "width");
    }

    #[test]
    fn values_of_up_to_40_bits_are_read() {
        let slots = [7, 0xFFFF_FFFF, 1 << 32];
        let bytes: Vec<u8> = slots
            .iter()
            .flat_map(|v: &u64| v.to_le_bytes()[..5].to_vec())
            .collect();
        let bytes = [&[40], &bytes[..]].concat();
        assert_eq!(read(&mut &bytes[..11], 2), Ok(vec![7, u32::MAX]));
        assert_eq!(read::<u32>(&mut &bytes[..], 3), Err(LARGE));
        assert_eq!(read(&mut &bytes[..], 3), Ok(slots.to_vec()));
        let written = written(&slots);
        assert_eq!((written[0], written.len()), (33, 1 + 13));
        assert_eq!(read(&mut &written[..], 3), Ok(slots.to_vec()));
    }
}
