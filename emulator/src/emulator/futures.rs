//! The threads of a block as futures, without stacks of their own: for a kernel all of whose accesses and
//! barriers `#[kernel]` sees, so that it can wait at each of them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use race::schedule::threads;

use super::block::{Block, Engine, Stepped, with};
use super::global::GlobalPtr;
use super::shared::Slot;
use super::value::CellValue;
use super::worker::{Threads, run_blocks};

/// Runs all blocks of this worker; `kernel` makes a thread.
///
/// # Panics
///
/// If this worker has run a kernel already, or is in one.
pub fn run<F: Future<Output = ()>>(kernel: impl Fn() -> F) {
    let threads = with(|block| {
        assert!(block.engine == Engine::Undecided, "{}", super::marks::ONE_KERNEL);
        block.engine = Engine::Futures;
        block.lanes.len()
    });
    let threads: Vec<Option<F>> = (0..threads).map(|_| None).collect();
    run_blocks(&mut Futures { kernel, threads: Box::into_pin(threads.into_boxed_slice()) });
}

struct Futures<K, F> {
    kernel: K,
    /// A thread before its start or past its end is `None`.
    threads: Pin<Box<[Option<F>]>>,
}

impl<F: Future<Output = ()>, K: Fn() -> F> Futures<K, F> {
    #[inline]
    fn thread(&mut self, thread: u16) -> Pin<&mut Option<F>> {
        // SAFETY: an element of a pinned slice is pinned: nothing moves it out before it is dropped in its place.
        unsafe { self.threads.as_mut().map_unchecked_mut(|threads| &mut threads[usize::from(thread)]) }
    }

    #[inline]
    fn resume(&mut self, thread: u16) {
        with(|block| block.resume(thread));
        if self.thread(thread).is_none() {
            let started = (self.kernel)();
            self.thread(thread).set(Some(started));
        }
        let mut context = Context::from_waker(Waker::noop());
        let running = self.thread(thread).as_pin_mut();
        let ended = running.is_some_and(|running| running.poll(&mut context).is_ready());
        if ended {
            self.thread(thread).set(None);
        }
        with(|block| {
            if block.waits_at_barrier() {
                block.hidden_barrier();
            } else if ended {
                block.exit();
            }
        });
    }
}

impl<F: Future<Output = ()>, K: Fn() -> F> Threads for Futures<K, F> {
    fn turn(&mut self, warp: usize, lanes: u32) {
        let run = || threads(warp, lanes).for_each(|thread| self.resume(thread));
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(()) => with(|block| block.end_turn(warp)),
            Err(payload) => with(|block| block.panicked(&*payload)),
        }
    }

    fn stop(&mut self) {
        for thread in 0..self.threads.len() as u16 {
            with(|block| block.current = thread);
            // A value that the kernel holds may still access memory when it is dropped, and be told to stop.
            drop(catch_unwind(AssertUnwindSafe(|| self.thread(thread).set(None))));
        }
    }
}

/// Gives the turn back to the scheduler: pending once.
#[derive(Debug)]
pub struct Turn {
    over: bool,
}

/// What the kernel awaits.
#[must_use]
#[inline]
pub fn turn() -> Turn {
    Turn { over: false }
}

impl Future for Turn {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.over, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Behind a barrier: does the running thread have to wait there?
#[must_use]
#[inline]
pub fn waits() -> bool {
    with(Block::waits_at_barrier)
}

/// What an access is made through: does the running thread have to give its turn back before it? If not, the
/// access is in its step.
#[derive(Debug)]
pub struct Through<'a, P>(pub &'a P);

impl<T: CellValue> Through<'_, Slot<T>> {
    /// Before a read.
    #[must_use]
    #[inline]
    pub fn read_waits(&self) -> bool {
        with(|block| !block.takes(Stepped::Shared))
    }

    /// Before a write.
    #[must_use]
    #[inline]
    pub fn write_waits(&self) -> bool {
        self.read_waits()
    }
}

impl<T: CellValue> Through<'_, GlobalPtr<T>> {
    /// Before a read.
    #[must_use]
    #[inline]
    pub fn read_waits(&self) -> bool {
        with(|block| !block.takes(Stepped::GlobalRead))
    }

    /// Before a write.
    #[must_use]
    #[inline]
    pub fn write_waits(&self) -> bool {
        with(|block| !block.takes(Stepped::GlobalWrite))
    }
}

macro_rules! by_reference {
    ($($access:ident)*) => {$(
        impl<T: CellValue> Through<'_, &$access<T>> {
            /// Before a read.
            #[must_use]
            #[inline]
            pub fn read_waits(&self) -> bool {
                Through(*self.0).read_waits()
            }

            /// Before a write.
            #[must_use]
            #[inline]
            pub fn write_waits(&self) -> bool {
                Through(*self.0).write_waits()
            }
        }
    )*};
}

// `let cell = &TILE[i];`
by_reference! { Slot GlobalPtr }

/// Anything else is the thread's own. (A method of [`Through`] itself is preferred to one of a trait.)
pub trait Own {
    /// Never.
    #[must_use]
    #[inline]
    fn read_waits(&self) -> bool {
        false
    }

    /// Never.
    #[must_use]
    #[inline]
    fn write_waits(&self) -> bool {
        false
    }
}

impl<P> Own for Through<'_, P> {}
