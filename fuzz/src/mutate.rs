//! Inputs near a seed, for the test that runs without libFuzzer: the same ones for the same seed, on every machine.

/// SplitMix64: a few lines, and good enough to choose places and bytes.
#[derive(Debug)]
pub struct Mutator {
    state: u64,
}

/// Bytes that mean something to the formats we parse.
const TELLING: &[u8] = b"\0\n\r\"\\{}[]:,/.<>%&= \t0-1\x7f\x80\xc3\xff";

/// No input grows beyond this.
const LARGEST: usize = 16 * 1024;

impl Mutator {
    pub fn new(seed: u64) -> Mutator {
        Mutator { state: seed }
    }

    /// One to eight small changes to the seed; `other` is another seed of the same target, to take parts from.
    pub fn mutate(&mut self, seed: &[u8], other: &[u8]) -> Vec<u8> {
        let mut input = seed.to_vec();
        for _ in 0..=self.below(8) {
            self.change(&mut input, other);
        }
        input.truncate(LARGEST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(input.len() + 1);
        let part = at..(at + self.below(32)).min(input.len());
        match self.below(7) {
            0 => _ = input.drain(part),
            1 => {
                let copy = input[part].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, copy);
            }
            2 => {
                let from = self.below(other.len() + 1);
                let to = (from + self.below(64)).min(other.len());
                input.splice(part, other[from..to].iter().copied());
            }
            3 => input.insert(at, TELLING[self.below(TELLING.len())]),
            4 => input.truncate(at),
            5 if at < input.len() => input[at] ^= 1 << self.below(8),
            _ if at < input.len() => input[at] = TELLING[self.below(TELLING.len())],
            _ => input.push(TELLING[self.below(TELLING.len())]),
        }
    }

    /// At least 0, less than `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The remainder is below `limit`, which is a usize.
        usize::try_from(mixed % limit as u64).unwrap_or_default()
    }
}
