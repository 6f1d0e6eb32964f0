//! The port that clients know by heart: one window's at a time.
