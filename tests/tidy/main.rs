//! Tests that need a checkout: the rules for the sources, as far as a program can check them, and
//! the seeds of the fuzz targets. The package does not contain this program.

mod architecture;
mod circles;
mod crashes;
mod density;
mod kernels;
mod remains;
mod rooms;
mod source;
mod text;
mod words;
