//! The day of a moment, for rules of a policy that end.

use plangate_approval::Time;
use plangate_graph::policy::Date;

/// The day (UTC) of a moment, if it lies in the years 1 to 9999.
pub(crate) fn day_of(time: Time) -> Option<Date> {
    let days = time.0.div_euclid(86_400_000);
    // Counted from 0000-03-01, so that a leap day is the last of its year, in eras of 400 years.
    let shifted = days.checked_add(719_468)?;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    Date::new(u16::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_moments() {
        let day = |ms| day_of(Time(ms)).unwrap().to_string();
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(-1), "1969-12-31");
        assert_eq!(day(951_782_400_000), "2000-02-29");
        assert_eq!(day(951_868_799_999), "2000-02-29");
        assert_eq!(day(951_868_800_000), "2000-03-01");
        assert_eq!(day(4_107_542_400_000), "2100-03-01");
        assert_eq!(day(1_796_083_199_999), "2026-11-30");
        assert_eq!(day_of(Time(i64::MAX)), None);
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let mut last = day_of(Time(0)).unwrap();
        for n in 1..146_097_i64 {
            let next = day_of(Time(n * 86_400_000)).unwrap();
            assert!(next > last);
            last = next;
        }
        assert_eq!(last.to_string(), "2369-12-31");
    }
}
