//! One CUDA thread as a coroutine with a stack of its own.
//!
//! A fiber outlives the block: it runs the kernel once for each block of its worker and waits in
//! between. Stacks outlive the launch, in a pool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult};

use super::block::{Stopped, with};

/// What the scheduler tells a fiber when it resumes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    /// Run on: to the next access or barrier, or from the start of the kernel.
    Run,
    /// Unwind: the block has been stopped.
    Stop,
    /// Leave: there are no more blocks.
    Finish,
}

/// The kernel with its arguments.
pub(crate) type Kernel<'a> = dyn Fn() + Sync + 'a;

/// Plenty for a kernel; only pages that are touched take memory.
const STACK_BYTES: usize = 256 * 1024;

pub(crate) struct Fiber {
    coroutine: Option<Coroutine<Command, (), (), Coloured>>,
}

impl Fiber {
    /// A fiber for thread `thread` of each block.
    pub(crate) fn new(thread: u16, kernel: *const Kernel<'static>) -> std::io::Result<Self> {
        let pooled = stacks().pop();
        let stack = match pooled {
            Some(stack) => stack,
            None => {
                Coloured { stack: DefaultStack::new(STACK_BYTES)?, offset: usize::from(thread) % 32 * 128 }
            }
        };
        let coroutine = Coroutine::with_stack(stack, move |yielder, mut command| {
            with(|block| block.lanes[usize::from(thread)].yielder = yielder);
            while let Command::Run = command {
                with(|block| block.lanes[usize::from(thread)].start());
                // SAFETY: the launch keeps the kernel alive until it has told every fiber to finish.
                let kernel = unsafe { &*kernel };
                let ended = catch_unwind(AssertUnwindSafe(kernel));
                let more = with(|block| match ended {
                    Ok(()) => block.returned(),
                    Err(payload) => {
                        if !payload.is::<Stopped>() {
                            block.panicked();
                        }
                        block.lanes[usize::from(thread)].inside = false;
                        true
                    }
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
    pub(crate) fn resume(&mut self, command: Command) {
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
