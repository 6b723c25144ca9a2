//! Runs Python, and `decoder.py` in it.

use crate::common::say::skip;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder of the specification.
pub fn format_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format")
}

/// Runs `decoder.py` on `file` as its standard input. `None` if there is no Python.
pub fn reference_decoder(file: &[u8]) -> Option<Output> {
    python(&[format_folder().join("decoder.py")], file)
}

/// Runs Python with these arguments and this standard input. `None` if there is no Python.
pub fn python<S: AsRef<OsStr>>(arguments: &[S], input: &[u8]) -> Option<Output> {
    let child = Command::new("python3")
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        assert!(
            std::env::var_os("BWZ_REQUIRE_PYTHON").is_none(),
            "python3 is required"
        );
        skip("no python3, so decoder.py was not run");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Some(output)
}
