// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A million requests for a hundred thousand URLs: at most 200 MB, by the allocator's count, and half a million
//! look-ups a second.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use netnice_prefetch_predictor::{Params, Predictor, Request};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Counting;

// By thread: tests that run beside this one do not count. What one thread frees of another's is not met here.
thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.get().wrapping_add(layout.size());
        LIVE.set(live);
        MOST.set(MOST.get().max(live));
        System.alloc(layout)
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        System.dealloc(at, layout)
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const REQUESTS: usize = 1_000_000;
const URLS: f64 = 100_000.0;
const CLIENTS: u32 = 5_000;
const PARAMS: Params = Params {
    min_clients: 5,
    ..Params::AGGRESSIVE
};

/// Seconds that this thread has had a processor: others on the machine do not count.
fn cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `time`, which outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Zipf with exponent 1 by inversion: the n-th URL is asked for 1/n as often as the first.
fn zipf(random: &mut ChaCha8Rng) -> u32 {
    let u = f64::from(random.next_u32()) / f64::from(u32::MAX);
    URLS.powf(u) as u32 - 1
}

#[test]
fn a_million_requests() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let urls: Vec<String> = (0..URLS as u32)
        .map(|n| format!("/articles/{}/{n}/index.html", n % 97))
        .collect();
    let before = LIVE.get();
    MOST.set(before);
    let mut predictor = Predictor::new(PARAMS).unwrap();
    let began = cpu_time();
    for second in 0..REQUESTS {
        let client = u64::from(random.next_u32() % CLIENTS);
        predictor.learn(Request {
            client,
            network: Some(client),
            url: &urls[zipf(&mut random) as usize],
            page: true,
            reusable: Some(true),
            at: Duration::from_millis(second as u64),
        });
    }
    let learning = REQUESTS as f64 / (cpu_time() - began);
    let most = MOST.get() - before;
    let (contexts, known, estimate) = predictor.size();

    let lookups = 500_000u64;
    let (began, mut found) = (cpu_time(), 0);
    for _ in 0..lookups {
        found += predictor.predict(u64::from(random.next_u32() % CLIENTS), 3).len();
    }
    let rate = lookups as f64 / (cpu_time() - began);
    println!(
        "{REQUESTS} requests, {known} URLs, {contexts} contexts: {:.0} MB at most, {:.0} MB by its own count; \
         {learning:.0} requests/s learned, {rate:.0} look-ups/s, {:.2} predictions each",
        most as f64 / 1e6,
        estimate as f64 / 1e6,
        found as f64 / lookups as f64,
    );
    assert!(
        known > 80_000,
        "{known} URLs: the generator does not reach what is claimed"
    );
    assert!(found as u64 > lookups, "look-ups find next to nothing");
    assert!(most <= 200_000_000, "{most} bytes");
    assert!(rate >= 500_000.0, "{rate:.0} look-ups/s");
}
