//! The one table of named inputs for every sorter, coder and file.
//!
//! Each case represents a way in which block sorters and run coders have failed before.

/// Name and bytes of every case.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let mut cases = named();
    cases.extend((0..=300).map(|n| (format!("text of {n}"), text(n))));
    cases.extend((1..=300).map(|n| (format!("random of {n}"), random(n, 256))));
    cases
}

/// The shapes, and sizes around powers of two, at which behaviour often changes.
pub fn named() -> Vec<(String, Vec<u8>)> {
    let mut cases = shapes(60_000);
    for border in [256, 1 << 10, 1 << 12, 1 << 16] {
        for size in border - 1..=border + 1 {
            cases.push((format!("text of {size}"), text(size)));
            cases.push((format!("run of {size}"), vec![b'x'; size]));
        }
    }
    cases
}

/// The cases with a shape. Those without a fixed size are cut to `size` bytes.
pub fn shapes(size: usize) -> Vec<(String, Vec<u8>)> {
    let cycle = |word: &[u8]| {
        word.iter()
            .copied()
            .cycle()
            .take(size)
            .collect::<Vec<u8>>()
    };
    let half = size / 2;
    [
        ("empty", vec![]),
        ("one byte", vec![7]),
        ("one byte 0", vec![0]),
        ("one byte 255", vec![255]),
        ("banana", b"banana".to_vec()),
        ("mississippi", b"mississippi".to_vec()),
        ("all equal", cycle(b"a")),
        ("all 0", cycle(&[0])),
        ("all 255", cycle(&[255])),
        ("all equal but the last", [cycle(&[7]), vec![8]].concat()),
        ("all equal but the first", [vec![8], cycle(&[7])].concat()),
        ("ab repeated", cycle(b"ab")),
        ("abc repeated", cycle(b"abc")),
        ("Fibonacci", fibonacci(size)),
        (
            "Thue-Morse",
            (0..size)
                .map(|n| b'0' + (n.count_ones() & 1) as u8)
                .collect(),
        ),
        ("de Bruijn", de_bruijn(size.ilog2())),
        ("all 256 up", (0..=255).collect()),
        ("all 256 down", (0..=255).rev().collect()),
        ("all 256 many times", (0..=255).cycle().take(size).collect()),
        ("text", text(size)),
        ("text twice", text(half).repeat(2)),
        (
            "text with a run",
            [text(half), vec![b' '; half], text(half)].concat(),
        ),
        ("random", random(size, 256)),
        ("random twice", random(half, 256).repeat(2)),
        ("random bits", random(size, 2)),
        ("DNA", dna(size)),
        ("random over 17", random(size, 17)),
        ("random over 255", random(size, 255)),
        ("records", records(size as u32 / 16)),
        (
            "mostly 0",
            random(size, 256)
                .iter()
                .map(|&b| if b < 250 { 0 } else { b })
                .collect(),
        ),
    ]
    .into_iter()
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .collect()
}

/// Words of uneven frequency, deterministic: compresses like text, about 3 bits a byte.
pub fn text(size: usize) -> Vec<u8> {
    const WORDS: &[u8] = b"the of and to in that was his he it with is for as had you not be her on at by \
        which have or from this him but all she they were my are me one their so an said them we who \
        whale mast harpoon quadrant leviathan";
    let words: Vec<&[u8]> = WORDS
        .split(|&b| b == b' ')
        .filter(|word| !word.is_empty())
        .collect();
    let mut bytes = Vec::with_capacity(size + 16);
    let mut state = 1;
    while bytes.len() < size {
        let a = next(&mut state) as usize;
        let b = next(&mut state) as usize;
        bytes.extend_from_slice(words[(a % words.len()) * (b % words.len()) / words.len()]);
        bytes.push(if a.is_multiple_of(11) { b'\n' } else { b' ' });
    }
    bytes.truncate(size);
    bytes
}

/// Random bytes below `alphabet`, the same on every run.
pub fn random(size: usize, alphabet: u32) -> Vec<u8> {
    let mut state = 4711 + u64::from(alphabet);
    (0..size)
        .map(|_| (next(&mut state) % alphabet) as u8)
        .collect()
}

/// The Fibonacci word, the worst case of many sorters.
pub fn fibonacci(size: usize) -> Vec<u8> {
    let mut a = b"a".to_vec();
    let mut b = b"ab".to_vec();
    while b.len() < size {
        let longer = [&b[..], &a[..]].concat();
        a = b;
        b = longer;
    }
    b.truncate(size);
    b
}

/// A binary string that contains every word of `order` bits: no two long contexts are equal.
fn de_bruijn(order: u32) -> Vec<u8> {
    let mask = (1u32 << order) - 1;
    let mut seen = vec![false; 1 << order];
    let mut word = 0;
    let mut bytes = vec![b'0'; order as usize];
    loop {
        seen[word as usize] = true;
        let bit = [1, 0]
            .into_iter()
            .find(|bit| !seen[(word << 1 & mask | bit) as usize]);
        let Some(bit) = bit else { return bytes };
        word = word << 1 & mask | bit;
        bytes.push(b'0' + bit as u8);
    }
}

/// Fixed-size binary records with counters in them.
fn records(count: u32) -> Vec<u8> {
    (0..count)
        .flat_map(|n| {
            [
                n.to_le_bytes(),
                n.wrapping_mul(n).to_be_bytes(),
                [9; 4],
                (n / 7).to_le_bytes(),
            ]
        })
        .flatten()
        .collect()
}

/// xorshift64*: the source of all random numbers in tests.
fn next(state: &mut u64) -> u32 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
}

/// Name, bytes and filters (as in a block's header) of the kinds of data for which there are
/// filters. The table has columns of one byte, whose long runs are matches.
pub fn filtered(size: usize) -> Vec<(&'static str, Vec<u8>, &'static [u8])> {
    vec![
        ("wrapped DNA", wrapped(&dna(size)), &[1]),
        ("reads", reads(size), &[4]),
        ("table", table(size), &[2, 3]),
        ("image of 16 bits", image(size), &[2]),
        ("x86", x86(size), &[2]),
        ("ARM64", arm64(size), &[2]),
        (
            "table, x86 and text",
            [table(size), x86(size), text(size)].concat(),
            &[2, 3],
        ),
        ("versions", versions(&text(size / 6)), &[3]),
        (
            "wrapped versions",
            wrapped(&versions(&dna(size / 6))),
            &[1, 3],
        ),
        ("log", log(size), &[4]),
        ("comma-separated values", values(size), &[4]),
        ("lists", lists(size), &[4]),
    ]
}

/// Lines of a log: times, numbers, addresses, and sometimes other things.
fn log(size: usize) -> Vec<u8> {
    let noise = random(size, 251);
    let mut lines = Vec::new();
    let mut time = 36_000;
    for n in noise.chunks_exact(5).take_while(|n| n.len() == 5) {
        time += u32::from(n[0] / 50);
        let clock = format!(
            "{:02}:{:02}:{:02}",
            time / 3600 % 24,
            time / 60 % 60,
            time % 60
        );
        let process = 700 + u32::from(n[1] % 9);
        let address = format!("10.0.{}.{}", n[2] % 4, n[3]);
        let said = match n[4] % 20 {
            0..9 => format!(
                "Failed password for root from {address} port {}",
                4096 + time % 977
            ),
            9..13 => format!("Accepted key 0x{:04x} of {address}", u32::from(n[4]) * 259),
            13..19 => format!("session {} closed", time / 2),
            _ => "no slot at all".to_owned(),
        };
        lines.extend(format!("Mar  1 {clock} web-01 sshd[{process}]: {said}\n").bytes());
        if lines.len() > size {
            break;
        }
    }
    lines.truncate(size);
    lines
}

/// Lines of values separated by commas, some of them quoted or missing.
fn values(size: usize) -> Vec<u8> {
    let noise = random(size, 251);
    let mut lines = b"number,town,code,count,share\r\n".to_vec();
    for (number, n) in noise.chunks_exact(4).enumerate() {
        let town =
            ["\"Vila, AD\"", "Encamp", "", "\"the \"\"old\"\" town\""][usize::from(n[0] % 4)];
        let code = ["VL", "EN", "", "OT"][usize::from(n[0] % 4)];
        let count = u32::from(n[1]) * 37;
        let number = 3_038_832 + 7 * number;
        let share = f64::from(n[2]) / 100.0;
        lines.extend(format!("{number},{town},{code},{count},{share:.3}\r\n").bytes());
        if lines.len() > size {
            break;
        }
    }
    lines.truncate(size);
    lines
}

/// Lines of names, and of similar names in quotes.
fn lists(size: usize) -> Vec<u8> {
    let noise = random(size, 8);
    let mut lines = Vec::new();
    for (number, n) in noise.chunks_exact(6).enumerate() {
        let sound =
            |n: &u8| ["ber", "ge", "lin", "vo", "schu", "ta", "\u{e4}r", "no"][usize::from(*n)];
        let name: String = n.iter().map(sound).collect();
        let short = &name[..name.len() - 1];
        let other = name.replace("e", "\u{e9}");
        lines.extend(format!("{number};'{name}';'{short}, {name}, {other}en'\n").bytes());
        if lines.len() > size {
            break;
        }
    }
    lines.truncate(size);
    lines
}

/// Records of FASTQ, of 100 residues each or less.
pub fn reads(size: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let noise = random(size, 40);
    for (n, residues) in dna(size).chunks(100).enumerate().take(size / 190) {
        let residues = &residues[..100 - usize::from(noise[n] / 39) * n % 40];
        let qualities: Vec<u8> = noise[n * 100..][..residues.len()]
            .iter()
            .map(|q| b'I' - (q / 4) * (q / 4) / 3)
            .collect();
        file.extend(format!("@r{n} {}:{}\n", noise[n], noise[size - 1 - n]).bytes());
        file.extend([residues, &b"\n+\n"[..], &qualities, b"\n"].concat());
    }
    file
}

/// Random bases.
pub fn dna(size: usize) -> Vec<u8> {
    random(size, 4)
        .iter()
        .map(|&b| b"ACGT"[usize::from(b)])
        .collect()
}

/// A sequence in lines of 60, with a header and, half-way, a second header that is longer than the
/// lines.
fn wrapped(sequence: &[u8]) -> Vec<u8> {
    let mut file = b">first\n".to_vec();
    for (n, line) in sequence.chunks(60).enumerate() {
        if n == sequence.len() / 120 {
            file.extend(b"ACGT\n>second, whose header is longer than the lines of its sequence are, and by far\n");
        }
        file.extend(line);
        file.push(b'\n');
    }
    file
}

/// Records of 20 bytes: a counter, a growing position, numbers with few values, and noise.
fn table(size: usize) -> Vec<u8> {
    let noise = random(size / 20 + 1, 256);
    let mut place = 0x0040_1000_u32;
    let records = noise.iter().zip(0u32..).map(|(noise, n)| {
        place += 8 + u32::from(noise % 5) * 8;
        let kind = [8, 8, 8, 7, 0x25][usize::from(noise / 3 % 5)];
        [
            &n.to_be_bytes()[..],
            &place.to_le_bytes(),
            &[kind, 0, 0, 0, 1, 0, 0, 0, *noise, 0, 9, 9],
        ]
        .concat()
    });
    records.flatten().take(size).collect()
}

/// Rows of 300 samples of 12 bits: slopes and noise.
fn image(size: usize) -> Vec<u8> {
    let noise = random(size / 2, 16);
    let sample = |(n, noise): (usize, &u8)| {
        let x = n % 300;
        let y = n / 300;
        let slope = x * (300 - x) / 12 + y * 7 % 1900 + usize::from(*noise);
        (slope as u16 & 0xFFF).to_le_bytes()
    };
    noise
        .iter()
        .enumerate()
        .flat_map(sample)
        .collect()
}

/// Calls of a few functions from many places, between other instructions.
fn x86(size: usize) -> Vec<u8> {
    let noise = random(size, 256);
    let mut code = Vec::new();
    for part in noise.chunks_exact(4) {
        let body: [&[u8]; 5] = [
            b"\x48\x89\xE5",
            b"\x31\xC0",
            b"\x48\x8B\x7D\xF8",
            b"\x83\xF8\x01\x74\x05",
            b"\x90\xC3",
        ];
        code.extend(body[usize::from(part[0] % 5)]);
        code.extend([0x48, 0x8D, 0x45, part[1] & 0xF8]);
        code.push(0xE8);
        let target = 16 * (u32::from(part[2] % 64) * 97 % 1024);
        code.extend(
            target
                .wrapping_sub(code.len() as u32 + 4)
                .to_le_bytes(),
        );
    }
    code.truncate(size);
    code
}

/// Calls of a few functions from many places in ARM64 code, whose instructions are words.
fn arm64(size: usize) -> Vec<u8> {
    let noise = random(size / 4, 256);
    let mut code = Vec::new();
    for part in noise.chunks_exact(4) {
        let here = code.len() as u32 / 4;
        let target = u32::from(part[2] % 64) * 97 % 1024;
        let call = 0x9400_0000 | (target.wrapping_sub(here + 2) & 0x03FF_FFFF);
        let load = 0xF940_0000 | u32::from(part[1]) << 10;
        let others = [0xAA00_03E0_u32, 0xD65F_03C0, 0xA9BF_7BFD, 0x9100_03FD];
        for word in [
            others[usize::from(part[0] % 4)],
            load,
            call,
            0xB000_0000 | u32::from(part[0] % 8) << 5,
        ] {
            code.extend(word.to_le_bytes());
        }
    }
    code.truncate(size);
    code
}

/// `first`, and five changed copies of it. In each, one byte in 500 is replaced, and sometimes a
/// byte is inserted or removed.
fn versions(first: &[u8]) -> Vec<u8> {
    let mut all = first.to_vec();
    let mut state = 99;
    for _ in 1..6 {
        for &byte in first {
            match next(&mut state) % 5000 {
                0..8 => all.push(first[next(&mut state) as usize % first.len()]),
                8 => all.extend([byte; 2]),
                9 => (),
                _ => all.push(byte),
            }
        }
    }
    all
}
