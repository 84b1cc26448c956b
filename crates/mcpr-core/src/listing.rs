//! Requests for lists: answered from the snapshot, no server is asked (AGG-12).

use std::time::{Duration, SystemTime};

use mcpr_auth::Principal;
use mcpr_bridge::Purpose;
use mcpr_protocol::{Era, Object, RawJson, Rope};
use mcpr_registry::Kind;
use mcpr_upstream::Freshness;
use tokio::time::Instant;

use crate::client::Context;
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::pages::Place;
use crate::scope::{Scope, Within};

/// How long a client may take from one page to the next.
const CURSOR_LIFE: Duration = Duration::from_secs(3600);

impl Gateway {
    /// The page of a list that the parameters ask for.
    ///
    /// # Errors
    ///
    /// When the cursor is none of ours, another principal's, too old, or of a list that has changed.
    pub(crate) fn page(&self, context: &Context, kind: Kind, params: Option<&Object>) -> Result<Rope, Fault> {
        let cursor = params
            .and_then(|params| params.get("cursor"))
            .filter(|cursor| !cursor.is_null());
        let wrong = || Fault::InvalidParams("Invalid cursor: start again without one".into());
        let from = cursor
            .map(|cursor| self.place(context, kind, &cursor).ok_or_else(wrong))
            .transpose()?;
        let (scope, _) = self.scope(&context.principal, &context.asked);
        if scope.within == Within::Unknown {
            self.went_astray(context);
        }
        let sight = self.snapshot().sight(&scope);
        let page = sight.page(kind, context.era(), from).ok_or_else(wrong)?;
        let fresh = sight.pages.fresh(kind);
        let mut result = Rope::from(page.head);
        if let Some(next) = page.next {
            result.push(format!(
                ",\"nextCursor\":\"{}\"",
                self.cursor(context, kind, next)
            ));
        }
        if context.era() == Era::Stateless {
            let plain = scope == Scope::everything();
            // A client that can change the list with its next call must not keep it: it would not see what it has equipped.
            let held = match kind {
                Kind::Tools if sight.builtins => Freshness::STALE,
                _ => fresh,
            };
            result.push(caching(
                held,
                plain && context.principal == Principal::anonymous(),
            ));
        }
        result.push_static("}");
        self.refresh(kind, fresh);
        Ok(result)
    }

    fn cursor(&self, context: &Context, kind: Kind, place: Place) -> String {
        let expires = SystemTime::now() + CURSOR_LIFE;
        let bound = [context.principal.key(), kind.member()];
        self.sealer
            .seal(Purpose::Cursor, &bound, expires, &place.to_bytes())
    }

    fn place(&self, context: &Context, kind: Kind, cursor: &RawJson) -> Option<Place> {
        let bound = [context.principal.key(), kind.member()];
        let opened = self
            .sealer
            .open(Purpose::Cursor, &bound, &cursor.to_text()?, SystemTime::now());
        Place::from_bytes(&opened.ok()?)
    }

    /// Has servers asked again whose lists are older than they said they would hold; whoever is
    /// here now gets what there is.
    fn refresh(&self, kind: Kind, fresh: Freshness) {
        let now = Instant::now();
        if !fresh.has_expired(now) {
            return;
        }
        for server in self.pool.all() {
            let fresh = server.status().fresh.of(kind);
            if fresh.is_some_and(|fresh| fresh.has_expired(now)) {
                server.expired(kind);
            }
        }
    }
}

/// The members of a stateless result that say how long it holds, and for whom: only where nobody
/// has to say who he is do all get the same.
fn caching(fresh: Freshness, same_for_all: bool) -> String {
    let ttl = u64::try_from(fresh.remaining(Instant::now()).as_millis()).unwrap_or(u64::MAX);
    let public = fresh.public && same_for_all;
    let scope = if public { "public" } else { "private" };
    format!(",\"resultType\":\"complete\",\"ttlMs\":{ttl},\"cacheScope\":\"{scope}\"")
}
