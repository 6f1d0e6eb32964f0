//! Random walks through the life of reviews: agents, surfaces and windows come and go, records and writes
//! succeed, fail and come late, files move, the hub crashes. `world` plays everybody, `checks` looks at
//! every single step, and nothing in here shares a line of logic with what it tests.

#[cfg(test)]
mod checks;
#[cfg(test)]
mod files;
#[cfg(test)]
mod walk;
#[cfg(test)]
mod world;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{
        prelude::*,
        test_runner::{Config, TestRng, TestRunner},
    };

    use crate::{checks, walk};

    const LONGEST_WALK: usize = 120;

    fn config(cases: u32) -> Config {
        Config { cases, failure_persistence: None, ..Config::default() }
    }

    /// Each of up to a hundred and twenty events; `PROPTEST_CASES` makes it fewer or more.
    fn cases() -> u32 {
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200_000)
    }

    proptest! {
        #![proptest_config(config(cases()))]

        #[test]
        fn any_order_of_events_keeps_every_promise(steps in prop::collection::vec(any::<u32>(), 1..LONGEST_WALK)) {
            walk::walk(&steps);
        }
    }

    #[test]
    fn the_walks_go_wherever_a_review_can_go() {
        let rng = TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config(2_000), rng);
        let seen = std::cell::RefCell::new(BTreeSet::new());
        runner
            .run(&prop::collection::vec(any::<u32>(), LONGEST_WALK), |steps| {
                seen.borrow_mut().extend(walk::walk(&steps));
                Ok(())
            })
            .unwrap();
        let unseen: Vec<_> = checks::places().filter(|place| !seen.borrow().contains(place)).collect();
        assert!(unseen.is_empty(), "no walk went here: {unseen:#?}");
    }

    #[test]
    fn a_line_that_both_add_to_a_file_with_crlf_by_now_may_be_one_line() {
        walk::walk(&[
            2404915200, 292744009, 2236943775, 71193, 2858975177, 1934900185, 72752265, 1353969, 4054815936,
            165540396, 2514467116, 2309221257, 291164767,
        ]);
    }
}
