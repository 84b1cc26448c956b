//! Toolsets and projects: who sees which tools, and how that changes while everything runs.

mod agents;
mod changes;
mod crowd;
mod filed;
mod gate;
mod limits;
mod others;
mod pipes;
mod principals;
mod projects;
mod races;
mod reload;
mod revisions;
mod story;
mod switches;
