//! Random walks through the life of reviews: agents, surfaces and windows come and go, records and writes
//! succeed, fail and come late, files move, the hub crashes. `shell_model` plays everybody, `checks` looks at
//! every single step, and nothing in here shares a line of logic with what it tests.

#[cfg(test)]
mod checks;
#[cfg(test)]
mod event_names;
#[cfg(test)]
mod files;
#[cfg(test)]
mod followers;
#[cfg(test)]
mod shell_model;
#[cfg(test)]
mod transitions;
#[cfg(test)]
mod walk;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{
        prelude::*,
        test_runner::{Config, TestRng, TestRunner},
    };

    use crate::{transitions, walk};

    const LONGEST_WALK: usize = 120;

    fn config(cases: u32) -> Config {
        Config { cases, failure_persistence: None, ..Config::default() }
    }

    /// Each has up to a hundred and twenty events; `PROPTEST_CASES` changes the number.
    fn cases() -> u32 {
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200_000)
    }

    /// One test in parts, each of which ends in time on a busy machine. Each has a random seed of its own.
    const PARTS: u32 = 8;

    macro_rules! any_order_of_events_keeps_every_promise {
        ($($part:ident),*) => {
            proptest! {
                #![proptest_config(config(cases().div_ceil(PARTS)))]

                $(
                    #[test]
                    fn $part(steps in prop::collection::vec(any::<u32>(), 1..LONGEST_WALK)) {
                        walk::walk(&steps);
                    }
                )*
            }
        };
    }

    mod any_order_of_events_keeps_every_promise {
        use super::*;

        any_order_of_events_keeps_every_promise!(
            part_1, part_2, part_3, part_4, part_5, part_6, part_7, part_8
        );
    }

    #[test]
    fn the_walks_reach_every_transition_of_a_review() {
        let rng = TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config(2_000), rng);
        let seen = std::cell::RefCell::new(BTreeSet::new());
        runner
            .run(&prop::collection::vec(any::<u32>(), LONGEST_WALK), |steps| {
                seen.borrow_mut().extend(walk::walk(&steps));
                Ok(())
            })
            .unwrap();
        let unseen: Vec<_> =
            transitions::transitions().filter(|place| !seen.borrow().contains(place)).collect();
        assert!(unseen.is_empty(), "no walk went here: {unseen:#?}");
    }

    #[test]
    fn a_line_that_both_sides_add_to_a_file_converted_to_crlf_may_be_one_line() {
        walk::walk(&[
            2404915200, 292744009, 2236943775, 71193, 2858975177, 1934900185, 72752265, 1353969, 4054815936,
            165540396, 2514467116, 2309221257, 291164767,
        ]);
    }

    #[test]
    fn a_mark_that_is_part_of_the_text_does_not_change_how_its_lines_end() {
        walk::walk(&[
            1265485056, 2769175148, 2435560759, 1965253447, 1483536457, 1359833311, 726486464, 3910364807,
            684054,
        ]);
    }
}
