//! Aggregation: names, lists, schemas, resources, results.

mod caching;
mod common;
mod completion;
mod ids;
mod instructions;
mod lists;
mod names;
mod oddities;
mod pages;
mod paging;
mod prefixes;
mod prompts;
mod resources;
mod results;
mod routing;
mod schemas;
mod states;
mod uris;
