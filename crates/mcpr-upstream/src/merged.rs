//! What several backends offer, as what one server offers.

use std::collections::HashMap;
use std::sync::Arc;

use mcpr_protocol::{Object, RawJson};
use mcpr_registry::{Kind, Offers};

/// The offers of the backends of a server: the items of all, each as the first that has it says it.
#[derive(Default)]
pub(crate) struct Merged {
    sources: Vec<Arc<Offers>>,
    whole: Option<Arc<Offers>>,
    /// The items that only some have, by kind, with those that do.
    partial: [HashMap<Box<str>, Vec<Arc<Offers>>>; 4],
}

impl Merged {
    /// Puts together what backends offer, in their order.
    pub(crate) fn of(sources: Vec<Arc<Offers>>) -> Self {
        let Some((first, others)) = sources.split_first() else {
            return Self::default();
        };
        let mut merged = Self {
            whole: Some(first.clone()),
            ..Self::default()
        };
        if others.iter().any(|offers| offers != first) {
            let mut whole = (**first).clone();
            for kind in Kind::ALL {
                merged.partial[kind as usize] = gather(&mut whole, kind, &sources);
            }
            for offers in others {
                whole.capabilities = whole.capabilities.or(offers.capabilities);
            }
            merged.whole = Some(Arc::new(whole));
        }
        Self { sources, ..merged }
    }

    /// Whether it is made of exactly these.
    pub(crate) fn is_of(&self, sources: &[Arc<Offers>]) -> bool {
        let same = |(known, source): (&Arc<Offers>, &Arc<Offers>)| Arc::ptr_eq(known, source);
        self.sources.len() == sources.len() && self.sources.iter().zip(sources).all(same)
    }

    /// The items of all.
    pub(crate) fn whole(&self) -> Option<Arc<Offers>> {
        self.whole.clone()
    }

    /// Whether the backends differ in what they offer.
    pub(crate) fn is_uneven(&self) -> bool {
        self.partial.iter().any(|partial| !partial.is_empty())
    }

    /// Whether a backend with these offers is known not to have an item that others have.
    pub(crate) fn lacks(&self, offers: &Arc<Offers>, kind: Kind, name: &str) -> bool {
        let having = self.partial[kind as usize].get(name);
        having.is_some_and(|having| !having.iter().any(|known| Arc::ptr_eq(known, offers)))
    }
}

/// Adds the items of one kind that the first has not, and says which of them not all have.
fn gather(whole: &mut Offers, kind: Kind, sources: &[Arc<Offers>]) -> HashMap<Box<str>, Vec<Arc<Offers>>> {
    let mut having = HashMap::<Box<str>, Vec<Arc<Offers>>>::new();
    let mut items = Vec::new();
    for offers in sources {
        for item in offers.items(kind) {
            let Some(name) = name(kind, item) else {
                continue; // Nobody can ask for it, and the catalog leaves it out.
            };
            let known = having.entry(name).or_default();
            if known.is_empty() {
                items.push(item.clone());
            }
            if known.last().is_none_or(|last| !Arc::ptr_eq(last, offers)) {
                known.push(offers.clone());
            }
        }
    }
    *whole.items_mut(kind) = items;
    having.retain(|_, having| having.len() < sources.len());
    having
}

fn name(kind: Kind, item: &RawJson) -> Option<Box<str>> {
    let name = Object::read(item).ok()?.text(kind.key())?;
    Some(name.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(tools: &[&'static str]) -> Arc<Offers> {
        let tools = tools.iter().map(|text| RawJson::from_static(text)).collect();
        Arc::new(Offers {
            tools,
            ..Offers::default()
        })
    }

    fn tools(merged: &Merged) -> Vec<String> {
        let whole = merged.whole().expect("something is offered");
        whole.tools.iter().map(|tool| tool.as_str().to_owned()).collect()
    }

    #[test]
    fn lb_01_equal_backends_offer_what_each_of_them_offers() {
        let (one, two) = (
            offers(&[r#"{"name":"a"}"#, "oddity"]),
            offers(&[r#"{"name":"a"}"#, "oddity"]),
        );
        let merged = Merged::of(vec![one.clone(), two.clone()]);

        assert!(Arc::ptr_eq(&merged.whole().expect("something is offered"), &one));
        assert!(!merged.is_uneven() && !merged.lacks(&two, Kind::Tools, "a"));
        assert!(merged.is_of(&[one.clone(), two]) && !merged.is_of(&[one]));
    }

    #[test]
    fn lb_03_what_only_some_have_is_offered_and_known_to_be_theirs() {
        let old = offers(&[r#"{"name":"a","v":1}"#, r#"{"name":"gone"}"#]);
        let new = offers(&[r#"{"name":"a","v":2}"#, r#"{"name":"new"}"#]);
        let merged = Merged::of(vec![old.clone(), new.clone()]);

        assert_eq!(
            tools(&merged),
            [r#"{"name":"a","v":1}"#, r#"{"name":"gone"}"#, r#"{"name":"new"}"#]
        );
        assert!(merged.is_uneven() && !merged.lacks(&new, Kind::Tools, "a"));
        assert!(merged.lacks(&new, Kind::Tools, "gone") && !merged.lacks(&old, Kind::Tools, "gone"));
        assert!(merged.lacks(&old, Kind::Tools, "new") && !merged.lacks(&old, Kind::Prompts, "new"));
    }

    #[test]
    fn without_backends_nothing_is_offered() {
        assert!(Merged::of(Vec::new()).whole().is_none());
    }
}
