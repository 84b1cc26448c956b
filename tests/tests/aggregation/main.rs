//! Aggregation: names, lists, schemas, resources, results.

mod lists;
