//! The one table of named inputs that every sorter, coder and file is tried on.
//!
//! Each case stands for a way in which block sorters and run coders have gone wrong before.

/// Name and bytes of every case.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let mut cases = named();
    cases.extend((0..=300).map(|n| (format!("text of {n}"), text(n))));
    cases.extend((1..=300).map(|n| (format!("random of {n}"), random(n, 256))));
    cases
}

/// The shapes, and sizes around the powers of two at which something often changes.
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

/// The cases with a shape of their own, those that have no size of their own cut to `size` bytes.
pub fn shapes(size: usize) -> Vec<(String, Vec<u8>)> {
    let cycle = |word: &[u8]| word.iter().copied().cycle().take(size).collect::<Vec<u8>>();
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
        ("Thue-Morse", (0..size).map(|n| b'0' + (n.count_ones() & 1) as u8).collect()),
        ("de Bruijn", de_bruijn(size.ilog2())),
        ("all 256 up", (0..=255).collect()),
        ("all 256 down", (0..=255).rev().collect()),
        ("all 256 many times", (0..=255).cycle().take(size).collect()),
        ("text", text(size)),
        ("text twice", text(half).repeat(2)),
        ("text with a run", [text(half), vec![b' '; half], text(half)].concat()),
        ("random", random(size, 256)),
        ("random twice", random(half, 256).repeat(2)),
        ("random bits", random(size, 2)),
        ("DNA", random(size, 4).iter().map(|&b| b"ACGT"[usize::from(b)]).collect()),
        ("random over 17", random(size, 17)),
        ("random over 255", random(size, 255)),
        ("records", records(size as u32 / 16)),
        ("mostly 0", random(size, 256).iter().map(|&b| if b < 250 { 0 } else { b }).collect()),
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
    let words: Vec<&[u8]> = WORDS.split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
    let mut bytes = Vec::with_capacity(size + 16);
    let mut state = 1;
    while bytes.len() < size {
        let (a, b) = (next(&mut state) as usize, next(&mut state) as usize);
        bytes.extend_from_slice(words[(a % words.len()) * (b % words.len()) / words.len()]);
        bytes.push(if a % 11 == 0 { b'\n' } else { b' ' });
    }
    bytes.truncate(size);
    bytes
}

/// Random bytes below `alphabet`, the same on every run.
pub fn random(size: usize, alphabet: u32) -> Vec<u8> {
    let mut state = 4711 + u64::from(alphabet);
    (0..size).map(|_| (next(&mut state) % alphabet) as u8).collect()
}

/// The Fibonacci word, the worst case of many sorters.
pub fn fibonacci(size: usize) -> Vec<u8> {
    let (mut a, mut b) = (b"a".to_vec(), b"ab".to_vec());
    while b.len() < size {
        let longer = [&b[..], &a[..]].concat();
        a = b;
        b = longer;
    }
    b.truncate(size);
    b
}

/// A binary string in which every word of `order` bits occurs: no two long contexts are alike.
fn de_bruijn(order: u32) -> Vec<u8> {
    let mask = (1u32 << order) - 1;
    let mut seen = vec![false; 1 << order];
    let (mut word, mut bytes) = (0, vec![b'0'; order as usize]);
    loop {
        seen[word as usize] = true;
        let bit = [1, 0].into_iter().find(|bit| !seen[(word << 1 & mask | bit) as usize]);
        let Some(bit) = bit else { return bytes };
        word = word << 1 & mask | bit;
        bytes.push(b'0' + bit as u8);
    }
}

/// Fixed-size binary records with counters in them.
fn records(count: u32) -> Vec<u8> {
    (0..count)
        .flat_map(|n| {
            [n.to_le_bytes(), n.wrapping_mul(n).to_be_bytes(), [9; 4], (n / 7).to_le_bytes()]
        })
        .flatten()
        .collect()
}

/// xorshift64*: all the randomness that tests need.
fn next(state: &mut u64) -> u32 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
}
