//! Days of the Gregorian calendar, counted.

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years begin in March, so that a leap day ends one.
pub fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

/// The day that so many days after 1970-01-01 is: year, month, day of the month.
pub fn day_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year + era * 400, month, day)
}

/// Whether what ends on a day, in a month or in a year had ended by a day: `2026-06` by `2026-07-01`.
pub fn has_ended(end: &str, by: &str) -> bool {
    by.get(..end.len()).is_some_and(|by| by > end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        for (day, number) in
            [((1970, 1, 1), 0), ((2000, 2, 29), 11_016), ((2000, 3, 1), 11_017), ((2026, 11, 20), 20_777)]
        {
            assert_eq!(days_to(day.0, day.1, day.2), number, "{day:?}");
            assert_eq!(day_of(number), day);
        }
    }
}
