//! The arguments of `cargo xtask fuzz`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::SECONDS;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// All, if there is none.
    pub(super) target: Option<String>,
    pub(super) time: Time,
    /// Runs only this input.
    pub(super) input: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// Seconds.
    Each(NonZeroU32),
    /// Minutes, until the last target is done.
    All(NonZeroU32),
}

impl Time {
    /// Seconds for each of the targets, of which `at_once` run at a time.
    pub(super) fn of_each(self, targets: usize, at_once: usize) -> NonZeroU32 {
        match self {
            Time::Each(seconds) => seconds,
            Time::All(minutes) => {
                let rounds = u32::try_from(targets.div_ceil(at_once.max(1))).unwrap_or(u32::MAX).max(1);
                NonZeroU32::new(minutes.get().saturating_mul(60) / rounds).unwrap_or(NonZeroU32::MIN)
            }
        }
    }
}

impl Default for Order {
    fn default() -> Order {
        Order { target: None, time: Time::Each(SECONDS), input: None }
    }
}

impl Order {
    pub(super) fn read(args: &[String]) -> Result<Order> {
        let mut order = Order::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
            let number = |text: &String| {
                text.parse::<NonZeroU32>().with_context(|| format!("`{text}` is not a number from 1"))
            };
            match arg.as_str() {
                "--seconds" => order.time = Time::Each(number(value()?)?),
                "--minutes" => order.time = Time::All(number(value()?)?),
                "--input" => order.input = Some(value()?.into()),
                name if !name.starts_with('-') && order.target.is_none() => {
                    order.target = Some(name.to_owned())
                }
                _ => bail!(
                    "unknown argument `{arg}`; this command knows one target, `--seconds N` for each, `--minutes N` \
                     for all together, and `--input FILE` for one input of the target"
                ),
            }
        }
        if order.input.is_some() && order.target.is_none() {
            bail!("`--input` needs the target that the input is for");
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(args: &[&str]) -> Option<Order> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Order::read(&args).ok()
    }

    fn number(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    #[test]
    fn a_target_and_a_time_may_be_given_in_any_order() {
        let rpc = || Order { target: Some("rpc".into()), ..Order::default() };
        assert_eq!(reading(&[]), Some(Order::default()));
        assert_eq!(reading(&["rpc"]), Some(rpc()));
        let three = Order { time: Time::Each(number(3)), ..rpc() };
        assert_eq!(reading(&["--seconds", "3", "rpc"]), Some(three));
        let long = Order { time: Time::All(number(60)), ..Order::default() };
        assert_eq!(reading(&["--minutes", "60"]), Some(long));
        assert_eq!(reading(&["rpc", "--input", "x"]), Some(Order { input: Some("x".into()), ..rpc() }));
    }

    #[test]
    fn no_time_two_targets_unknown_flags_and_an_input_for_no_target_are_refused() {
        let wrong: [&[&str]; 7] = [
            &["--seconds"],
            &["--seconds", "0"],
            &["--minutes", "x"],
            &["a", "b"],
            &["--fast"],
            &["--input", "x"],
            &["a", "--input"],
        ];
        for args in wrong {
            assert_eq!(reading(args), None, "{args:?}");
        }
    }

    #[test]
    fn minutes_are_divided_among_the_targets_that_do_not_run_at_a_time() {
        let all = Time::All(number(2));
        assert_eq!(all.of_each(26, 2).get(), 9);
        assert_eq!(all.of_each(5, 2).get(), 40);
        assert_eq!(all.of_each(1, 1).get(), 120);
        assert_eq!(all.of_each(10_000, 2).get(), 1);
        assert_eq!(Time::Each(number(3)).of_each(26, 2).get(), 3);
    }
}
