//! Moments and durations, as people write them.

use jiff::tz::TimeZone;
use plangate_approval::Time;

/// A duration in the unit that fits: `83 ms`, `1.24 s`, `4 min 5 s`, `2 h 10 min`, `3 days`.
pub(crate) fn duration(ms: i64) -> String {
    let ms = ms.max(0);
    let s = ms / 1000;
    match s {
        _ if ms < 1_000 => format!("{ms} ms"),
        _ if s < 10 => format!("{s}.{:02} s", (ms % 1_000) / 10),
        _ if s < 60 => format!("{s}.{} s", (ms % 1_000) / 100),
        _ if s < 3_600 => two(s / 60, "min", s % 60, "s"),
        _ if s < 172_800 => two(s / 3_600, "h", s / 60 % 60, "min"),
        _ => format!("{} days", s / 86_400),
    }
}

fn two(big: i64, unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 { format!("{big} {unit}") } else { format!("{big} {unit} {small} {small_unit}") }
}

/// A moment in local time: `14:32` today, `Tue 2 Jun 14:32` otherwise.
pub(crate) fn moment(at: Time, now: Time) -> String {
    let zone = TimeZone::system();
    let (Some(at), Some(now)) = (zoned(at, &zone), zoned(now, &zone)) else { return "?".to_owned() };
    if at.date() == now.date() {
        at.strftime("%H:%M").to_string()
    } else if at.year() == now.year() {
        at.strftime("%a %-d %b %H:%M").to_string()
    } else {
        at.strftime("%-d %b %Y %H:%M").to_string()
    }
}

/// How long until, in words: `in 59 min`, or `12 min ago`.
pub(crate) fn relative(at: Time, now: Time) -> String {
    let ms = at.0 - now.0;
    if ms >= 0 { format!("in {}", rough(ms)) } else { format!("{} ago", rough(-ms)) }
}

/// A duration without its small part: for what is some time away.
fn rough(ms: i64) -> String {
    let s = ms / 1000;
    match s {
        0 => "a moment".to_owned(),
        1..=89 => format!("{s} s"),
        90..=5_399 => format!("{} min", (s + 30) / 60),
        5_400..=172_799 => format!("{} h", (s + 1_800) / 3_600),
        _ => format!("{} days", s / 86_400),
    }
}

/// A moment as people type it: a day or a local time (`2026-07-31`, `2026-07-31T08:00`), one with its zone
/// (`2026-07-31T08:00Z`), or how long ago (`90s`, `30m`, `2h`, `3d`).
pub(crate) fn instant(text: &str) -> Result<Time, String> {
    let days = text.strip_suffix('d').and_then(|n| n.parse::<u32>().ok());
    let ago = match days {
        Some(days) => Some(i64::from(days) * 86_400_000),
        None => crate::config::duration(text).and_then(|ago| i64::try_from(ago.as_millis()).ok()),
    };
    if let Some(ago) = ago {
        return Ok(Time(jiff::Timestamp::now().as_millisecond().saturating_sub(ago)));
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(Time(at.as_millisecond()));
    }
    let midnight = |day: jiff::civil::Date| day.at(0, 0, 0, 0);
    let local = text.parse::<jiff::civil::DateTime>().or_else(|_| text.parse().map(midnight));
    let at = local.and_then(|at| at.to_zoned(TimeZone::system())).map_err(|_| {
        "expected a day like 2026-07-31, a time like 2026-07-31T08:00, or how long ago, like 2h or 3d"
            .to_owned()
    })?;
    Ok(Time(at.timestamp().as_millisecond()))
}

/// The day and the time of day, here: `2026-07-31` and `08:00:12`.
pub(crate) fn day_and_time(at: Time) -> (String, String) {
    let Some(at) = zoned(at, &TimeZone::system()) else { return ("unknown".to_owned(), "?".to_owned()) };
    (at.date().to_string(), at.strftime("%H:%M:%S").to_string())
}

/// A moment for programs: RFC 3339 in UTC, with milliseconds.
pub(crate) fn rfc3339(at: Time) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| at.0.to_string(), |t| t.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

fn zoned(at: Time, zone: &TimeZone) -> Option<jiff::Zoned> {
    Some(jiff::Timestamp::from_millisecond(at.0).ok()?.to_zoned(zone.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fit_their_size() {
        let cases = [
            (0, "0 ms"),
            (83, "83 ms"),
            (1_000, "1.00 s"),
            (1_240, "1.24 s"),
            (59_999, "59.9 s"),
            (60_000, "1 min"),
            (245_000, "4 min 5 s"),
            (7_800_000, "2 h 10 min"),
            (3 * 86_400_000, "3 days"),
            (-5, "0 ms"),
        ];
        for (ms, words) in cases {
            assert_eq!(duration(ms), words, "{ms}");
        }
    }

    #[test]
    fn what_is_away_is_rounded() {
        let now = Time(1_000_000_000_000);
        assert_eq!(relative(Time(now.0 + 3_540_000), now), "in 59 min");
        assert_eq!(relative(Time(now.0 + 3_600_000), now), "in 60 min");
        assert_eq!(relative(Time(now.0 - 7_300_000), now), "2 h ago");
        assert_eq!(relative(now, now), "in a moment");
    }

    #[test]
    fn what_people_type_is_a_moment() {
        assert_eq!(instant("2026-05-28T20:26:40.123Z"), Ok(Time(1_780_000_000_123)));
        let day = instant("2026-07-31").unwrap();
        assert_eq!(day_and_time(day), ("2026-07-31".to_owned(), "00:00:00".to_owned()));
        let morning = instant("2026-07-31T08:00").unwrap();
        assert_eq!(day_and_time(morning), ("2026-07-31".to_owned(), "08:00:00".to_owned()));
        let (two_days, long_ago) = (instant("2d").unwrap(), instant("48h").unwrap());
        assert!((0..60_000).contains(&(long_ago.0 - two_days.0)), "{two_days:?} {long_ago:?}");
        for wrong in ["", "soon", "2026-13-01", "-3d", "3 d", "d"] {
            assert!(instant(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn programs_get_utc() {
        assert_eq!(rfc3339(Time(1_780_000_000_123)), "2026-05-28T20:26:40.123Z");
    }
}
