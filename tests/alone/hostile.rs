//! Texts made to be slow: none takes much more time per byte than ordinary text.
//!
//! The measure is a ratio of processor times of this process. It means the same on a fast machine,
//! a slow one and a busy one. The tests are in a test program of their own and run one after
//! another.

#![cfg(unix)]

use crate::common::{cases, options};
use bwz::Options;
use std::mem::MaybeUninit;

/// Maximum time per byte of a hostile text, as a multiple of the time for ordinary text.
const MOST: f64 = 5.0;

/// Seconds of processor time that the threads of this process have used.
fn processor_time() -> f64 {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: every Unix has this clock, and there is room for its value.
    let time = unsafe {
        assert_eq!(
            libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, time.as_mut_ptr()),
            0
        );
        time.assume_init()
    };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Nanoseconds per byte to compress `text`, the best of some tries.
fn cost(text: &[u8], options: &Options, tries: usize) -> f64 {
    let once = |_| {
        let from = processor_time();
        bwz::compress(text, std::io::sink(), options).unwrap();
        processor_time() - from
    };
    (0..tries).map(once).fold(f64::MAX, f64::min) * 1e9 / text.len() as f64
}

/// Compresses each text, and ordinary text of `size` bytes, and compares their costs.
fn assert_none_takes_long(size: usize, options: &Options, texts: Vec<(String, Vec<u8>)>) {
    let _alone = crate::alone();
    let ordinary = cost(&cases::text(size), options, 3);
    let mut slow = Vec::new();
    for (name, text) in texts {
        let ratio = cost(&text, options, 2) / ordinary;
        println!("{ratio:6.2} {name}");
        if ratio > MOST {
            slow.push(format!(
                "{name} takes {ratio:.1} times as long a byte as text"
            ));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

#[test]
fn no_shape_takes_long() {
    const SIZE: usize = 2 << 20;
    let mut texts = cases::shapes(SIZE);
    texts.retain(|(_, text)| text.len() > SIZE / 2);
    let named = |(name, text): (&str, Vec<u8>)| (name.to_owned(), text);
    texts.extend(made(SIZE).into_iter().map(named));
    texts.extend(
        cases::filtered(SIZE)
            .into_iter()
            .map(|(name, text, _)| (name.to_owned(), text)),
    );
    assert_none_takes_long(SIZE, &options(4 << 20).threads(1), texts);
}

/// This would be quadratic, which shows in large blocks.
#[test]
fn phrases_that_end_alike_do_not_take_long() {
    const SIZE: usize = 16 << 20;
    let text = || vec![("phrases that end alike".to_owned(), alike_endings(SIZE))];
    let plain = options(SIZE as u32).threads(1).memory(4 << 30);
    assert_none_takes_long(SIZE, &plain.clone().index(32).unwrap(), text());
    assert_none_takes_long(SIZE, &plain, text());
}

/// Texts that are each made for one part of the compressor.
fn made(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    let noise = cases::random(size, 256);
    let period = |n: usize| {
        noise[..n]
            .iter()
            .copied()
            .cycle()
            .take(size)
            .collect::<Vec<u8>>()
    };
    vec![
        ("period of 1000", period(1000)),
        ("period of 70,000", period(70_000)),
        (
            "copies that part every 40 bytes",
            parted(period(70_000), 40),
        ),
        (
            "copies that part every 300 bytes",
            parted(period(70_000), 300),
        ),
        ("copies that go on further each time", further(&noise, size)),
        ("copies at ever other distances", distances(&noise, size)),
        (
            "a content-defined position at each byte",
            all_positions(&noise),
        ),
        (
            "a content-defined position at each byte, in repeats",
            all_positions(&noise[..size / 8]).repeat(8),
        ),
        (
            "a phrase for each byte",
            by_windows(&noise[..size / 8], true).repeat(8),
        ),
        (
            "one phrase in all",
            by_windows(&noise[..size / 8], false).repeat(8),
        ),
        ("one symbol after each", symbols_in_turn(size)),
    ]
}

/// Changes one byte in `every`, at positions that differ from copy to copy.
fn parted(mut text: Vec<u8>, every: usize) -> Vec<u8> {
    let mut at = 0;
    while at < text.len() {
        text[at] ^= 1;
        at += every + at % 7;
    }
    text
}

/// One stretch again and again, 40 bytes longer each time. Copies of its parts match far backwards,
/// but not far forwards.
fn further(noise: &[u8], size: usize) -> Vec<u8> {
    let stretch = &noise[..80_000];
    let mut text = Vec::with_capacity(size + stretch.len());
    while text.len() < size {
        let length = 100 + text.len() / 40 % 1000 * 40;
        text.extend_from_slice(&stretch[..length]);
        text.extend_from_slice(&noise[text.len() % 100_000..][..9]);
    }
    text.truncate(size);
    text
}

/// Pieces of 64 bytes of earlier text, from everywhere.
fn distances(noise: &[u8], size: usize) -> Vec<u8> {
    let mut text = noise[..size / 4].to_vec();
    let mut from = 1;
    while text.len() < size {
        from = (from * 48_271 + 11) % (text.len() - 64);
        text.extend_from_within(from..from + 64);
    }
    text.truncate(size);
    text
}

/// Bytes at which the weighted sums that choose content-defined positions are all equal.
fn all_positions(noise: &[u8]) -> Vec<u8> {
    // The weights are powers of 2, so a byte leaves the sum after 8 steps.
    let mut sum = 0_u8;
    let next = |byte: &u8| {
        let wanted = 0x58 | byte & 7;
        let byte = wanted.wrapping_sub(sum << 1);
        sum = wanted;
        byte
    };
    noise.iter().map(next).collect()
}

/// Bytes in which every window of 8 starts a phrase, or none does.
fn by_windows(noise: &[u8], starts: bool) -> Vec<u8> {
    let mut window = 0_u64;
    let next = |byte: &u8| {
        let all = (0..=255_u8).map(|more| u64::from(byte.wrapping_add(more)));
        let windows = all.map(|byte| window >> 8 | byte << 56);
        window = windows
            .clone()
            .find(|&w| starts_phrase(w) == starts)
            .expect("one in 8 does");
        (window >> 56) as u8
    };
    noise.iter().map(next).collect()
}

/// The rule of `src/bwt/prefix_free/phrases.rs`, for phrases of 8 bytes on average.
fn starts_phrase(window: u64) -> bool {
    (window.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 <= u32::MAX / 8
}

/// Every byte follows every other one, so that the coder's lists are searched to their ends.
fn symbols_in_turn(size: usize) -> Vec<u8> {
    (0..size as u32)
        .map(|n| (n.wrapping_mul(n / 256 * 2 + 1) % 256) as u8)
        .collect()
}

/// Copies of many phrases. The last 40 bytes of each are nearly all the same letter, followed by
/// the window that starts the next phrase. So a large part of the dictionary's suffixes are equal.
fn alike_endings(size: usize) -> Vec<u8> {
    let mut noise = Noise(1);
    let is_plain = |text: &[u8]| {
        let mut windows = text
            .windows(8)
            .map(|w| u64::from_le_bytes(w.try_into().unwrap()));
        !windows.any(starts_phrase)
    };
    // A window that starts phrases at any spacing, and two letters that start none.
    let window = std::iter::repeat_with(|| noise.next())
        .find(|w| (w.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) < 1 << 26)
        .unwrap()
        .to_le_bytes();
    let plain = |text: &[u8]| is_plain(&text[1..text.len() - 1]);
    let often = (b'a'..=b'z').find(|&c| plain(&[&window[..], &[c; 32], &window].concat()));
    let often = often.expect("a letter that makes no windows");
    let count = size / 300;
    let mut phrases = Vec::with_capacity(count);
    while phrases.len() < count {
        let start = noise.next().to_le_bytes();
        let rare = |_| {
            if noise.next().is_multiple_of(16) {
                often ^ 1
            } else {
                often
            }
        };
        let end: Vec<u8> = (0..32).map(rare).collect();
        let phrase = [&window[..], &start[..3], &end].concat();
        if plain(&[&phrase[..], &window].concat()) {
            phrases.push(phrase);
        }
    }
    // The second half starts with a phrase, since the strings in the middle of a block are the
    // sample that tells if it repeats itself.
    let half = |_| {
        let all = (0..size / 32).flat_map(|_| &phrases[noise.next() as usize % count]);
        all.take(size / 2).copied().collect::<Vec<u8>>()
    };
    [(); 2].map(half).concat()
}

/// xorshift64*.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 8
    }
}
