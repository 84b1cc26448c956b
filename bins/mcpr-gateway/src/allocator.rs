//! The allocator of the gateway: mimalloc, asked by its short way.
//!
//! The crate `mimalloc` asks for an alignment each time. Some eleven allocations of a call then get more room
//! than they want, an address in the middle of it, and a longer way back, where what every allocation has by
//! itself would do.

#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys as mi;

/// mimalloc, for many small and short-lived allocations on several threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mimalloc;

/// What every allocation of mimalloc is aligned to, whatever its size is.
const BY_ITSELF: usize = align_of::<usize>();

// SAFETY: mimalloc's functions keep the contract of `GlobalAlloc` for sizes that are not zero: what they return
// is null or has the size and the alignment that was asked for, `realloc` keeps what is common to both sizes,
// and none of them unwinds. All memory comes from mimalloc and goes back to it; `mi_free` and `mi_realloc` take
// what any of its functions has given.
unsafe impl GlobalAlloc for Mimalloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: as above.
        unsafe {
            if align <= BY_ITSELF {
                mi::mi_malloc(size).cast()
            } else {
                mi::mi_malloc_aligned(size, align).cast()
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: as above.
        unsafe {
            if align <= BY_ITSELF {
                mi::mi_zalloc(size).cast()
            } else {
                mi::mi_zalloc_aligned(size, align).cast()
            }
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; the caller has `memory` from here.
        unsafe {
            if layout.align() <= BY_ITSELF {
                mi::mi_realloc(memory.cast(), size).cast()
            } else {
                mi::mi_realloc_aligned(memory.cast(), size, layout.align()).cast()
            }
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: as above; the caller has `memory` from here.
        unsafe { mi::mi_free(memory.cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_the_size_and_the_alignment_that_was_asked_for() {
        for align in [1, 8, 16, 64, 4096] {
            for size in [1, 7, 24, 1000, 5000, 300_000] {
                let layout = Layout::from_size_align(size, align).unwrap();
                let bigger = Layout::from_size_align(size * 2, align).unwrap();
                // SAFETY: the layouts are not empty, and each memory goes back with its own.
                unsafe {
                    let memory = Mimalloc.alloc_zeroed(layout);
                    assert_eq!(memory.addr() % align, 0);
                    assert!(
                        std::slice::from_raw_parts(memory, size)
                            .iter()
                            .all(|byte| *byte == 0)
                    );
                    memory.write_bytes(7, size);
                    let memory = Mimalloc.realloc(memory, layout, size * 2);
                    assert_eq!(memory.addr() % align, 0);
                    assert!(
                        std::slice::from_raw_parts(memory, size)
                            .iter()
                            .all(|byte| *byte == 7)
                    );
                    Mimalloc.dealloc(memory, bigger);
                    let memory = Mimalloc.alloc(layout);
                    assert_eq!(memory.addr() % align, 0);
                    Mimalloc.dealloc(memory, layout);
                }
            }
        }
    }
}
