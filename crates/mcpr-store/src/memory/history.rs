//! Past calls, in memory: some together in one text, as they are in the database.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::Memory;
use crate::history::Room;
use crate::history::batch::Piece;
use crate::{CallBatch, CallQuery, CallRow, HistoryStore, StoreError};

/// All calls, by the last id of each piece; the ids of no two lie among each other.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<String, Piece>);

impl Calls {
    /// Adds calls; those among which they lie are put together with them, as there are where the clock went back.
    fn put(&mut self, batch: CallBatch) {
        let Some((first, last)) = batch.ends() else { return };
        let behind = self.0.range(first.to_owned()..);
        let among = behind.take_while(|(_, piece)| *piece.first <= *last);
        let among: Vec<String> = among.map(|(key, _)| key.clone()).collect();
        if among.is_empty() && batch.is_in_order() {
            return self.keep(batch);
        }
        let before = among.iter().filter_map(|key| self.0.remove(key));
        let mut calls: Vec<CallRow> = before.flat_map(|piece| piece.calls()).collect();
        calls.extend(batch.calls());
        self.keep(CallBatch::merged(calls));
    }

    fn keep(&mut self, batch: CallBatch) {
        let pieces = batch.into_pieces().into_iter();
        self.0.extend(pieces.map(|piece| (piece.last.clone(), piece)));
    }

    fn meant(&self, query: &CallQuery) -> Vec<CallRow> {
        let (mut room, mut found) = (Room::of(query), Vec::new());
        for piece in self.0.values().rev().filter(|piece| may_hold(piece, query)) {
            room.fill(piece.calls().into_iter().rev(), query, &mut found);
            if !room.is_left() {
                break;
            }
        }
        found
    }

    fn one(&self, id: &str) -> Option<CallRow> {
        let pieces = self.0.range(id.to_owned()..).map(|(_, piece)| piece);
        let near = pieces.take_while(|piece| *piece.first <= *id || piece.first.starts_with(id));
        let calls = near.flat_map(|piece| piece.calls());
        let mut fitting = calls.filter(|call| call.id.starts_with(id));
        let first = fitting.next()?;
        let alone = first.id == id || !id.is_empty() && fitting.next().is_none();
        alone.then_some(first)
    }

    /// Forgets those calls of some pieces that are to go; how many there were.
    fn forget(&mut self, concerns: impl Fn(&Piece) -> bool, mut goes: impl FnMut(&CallRow) -> bool) -> u64 {
        let keys = self.0.iter().filter(|(_, piece)| concerns(piece));
        let keys: Vec<String> = keys.map(|(key, _)| key.clone()).collect();
        let mut gone = 0;
        for piece in keys
            .iter()
            .filter_map(|key| self.0.remove(key))
            .collect::<Vec<_>>()
        {
            let mut calls = piece.calls();
            let before = calls.len();
            calls.retain(|call| !goes(call));
            gone += (before - calls.len()) as u64;
            self.keep(calls.into_iter().collect());
        }
        gone
    }

    /// Forgets the oldest calls beyond so many bytes: whole pieces unread, and a part of one.
    fn shrink(&mut self, max_bytes: u64) -> u64 {
        let bytes: u64 = self.0.values().map(Piece::bytes).sum();
        let mut surplus = bytes.saturating_sub(max_bytes);
        let mut gone = 0;
        while let Some(oldest) = self.0.first_entry()
            && oldest.get().bytes() <= surplus
        {
            let piece = oldest.remove();
            surplus -= piece.bytes();
            gone += piece.calls as u64;
        }
        if let Some(oldest) = self.0.keys().next().cloned().filter(|_| surplus > 0) {
            let mut left = surplus.cast_signed();
            gone += self.forget(
                |piece| piece.last == oldest,
                |call| {
                    let goes = left > 0;
                    left -= call.bytes().cast_signed();
                    goes
                },
            );
        }
        gone
    }
}

/// Whether a piece lies within the bounds of a query.
fn may_hold(piece: &Piece, query: &CallQuery) -> bool {
    query.before.as_ref().is_none_or(|before| piece.first < *before)
        && query.after.as_ref().is_none_or(|after| piece.last > *after)
        && query.until_ms.is_none_or(|until| piece.oldest_ms < until)
}

#[async_trait]
impl HistoryStore for Memory {
    async fn put_calls(&self, calls: CallBatch) -> Result<(), StoreError> {
        self.with(|records| records.calls.put(calls))
    }

    async fn calls(&self, query: CallQuery) -> Result<Vec<CallRow>, StoreError> {
        self.with(|records| records.calls.meant(&query))
    }

    async fn call(&self, id: &str) -> Result<Option<CallRow>, StoreError> {
        self.with(|records| records.calls.one(id))
    }

    async fn delete_calls(&self, query: CallQuery) -> Result<u64, StoreError> {
        self.with(|records| {
            let concerns = |piece: &Piece| may_hold(piece, &query);
            records.calls.forget(concerns, |call| query.means(call))
        })
    }

    async fn prune_calls(&self, older_than_ms: Option<i64>, max_bytes: u64) -> Result<u64, StoreError> {
        self.with(|records| {
            let old = older_than_ms.map_or(0, |limit| {
                let concerns = |piece: &Piece| piece.oldest_ms < limit;
                records.calls.forget(concerns, |call| call.at_ms < limit)
            });
            old + records.calls.shrink(max_bytes)
        })
    }
}
