//! Nothing: the programs beside this folder are the content of this package.
