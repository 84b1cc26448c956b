//! Calls to be counted by callgrind: `tests/scripts/instructions.sh`.
//!
//! `instructions SESSIONS TOOLS TOKENS CALLS` makes so many calls at a gateway of that scale, all of it in one thread.

#![expect(clippy::print_stdout, reason = "a benchmark says what it is for")]

use mcpr_tests::yardstick::{Scale, Yardstick, measured_calls};

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).flat_map(|word| word.parse()).collect();
    let [sessions, tools, tokens, calls] = numbers[..] else {
        return println!("counted by tests/scripts/instructions.sh");
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let scale = Scale {
        sessions,
        tools,
        tokens,
    };
    let mut yardstick = runtime.block_on(Yardstick::set_up(scale));
    runtime.block_on(yardstick.call(200)); // What is made once is there now.
    let length = measured_calls(&runtime, &mut yardstick, calls);
    assert!(
        yardstick.said(length).contains("\"result\""),
        "{}",
        yardstick.said(length)
    );
    runtime.block_on(yardstick.gateway.core.shutdown());
}
