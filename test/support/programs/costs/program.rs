// SPDX-License-Identifier: MIT
// Functions of known cost in Rust: see costs.h.
use std::hint::black_box;
use std::io::Read;

const STEPS: u64 = 100_000;

pub struct Row {
    name: &'static str,
    steps: u64,
}

static mut STATE: u64 = 88172645463325252;

macro_rules! burn {
    ($rows:expr, $i:expr, $steps:expr) => {{
        let mut x = unsafe { STATE };
        let mut left = $steps;
        while left > 0 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            left -= 1;
        }
        unsafe { STATE = black_box(x) };
        $rows[$i].steps += $steps;
    }};
}

pub type Rows = [Row; 10];

#[inline(never)]
fn plain(rows: &mut Rows, steps: u64) {
    burn!(rows, 0, steps);
}

mod module {
    use super::*;

    #[inline(never)]
    pub fn plain(rows: &mut Rows, steps: u64) {
        burn!(rows, 1, steps);
    }
}

trait Shape {
    fn draw(&self, rows: &mut Rows, steps: u64);
}

struct Square;
struct Circle;

impl Shape for Square {
    #[inline(never)]
    fn draw(&self, rows: &mut Rows, steps: u64) {
        burn!(rows, 2, steps);
    }
}

impl Shape for Circle {
    #[inline(never)]
    fn draw(&self, rows: &mut Rows, steps: u64) {
        burn!(rows, 3, steps);
    }
}

impl Square {
    #[inline(never)]
    fn method(&self, rows: &mut Rows, steps: u64) {
        burn!(rows, 4, steps);
    }
}

// The two instances have one name but for the hash.
#[inline(never)]
fn generic<T: Into<u64>>(rows: &mut Rows, steps: T) {
    let steps: u64 = steps.into();
    burn!(rows, 5, steps);
}

#[inline(never)]
fn recursive(rows: &mut Rows, steps: u64, depth: u32) {
    burn!(rows, 6, steps);
    if black_box(depth) > 1 {
        recursive(rows, steps, depth - 1);
    }
    black_box(depth);
}

#[inline(never)]
fn apply(rows: &mut Rows, steps: u64, function: &dyn Fn(&mut Rows, u64)) {
    black_box(function)(rows, steps);
    black_box(steps);
}

fn call_closure(rows: &mut Rows, steps: u64) {
    let other = black_box(1);
    apply(rows, steps, &|rows, steps| burn!(rows, 7, steps * other));
}

struct Guard<'a> {
    rows: &'a mut Rows,
    steps: u64,
}

impl Drop for Guard<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        burn!(self.rows, 8, self.steps);
    }
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn costs_of_c(rows: &mut Rows, steps: u64) {
    burn!(rows, 9, steps);
}

fn call_shapes(rows: &mut Rows, steps: u64) {
    let shapes: [Box<dyn Shape>; 2] = [Box::new(Square), Box::new(Circle)];
    for shape in black_box(&shapes) {
        shape.draw(rows, steps / 2);
    }
}

fn call_generic(rows: &mut Rows, steps: u64) {
    generic(rows, steps / 2);
    generic(rows, (steps / 2) as u32);
}

fn call_guard(rows: &mut Rows, steps: u64) {
    let _guard = Guard { rows, steps };
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(1000, |x| x.parse().unwrap());
    let names = [
        "costs::plain",
        "costs::module::plain",
        "<costs::Square as costs::Shape>::draw",
        "<costs::Circle as costs::Shape>::draw",
        "costs::Square::method",
        "costs::generic",
        "costs::recursive",
        "costs::call_closure::{{closure}}",
        "<costs::Guard as core::ops::drop::Drop>::drop",
        "costs_of_c",
    ];
    let mut rows = names.map(|name| Row { name, steps: 0 });
    let calls: [(fn(&mut Rows, u64), u64); 9] = [
        (plain, 10),
        (module::plain, 8),
        (call_shapes, 10),
        (|rows, steps| Square.method(rows, steps), 5),
        (call_generic, 9),
        (|rows, steps| recursive(rows, steps / 8, 8), 7),
        (call_closure, 6),
        (call_guard, 6),
        (|rows, steps| costs_of_c(rows, steps), 4),
    ];
    let total: u64 = calls.iter().map(|(_, weight)| weight).sum();
    let mut random: u64 = 88172645463325252;

    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    for _ in 0..rounds {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mut pick = (random >> 33) % total;
        for (call, weight) in &calls {
            if pick < *weight {
                call(&mut rows, STEPS);
                break;
            }
            pick -= weight;
        }
    }
    for row in &rows {
        println!("{} {}", row.steps, row.name);
    }
}
