//! How long to wait before an event is told again, and when it is given up.

/// The first wait, in milliseconds.
pub const FIRST_MS: i64 = 1_000;
/// The longest wait, in milliseconds: an hour.
pub const LONGEST_MS: i64 = 3_600_000;
/// How long after its first failure an event is given up, in milliseconds: three days.
pub const GIVE_UP_MS: i64 = 3 * 86_400_000;
/// How often an event is tried at least before it is given up, however long no process was there to try.
pub const LEAST_ATTEMPTS: u32 = 5;

/// The wait after this many failures in a row, in milliseconds: twice as long each time, up to [`LONGEST_MS`], and of that
/// between half and the whole, so that many senders do not come back at once. `chance` is a random number from 0 to 255.
pub fn wait_ms(failures: u32, chance: u8) -> i64 {
    let doubled = FIRST_MS.checked_shl(failures.saturating_sub(1).min(32)).unwrap_or(LONGEST_MS);
    let whole = doubled.min(LONGEST_MS);
    whole / 2 + whole / 2 * i64::from(chance) / 255
}

/// Whether an event that failed this often, for this long, is given up.
pub fn is_over(failures: u32, since_first_ms: i64) -> bool {
    failures >= LEAST_ATTEMPTS && since_first_ms >= GIVE_UP_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        let whole: Vec<i64> = (1..=14).map(|n| wait_ms(n, 255)).collect();
        assert_eq!(whole[..5], [1_000, 2_000, 4_000, 8_000, 16_000]);
        assert_eq!(whole[11..], [2_048_000, LONGEST_MS, LONGEST_MS]);
        assert_eq!(wait_ms(u32::MAX, 255), LONGEST_MS);
        assert_eq!(wait_ms(0, 255), FIRST_MS);
    }

    #[test]
    fn chance_takes_at_most_half() {
        for failures in 1..40 {
            for chance in [0, 1, 127, 254, 255] {
                let (wait, whole) = (wait_ms(failures, chance), wait_ms(failures, 255));
                assert!(wait <= whole && wait >= whole / 2, "{failures} {chance}: {wait} of {whole}");
            }
        }
        assert!(wait_ms(5, 0) < wait_ms(5, 100) && wait_ms(5, 100) < wait_ms(5, 200));
    }

    #[test]
    fn nothing_is_given_up_before_three_days_and_five_attempts() {
        assert!(!is_over(1_000, GIVE_UP_MS - 1));
        assert!(!is_over(LEAST_ATTEMPTS - 1, 10 * GIVE_UP_MS));
        assert!(is_over(LEAST_ATTEMPTS, GIVE_UP_MS));
    }
}
