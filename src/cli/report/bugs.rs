//! Panics, each of which is reported as a bug.

use crate::cli::allocator;
use crate::cli::report::exit::Exit;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static PANICKED: AtomicBool = AtomicBool::new(false);

/// Runs the command. A panic in any of its threads is reported as a bug, with [`Exit::Bug`].
pub(crate) fn guard(run: fn() -> Exit) -> Exit {
    panic::set_hook(Box::new(report_bug));
    let ended = panic::catch_unwind(run);
    if PANICKED.load(Ordering::Relaxed) {
        Exit::Bug
    } else {
        ended.unwrap_or(Exit::Bug)
    }
}

/// Prints one line about the first panic only, since other threads may panic as a consequence of
/// it. With `RUST_BACKTRACE=1` the calls that led there follow, by function name; a release build
/// keeps these names.
fn report_bug(info: &PanicHookInfo) {
    static FIRST: Once = Once::new();
    PANICKED.store(true, Ordering::Relaxed);
    let payload = info.payload();
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    // A thread started without room for its signal stack. The standard library panics then, so this
    // is a lack of memory and not a bug.
    if text.is_some_and(|text| text.contains("alternative stack")) {
        allocator::end();
    }
    let what = text.unwrap_or("no message").replace('\n', " ");
    let place = info
        .location()
        .map(|place| format!(" at {place}"))
        .unwrap_or_default();
    FIRST.call_once(|| {
        let request = "this is a bug in bwz, please report it with the command that caused it";
        let _ = writeln!(io::stderr(), "bwz: {request}: {what}{place}");
        let calls = Backtrace::capture();
        if calls.status() == BacktraceStatus::Captured {
            let _ = writeln!(io::stderr(), "{calls}");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::process::Command;

    #[test]
    fn a_panic_is_a_bug() {
        let default = panic::take_hook();
        let exit = guard(|| panic!("on purpose"));
        panic::set_hook(default);
        assert_eq!(exit, Exit::Bug);
    }

    /// Runs the test above in a process of its own, since a process shows only its first bug.
    #[test]
    fn a_bug_shows_its_calls_where_asked() {
        let said = |backtrace: &str| {
            let mut command = Command::new(env::current_exe().unwrap());
            command.args([
                "--exact",
                "cli::report::bugs::tests::a_panic_is_a_bug",
                "--nocapture",
            ]);
            let output = command
                .env("RUST_BACKTRACE", backtrace)
                .output()
                .unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stderr).unwrap()
        };
        let fifth = "\n   5: ";
        assert!(said("0").contains("please report it"));
        assert!(!said("0").contains(fifth));
        assert!(said("1").contains(fifth));
    }
}
