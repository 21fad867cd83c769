//! One CUDA thread as a coroutine with a stack of its own: it can wait anywhere, in a function that the
//! kernel calls, too.
//!
//! A fiber outlives the block: it runs the kernel once for each block of its worker and waits in
//! between. Stacks outlive the launch, in a pool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Mutex;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use race::schedule::threads;

use super::block::{stop, with};
use super::worker::{Kernel, Threads};

/// What the scheduler tells a fiber when it resumes it.
#[derive(Clone, Copy, Debug)]
enum Command {
    /// Run on: to the next access or barrier, or from the start of the kernel.
    Run,
    /// Unwind: the block has been stopped.
    Stop,
    /// Leave: there are no more blocks.
    Finish,
}

/// Plenty for a kernel; only pages that are touched take memory.
const STACK_BYTES: usize = 256 * 1024;

/// What kernel code has to know of the fiber that it runs on.
#[derive(Debug)]
pub(crate) struct Footing {
    yielder: *const Yielder<Command, ()>,
    /// The thread is in the kernel: neither before its start nor past its end.
    inside: bool,
    /// A `#[kernel]` function is on the fiber's stack.
    kernel: bool,
    /// How often the thread gave its turn back in this block, since the last trip of a loop that is marked.
    pub(crate) turns: u32,
}

/// Gives the turn back to the scheduler, until the running thread is resumed. False if that was too often
/// without a trip of a loop: loops in functions that the kernel calls have no marks, and end here.
///
/// Inlined into the kernel, as all that leads here: a processor predicts where a function returns to from
/// the calls it saw, and after a switch of stacks it is wrong for every function that is still open.
#[inline(always)]
pub(crate) fn suspend() -> bool {
    let (yielder, endless) = with(|block| {
        let limit = block.tick_limit;
        let footing = block.footing();
        footing.turns += 1;
        (footing.yielder, footing.turns > limit)
    });
    if endless {
        return false;
    }
    // SAFETY: the running thread is a fiber, and its yielder lives on that fiber's own stack.
    match unsafe { &*yielder }.suspend(()) {
        Command::Run => true,
        Command::Stop | Command::Finish => stop(),
    }
}

/// Ends the running thread, and waits until the next block needs it again. False if there is none.
///
/// A kernel that returned instead, to be called again, would cost several mispredicted returns.
#[inline(always)]
pub(crate) fn next_block() -> bool {
    let yielder = with(|block| {
        block.exit();
        let footing = block.footing();
        footing.inside = false;
        footing.yielder
    });
    // SAFETY: as in `suspend`.
    let Command::Run = (unsafe { &*yielder }).suspend(()) else { return false };
    with(|block| {
        let footing = block.footing();
        footing.inside = true;
        footing.turns = 0;
    });
    true
}

/// The running thread comes to a `#[kernel]` function. False if it is in one already, or has been.
pub(crate) fn start() -> bool {
    with(|block| !std::mem::replace(&mut block.footing().kernel, true))
}

/// The threads of a block as fibers.
pub(crate) struct Fibers(Vec<Fiber>);

impl Fibers {
    /// Has to be told to [`finish`](Self::finish).
    pub(crate) fn new(kernel: &Kernel<'_>, threads: usize) -> Self {
        // SAFETY: only the lifetime changes. `finish` ends every fiber, and with it all use of the kernel.
        let kernel = unsafe { std::mem::transmute::<*const Kernel<'_>, *const Kernel<'static>>(kernel) };
        let footing = || Footing { yielder: ptr::null(), inside: false, kernel: false, turns: 0 };
        with(|block| block.footings = (0..threads).map(|_| footing()).collect());
        let fiber = |thread| Fiber::new(thread, kernel).expect("no memory for the stack of a thread");
        Self((0..threads as u16).map(fiber).collect())
    }

    /// There are no more blocks.
    pub(crate) fn finish(&mut self) {
        for fiber in &mut self.0 {
            fiber.resume(Command::Finish);
        }
    }
}

impl Threads for Fibers {
    fn turn(&mut self, warp: usize, lanes: u32) {
        for thread in threads(warp, lanes) {
            with(|block| block.resume(thread));
            self.0[usize::from(thread)].resume(Command::Run);
        }
        with(|block| block.end_turn(warp));
    }

    fn stop(&mut self) {
        for (thread, fiber) in (0..).zip(&mut self.0) {
            let suspended = with(|block| {
                block.current = thread;
                block.footing().inside
            });
            if suspended {
                fiber.resume(Command::Stop);
            }
        }
    }
}

struct Fiber {
    coroutine: Option<Coroutine<Command, (), (), Coloured>>,
}

impl Fiber {
    /// A fiber for thread `thread` of each block.
    fn new(thread: u16, kernel: *const Kernel<'static>) -> std::io::Result<Self> {
        let pooled = stacks().pop();
        let stack = match pooled {
            Some(stack) => stack,
            None => {
                Coloured { stack: DefaultStack::new(STACK_BYTES)?, offset: usize::from(thread) % 32 * 128 }
            }
        };
        let coroutine = Coroutine::with_stack(stack, move |yielder, mut command| {
            while let Command::Run = command {
                with(|block| {
                    *block.footing() = Footing { yielder, inside: true, kernel: false, turns: 0 };
                });
                // SAFETY: the launch keeps the kernel alive until it has told every fiber to finish.
                let kernel = unsafe { &*kernel };
                let ended = catch_unwind(AssertUnwindSafe(kernel));
                let more = with(|block| {
                    let inside = std::mem::take(&mut block.footing().inside);
                    match ended {
                        Ok(()) if inside => block.exit(),
                        // It was told in the kernel that there are no more blocks.
                        Ok(()) => return false,
                        Err(payload) => block.panicked(&*payload),
                    }
                    true
                });
                if !more {
                    break;
                }
                command = yielder.suspend(());
            }
        });
        Ok(Self { coroutine: Some(coroutine) })
    }

    #[inline(always)]
    fn resume(&mut self, command: Command) {
        let Some(coroutine) = &mut self.coroutine else { return };
        if let CoroutineResult::Return(()) = coroutine.resume(command)
            && let Some(done) = self.coroutine.take()
        {
            stacks().push(done.into_stack());
        }
    }
}

/// A stack that begins a little below the end of its pages. Stacks are mapped page by page, so that
/// without this the top of every one of them would compete for the same few lines of the cache.
struct Coloured {
    stack: DefaultStack,
    offset: usize,
}

// SAFETY: the same stack with a lower base; the guard page at its limit is the same.
unsafe impl Stack for Coloured {
    fn base(&self) -> StackPointer {
        let base = self.stack.base().get() - self.offset;
        StackPointer::new(base).expect("a stack does not begin at address 0")
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

fn stacks() -> std::sync::MutexGuard<'static, Vec<Coloured>> {
    static STACKS: Mutex<Vec<Coloured>> = Mutex::new(Vec::new());
    STACKS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
