//! Names of sessions, which are names of files.

/// The most bytes of a name.
const LONGEST: usize = 64;

/// Why a name cannot be used; none if it can.
pub(super) fn problem(name: &str) -> Option<String> {
    let fits = |character: char| character.is_alphanumeric() || "._-+".contains(character);
    if name.is_empty() || name.len() > LONGEST {
        return Some(format!("a session's name has 1 to {LONGEST} bytes"));
    }
    if name.starts_with('.') || !name.chars().all(fits) {
        return Some(format!("`{name}` cannot name a session: use letters, digits, `-`, `_`, `+` and `.`"));
    }
    None
}

/// A name for a new session: when it began, and something random.
pub(super) fn made_up(created_at_ms: u64) -> String {
    let (year, month, day) = date(created_at_ms / 86_400_000);
    let minutes = created_at_ms / 60_000 % 1440;
    let (hour, minute) = (minutes / 60, minutes % 60);
    let random = getrandom::u32().unwrap_or_else(|_| std::process::id());
    format!("{year:04}-{month:02}-{day:02}-{hour:02}{minute:02}-{:04x}", random & 0xffff)
}

/// Year, month and day of a day since 1970. Years that begin in March have their leap day at the end.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_up_name_tells_when_the_session_began_and_can_be_used() {
        let name = made_up(1_794_779_566_000);
        assert!(name.starts_with("2026-11-15-2152-"), "{name}");
        assert_eq!(problem(&name), None);
        assert!(made_up(951_782_400_000).starts_with("2000-02-29-0000-"));
    }

    #[test]
    fn a_name_cannot_leave_the_folder() {
        for wrong in ["", "../x", "a/b", ".hidden", "a b", "x\n", &"x".repeat(65)] {
            assert!(problem(wrong).is_some(), "{wrong:?}");
        }
        for right in ["fix-login", "Größe_2", "v1.2+x"] {
            assert_eq!(problem(right), None);
        }
    }
}
