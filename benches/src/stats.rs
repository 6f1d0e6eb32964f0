//! Many noisy numbers as three: the median, and the two between which most of them are.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    /// One in ten is lower.
    pub(crate) low: f64,
    /// One in ten is higher.
    pub(crate) high: f64,
}

impl Spread {
    pub(crate) fn of(values: &[f64]) -> Spread {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        Spread { median: at(&values, 50), low: at(&values, 10), high: at(&values, 90) }
    }

    /// Round by round: what the machine does to one side it does to the other.
    pub(crate) fn of_ratios(ours: &[f64], floor: &[f64]) -> Spread {
        Spread::of(&ours.iter().zip(floor).map(|(ours, floor)| ours / floor).collect::<Vec<_>>())
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    Spread::of(values).median
}

/// A percentile of sorted values.
pub(crate) fn at(sorted: &[f64], percent: usize) -> f64 {
    let index = (sorted.len().saturating_sub(1) * percent + 50) / 100;
    sorted.get(index).copied().unwrap_or(f64::NAN)
}

/// The median and the 99th percentile, in microseconds.
pub(crate) fn latencies(times: &[Duration]) -> (f64, f64) {
    let mut micros: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e6).collect();
    micros.sort_by(f64::total_cmp);
    (at(&micros, 50), at(&micros, 99))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_ratios_is_taken_round_by_round() {
        let spread = Spread::of_ratios(&[2.0, 20.0, 3.0], &[1.0, 10.0, 1.0]);
        assert_eq!(spread, Spread { median: 2.0, low: 2.0, high: 3.0 });
    }

    #[test]
    fn percentiles_of_microseconds() {
        let times: Vec<Duration> = (1..=101).rev().map(Duration::from_micros).collect();
        let (median, high) = latencies(&times);
        assert!((median - 51.0).abs() < 1e-6 && (high - 100.0).abs() < 1e-6);
    }
}
