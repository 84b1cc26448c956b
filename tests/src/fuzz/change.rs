//! Inputs that are almost right.

use proptest::arbitrary::any;
use proptest::collection::vec as many;
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use proptest::strategy::{BoxedStrategy, Strategy};

/// The longest piece that is repeated, and how often at most.
const PIECE: usize = 60;
const OFTEN: usize = 40;

/// One change of an input.
#[derive(Clone, Debug)]
enum Change {
    Insert(Index, Vec<u8>),
    Replace(Index, Vec<u8>),
    Cut(Index, usize),
    Truncate(Index),
    Repeat(Index, usize, usize),
    Swap(Index, Index),
    Flip(Index, u8),
    Cross(Index, Vec<u8>, Index),
}

/// One of the texts after some changes; words are written into them, and pieces of each other.
pub fn mutated<T: AsRef<[u8]>, W: AsRef<[u8]>>(
    texts: &[T],
    words: &[W],
) -> impl Strategy<Value = Vec<u8>> + use<T, W> {
    let owned: Vec<Vec<u8>> = texts.iter().map(|text| text.as_ref().to_vec()).collect();
    let words = words.iter().map(|word| word.as_ref().to_vec()).collect();
    let changes = many(Change::any(words, owned.clone()), 0..5);
    (select(owned), changes).prop_map(|(mut text, changes)| {
        changes.iter().for_each(|change| change.apply(&mut text));
        text
    })
}

impl Change {
    fn any(words: Vec<Vec<u8>>, texts: Vec<Vec<u8>>) -> impl Strategy<Value = Self> {
        let piece = piece(words).boxed();
        prop_oneof![
            4 => (any::<Index>(), piece.clone()).prop_map(|(at, piece)| Self::Insert(at, piece)),
            2 => (any::<Index>(), piece).prop_map(|(at, piece)| Self::Replace(at, piece)),
            3 => (any::<Index>(), 1..12_usize).prop_map(|(at, count)| Self::Cut(at, count)),
            1 => any::<Index>().prop_map(Self::Truncate),
            1 => (any::<Index>(), 1..PIECE, 1..OFTEN).prop_map(|(at, count, times)| Self::Repeat(at, count, times)),
            1 => (any::<Index>(), any::<Index>()).prop_map(|(one, two)| Self::Swap(one, two)),
            2 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Self::Flip(at, bit)),
            1 => (any::<Index>(), select(texts), any::<Index>())
                .prop_map(|(at, other, from)| Self::Cross(at, other, from)),
        ]
    }

    fn apply(&self, text: &mut Vec<u8>) {
        let length = text.len();
        let place = |at: &Index| at.index(length + 1);
        let span = |at: &Index, count: usize| place(at)..(place(at) + count).min(length);
        match self {
            Self::Insert(at, piece) => drop(text.splice(span(at, 0), piece.iter().copied())),
            Self::Replace(at, piece) => drop(text.splice(span(at, piece.len()), piece.iter().copied())),
            Self::Cut(at, count) => drop(text.drain(span(at, *count))),
            Self::Truncate(at) => text.truncate(place(at)),
            Self::Repeat(at, count, times) => {
                let piece = text[span(at, *count)].repeat(*times);
                drop(text.splice(span(at, 0), piece));
            }
            Self::Swap(one, two) if length > 0 => text.swap(one.index(length), two.index(length)),
            Self::Flip(at, bit) if length > 0 => text[at.index(length)] ^= 1 << bit,
            Self::Swap(..) | Self::Flip(..) => {}
            Self::Cross(at, other, from) => {
                text.truncate(place(at));
                text.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
        }
    }
}

/// Something to write into a text: a word, or some bytes of any kind.
fn piece(words: Vec<Vec<u8>>) -> BoxedStrategy<Vec<u8>> {
    let bytes = many(any::<u8>(), 1..4);
    let boundary =
        select(&[0_u8, b'\n', b'\r', b' ', b'"', b'\\', 0x7f, 0x80, 0xff][..]).prop_map(|byte| vec![byte]);
    if words.is_empty() {
        return prop_oneof![bytes, boundary].boxed();
    }
    prop_oneof![3 => select(words), 1 => bytes, 1 => boundary].boxed()
}
