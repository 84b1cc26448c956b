//! Toolsets and projects: who sees which tools, and how that changes while everything runs.

mod agents;
mod changes;
mod gate;
mod pipes;
mod projects;
mod story;
mod switches;
