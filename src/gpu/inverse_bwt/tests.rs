//! Inverts the BWTs of libsais, and hostile ones. Also tests what a failing GPU leaves behind.

use super::*;
use crate::cases;
use crate::coder::{self, Coding, SliceLimits};
use crate::gpu::DeviceBuffer;
use crate::gpu::testing::{gpu, random, say};
use libsais::BwtConstruction;
use libsais::bwt::AuxIndicesSamplingRate;
use std::io::Read;
use std::ops::Range;
use std::thread;

/// The BWT of a text and its samples.
fn sorted(text: &[u8], rate: u32) -> (Vec<u8>, Vec<u64>) {
    let mut bytes = vec![0; text.len()];
    let mut workspace = vec![0; text.len()];
    let (_, rows, _) = BwtConstruction::for_text(text)
        .in_borrowed_buffer(&mut bytes)
        .with_borrowed_temporary_array_buffer(&mut workspace)
        .single_threaded()
        .with_aux_indices(AuxIndicesSamplingRate::new(rate.cast_signed()))
        .run()
        .unwrap()
        .into_parts();
    let row = |row: i32| u64::from(row.cast_unsigned());
    let samples = rows.into_iter().map(row).collect();
    (bytes, samples)
}

/// An inverse with rows of 32 bits, and one with rows of 64 bits.
fn both() -> [GpuInverse; 2] {
    let new = || GpuInverse::new(0).unwrap();
    [new(), new().with_wide_rows()]
}

fn invert(inverse: &mut GpuInverse, bytes: &[u8], rate: u32, samples: &[u64]) -> Result<Vec<u8>> {
    inverse.input(bytes.len())?.copy_from_slice(bytes);
    inverse
        .invert_input(rate, samples)
        .map(<[u8]>::to_vec)
}

/// Inverts a text's BWT at each of the rates. Returns the number of rates.
fn check(inverses: &mut [GpuInverse], name: &str, text: &[u8], rates: &[u32]) -> usize {
    for &rate in rates {
        let (bytes, samples) = sorted(text, rate);
        for (k, inverse) in inverses.iter_mut().enumerate() {
            let restored = invert(inverse, &bytes, rate, &samples).unwrap();
            assert!(
                restored == text,
                "{name}, {} bytes, rate {rate}, inverse {k}",
                text.len()
            );
        }
    }
    rates.len()
}

#[test]
fn named_cases() {
    if gpu().is_none() {
        return;
    }
    let mut inverse = both();
    let mut count = 0;
    for (name, text) in cases::all()
        .iter()
        .filter(|(_, text)| !text.is_empty())
    {
        count += check(&mut inverse, name, text, &[2, 64, 1 << 15, 1 << 30]);
    }
    say(format_args!("{count} blocks restored"));
}

/// Sizes around those of tiles, and around the powers of two at which the number of nodes doubles.
#[test]
fn borders() {
    if gpu().is_none() {
        return;
    }
    let mut inverse = both();
    let mut count = 0;
    for border in [16, 32, 64, 512, 4096, 8192, 12_288, 65_536, 1 << 20] {
        for size in border - 2..=border + 2 {
            let texts = [cases::text(size), cases::random(size, 256), vec![0; size]];
            for (n, text) in texts.iter().enumerate() {
                count += check(&mut inverse, &format!("border text {n}"), text, &[1 << 15]);
            }
        }
    }
    say(format_args!("{count} blocks restored"));
}

/// Sizes around the largest block that comes in one piece.
#[test]
fn pieces() {
    if gpu().is_none() {
        return;
    }
    let mut inverse = both();
    let border = 1 << 24;
    for size in border - 1..=border + 2 {
        check(
            &mut inverse,
            "text in pieces",
            &cases::text(size),
            &[1 << 15],
        );
    }
    say("4 blocks restored");
}

/// Shapes whose neighbouring rows lie far apart in a regular way, or all in one part of the text.
#[test]
fn large_shapes() {
    if gpu().is_none() {
        return;
    }
    let mut inverse = both();
    let mut count = 0;
    let mut shapes = cases::shapes(3_000_000);
    for copies in [3, 4, 16, 128, 1000] {
        let text = cases::random(4_000_000 / copies, 256).repeat(copies);
        shapes.push((format!("{copies} copies"), text));
    }
    // Its stretches are longer than those of shorter blocks.
    shapes.push(("long text".into(), cases::text((1 << 27) + 1)));
    for (name, text) in shapes.iter().filter(|(_, text)| text.len() > 300) {
        count += check(&mut inverse, name, text, &[1 << 15]);
    }
    say(format_args!("{count} blocks restored"));
}

/// The fewest and smallest texts that go through every kernel, for the tools of
/// `compute-sanitizer`.
#[test]
fn every_kernel_of_the_inverse_once() {
    if gpu().is_none() {
        return;
    }
    let mut inverse = both();
    // The longest comes in pieces.
    let texts = [
        cases::text((1 << 24) + 9000),
        cases::random(4097, 256),
        vec![b'a'; 700],
        vec![1],
    ];
    for text in &texts {
        check(&mut inverse, "a small text", text, &[64]);
    }
    say(format_args!("{} blocks restored", texts.len()));
}

/// Bytes and rows that belong to no text or to another one: the inverse ends, and reports that they
/// contradict each other.
#[test]
fn contradictions_are_found() {
    if gpu().is_none() {
        return;
    }
    let [mut inverse, mut wide] = both();
    let mut contradictions = 0;
    let mut texts = 0;
    for seed in 0..300 {
        let len = random(1, if seed % 3 == 0 { 12 } else { 30_000 }, seed)[0] as usize + 1;
        let bytes = cases::random(len, [1, 2, 5, 256][seed as usize % 4]);
        let rate = 1 << (seed % 14 + 1);
        let rows = random(len.div_ceil(rate), len as u64, seed + 1);
        let samples: Vec<u64> = rows.into_iter().map(|row| row + 1).collect();
        let of_wide = invert(&mut wide, &bytes, rate as u32, &samples);
        let found = invert(&mut inverse, &bytes, rate as u32, &samples);
        assert_eq!(of_wide.ok(), found.as_ref().ok().cloned());
        match found {
            Err(Error::Format { .. }) => contradictions += 1,
            text => {
                assert_eq!(sorted(&text.unwrap(), rate as u32), (bytes, samples));
                texts += 1;
            }
        }
    }
    assert!(
        contradictions > 200,
        "{contradictions} contradictions, {texts} texts"
    );
    say(format_args!(
        "{contradictions} contradictions, {texts} texts by chance"
    ));
}

#[test]
fn wrong_samples_are_found() {
    if gpu().is_none() {
        return;
    }
    let text = cases::text(20_000);
    let (bytes, samples) = sorted(&text, 64);
    for mut inverse in both() {
        for k in [0, 1, 100, samples.len() - 1] {
            for row in [0, samples[k] - 1, samples[k] + 1, 20_001, u64::MAX] {
                let mut wrong = samples.clone();
                wrong[k] = row;
                let end = invert(&mut inverse, &bytes, 64, &wrong);
                assert!(
                    matches!(end, Err(Error::Format { .. })),
                    "sample {k} as {row}"
                );
            }
        }
        assert!(invert(&mut inverse, &bytes, 64, &samples[1..]).is_err());
        assert!(invert(&mut inverse, &bytes, 63, &samples).is_err());
        assert!(invert(&mut inverse, &bytes, 64, &samples).unwrap() == text);
    }
}

#[test]
fn several_work_side_by_side() {
    if gpu().is_none() {
        return;
    }
    thread::scope(|scope| {
        for n in 1..=6 {
            scope.spawn(move || {
                let mut inverse = both();
                for round in 0..10 {
                    let text = cases::random(n * 300_000 + round, 20 + n as u32);
                    check(&mut inverse, "a random text", &text, &[1 << 15]);
                }
            });
        }
    });
    say("60 blocks restored");
}

#[test]
fn a_failure_leaves_the_inverse_usable() {
    if gpu().is_none() {
        return;
    }
    let mut inverse = GpuInverse::new(0).unwrap();
    let text = cases::text(50_000);
    let (bytes, samples) = sorted(&text, 64);
    let mut failures = 0;
    loop {
        inverse.fail_after(failures);
        match invert(&mut inverse, &bytes, 64, &samples) {
            Err(Error::Device(_)) => failures += 1,
            restored => break assert!(restored.unwrap() == text),
        }
    }
    assert!(failures >= 7, "{failures} kernels were launched");
    inverse.fail_after(u32::MAX);
    assert_eq!(check(&mut [inverse], "the same text", &text, &[64]), 1);
}

/// The CPU encodes; the GPU decodes and inverts.
#[test]
fn coded_slices_are_restored() {
    if gpu().is_none() {
        return;
    }
    let mut inverse = GpuInverse::new(0).unwrap();
    let mut decoder = BwtDecoder::new(0).unwrap();
    let limits = SliceLimits {
        runs: 3000,
        bytes: 1 << 24,
    };
    let mut blocks = 0;
    let large = [(
        "a text in pieces".to_owned(),
        cases::text((1 << 24) + 70_000),
    )];
    for (name, text) in cases::all()
        .iter()
        .chain(&large)
        .filter(|(_, text)| !text.is_empty())
    {
        let (bytes, samples) = sorted(text, 64);
        let mut coded = coder::encode_slices(&bytes, limits, Coding::StaticRans);
        let restored = inverse
            .invert_coded(&mut decoder, &coded, 64, &samples)
            .unwrap();
        assert!(
            restored.is_some_and(|(_, restored)| restored == text),
            "{name}"
        );
        let slice = &mut coded.slices[0];
        if slice.len() > 8 && slice.len() < coded.raw_sizes[0] as usize {
            slice.truncate(7);
            let restored = inverse
                .invert_coded(&mut decoder, &coded, 64, &samples)
                .unwrap();
            assert!(restored.is_none(), "{name}, damaged");
        }
        blocks += 1;
    }
    say(format_args!("{blocks} blocks restored"));
}

/// Texts that stay on the device, whole and in part, with bytes of the caller's memory before and
/// behind.
#[test]
fn texts_stay_on_the_device() {
    if gpu().is_none() {
        return;
    }
    let limits = SliceLimits {
        runs: 3000,
        bytes: 1 << 24,
    };
    let mut decoder = BwtDecoder::new(0).unwrap();
    let texts = [
        cases::text((1 << 24) + 70_000),
        cases::random(4097, 256),
        vec![b'a'; 700],
        vec![1],
    ];
    let mut count = 0;
    for mut inverse in both() {
        for text in &texts {
            let n = text.len();
            let (bytes, samples) = sorted(text, 64);
            let coded = coder::encode_slices(&bytes, limits, Coding::StaticRans);
            for part in [0..n, n / 3..n, 0..n.div_ceil(2)] {
                let mut memory = DeviceBuffer::new(0, n + 3).unwrap();
                let memory = memory.slice();
                let span = memory.span();
                span.write(0, &vec![0xEE; n + 3]).unwrap();
                let target = TextTarget {
                    from: part.start as u32,
                    len: part.len() as u32,
                    span: &span,
                    at: 1,
                };
                let done = inverse.invert_coded_to(&mut decoder, &coded, 64, &samples, &target);
                let (_, checksum) = done.unwrap().expect("the slices are sound");
                assert_eq!(checksum, crc32fast::hash(text), "{part:?} of {n}");
                let mut found = Vec::new();
                memory.reader().read_to_end(&mut found).unwrap();
                let mut expected = vec![0xEE; n + 3];
                expected[1..=part.len()].copy_from_slice(&text[part.clone()]);
                assert!(found == expected, "{part:?} of {n}");
                count += 1;
            }
        }
    }
    say(format_args!("{count} texts"));
}

/// Checksums on the device are of 32-bit lengths, so larger texts are refused before any work.
#[test]
fn large_texts_do_not_stay_on_the_device() {
    if gpu().is_none() {
        return;
    }
    let coded = CodedBwt {
        models: Vec::new(),
        raw_sizes: vec![1 << 30, 1],
        slices: vec![Vec::new(), Vec::new()],
    };
    let mut memory = DeviceBuffer::new(0, 8).unwrap();
    let span = memory.slice().span();
    let target = TextTarget {
        from: 0,
        len: 8,
        span: &span,
        at: 0,
    };
    let mut decoder = BwtDecoder::new(0).unwrap();
    let mut inverse = GpuInverse::new(0).unwrap();
    let done = inverse.invert_coded_to(&mut decoder, &coded, 64, &[1], &target);
    assert!(matches!(done, Err(Error::Usage(_))), "{done:?}");
    say("1 text refused");
}

/// Blocks that go in and out by portions, of many sizes.
#[test]
fn portions() {
    if gpu().is_none() {
        return;
    }
    let limits = SliceLimits {
        runs: 3000,
        bytes: 1 << 24,
    };
    let mut decoder = BwtDecoder::new(0).unwrap();
    let mut blocks = 0;
    let large = [("three pieces".to_owned(), cases::text(40_000_000))];
    let texts: Vec<_> = cases::all().into_iter().chain(large).collect();
    for inverse in both() {
        let mut inverse = inverse.with_portions(300_000);
        for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            let (bytes, samples) = sorted(text, 64);
            let n = bytes.len() as u64;
            let mut restored = vec![0; text.len()];
            let fill = |range: Range<u64>, room: &mut [u8]| {
                room.copy_from_slice(&bytes[range.start as usize..range.end as usize]);
            };
            inverse
                .invert_portions(n, 64, &samples, fill, |range, bytes| {
                    restored[range.start as usize..range.end as usize].copy_from_slice(bytes);
                })
                .unwrap();
            assert!(restored == *text, "{name}");
            restored.fill(0);
            let mut coded = coder::encode_slices(&bytes, limits, Coding::StaticRans);
            let mut decode = |coded: &CodedBwt, restored: &mut [u8]| {
                inverse.invert_coded_portions(&mut decoder, coded, 64, &samples, |range, bytes| {
                    restored[range.start as usize..range.end as usize].copy_from_slice(bytes);
                })
            };
            assert!(decode(&coded, &mut restored).unwrap().is_some());
            assert!(restored == *text, "{name}, coded");
            let size = coded.raw_sizes.len();
            let last = &mut coded.slices[size - 1];
            if last.len() > 8 && last.len() < coded.raw_sizes[size - 1] as usize {
                last.truncate(7);
                assert!(decode(&coded, &mut restored).unwrap().is_none(), "{name}");
            }
            blocks += 1;
        }
    }
    say(format_args!("{blocks} blocks restored"));
}
