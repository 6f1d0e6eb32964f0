//! An agent that uses LF, over random files.

use linkspan_review::{Convention, adopt_endings};
use proptest::prelude::*;

use crate::generate;

proptest! {
    #![proptest_config(generate::cases())]

    #[test]
    fn an_unchanged_file_spoken_in_lf_comes_back_exactly(base in generate::text()) {
        let spoken = base.replace("\r\n", "\n");
        prop_assert_eq!(adopt_endings(&base, &spoken).0, base);
    }

    #[test]
    fn what_the_agent_hears_is_what_it_said((base, proposed) in generate::pair(), lf: bool) {
        let proposed = if lf { proposed.replace("\r\n", "\n") } else { proposed };
        let (adopted, convention) = adopt_endings(&base, &proposed);
        prop_assert_eq!(convention.for_agent(&adopted), proposed.as_str());
        if convention == Convention::AsIs {
            prop_assert_eq!(adopted, proposed);
        }
    }

    #[test]
    fn nothing_but_endings_changes((base, proposed) in generate::pair()) {
        let (adopted, _) = adopt_endings(&base, &proposed);
        prop_assert_eq!(adopted.replace("\r\n", "\n"), proposed.replace("\r\n", "\n"));
    }
}
