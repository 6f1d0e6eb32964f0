//! The hub itself, through the real binary: who may connect, what a change goes through, and what survives damage,
//! crashes and restarts.

#[cfg(test)]
use linkspan_testkit as support;

#[cfg(test)]
mod absent_writer;
#[cfg(test)]
mod control_socket;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod journey;
#[cfg(test)]
mod nasty_files;
#[cfg(test)]
mod page_access;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod review_ids;
#[cfg(test)]
mod single_instance;
