//! The codes of the compiler's own diagnostics. Those from `R0300` belong to lowering, in `plangate_graph`.

macro_rules! codes {
    ($($(#[$about:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$about])* pub(crate) const $name: &str = $code;)*
        /// All of them, in order.
        #[cfg(test)]
        pub(crate) const ALL: &[&str] = &[$($code),*];
    };
}

codes! {
    // Characters
    SPACES_ONLY = "R0001";
    HIDDEN_CHARACTER = "R0002";
    CONTROL_CHARACTER = "R0003";

    // Lines and blocks
    NOT_A_LINE = "R0101";
    OUTSIDE_BLOCK = "R0102";
    UNKNOWN_BLOCK = "R0103";
    BLOCK_LINE = "R0104";
    INDENTATION = "R0105";
    EMPTY_BLOCK = "R0106";
    EMPTY_RECIPE = "R0107";
    NOT_A_NAME = "R0108";
    DASH = "R0109";
    SAYS_NOTHING = "R0110";
    STRAY_LINE = "R0111";
    SECOND_INPUTS = "R0112";
    RESERVED_NAME = "R0113";
    COMMENT_IN_SENTENCE = "R0114";
    NESTED_BLOCK = "R0115";
    STEP_IN_SENTENCE = "R0116";

    // Calls
    UNKNOWN_TOOL = "R0120";
    UNKNOWN_SERVER = "R0121";
    ARGUMENTS_REQUIRED = "R0122";
    TEMPLATE_IN_TOOL = "R0123";
    NO_SERVER = "R0124";
    AFTER_ARGUMENTS = "R0125";
    SENTENCE_WITHOUT_ASKING = "R0126";
    LOOKS_LIKE_CALL = "R0127";

    // JSON
    NOT_CLOSED = "R0130";
    JSON_SYNTAX = "R0131";
    DUPLICATE_KEY = "R0132";
    TOO_DEEP = "R0133";
    REFERENCE_IN_KEY = "R0134";

    // Settings
    SETTING_VALUE = "R0140";
    SETTING_TWICE = "R0141";
    RETRY_ON_SENTENCE = "R0142";
    UNKNOWN_SETTING = "R0143";

    // `need:`
    NEED_SHAPE = "R0150";
    NEED_PLACE = "R0151";
    NEED_BLOCK = "R0152";
    NEED_RANGE = "R0153";
    NEED_COUNT = "R0154";
    NEED_NOTHING = "R0155";
    MAY_BE_MISSING = "R0156";

    // Inputs
    INPUT_SHAPE = "R0160";
    INPUT_DEFAULT = "R0161";
    INPUT_UNREAD = "R0162";

    // Checks
    CHECK_SHAPE = "R0170";
    UNKNOWN_TEST = "R0171";
    TEST_VALUE = "R0172";

    // Names and references
    UNKNOWN_NAME = "R0201";
    NAME_TWICE = "R0202";
    LATER_STEP = "R0203";
    ITSELF = "R0204";
    SIBLING = "R0205";
    BLOCK_NAME = "R0206";
    REFERENCE_PATH = "R0207";
    GROUP_IN_STRING = "R0208";
    LITERAL_BRACES = "R0209";
    AFTER_INPUT = "R0210";
}
