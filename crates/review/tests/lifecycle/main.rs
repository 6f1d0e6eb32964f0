//! The rules of a review's life, one sentence each.

#[cfg(test)]
mod comparison;
#[cfg(test)]
mod decision;
#[cfg(test)]
mod end;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod left_side;
#[cfg(test)]
mod proposal;
#[cfg(test)]
mod rebase;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod same_change;
#[cfg(test)]
mod write;
