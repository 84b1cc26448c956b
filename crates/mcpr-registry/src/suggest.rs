//! Did you mean …?

/// The least letters that count as a part of a name: fewer are in nearly every name.
const PART: usize = 3;
/// The most slips that are forgiven, however long the name.
const SLIPS: usize = 3;

/// How far a known name is from what was typed: the least is the nearest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Distance {
    /// So many slips of the pen.
    Slips(usize),
    /// What was typed is a part of the name, which has so many letters more, such as `status` for
    /// `git.status`.
    PartOf(usize),
    /// The name, or nearly all of what was typed, with so many letters more, such as
    /// `mcp__git__status` for `git_status`.
    Within(usize),
}

/// The known name that was probably meant by `wanted`; the first of those that are equally near.
///
/// At most a third of the letters may be wrong. Case and the characters between words do not count,
/// and a part of a name is enough.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = simplified(wanted);
    let distances = known
        .into_iter()
        .filter_map(|known| Some((distance(&wanted, &simplified(known))?, known)));
    let nearest = distances.min_by_key(|(distance, _)| *distance);
    nearest.map(|(_, known)| known)
}

/// Spelling habits do not count: `max_concurrency` is `maxConcurrency`.
fn simplified(text: &str) -> Vec<char> {
    let letters = text.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.'));
    letters.flat_map(char::to_lowercase).collect()
}

fn distance(wanted: &[char], known: &[char]) -> Option<Distance> {
    let allowed = match wanted.len() {
        0 | 1 => 0,
        length => (length / 3).clamp(1, SLIPS),
    };
    let (longer, shorter) = (wanted.len().max(known.len()), wanted.len().min(known.len()));
    let more = longer - shorter;
    let slips = (more <= allowed).then(|| slips(wanted, known));
    if let Some(slips) = slips.filter(|slips| *slips <= allowed) {
        return Some(Distance::Slips(slips));
    }
    if shorter < PART {
        None
    } else if contains(known, wanted) {
        Some(Distance::PartOf(more))
    } else if more <= shorter && contains(wanted, known) {
        Some(Distance::Within(more))
    } else {
        None
    }
}

fn contains(text: &[char], part: &[char]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// How many letters to insert, leave out, replace or swap with their neighbour.
fn slips(a: &[char], b: &[char]) -> usize {
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

    #[test]
    fn set_03_a_part_of_a_name_is_enough() {
        let known = [
            "git.statistics",
            "git.status",
            "docker.ps",
            "github.status_of_all",
        ];
        let meant = |typed| nearest(typed, known);

        assert_eq!(meant("git.statsu"), Some("git.status"));
        assert_eq!(
            meant("status"),
            Some("git.status"),
            "it has the fewest letters more"
        );
        assert_eq!(meant("docker"), Some("docker.ps"));
        assert_eq!(meant("mcp__git__status"), Some("git.status"));
        assert_eq!(meant("ps"), None, "two letters are in too many names");
        assert_eq!(meant("x"), None);
        assert_eq!(meant("kubernetes.pods"), None);
    }

    #[test]
    fn a_very_long_text_costs_little() {
        let long = "x".repeat(1_000_000);
        assert_eq!(nearest(&long, ["git.status"; 100]), None);
        assert_eq!(nearest("git.status", [long.as_str()]), None);
    }
}
