//! The six editing tools over random files: what is outside the edit keeps its bytes, and where another
//! program does the same job, both do the same.

mod bytes;
mod generate;
mod patch;
