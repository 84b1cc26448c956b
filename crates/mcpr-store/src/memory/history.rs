//! Past calls, in memory.

use async_trait::async_trait;

use super::Memory;
use crate::{CallBatch, CallQuery, CallRow, HistoryStore, StoreError};

#[async_trait]
impl HistoryStore for Memory {
    async fn put_calls(&self, calls: CallBatch) -> Result<(), StoreError> {
        self.with(|records| {
            for call in calls.calls() {
                records.calls.entry(call.id.clone()).or_insert(call);
            }
        })
    }

    async fn calls(&self, query: CallQuery) -> Result<Vec<CallRow>, StoreError> {
        let limit = if query.limit == 0 { usize::MAX } else { query.limit };
        self.with(|records| {
            let newest = records.calls.values().rev();
            newest
                .filter(|call| query.means(call))
                .take(limit)
                .cloned()
                .collect()
        })
    }

    async fn call(&self, id: &str) -> Result<Option<CallRow>, StoreError> {
        self.with(|records| {
            let exact = records.calls.get(id).cloned();
            exact.or_else(|| {
                let mut all = records
                    .calls
                    .range(id.to_owned()..)
                    .take_while(|(known, _)| known.starts_with(id));
                let only = all.next().map(|(_, call)| call.clone());
                only.filter(|_| !id.is_empty() && all.next().is_none())
            })
        })
    }

    async fn delete_calls(&self, query: CallQuery) -> Result<u64, StoreError> {
        self.with(|records| {
            let before = records.calls.len();
            records.calls.retain(|_, call| !query.means(call));
            (before - records.calls.len()) as u64
        })
    }

    async fn prune_calls(&self, older_than_ms: Option<i64>, max_bytes: u64) -> Result<u64, StoreError> {
        self.with(|records| {
            let before = records.calls.len();
            records
                .calls
                .retain(|_, call| older_than_ms.is_none_or(|limit| call.at_ms >= limit));
            let mut bytes: u64 = records.calls.values().map(CallRow::bytes).sum();
            while bytes > max_bytes
                && let Some((_, oldest)) = records.calls.pop_first()
            {
                bytes -= oldest.bytes();
            }
            (before - records.calls.len()) as u64
        })
    }
}
