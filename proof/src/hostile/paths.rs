//! x

use super::Attack;

pub(super) fn attacks() -> Vec<Attack> {
    vec![]
}
