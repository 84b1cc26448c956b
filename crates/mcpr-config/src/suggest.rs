//! Did you mean …?

/// The candidate that `typed` was probably meant to be.
pub fn nearest<'c>(typed: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let plain = simplified(typed);
    let allowed = (plain.len() / 3).clamp(1, 3);
    let distances = candidates
        .into_iter()
        .map(|known| (distance(&plain, &simplified(known)), known));
    let close = distances.filter(|(distance, _)| *distance <= allowed);
    close
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Spelling habits do not count: `max_concurrency` is `maxConcurrency`.
fn simplified(text: &str) -> Vec<char> {
    let letters = text.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.'));
    letters.flat_map(char::to_lowercase).collect()
}

/// How many letters to insert, leave out, replace or swap with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cfg_04_a_slip_of_the_pen_is_recognised() {
        let known = ["command", "args", "env", "maxConcurrency", "type"];
        let meant = |typed| nearest(typed, known);

        assert_eq!(meant("comand"), Some("command"));
        assert_eq!(meant("commnad"), Some("command"));
        assert_eq!(meant("Args"), Some("args"));
        assert_eq!(meant("arg"), Some("args"));
        assert_eq!(meant("tpye"), Some("type"));
        assert_eq!(meant("max_concurency"), Some("maxConcurrency"));
        assert_eq!(meant("description"), None);
        assert_eq!(meant(""), None);
    }
}
