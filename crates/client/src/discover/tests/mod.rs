//! The matrix: a home full of lock files, editors of many kinds behind them, and what discovery makes of it.

mod editors;
mod files;
mod fixture;
mod folders;
mod foreign_editors;
