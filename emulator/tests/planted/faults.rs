//! The faults.

/// A change of one place in the emulator's source.
pub(crate) struct Fault {
    pub(crate) what: &'static str,
    pub(crate) file: &'static str,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        what: "a block barrier orders nothing",
        file: "order.rs",
        from: "self.passed[t] = self.now[t];",
        to: "",
    },
    Fault {
        what: "clocks stand still at a block barrier that all come to",
        file: "order.rs",
        from: "self.floor = self.now[0] + 1;",
        to: "self.floor = self.now[0];",
    },
    Fault {
        what: "a block barrier that all come to forgets what sync_warp did",
        file: "order.rs",
        from: "self.now.len() && !self.warp_synced",
        to: "self.now.len()",
    },
    Fault {
        what: "a block barrier orders exited threads too",
        file: "barrier.rs",
        from: "warps.flat_map(|(number, warp)| threads(number, warp.alive))",
        to: "warps.take(0).map(|_| 0).chain(0..self.lanes.len() as u16)",
    },
    Fault {
        what: "clocks are off by one",
        file: "order.rs",
        from: "access.clock() <= self.passed[access.thread() as usize]",
        to: "access.clock() <= self.passed[access.thread() as usize] + 1",
    },
    Fault {
        what: "the short cut past the clocks takes in exited threads",
        file: "order.rs",
        from: "if came == self.now.len() {",
        to: "if true {",
    },
    Fault {
        what: "the short cut takes in what comes after the barrier",
        file: "order.rs",
        from: "access.clock() < self.floor",
        to: "access.clock() <= self.floor",
    },
    Fault {
        what: "a reader is forgotten when another comes",
        file: "order.rs",
        from: "if !clocks.settled(&cell.read) {",
        to: "if false {",
    },
    Fault {
        what: "a writer is forgotten when another comes",
        file: "order.rs",
        from: "if !clocks.settled(&cell.write) {",
        to: "if false {",
    },
    Fault {
        what: "the first of like accesses is forgotten",
        file: "order.rs",
        from: "report(self.first, times.min(1));",
        to: "",
    },
    Fault {
        what: "accesses from two lines count as one",
        file: "order.rs",
        from: "group.last.site == access.site && clocks.alike",
        to: "clocks.alike",
    },
    Fault {
        what: "any two writes count as the same value",
        file: "order.rs",
        from: "found.push(Conflict::with(cell.write, value == old));",
        to: "found.push(Conflict::with(cell.write, true));",
    },
    Fault {
        what: "a thread that wrote two values counts as having written the last",
        file: "order.rs",
        from: "group.value = group.value.filter(|&known| known == value);",
        to: "group.value = Some(value);",
    },
    Fault {
        what: "sync_warp orders lanes outside its mask",
        file: "barrier.rs",
        from: "clocks.warp_barrier(warp, members, state.alive);",
        to: "clocks.warp_barrier(warp, state.alive, state.alive);",
    },
    Fault {
        what: "sync_warp does not chain",
        file: "order.rs",
        from: "*joined = seen.max(*joined);",
        to: "let _ = seen;",
    },
    Fault {
        what: "a block barrier drops what sync_warp has ordered",
        file: "order.rs",
        from: "*passed = seen.max(*passed);",
        to: "let _ = seen;",
    },
    Fault {
        what: "sync_warp waits for exited lanes",
        file: "barrier.rs",
        from: "let members = mask & state.alive;",
        to: "let members = mask;",
    },
    Fault {
        what: "trips of one barrier count as one",
        file: "barrier.rs",
        from: "Some(at) if at == here => {}",
        to: "Some(at) if at.0 == here.0 => {}",
    },
    Fault {
        what: "a skipped barrier is not noticed",
        file: "barrier.rs",
        from: "exited.iter().any(skipped)",
        to: "(false && exited.iter().any(skipped))",
    },
    Fault {
        what: "a return in the other arm counts as skipping",
        file: "nest.rs",
        from: "!arms && self.compare",
        to: "(!arms || arms) && self.compare",
    },
    Fault {
        what: "after a divergent barrier races are still judged",
        file: "barrier.rs",
        from: "self.judging = false;",
        to: "",
    },
    Fault {
        what: "different values in one warp are a warning",
        file: "findings.rs",
        from: "Kind::Raw | Kind::War if same_warp",
        to: "_ if same_warp",
    },
    Fault {
        what: "kinds follow the order of the run",
        file: "findings.rs",
        from: "Ordering::Greater => (b, a),",
        to: "Ordering::Greater => (a, b),",
    },
    Fault {
        what: "a raced read counts as uninitialised",
        file: "block.rs",
        from: "read.raced |= ",
        to: "read.raced |= false && ",
    },
    Fault {
        what: "a cell keeps its value from block to block",
        file: "block.rs",
        from: "if written { cells.get(index) }",
        to: "if written || self.linear > 0 { cells.get(index) }",
    },
    Fault {
        what: "the short way takes what no barrier has settled",
        file: "order.rs",
        from: "last >= clocks.floor",
        to: "last > clocks.floor",
    },
    Fault {
        what: "the short way reads what nothing has written",
        file: "block.rs",
        from: "&& cells.shadow.written(&self.clocks, index)",
        to: "",
    },
    Fault {
        what: "a conflict counts as like the last, whichever of the two wrote",
        file: "findings.rs",
        from: "&& last.how == how(earlier, by, conflict.same_value)",
        to: "",
    },
    Fault {
        what: "a write by reference has the value from before",
        file: "block.rs",
        from: "&by, (value, old), conflicts",
        to: "&by, (old, old), conflicts",
    },
    Fault {
        what: "all blocks count as writing the same value",
        file: "grid.rs",
        from: "single || (same_elements",
        to: "true || single || (same_elements",
    },
    Fault {
        what: "blocks that write the same elements count as apart",
        file: "grid.rs",
        from: "!run.by.writes() || distance >= run.len",
        to: "true",
    },
    Fault {
        what: "blocks that meet count as one and the same",
        file: "grid.rs",
        from: "a.block + number as u64 == b.block",
        to: "true",
    },
];
