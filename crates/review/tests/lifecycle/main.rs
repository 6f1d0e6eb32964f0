//! The rules of a review's life, one sentence each.

#[cfg(test)]
mod comparing;
#[cfg(test)]
mod deciding;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod left_side;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod proposing;
#[cfg(test)]
mod restarting;
#[cfg(test)]
mod writing;
