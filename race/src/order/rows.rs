//! Accesses of a warp at once.
//!
//! From the start of a block to its first barrier, and from one barrier of the whole block to the next, nothing
//! orders what two threads do, unless a `sync_warp` or an early exit has come in between. What the lanes of a warp
//! do there in one turn is kept as one row, and judged against the rows before it; cells are looked at one by one
//! only where rows do not tell all.

use super::{Access, Clock};
use crate::limits::WARP;
use crate::nest::NestId;
use crate::site::Site;

/// More rows than this between two barriers are not compared with each other.
const MOST: usize = 128;

/// What consecutive lanes of a warp did in one turn, from one line, to cells that lie evenly.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The number of the shared array or the buffer.
    pub array: usize,
    /// Where in the source.
    pub site: Site,
    /// Whether they write.
    pub writes: bool,
    /// How many.
    pub lanes: usize,
    /// Of those that read a cell which nothing had written, and with which no write has raced, as bits.
    pub early: u32,
    /// Of the first lane.
    thread: u16,
    first: usize,
    /// From the cell of one lane to that of the next.
    stride: isize,
}

impl Row {
    /// Which cell this lane accessed; lanes count from the row's first.
    #[inline]
    pub fn cell(&self, lane: usize) -> usize {
        self.first.wrapping_add_signed(self.stride * lane as isize)
    }

    /// The warp, and which of its threads, as bits.
    #[inline]
    pub fn threads(&self) -> (usize, u32) {
        let first = usize::from(self.thread);
        (first / WARP, u32::MAX >> (WARP - self.lanes) << (first % WARP))
    }

    /// What this lane did, at this clock.
    #[inline]
    pub fn access(&self, lane: usize, clock: Clock) -> Access {
        Access::new(self.site, NestId::ROOT, clock, self.thread + lane as u16, self.writes)
    }

    /// Does each lane go to the cell behind that of the lane before?
    #[inline]
    pub fn is_run(&self) -> bool {
        self.stride == 1 || self.lanes == 1
    }

    /// Are there no cells between those of the row?
    #[inline]
    pub fn is_dense(&self) -> bool {
        self.stride.abs() <= 1
    }

    /// The lowest cell and the highest.
    #[inline]
    pub fn span(&self) -> (usize, usize) {
        let (a, b) = (self.first, self.cell(self.lanes - 1));
        (a.min(b), a.max(b))
    }

    /// May both have accessed one cell?
    fn is_near(&self, other: &Self) -> bool {
        let (a, b) = (self.span(), other.span());
        self.array == other.array && a.0 <= b.1 && b.0 <= a.1
    }

    /// The lanes that accessed this cell.
    #[inline]
    fn lanes_at(&self, cell: usize) -> std::ops::Range<usize> {
        let offset = cell.wrapping_sub(self.first) as isize;
        let lane = match self.stride {
            0 if offset == 0 => return 0..self.lanes,
            0 => return 0..0,
            1 => offset,
            -1 => -offset,
            stride if offset % stride == 0 => offset / stride,
            _ => return 0..0,
        };
        let lane = usize::try_from(lane).unwrap_or(self.lanes);
        if lane < self.lanes { lane..lane + 1 } else { 0..0 }
    }

    /// Are these two lanes of two rows different threads?
    fn is_by_another(&self, lane: usize, other: &Self, other_lane: usize) -> bool {
        usize::from(self.thread) + lane != usize::from(other.thread) + other_lane
    }

    /// Each access of this row with each of the earlier row, to the same cell by another thread.
    fn meetings(&self, earlier: &Self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.lanes).flat_map(move |lane| {
            let others = earlier.lanes_at(self.cell(lane));
            others
                .filter(move |&other| self.is_by_another(lane, earlier, other))
                .map(move |other| (lane, other))
        })
    }

    /// What is to be known of the [`meetings`](Self::meetings), if there are any.
    fn meet(&self, earlier: &Self, number: usize) -> Option<Meeting> {
        let warp = |row: &Self| usize::from(row.thread) / WARP;
        if self.stride.abs() == 1 && earlier.stride.abs() == 1 && warp(self) != warp(earlier) {
            // Each cell that both went to is a meeting.
            let (a, b) = (self.span(), earlier.span());
            let (low, high) = (a.0.max(b.0), a.1.min(b.1));
            if low > high {
                return None;
            }
            let others = [low, high].map(|cell| cell.abs_diff(earlier.first));
            let (first, times) = (if self.stride == 1 { low } else { high }, high - low + 1);
            return Some(Meeting {
                earlier: *earlier,
                number,
                first: (first.abs_diff(self.first), first.abs_diff(earlier.first)),
                times: times as u32,
                others: u32::MAX >> (WARP - times) << others[0].min(others[1]),
            });
        }
        let first = self.meetings(earlier).next()?;
        let (times, others) = self
            .meetings(earlier)
            .fold((0, 0), |(times, others), (_, other)| (times + 1, others | 1 << other));
        Some(Meeting { earlier: *earlier, number, first, times, others })
    }
}

/// Two rows that conflict.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The one before, and its number among all.
    pub earlier: Row,
    number: usize,
    /// The lanes of the first conflict, in the later row and in the earlier one.
    pub first: (usize, usize),
    /// How many conflicts.
    pub times: u32,
    /// Which lanes of the earlier row take part, as bits.
    others: u32,
}

/// The rows of one memory since the last barrier.
#[derive(Debug)]
pub struct Rows {
    /// The one that the running warp is making, if it has any lanes.
    row: Row,
    /// What else has to be the same for all of it.
    kind: usize,
    /// Which access would go on with it.
    address: usize,
    thread: u16,
    cell: usize,
    /// As many lanes would fit into the array; none goes on with a row that has ended.
    most: usize,
    /// From one address to the next.
    step: usize,
    /// Those of the last row that reads and of the last that writes.
    strides: [isize; 2],
    /// What the cells held before.
    old: [u64; WARP],
    done: Vec<Row>,
}

impl Default for Rows {
    fn default() -> Self {
        Self::new()
    }
}

impl Rows {
    /// No rows.
    #[must_use]
    pub fn new() -> Self {
        let none = Row {
            array: 0,
            site: Site::here(),
            writes: false,
            lanes: 0,
            early: 0,
            thread: 0,
            first: 0,
            stride: 0,
        };
        Self {
            row: none,
            kind: 0,
            address: 0,
            thread: 0,
            cell: 0,
            most: 0,
            step: 0,
            strides: [0; 2],
            old: [0; WARP],
            done: Vec::new(),
        }
    }

    /// All that was done is settled, or forgotten.
    #[inline]
    pub fn clear(&mut self) {
        self.row.lanes = 0;
        self.most = 0;
        self.done.clear();
    }

    /// Takes an access into the row, if it goes on with it: which array and cell that is, and which lane.
    #[inline]
    pub fn go_on(
        &mut self,
        address: usize,
        kind: usize,
        thread: u16,
        site: Site,
    ) -> Option<(usize, usize, usize)> {
        let lane = self.row.lanes;
        let goes_on = self.address == address
            && self.thread == thread
            && self.row.site.is(site)
            && self.kind == kind
            && lane < self.most;
        if !goes_on {
            return None;
        }
        let place = (self.row.array, self.cell, lane);
        self.row.lanes = lane + 1;
        self.address = address.wrapping_add(self.step);
        self.cell = self.cell.wrapping_add_signed(self.row.stride);
        self.thread = thread + 1;
        Some(place)
    }

    /// Takes in an access, to this address and of this size and kind, as the second of the row; or else as the first
    /// of a new row, if there is none. It is to this cell of an array of this length. Says which lane it is.
    pub fn start(
        &mut self,
        (address, size, kind): (usize, usize, usize),
        (array, cell, len): (usize, usize, usize),
        by: &Access,
    ) -> Option<usize> {
        let (thread, site, writes) = (by.thread(), by.site, by.writes());
        let stride = if self.row.lanes == 0 {
            // The stride is not known yet; mostly it is that of the row before.
            let stride = self.strides[usize::from(writes)];
            self.row = Row { array, site, writes, lanes: 1, early: 0, thread, first: cell, stride };
            self.kind = kind;
            stride
        } else {
            let second = self.row.lanes == 1
                && (self.row.array, self.kind) == (array, kind)
                && self.row.thread + 1 == thread
                && self.row.site.is(site)
                && !(writes && cell == self.row.first);
            if !second {
                return None;
            }
            let stride = cell.wrapping_sub(self.row.first) as isize;
            self.row.lanes = 2;
            self.row.stride = stride;
            self.strides[usize::from(writes)] = stride;
            stride
        };
        let first = self.row.first;
        self.most = WARP.min(match stride {
            // Writes to one cell are no row.
            0 if writes => 1,
            0 => WARP,
            1 => len - first,
            -1 => first + 1,
            up @ 1.. => (len - 1 - first) / up as usize + 1,
            down => first / down.unsigned_abs() + 1,
        });
        self.step = (stride * size as isize) as usize;
        self.address = address.wrapping_add(self.step);
        self.cell = cell.wrapping_add_signed(stride);
        self.thread = thread + 1;
        Some(self.row.lanes - 1)
    }

    /// This lane writes over this.
    #[inline]
    pub fn writes_over(&mut self, lane: usize, old: u64) {
        self.old[lane] = old;
    }

    /// What this lane wrote over.
    #[inline]
    pub fn written_over(&self, lane: usize) -> u64 {
        self.old[lane]
    }

    /// This lane reads what nothing has written.
    #[inline]
    pub fn reads_early(&mut self, lane: usize) {
        self.row.early |= 1 << lane;
    }

    /// The row that is being made, which ends here.
    #[inline]
    pub fn end(&mut self) -> Option<Row> {
        if self.row.lanes == 0 {
            return None;
        }
        let row = self.row;
        self.row.lanes = 0;
        self.most = 0;
        Some(row)
    }

    /// Takes in a row, and finds those that it conflicts with: in the order in which its lanes come to the first
    /// conflict with each, and of one cell's accesses the last first. `None`, and nothing is taken in, if that
    /// cannot be told from rows: if a cell has two writes, or it depends on the lane which access comes first in
    /// the program.
    pub fn take_in(&mut self, row: Row) -> Option<Vec<Meeting>> {
        let mut meetings: Vec<Meeting> = Vec::new();
        if Self::are_too_many(&self.done) {
            return None;
        }
        for (number, earlier) in self.done.iter().enumerate() {
            if !(row.writes || earlier.writes) || !row.is_near(earlier) {
                continue;
            }
            if row.writes && earlier.writes {
                return None;
            }
            let Some(meeting) = row.meet(earlier, number) else { continue };
            if row.site == earlier.site {
                return None;
            }
            meetings.push(meeting);
        }
        meetings.sort_by_key(|meeting| meeting.first.0);
        for same_cell in meetings.chunk_by_mut(|a, b| a.first.0 == b.first.0) {
            self.put_last_first(&row, same_cell);
        }
        for meeting in &meetings {
            // What raced with a write was not uninitialised.
            self.done[meeting.number].early &= !meeting.others;
        }
        self.done.push(row);
        Some(meetings)
    }

    /// Of the accesses to one cell, the last comes first, if another thread made it.
    fn put_last_first(&self, row: &Row, meetings: &mut [Meeting]) {
        if let [Meeting { earlier: Row { stride: 1 | -1, .. }, .. }] = meetings {
            return;
        }
        let (lane, _) = meetings[0].first;
        let last_at = |(number, earlier): (usize, &Row)| {
            let conflicts = earlier.array == row.array && (row.writes || earlier.writes);
            let other = earlier.lanes_at(row.cell(lane)).last().filter(|_| conflicts)?;
            Some((number, other))
        };
        let last = self.done.iter().enumerate().rev().find_map(last_at);
        let Some((number, other)) =
            last.filter(|&(number, other)| self.done[number].is_by_another(other, row, lane))
        else {
            return;
        };
        if let Some(place) = meetings.iter().position(|meeting| meeting.number == number) {
            meetings[place].first.1 = other;
            meetings[..=place].rotate_right(1);
        }
    }

    /// The rows so far.
    #[inline]
    pub fn done(&self) -> &[Row] {
        &self.done
    }

    /// Has a lane read what nothing had written, and no write raced with that?
    #[inline]
    pub fn read_early(&self) -> bool {
        self.done.iter().any(|row| row.early != 0)
    }

    /// Are these so many that it is better not to keep them?
    #[inline]
    pub fn are_too_many(rows: &[Row]) -> bool {
        rows.len() >= MOST
    }

    /// The rows so far, which are forgotten.
    pub fn drain(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.done)
    }
}
