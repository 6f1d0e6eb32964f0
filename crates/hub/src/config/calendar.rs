//! Dates as users write them, in UTC. Reads no clock.

use toml::value::{Date, Datetime, Offset, Time};

const DAY_SECONDS: u64 = 24 * 3600;

/// The date and time this many seconds after the start of 1970.
pub(super) fn utc_datetime(unix_seconds: u64) -> Datetime {
    let (days, second) = (unix_seconds / DAY_SECONDS, unix_seconds % DAY_SECONDS);
    // Years that begin in March have their leap day at the end; 719,468 days lie between the first of March of the
    // year 0 and 1970.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let small = |number: u64| u8::try_from(number).unwrap_or_default();
    Datetime {
        date: Some(Date {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: small(month),
            day: small(day),
        }),
        time: Some(Time {
            hour: small(second / 3600),
            minute: small(second / 60 % 60),
            second: Some(small(second % 60)),
            nanosecond: None,
        }),
        offset: Some(Offset::Z),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_calendar_dates() {
        for (unix_seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_794_779_566, "2026-11-15T21:52:46Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc_datetime(unix_seconds).to_string(), expected);
        }
    }
}
