//! Every oddity comes back, and no text or parameters do harm.

use super::choose_tokens::{keep_fields, size_apart};
use super::known_forms::KnownForms;
use super::line_parts::{Apart, take_any_apart};
use super::tokens::Kept;
use super::*;
use crate::base::threads::Threads;
use crate::cases;

const TOKENS: [Tokens; 9] = [
    Tokens::Words,
    Tokens::MergedWords,
    Tokens::Fields(b','),
    Tokens::Fields(b' '),
    Tokens::Fields(b'\t'),
    Tokens::FieldsBy(b',', Kept::NONE.and(1)),
    Tokens::FieldsBy(b' ', Kept::NONE.and(0).and(2)),
    Tokens::Tuples,
    Tokens::Reads,
];

/// Lines of fields with every oddity.
fn oddities() -> Vec<Vec<u8>> {
    let whole: &[&[u8]] = &[
        b"2026-03-01 20:36:04 status unpacked faifa:amd64 0.2~svn82-3\n",
        b"a,b,c\n1,2,3\n1,,3\n,,\n",
        b"1,\"quoted, with \"\"quotes\"\" in it\",2\r\n1,\"never closed,2\r\n",
        b"{\"key\": 17, \"id\": \"0b1c\"}\n{\"id\": \"0b1c\", \"other\": [1, 2, {}]}\n",
        b"key=007 other=7 neither=-7 nor=-0 big=999999999999999999 bigger=1000000000000000000\n",
        b"no end",
        b"\n",
        b"\n\n\r\n",
        b"\r",
        b"7",
        b"slot byte \x01 in 12 a line\n\x01\n",
        b"binary \x00\x02\xFF 5\xFE7\n",
        b"\xC3\xA9t\xC3\xA9 2026\n",
        b"10.0.0.107 0x7fc40fcb3656 00:1b:21:3c:9d:01 78dc1847-8848-49cc-933e-9239b1\n",
        b"@r.1 x:7/1\nACGTN\n+\nII#!I\n@r.2 x:9/1\nAC\n+r.2 x:9/1\n@+\n",
        b"@r1\r\nACGT\r\n+\r\n@III\r\n@r2\r\n\r\n+\r\n\r\n",
        b"@r1\nACGT\n+\nIII\n@r2\nAC\nII\n@r3\n\n+\n\n+\n@\x02\nA\n+\nI\n@r4\nA\n+\n",
        b"@no end\nACGT\n+\nIIII",
        b"@empty\n\n+\n",
        b"chr1\t107\t60\t150M\t=\t267\t310\t\t\n",
        b"7,7\n7,7\nx,7\n7,y\n7,7\n7,8\n8,8\n8,8",
        b"7,12345678901234567\n7,12345678901234567\n7,-1234567890123456\n7,-123456789012345\n",
    ];
    let mut all: Vec<Vec<u8>> = whole.iter().map(|text| text.to_vec()).collect();
    all.push([vec![b'5'; 70_000], b"\n7\n".to_vec()].concat());
    all.push([b"1 ".repeat(3000), b"\n7\n".to_vec()].concat());
    all.push(whole.concat());
    all.push(noise());
    all
}

/// Lines with columns of every form.
fn every_form() -> Vec<u8> {
    let line = |n: usize| {
        let key = n * n % 7;
        let one = n * 7919 % 1009;
        let two = n * 104_729 % 2003;
        let of_key = key * 7919 % 10_007 + n % 2;
        let host = ["ann", "bob", "cy", "dee", "eve", "fay", "gus"][key];
        let less = one as i64 - two as i64 + i64::from(n.is_multiple_of(17));
        let checksum = n * 0x9E37_79B1 % 0xFFFF_FFFB;
        let again = if n.is_multiple_of(5) {
            checksum / 3
        } else {
            checksum
        };
        format!("{n},{key},{host},{of_key},{one},{two},{less},{checksum:08x},{again:08x}\n")
    };
    (0..120)
        .flat_map(|n| line(n).into_bytes())
        .collect()
}

#[test]
fn columns_of_many_forms_come_back() {
    let block = every_form();
    let (text, _) = round_trip(&block, Tokens::Fields(b',')).unwrap();
    // The template, its number 120 times, and then the columns.
    let numbers = text
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap()
        + 1;
    let forms: [&[u8]; 5] = [
        b"\x01\n",
        b"\x03\x01\n",
        b"\x04\x02\x01\n",
        b"\x05",
        b"\x06\x01",
    ];
    for form in forms {
        assert!(
            memchr::memmem::find(&text[numbers + 120..], form).is_some(),
            "{form:?}"
        );
    }
}

/// Lines of values without any pattern.
fn noise() -> Vec<u8> {
    let line = |n: u64| {
        let [one, two, three] = [1, 2, 3].map(|k: u64| {
            let product = (n * 3 + k).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (product ^ product >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
        });
        let id = format!("{:04x}-4{:03x}-{:02X}", one >> 48, two >> 52, three >> 56);
        let numbers = format!(
            "{:06},{},{}",
            one % 999_983,
            1024 + two % 64_507,
            three >> 1
        );
        format!("{id},{two:016X},{three:032x},{numbers},{}\n", n % 2)
    };
    (0..60)
        .flat_map(|n| line(n).into_bytes())
        .collect()
}

#[test]
fn noise_is_packed() {
    let block = noise();
    let (text, side) = round_trip(&block, Tokens::Fields(b',')).unwrap();
    assert!(
        side[..2] == [1, 120] && (4..7).contains(&side[2]),
        "{:?}",
        &side[..3]
    );
    // 5 bytes of each line are left in the text, and 8, 8, 2.5, 2, and 8 bytes are beside it.
    assert!(
        text.len() < 60 * 4 && side.len() < 60 * 35,
        "{}, {}",
        text.len(),
        side.len()
    );
    // Long values that occur twice are not packed.
    let lines = block.split_inclusive(|&byte| byte == b'\n');
    let twice = lines
        .flat_map(|line| [line, b"and ", line].concat())
        .collect::<Vec<u8>>();
    let (_, side) = round_trip(&twice, Tokens::Fields(b',')).unwrap();
    assert!(side.len() < 60 * 8, "{}", side.len());
    // One odd value far behind the others.
    for odd in [
        "0",
        "",
        "-1",
        "0123456789ABCDEf0123456789abcdef",
        "99999999999999999999",
    ] {
        let odd = [odd; 7].join(",") + "\n";
        let all = [&block[..], odd.as_bytes()].concat();
        let (_, side) = round_trip(&all, Tokens::Fields(b',')).unwrap();
        assert!(side[2] <= 2, "{odd}: {side:?}");
    }
}

/// A value that, raised, is the mark of an empty one. It is far behind the values by which a form
/// is chosen.
#[test]
fn values_that_look_like_marks_come_back() {
    let hex = |n: usize| {
        format!(
            "{:016x}",
            (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        )
    };
    for odd in [&b"\x81"[..], b"\x8A", b"\x01", b"", b"\x80"] {
        let line = |n: usize| match n {
            11_000 => [format!("{n},{},", hex(n)).as_bytes(), odd, b"\n"].concat(),
            _ => format!("{n},{0},{0}\n", hex(n)).into_bytes(),
        };
        let block: Vec<u8> = (0..12_000).flat_map(line).collect();
        round_trip(&block, Tokens::Fields(b','));
    }
}

/// Takes `block` apart and puts it together again.
fn round_trip(block: &[u8], tokens: Tokens) -> Option<(Vec<u8>, Vec<u8>)> {
    let Apart {
        text,
        side,
        whole_lines,
        forms: _,
    } = take_any_apart(block, tokens, &KnownForms::default(), &Threads::Calling).unwrap()?;
    assert!(whole_lines.end <= text.len());
    let more = [&side[..], b"more"].concat();
    let mut rest = &more[..];
    let joined = put_together(&text, &mut rest, block.len());
    assert!(
        joined
            .as_ref()
            .is_ok_and(|joined| joined == block)
            && rest == b"more",
        "{tokens:?} {joined:?} {:?}",
        String::from_utf8_lossy(block)
    );
    Some((text, side))
}

#[test]
fn every_oddity_comes_back() {
    for text in oddities() {
        for times in [1, 2, 17, (20_000 / text.len()).max(3)] {
            for tokens in TOKENS {
                round_trip(&text.repeat(times), tokens);
                round_trip(&[&text.repeat(times)[..], b"tail 5"].concat(), tokens);
            }
        }
    }
}

/// Some of the oddities repeated, with bytes changed, taken out or put in.
fn mutated(seed: usize, oddities: &[Vec<u8>]) -> Vec<u8> {
    const BYTES: &[u8] = b"\n\n\r,,  \t\"-0019:.ab=@+\x00\x01\x02\xFF\x81\x8A";
    let mut state = seed as u64 * 2 + 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % below
    };
    for _ in 0..9 {
        let _ = next(2);
    }
    let mut text = Vec::new();
    for _ in 0..=next(3) {
        let one = &oddities[next(oddities.len())];
        text.extend_from_slice(&one[..one.len().min(700)].repeat(1 + next(40)));
    }
    text.truncate(4000);
    match seed % 14 {
        0 | 7 => text.extend(every_form()),
        3 | 8 => text.extend(noise()),
        _ => {}
    }
    for _ in 0..next(40) {
        let at = next(text.len());
        let byte = BYTES[next(BYTES.len())];
        match next(3) {
            0 => text.insert(at, byte),
            1 if text.len() > 1 => drop(text.remove(at)),
            _ => text[at] = byte,
        }
    }
    text
}

/// The variable `ROUNDS` is the number of rounds, and `SEED` the first seed. An optimised run by
/// hand does 10^7 rounds, in several processes that each have their own seeds.
#[test]
fn mutated_lines_come_back() {
    let of_run = |name, usual| std::env::var(name).map_or(usual, |number| number.parse().unwrap());
    let rounds = of_run("ROUNDS", 2000);
    let first = of_run("SEED", 0);
    let oddities = oddities();
    let mut apart = 0;
    for seed in first..first + rounds {
        let text = mutated(seed, &oddities);
        apart += usize::from(round_trip(&text, TOKENS[seed % TOKENS.len()]).is_some());
    }
    assert!(
        apart * 4 > rounds,
        "only {apart} of {rounds} were taken apart"
    );
}

/// Lines of more than one part, and more templates than a block may have.
#[test]
fn parts_and_threads_give_the_same() {
    let mut block = Vec::new();
    for n in 0..60_000_usize {
        let odd = if n % 3 == 0 {
            format!("{}x", n * 7919 % 30_000)
        } else {
            String::new()
        };
        let letters = odd
            .bytes()
            .map(|byte| char::from(byte | 0x50))
            .collect::<String>();
        block.extend(format!("{:05} {letters} id={},{}\n", n / 3, n * n % 977, n % 5).bytes());
    }
    let pool = crate::engine::thread_pool::pool(&crate::Options::new().threads(3)).unwrap();
    let pool = Threads::Pool(pool.into());
    for tokens in TOKENS {
        let apart = round_trip(&block, tokens);
        let others = take_any_apart(&block, tokens, &KnownForms::default(), &pool).unwrap();
        assert_eq!(others.map(|others| (others.text, others.side)), apart);
    }
}

/// More templates in each part than a block may have. Some differ in zeros alone.
#[test]
fn parts_of_many_templates_come_back() {
    let mut block = b"zz\n".to_vec();
    for n in 0..90_000_usize {
        let letters: String = (0..6)
            .map(|k| char::from(b'a' + (n >> (3 * k) & 7) as u8))
            .collect();
        block.extend(format!("{letters} {n}\n").bytes());
        if n % 1000 == 999 {
            block.extend(b"zz\0\nzz\n");
        }
    }
    assert!(round_trip(&block, Tokens::Words).is_some());
}

/// With merged templates a part would have too many values, and the block has too many templates.
/// Then none is merged, and no line has a template that is missing.
#[test]
fn templates_are_not_merged_where_values_are_too_many() {
    let word = |n: usize| char::from(b'a' + n as u8);
    let mut block = Vec::new();
    for n in 0..70_000_usize {
        let [a, b, c] = [n % 26, n / 26 % 26, n / 676 % 26].map(word);
        block.extend(format!("{a} {b} {c} 1\n").bytes());
    }
    assert!(round_trip(&block, Tokens::Words).is_some());
    assert_eq!(
        round_trip(&block, Tokens::MergedWords),
        round_trip(&block, Tokens::Words)
    );
    // Lines that leave room for the values.
    let few: Vec<u8> = (0..20_000)
        .flat_map(|n| format!("user {} is {n} seconds late\n", word(n % 26)).into_bytes())
        .collect();
    let (text, side) = round_trip(&few, Tokens::MergedWords).unwrap();
    assert!(text.starts_with(b"user \x01 is \x01 seconds late\n") && side[0] == 1);
}

#[test]
fn fields_of_many_values_do_not_stay_in_the_templates() {
    let block: Vec<u8> = (0..5000)
        .flat_map(|n| format!("{n},{},7\n", n % 3).into_bytes())
        .collect();
    let apart = |place| round_trip(&block, Tokens::FieldsBy(b',', Kept::NONE.and(place)));
    let none = round_trip(&block, Tokens::Fields(b','));
    assert_eq!(apart(0), none);
    assert_ne!(apart(1), none);
}

#[test]
fn any_text_is_survived() {
    let oddities = oddities();
    for seed in 0..12 {
        let block = mutated(seed, &oddities);
        let Some((text, side)) = round_trip(&block, TOKENS[seed % TOKENS.len()]) else {
            continue;
        };
        let survive = |text: &[u8], side: &[u8], size: usize| {
            if let Ok(block) = put_together(text, &mut { side }, size) {
                assert_eq!(block.len(), size);
            }
        };
        for at in 0..text.len().min(1500) {
            let mut damaged = text.clone();
            for byte in [0, 1, b'\n', 2, 255, text[at] ^ 1, text[at] ^ 0x40] {
                damaged[at] = byte;
                survive(&damaged, &side, block.len());
            }
            survive(&text[..at], &side, block.len());
        }
        for bit in 0..side.len() * 8 {
            let mut damaged = side.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            survive(&text, &damaged, block.len());
        }
        for size in [0, 1, block.len() - 1, block.len() + 1, 1 << 33] {
            assert!(put_together(&text, &mut &side[..], size).is_err());
        }
    }
}

#[test]
fn columns_are_what_the_values_are() {
    let log: Vec<u8> = (0..20)
        .flat_map(|n| format!("at {} of 7\n", 1000 + n).into_bytes())
        .collect();
    let (text, side) = round_trip(&log, Tokens::Words).unwrap();
    assert_eq!(side, [1, 40, 0]);
    let mut wanted = b"at \x01 of \x01\n".to_vec();
    wanted.extend([1; 20]);
    // Differences: 1000 is 2000 as a zigzag, which takes two bytes.
    let [high, low] = (2000_u16 - 192).to_be_bytes();
    wanted.extend([1, b'\n', 208 + high, low]);
    wanted.extend([18; 19]);
    wanted.push(0);
    wanted.extend(b"7\n".repeat(20));
    assert_eq!(text, wanted);
}

/// Reads of several lengths, with qualities of the same lengths.
fn reads() -> Vec<u8> {
    let bytes = cases::random(40 * 60, 4);
    let record = |(n, bytes): (usize, &[u8])| {
        let bases: String = bytes
            .iter()
            .map(|&byte| char::from(b"ACGT"[usize::from(byte)]))
            .collect();
        let qualities: String = bytes
            .iter()
            .map(|&byte| char::from(b'@' + byte))
            .collect();
        let len = 60 - n % 7;
        format!("@r{n}/1 x\n{}\n+\n{}\n", &bases[..len], &qualities[..len])
    };
    bytes
        .chunks(60)
        .enumerate()
        .flat_map(|of| record(of).into_bytes())
        .collect()
}

#[test]
fn reads_have_a_column_for_each_of_their_parts() {
    let block = reads();
    let (text, side) = round_trip(&block, Tokens::Reads).unwrap();
    assert_eq!(side, [1, 80, 0]);
    let mut wanted = b"@\x01/\x01 \x01\x02\x01\x02+\x02\x01\n".to_vec();
    wanted.extend([1; 40]);
    assert!(text.starts_with(&wanted));
    let lines: Vec<&[u8]> = block.split(|&byte| byte == b'\n').collect();
    let size: usize = lines[1..]
        .iter()
        .step_by(4)
        .map(|bases| bases.len())
        .sum();
    let [bases, qualities] = [1, 3].map(|line| {
        lines[line..]
            .iter()
            .step_by(4)
            .copied()
            .collect::<Vec<_>>()
            .concat()
    });
    // The first length is 60; the next ones are 1 less each, and 60 again.
    let lengths = [&[7, 0, 16 + 120][..], &[16 + 1; 6], &[16 + 12]].concat();
    let raised: Vec<u8> = qualities.iter().map(|byte| byte ^ 0x80).collect();
    let size = [size as u8 | 0x80, (size >> 7) as u8];
    for part in [lengths, bases, [&[8, 1], &size[..], &raised].concat()] {
        assert!(memchr::memmem::find(&text, &part).is_some(), "{part:?}");
    }
    assert!(text.ends_with(&raised));
}

#[test]
fn records_are_whole_in_every_part_of_a_block() {
    let block = reads().repeat(400);
    assert!(block.len() > 1 << 20);
    let (text, _) = round_trip(&block, Tokens::Reads).unwrap();
    let uses = memchr::memchr(b'\n', &text).unwrap() + 1;
    assert!(
        text[uses..uses + 40 * 400]
            .iter()
            .all(|&number| number == 1)
    );
    assert_eq!(slots(&block), Some(Tokens::Reads));
}

/// The slots that a block is taken apart by, if it is.
fn slots(block: &[u8]) -> Option<Tokens> {
    choose(block, &Threads::Calling)
        .unwrap()
        .and_then(Chosen::slots)
}

/// Roads between towns: the length of a road depends on both its ends.
#[test]
fn fields_that_tell_what_others_are_stay_in_the_template() {
    let mut state = 1_u64;
    let mut road = || {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(1);
        let drawn = (state >> 33) as usize;
        let from = drawn % 3;
        let to = drawn / 3 % 83;
        let day = drawn / 249 % 7;
        let length = (from * 83 + to) * 104_729 % 4001;
        format!(
            "{day},{},town{to},{length}\n",
            ["north", "south", "west"][from]
        )
    };
    let block: Vec<u8> = (0..9000)
        .flat_map(|_| road().into_bytes())
        .collect();
    let size = size_apart(&block, Some(Tokens::Fields(b','))).unwrap();
    let (smaller, chosen) = keep_fields(&block, b',', size, &Threads::Calling).unwrap();
    let Tokens::FieldsBy(b',', kept) = chosen else {
        panic!("{chosen:?}")
    };
    assert!(kept.has(1) && !kept.has(2) && !kept.has(3));
    assert!(smaller * 10 < size * 9, "{size}, {smaller}");
}

#[test]
fn lines_of_fields_are_told_from_others() {
    let lines = |line: fn(usize) -> String| -> Vec<u8> {
        (0..4000)
            .flat_map(|n| line(n).into_bytes())
            .collect()
    };
    let log = lines(|n| {
        format!(
            "{:06} host sshd[{}]: from 10.0.{}.7\n",
            n * 3,
            n % 90,
            n * n % 77
        )
    });
    assert_eq!(slots(&log), Some(Tokens::Words));
    let table = lines(|n| {
        let name = ["ann", "bob", "cy"][n * n % 7 % 3];
        format!("{name},{},,{}\n", n * n % 1009, n * 7)
    });
    assert!(slots(&table).is_some());
    for (name, block) in cases::named()
        .into_iter()
        .chain(cases::shapes(100_000))
    {
        assert_eq!(slots(&block), None, "{name}");
    }
}

#[test]
fn forms_of_another_block_are_taken_over_where_they_suit_and_do_no_harm_elsewhere() {
    let kinds: [fn(usize) -> String; 4] = [
        |n| {
            format!(
                "{},{},{}\n",
                10_000_000 + n * 3,
                500_000 + n * n % 97,
                n * n % 97 * 7 + 70_000
            )
        },
        |n| {
            format!(
                "{},{},{}\n",
                90_000_000 + n * 3,
                500_000 + n * n % 89,
                n * n % 89 * 7 + 70_000
            )
        },
        |n| {
            format!(
                "{:016x},{:06},{}\n",
                n * 0x9E37_79B1,
                n % 3,
                "x".repeat(5 + n % 5)
            )
        },
        |n| format!("\"a; b{}; c\",-{n:06},{:06}\n", n % 7, n * n),
    ];
    let lines = |line: fn(usize) -> String| (0..3000).map(line).collect::<String>();
    let blocks = kinds.map(|line| lines(line).into_bytes());
    let apart = |block: &[u8], known: &KnownForms| {
        take_any_apart(block, Tokens::Fields(b','), known, &Threads::Calling)
            .unwrap()
            .unwrap()
    };
    let own = blocks
        .each_ref()
        .map(|block| apart(block, &KnownForms::default()));
    for (known, of) in own.iter().zip(0..) {
        for (block, at) in blocks.iter().zip(0..) {
            let Apart { text, side, .. } = apart(block, &known.forms);
            assert_eq!(
                put_together(&text, &mut &side[..], block.len()).as_ref(),
                Ok(block)
            );
            if of == at {
                assert!(text == own[at].text, "{at}");
            }
            // The first two are alike.
            if of + at == 1 {
                assert!(text.len() <= own[at].text.len() * 13 / 12, "{of}, {at}");
            }
        }
    }
}
