//! BCJ (branch, call, jump): relative branch targets of machine code become absolute, so that all
//! calls of a function look alike. FORMAT.md section 12.6.
//!
//! x86: `call` and `jmp` (opcodes E8, E9) with a 32-bit displacement of up to 16 MiB. ARM64: `bl`
//! and, in pages of 4 KiB, `adrp`. Only the bytes of the target change, by an addition that the
//! opcode does not depend on, so both directions find the same instructions. One pass.
//!
//! The idea is that of Igor Pavlov's BCJ filters, in a form that needs no state: the bytes behind
//! an opcode are never taken for an opcode themselves.

use super::likeness::count;

/// The direction in which a region is changed: into the text that is sorted, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encode,
    Decode,
}

impl Direction {
    /// A displacement with the position of its instruction added, or subtracted again.
    fn shift(self, value: u32, by: u32) -> u32 {
        match self {
            Direction::Encode => value.wrapping_add(by),
            Direction::Decode => value.wrapping_sub(by),
        }
    }
}

/// Converts x86 code whose first byte is at `pos` of the text.
pub(super) fn x86(code: &mut [u8], pos: usize, direction: Direction) {
    let mut at = 0;
    while let Some(next) = memchr::memchr2(0xE8, 0xE9, code.get(at..).unwrap_or_default()) {
        at += next;
        let Some(instruction) = code.get_mut(at..at + 5) else {
            break;
        };
        at += 5;
        if is_near(instruction[4]) {
            let target = direction.shift(u32_at(&instruction[1..]), (pos + at) as u32);
            // 25 bits are kept and the rest is their sign: the top byte stays one of those two.
            let target = ((target << 7).cast_signed() >> 7).cast_unsigned();
            instruction[1..].copy_from_slice(&target.to_le_bytes());
        }
    }
}

/// Returns true if this is the top byte of a displacement of up to 16 MiB.
fn is_near(top: u8) -> bool {
    matches!(top, 0x00 | 0xFF)
}

/// Converts ARM64 code whose first byte is at `pos` of the text.
pub(super) fn arm64(code: &mut [u8], pos: usize, direction: Direction) {
    for (n, bytes) in code.chunks_exact_mut(4).enumerate() {
        let word = u32_at(bytes);
        let here = (pos + 4 * n) as u32;
        let word = if word >> 26 == BL {
            word & !BL_TARGET | direction.shift(word, here >> 2) & BL_TARGET
        } else if word & ADRP_MASK == ADRP {
            let page = direction.shift((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, here >> 12);
            word & !ADRP_TARGET | (page >> 2 & 0x7FFFF) << 5 | (page & 3) << 29
        } else {
            continue;
        };
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

const BL: u32 = 0b100101;
const BL_TARGET: u32 = 0x03FF_FFFF;
const ADRP: u32 = 0x9000_0000;
const ADRP_MASK: u32 = 0x9F00_0000;
const ADRP_TARGET: u32 = 0x60FF_FFE0;

fn u32_at(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Returns true if a sample has enough x86 calls and moves to be code.
///
/// One byte in 128 of other data is E8 or E9, and for one in 128 of those, the last byte of the
/// displacement is right; but tables of small numbers have many such bytes. `mov` (89, 8B) is the
/// one opcode that is frequent in all code.
pub(super) fn is_x86(sample: &[u8]) -> bool {
    let places = memchr::memchr2_iter(0xE8, 0xE9, sample);
    let branches = places.filter_map(|place| sample[place..].first_chunk::<5>());
    let (all, near) = branches.fold((0, 0), |(all, near), w| {
        (
            all + 1,
            near + usize::from(is_near(w[4]) && w[1..4] != [0; 3] && w[1..4] != [0xFF; 3]),
        )
    });
    let moves = count(sample, |byte| byte & 0xFD == 0x89);
    near * 250 > sample.len() && near * 2 > all && moves * 60 > sample.len()
}

/// Returns true if enough words of a sample are ARM64 calls for it to be code.
pub(super) fn is_arm64(sample: &[u8]) -> bool {
    let words = sample.chunks_exact(4).map(u32_at);
    let calls = words.filter(|word| word >> 26 == BL && matches!(word >> 22 & 0xF, 0 | 0xF));
    calls.count() * 100 > sample.len() / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_one_function_look_alike() {
        let mut code = [[0xE8, 0xFB, 0x0F, 0, 0], [0xE8, 0xF6, 0x0F, 0, 0]].concat();
        x86(&mut code, 0, Direction::Encode);
        assert_eq!(code, [[0xE8, 0, 0x10, 0, 0]; 2].concat());
        let mut code: Vec<u8> = [0x9400_0010_u32, 0x9400_000F, 0xB000_0001, 0xF940_0021]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        arm64(&mut code, 0x2000, Direction::Encode);
        let words: Vec<u32> = code.chunks(4).map(u32_at).collect();
        assert_eq!(words, [0x9400_0810, 0x9400_0810, 0xF000_0001, 0xF940_0021]);
    }

    #[test]
    fn any_bytes_come_back() {
        let noise = super::super::cases::random(60_000, 256);
        let branchy: Vec<u8> = noise
            .iter()
            .map(|b| [0xE8, 0xE9, 0, 0xFF, *b][usize::from(b % 5)])
            .collect();
        let arm: Vec<u8> = noise
            .chunks(4)
            .flat_map(|w| {
                [
                    w[0],
                    w[1],
                    w[2],
                    [0x94, 0x97, 0x90, 0xB0][usize::from(w[3] % 4)],
                ]
            })
            .collect();
        for bytes in [noise, branchy, arm] {
            for convert in [x86, arm64] {
                for (len, pos) in [(0, 0), (4, 1), (5, 9), (60_000, 0), (59_999, 0x7FFF_0000)] {
                    let mut code = bytes[..len].to_vec();
                    convert(&mut code, pos, Direction::Encode);
                    assert!(len < 6 || code != bytes[..len]);
                    convert(&mut code, pos, Direction::Decode);
                    assert!(code == bytes[..len]);
                }
            }
        }
    }

    #[test]
    fn what_is_no_code_is_not_taken_for_it() {
        for (name, bytes) in super::super::cases::shapes(60_000) {
            assert!(!is_x86(&bytes) && !is_arm64(&bytes), "{name}");
        }
    }
}
