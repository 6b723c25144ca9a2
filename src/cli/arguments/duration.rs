//! Durations as people type them.

use std::time::Duration;

/// Reads a duration: `10s`, `500ms`, `5m` or `1h`. A number alone is in seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let milliseconds = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        _ => {
            return Err(format!(
                "`{text}` is not a number followed by ms, s, m or h"
            ));
        }
    };
    let number: u64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a number followed by ms, s, m or h"))?;
    match number.checked_mul(milliseconds) {
        None => Err("it is too long".into()),
        Some(0) => Err("it is 0; the shortest is 1ms".into()),
        Some(all) => Ok(Duration::from_millis(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, milliseconds) in [
            ("10", 10_000),
            ("10s", 10_000),
            ("500ms", 500),
            ("5m", 300_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)));
        }
        for wrong in [
            "",
            "s",
            "0",
            "0ms",
            "1.5s",
            "-1",
            "1 s",
            "1d",
            "99999999999999999h",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
