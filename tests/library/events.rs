//! Events: each step of each block is reported, with the bytes that it has made.

use crate::common::{cases, options};
use bwz::{Event, Options, Step};
use std::sync::{Arc, Mutex};

/// The step and the bytes of each event.
type Heard = Arc<Mutex<Vec<(Step, u64)>>>;

/// Options whose listener keeps the events.
fn listening(options: &Options) -> (Options, Heard) {
    let heard = Heard::default();
    let list = Arc::clone(&heard);
    let options = options.clone().on_event(move |event| {
        if let Event::Done { step, bytes, .. } = event {
            list.lock().unwrap().push((step, bytes));
        }
    });
    (options, heard)
}

#[test]
fn steps_tell_the_bytes_that_they_made() {
    // A long repeat, which is taken out of the text of the one block.
    let half = cases::text(200_000);
    let raw = [&half[..], &half].concat();
    let (options, heard) = listening(&options(1 << 20));
    let mut file = Vec::new();
    bwz::compress(&raw[..], &mut file, &options).unwrap();
    let mut restored = Vec::new();
    bwz::decompress(&file[..], &mut restored, &options).unwrap();
    let heard = heard.lock().unwrap();
    let of = |wanted: fn(&Step) -> bool| -> Vec<u64> {
        let steps = heard.iter().filter(|(step, _)| wanted(step));
        steps.map(|(_, bytes)| *bytes).collect()
    };
    let whole = raw.len() as u64;
    assert_eq!(of(|step| *step == Step::Read), [whole, whole]);
    assert_eq!(of(|step| *step == Step::Write), [whole, whole]);
    assert_eq!(of(|step| *step == Step::Check), [whole]);
    let texts = [
        of(|step| *step == Step::Filter),
        of(|step| matches!(step, Step::Sort(_))),
        of(|step| matches!(step, Step::Code(_))),
        of(|step| matches!(step, Step::Decode(_))),
        of(|step| matches!(step, Step::Invert(_))),
    ];
    assert!(texts[0][0] < whole * 2 / 3, "{texts:?}");
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}
