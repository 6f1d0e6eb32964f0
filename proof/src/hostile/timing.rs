//! Whether the time of a refusal tells how much of a token was right.

use std::time::{Duration, Instant};

use linkspan_testkit::raw::{Request, status};

use super::door::Door;
use super::stage::Stage;
use super::tokens::wrong_at;
use super::{Attack, OF_STRANGERS, Seen};

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack {
        name: "timing of the token compare",
        doors: "claude, gemini, ppxai",
        alone: true,
        run: timing,
        ..OF_STRANGERS
    }]
}

/// What any compare byte by byte over a network would have to show to be of use.
const GROSS: Duration = Duration::from_micros(100);

fn quartiles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    [1, 2, 3].map(|quarter| times[times.len() * quarter / 4])
}

fn timing(stage: &mut Stage) -> Seen {
    let each = stage.so_many(300, 5_000);
    let mut chance = stage.chance();
    let mut said = Vec::new();
    for door in [Door::Claude, Door::Gemini, Door::Ppxai] {
        let (good, token) = (door.request(stage), door.token(stage));
        let wrong = [0, token.len() - 1].map(|at| wrong_at(token, at));
        let requests = wrong.map(|token| good.with(door.token_line(&token).unwrap()));
        let mut times = [Vec::new(), Vec::new()];
        // In an order that nothing else on this machine can have.
        let mut order: Vec<usize> = (0..2 * each).map(|number| number % 2).collect();
        chance.shuffle(&mut order);
        for which in order {
            times[which].push(time(&requests[which]));
        }
        let [[low, first, high], [_, last, _]] = times.map(quartiles);
        let difference = first.abs_diff(last);
        let noise = high - low;
        assert!(
            difference < noise.max(GROSS),
            "{}: wrong in the first byte {first:?}, in the last {last:?}; noise {noise:?}",
            door.name()
        );
        said.push(format!("{} {first:.0?} and {last:.0?} ± {noise:.0?}", door.name()));
    }
    Seen::new(6 * each, format!("401 after, first byte wrong and last byte wrong: {}", said.join("; ")))
}

fn time(request: &Request) -> Duration {
    let begun = Instant::now();
    let answer = request.send();
    let took = begun.elapsed();
    assert_eq!(status(&answer), 401, "{answer}");
    took
}
