//! Sizes: read from arguments, written for people.

use bwz::{IndexedBlocks, MAX_BLOCK_SIZE, ReadCost};

/// Reads `-M`. 0 leaves the limit to the library.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    if text == "default" {
        Ok(0)
    } else {
        bytes(text)
    }
}

/// Reads `--block`.
pub(crate) fn block(text: &str) -> Result<u64, String> {
    const LEAST: u64 = 64 << 10;
    match bytes(text)? {
        ..LEAST => Err("it is below 64K, the smallest block".into()),
        size if size > MAX_BLOCK_SIZE => Err("it is above 1T - 1, the largest block".into()),
        size => Ok(size),
    }
}

/// Reads a number of bytes: `4096`, `4K`, `4KiB` and `4kb` are equal.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => {
            return Err(format!(
                "`{text}` is not a number followed by B, K, M, G or T"
            ));
        }
    };
    let number: u64 = number.parse().map_err(|_| match number {
        "" => format!("`{text}` does not start with a number"),
        _ => format!("`{text}` is too large"),
    })?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("`{text}` is too large"))
}

/// Formats a number of bytes for people: `17 B`, `1.2 KiB`, `3.4 GiB`.
pub(crate) fn human(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Returns `raw` divided by `coded`; `None` if either is 0.
pub(crate) fn ratio(raw: u64, coded: u64) -> Option<f64> {
    (raw > 0 && coded > 0).then(|| raw as f64 / coded as f64)
}

/// Formats a ratio for people.
pub(crate) fn ratio_text(raw: u64, coded: u64) -> String {
    ratio(raw, coded).map_or_else(|| "-".into(), |ratio| format!("{ratio:.3}"))
}

/// Formats a number with a noun: `1 block`, `2 blocks`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Formats how much a command read and decoded.
pub(crate) fn read_cost(cost: ReadCost) -> String {
    let bytes = count(cost.coded_bytes, "byte");
    let slices = count(cost.slices, "slice");
    format!(
        "{bytes} read, {slices} and {} decoded",
        count(cost.blocks, "block")
    )
}

/// Formats how many blocks have an index, and of which kind.
pub(crate) fn index_text(indexed: &IndexedBlocks) -> String {
    let of = |blocks: u64| {
        let all = count(indexed.all(), "block");
        if blocks == indexed.all() {
            format!("in {all}")
        } else {
            format!("in {blocks} of {all}")
        }
    };
    let mut parts = Vec::new();
    if indexed.sequences > 0 {
        parts.push(format!("index of sequences {}", of(indexed.sequences)));
    }
    if indexed.bytes > 0 {
        parts.push(format!("index of bytes {}", of(indexed.bytes)));
    }
    if parts.is_empty() {
        parts.push("no index".into());
    }
    if indexed.stored > 0 {
        parts.push(format!(
            "{} stored uncompressed, searched without an index",
            count(indexed.stored, "block")
        ));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        for text in ["4K", "4k", "4KiB", "4kb", "4096", "4096B"] {
            assert_eq!(bytes(text), Ok(4096), "{text}");
        }
        assert_eq!(bytes("3G"), Ok(3 << 30));
        for text in [
            "",
            "K",
            "4X",
            "-1",
            "1.5M",
            "99999999999T",
            "99999999999999999999",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn zero_memory_is_the_default() {
        assert_eq!(memory("0"), Ok(0));
        assert_eq!(memory("default"), Ok(0));
        assert_eq!(memory("2M"), Ok(2 << 20));
        assert!(memory("much").is_err());
    }

    #[test]
    fn sizes_never_show_1024_of_a_unit() {
        assert_eq!(human(1023), "1023 B");
        assert_eq!(human(1024), "1.0 KiB");
        assert_eq!(human((1 << 20) - 1), "1.0 MiB");
        assert_eq!(human(3 << 29), "1.5 GiB");
    }
}
