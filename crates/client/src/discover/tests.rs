//! The matrix.
