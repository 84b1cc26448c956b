//! What a definition costs a model (SET-11).

/// How many bytes make a token.
const BYTES: usize = 4;

/// Roughly how many tokens a text of so many bytes is.
///
/// A rule of thumb: the common tokenizers make a token of about four bytes of JSON or English. It is
/// no measure of one model, and only meant to be told as an estimate (`≈`).
pub fn estimate_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(BYTES)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_11_four_bytes_are_a_token_and_a_part_of_them_too() {
        assert_eq!([0, 1, 4, 5, 4000].map(estimate_tokens), [0, 1, 1, 2, 1000]);
    }
}
