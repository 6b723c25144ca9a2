//! How a thread waits for a GPU that it looks at again and again.
//!
//! Most waits are shorter than it takes to be woken. A thread that alone gives a GPU its work looks
//! at once again, and lets others have their turn. Where the GPU has work of others meanwhile, it
//! sleeps soon: that leaves the processor to those who filter and code, and whoever sleeps is woken
//! ahead of them, while those that yield come behind all. With eight blocks on a GPU and all
//! threads busy that was 7 % of the time.

use std::hint;
use std::thread;
use std::time::Duration;

/// Looks until a thread lets others have their turn, and until it sleeps.
const SPINS: u32 = 1 << 6;
const SPINS_BEFORE_SLEEP: u32 = 1 << 9;
const SLEEP: Duration = Duration::from_micros(20);

/// Looks between two questions to the driver whether it is still at work.
const ASKS: u32 = 1 << 16;

/// How a thread passes the time between two looks.
#[derive(Clone, Copy, Debug)]
pub enum Pause {
    /// It is awaited: by turns it looks again at once and yields.
    Yield,
    /// Others have work meanwhile: it sleeps, after the first looks.
    Sleep,
}

impl Pause {
    /// Passes the time after so many looks. Says whether they took so long that it may be asked
    /// whether anything comes.
    pub fn after(self, looks: u32) -> bool {
        match self {
            Pause::Sleep if looks >= SPINS_BEFORE_SLEEP => thread::sleep(SLEEP),
            Pause::Yield if looks % SPINS == SPINS - 1 => thread::yield_now(),
            _ => hint::spin_loop(),
        }
        match self {
            Pause::Sleep => looks >= SPINS_BEFORE_SLEEP,
            Pause::Yield => looks % ASKS == ASKS - 1,
        }
    }
}
