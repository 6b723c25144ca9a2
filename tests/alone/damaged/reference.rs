//! The decoder that was written from the specification alone, `format/decoder.py`, as one process
//! for many files.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Maximum seconds per file. The decoder is slow, and a small file can ask for much.
const PATIENCE: &str = "20";

pub struct Reference {
    child: Child,
    files: Option<ChildStdin>,
    answers: ChildStdout,
}

/// Its verdict on a file.
#[derive(Debug)]
pub enum Verdict {
    Decoded,
    Rejected(String),
    Unsupported(String),
    /// It did not end by itself.
    Failed(String),
    TooLong,
}

impl Reference {
    /// Starts it. `None` if there is no Python.
    pub fn start() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("format");
        let child = Command::new("python3")
            .args(["-c", include_str!("driver.py")])
            .args([folder.as_os_str(), PATIENCE.as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            let required = std::env::var_os("BWZ_REQUIRE_PYTHON").is_some();
            assert!(!required, "python3 is required");
            return None;
        };
        let files = child.stdin.take();
        let answers = child.stdout.take().unwrap();
        Some(Reference {
            child,
            files,
            answers,
        })
    }

    /// Its verdict on `file`, and its output.
    pub fn judge(&mut self, file: &[u8]) -> (Verdict, Vec<u8>) {
        self.ask(file).expect("decoder.py has ended")
    }

    fn ask(&mut self, file: &[u8]) -> io::Result<(Verdict, Vec<u8>)> {
        let files = self
            .files
            .as_mut()
            .expect("open until it is dropped");
        files.write_all(&(file.len() as u64).to_le_bytes())?;
        files.write_all(file)?;
        files.flush()?;
        let mut status = [0];
        self.answers.read_exact(&mut status)?;
        let message = String::from_utf8_lossy(&self.field()?).into_owned();
        let verdict = match status {
            [0] => Verdict::Decoded,
            [1] => Verdict::Rejected(message),
            [2] => Verdict::Failed(message),
            [4] => Verdict::Unsupported(message),
            _ => Verdict::TooLong,
        };
        Ok((verdict, self.field()?))
    }

    fn field(&mut self) -> io::Result<Vec<u8>> {
        let mut size = [0; 8];
        self.answers.read_exact(&mut size)?;
        let mut bytes = vec![0; u64::from_le_bytes(size) as usize];
        self.answers.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        drop(self.files.take());
        let _ = self.child.wait();
    }
}
