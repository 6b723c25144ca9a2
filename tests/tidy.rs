//! The rules of the house, as far as a program can check them.

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/kernels.rs"]
mod kernels;
#[path = "tidy/remains.rs"]
mod remains;
#[path = "tidy/rooms.rs"]
mod rooms;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/text.rs"]
mod text;
#[path = "tidy/words.rs"]
mod words;
