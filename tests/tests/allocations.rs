//! How often a call asks for memory: what a change must not make more of without being noticed.

#![expect(
    unsafe_code,
    reason = "an allocator is an unsafe trait; this one passes everything on as it came"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use mcpr_tests::yardstick::{Scale, Yardstick};

/// What one call may take: the 60.7 that were measured, and a tenth more.
const CEILING: f64 = 67.0;

/// How many calls are made to tell what one takes.
const CALLS: usize = 1000;

/// The allocator of the system, and how often it was asked.
struct Counting {
    asked: AtomicU64,
}

#[global_allocator]
static MEMORY: Counting = Counting {
    asked: AtomicU64::new(0),
};

// SAFETY: what is promised to the caller is what the system's allocator promises, which is asked for the same.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.asked.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps to the same contract.
        unsafe { System.realloc(memory, layout, size) }
    }
}

/// The only test of its program, so that nobody else is counted. The server is another process, and what the client
/// needs was there before.
#[tokio::test]
async fn perf_01_a_call_takes_no_more_allocations_than_it_did() {
    let scale = Scale {
        sessions: 16,
        tools: 100,
        tokens: 16,
    };
    let mut yardstick = Yardstick::set_up(scale).await;
    yardstick.call(200).await; // What is made once is there now.
    let before = MEMORY.asked.load(Ordering::Relaxed);

    let length = yardstick.call(CALLS).await;

    let asked = MEMORY.asked.load(Ordering::Relaxed) - before;
    let each = asked as f64 / CALLS as f64;
    assert!(yardstick.said(length).contains("\"result\""));
    assert!(each <= CEILING, "{each} allocations for a call");
}
