//! What only a checkout has: the sources with the rules of the house, as far as a program can check
//! them, and the seeds of the fuzz targets. The package goes without this program.

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
