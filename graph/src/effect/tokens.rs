//! Names cut into words, whatever style they are written in.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A text in the form in which words are compared: compatibility forms and accents resolved, lower case.
pub(super) fn fold(text: &str) -> String {
    plain(text).to_lowercase()
}

/// The folded words of a name: snake, camel, kebab, SCREAMING, dotted or mixed. Digits are words of their own, so that
/// every style gives the same words; so are runs of scripts without spaces.
pub(crate) fn split(name: &str) -> Vec<String> {
    let plain: Vec<char> = plain(name).chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (i, &c) in plain.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|j| plain.get(j)).copied();
        let after = plain.get(i + 1).copied();
        if before.is_none_or(|b| boundary(b, c, after)) && !word.is_empty() {
            words.push(std::mem::take(&mut word).to_lowercase());
        }
        if c.is_alphanumeric() {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word.to_lowercase());
    }
    words
}

/// Whether a character belongs to a script that writes words without spaces between them.
pub(super) fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    text.nfkd().filter(|c| !is_combining_mark(*c)).nfc().collect()
}

fn boundary(before: char, c: char, after: Option<char>) -> bool {
    if !c.is_alphanumeric() || !before.is_alphanumeric() {
        return true;
    }
    c.is_numeric() != before.is_numeric()
        || unspaced(c) != unspaced(before)
        || (c.is_uppercase()
            && (before.is_lowercase() || (before.is_uppercase() && after.is_some_and(char::is_lowercase))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_gives_the_same_words() {
        for name in [
            "get_user_list",
            "getUserList",
            "GetUserList",
            "get-user-list",
            "GET_USER_LIST",
            "get.user.list",
            "get userList",
        ] {
            assert_eq!(split(name), ["get", "user", "list"], "{name}");
        }
    }

    #[test]
    fn digits_and_acronyms() {
        assert_eq!(split("listS3Objects_v2"), ["list", "s", "3", "objects", "v", "2"]);
        assert_eq!(split("list_s3_objects_V2"), ["list", "s", "3", "objects", "v", "2"]);
        assert_eq!(split("getURLByID"), ["get", "url", "by", "id"]);
        assert_eq!(split("HTTPSProxy"), ["https", "proxy"]);
    }

    #[test]
    fn other_scripts() {
        assert_eq!(split("créer_élément"), ["creer", "element"]);
        assert_eq!(split("查询user列表"), ["查询", "user", "列表"]);
        assert_eq!(split("удалитьФайл"), ["удалить", "фаил"]);
        assert_eq!(split("ｇｅｔ＿ｕｓｅｒ"), ["get", "user"]);
        assert!(split("--__..").is_empty());
    }
}
