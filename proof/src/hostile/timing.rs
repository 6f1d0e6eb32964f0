//! Whether the time of a refusal reveals how much of a token was right.

use std::time::{Duration, Instant};

use linkspan_testkit::raw_http::{Request, status};

use super::endpoint::HubEndpoint;
use super::fixture::AttackFixture;
use super::tokens::wrong_at;
use super::{Attack, AttackResult, BY_STRANGERS};

pub(super) fn attacks() -> Vec<Attack> {
    vec![Attack {
        name: "timing of the token compare",
        endpoints: "claude, gemini, copilot, ppxai",
        alone: true,
        run: timing,
        ..BY_STRANGERS
    }]
}

/// What a byte-by-byte comparison would have to show over a network to be of use.
const GROSS: Duration = Duration::from_micros(100);

fn quartiles(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    [1, 2, 3].map(|quarter| times[times.len() * quarter / 4])
}

fn timing(fixture: &mut AttackFixture) -> AttackResult {
    let each = fixture.amount(300, 5_000);
    let mut rng = fixture.rng();
    let mut said = Vec::new();
    for endpoint in [HubEndpoint::Claude, HubEndpoint::Gemini, HubEndpoint::Copilot, HubEndpoint::Ppxai] {
        let (good, token) = (endpoint.request(fixture), endpoint.token(fixture));
        let wrong = [0, token.len() - 1].map(|at| wrong_at(token, at));
        let requests = wrong.map(|token| good.with(endpoint.token_line(&token).unwrap()));
        let mut times = [Vec::new(), Vec::new()];
        // In random order, so that nothing else on this machine has the same rhythm.
        let mut order: Vec<usize> = (0..2 * each).map(|number| number % 2).collect();
        rng.shuffle(&mut order);
        for which in order {
            times[which].push(time(&requests[which]));
        }
        let [[low, first, high], [_, last, _]] = times.map(quartiles);
        let difference = first.abs_diff(last);
        let noise = high - low;
        assert!(
            difference < noise.max(GROSS),
            "{}: wrong in the first byte {first:?}, in the last {last:?}; noise {noise:?}",
            endpoint.name()
        );
        said.push(format!("{} {first:.0?} and {last:.0?} ± {noise:.0?}", endpoint.name()));
    }
    AttackResult::new(
        8 * each,
        format!("401 after, first byte wrong and last byte wrong: {}", said.join("; ")),
    )
}

fn time(request: &Request) -> Duration {
    let begun = Instant::now();
    let answer = request.send();
    let took = begun.elapsed();
    assert_eq!(status(&answer), 401, "{answer}");
    took
}
