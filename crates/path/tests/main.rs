// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! netnice-path: what traffic sees of a path, and how the program behaves. Needs root.
//!
//! Paths to test, each in network namespaces of its own, and UDP traffic on them.

mod process;
mod traffic;

use std::fs::File;
use std::io::{stderr, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use netnice_path::system::now;
use nix::sched::{setns, unshare, CloneFlags};
use nix::sys::signal::{kill, Signal};
use nix::unistd::{geteuid, Pid};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_netnice-path");
/// Payload of a UDP packet of 1500 bytes over IPv4.
const FULL: usize = 1472;
const LE: i32 = 0x04;
const PORT: u16 = 7000;
/// How long a path may take to write its summary.
const ENDING: Duration = Duration::from_secs(3);

/// Paths measure time: two at once would disturb each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs a test in a new network namespace, on a thread of its own, when no other test runs.
fn in_new_namespace(test: impl FnOnce() + Send + 'static) {
    assert!(
        geteuid().is_root(),
        "these tests make network namespaces: run them as root"
    );
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    on_thread(move || {
        unshare(CloneFlags::CLONE_NEWNET).expect("a new network namespace");
        test()
    })
}

fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::spawn(work).join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// What a program says first on a pipe.
fn first_line(pipe: Option<impl Read>) -> String {
    let mut line = String::new();
    BufReader::new(pipe.expect("a pipe"))
        .read_line(&mut line)
        .expect("a line");
    line.trim().to_owned()
}

/// A running netnice-path whose command only waits.
struct Path {
    child: Child,
    /// The process that waits inside.
    inside: Pid,
    /// The other end's address, from inside.
    peer: Ipv4Addr,
    json: PathBuf,
}

impl Path {
    /// Starts a path; `options` may end in the start of another, nested one.
    fn start(options: &str) -> Path {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "path-{}-{}.json",
            std::process::id(),
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let json = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut child = Command::new(BINARY)
            .arg("--quiet")
            .arg("--json")
            .arg(&json)
            .args(options.split_whitespace())
            .args(["--", "sh", "-c", "echo $$ $NETNICE_PATH_PEER; exec sleep 600"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("netnice-path starts");
        let line = first_line(child.stdout.take());
        let (pid, peer) = line.split_once(' ').expect("netnice-path runs the command");
        let inside = Pid::from_raw(pid.parse().expect("a pid"));
        Path {
            child,
            inside,
            peer: peer.parse().expect("an address"),
            json,
        }
    }

    /// Runs something inside, on a thread of its own.
    fn inside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
        let namespace = File::open(format!("/proc/{}/ns/net", self.inside)).expect("the namespace inside");
        thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("entering the namespace inside");
            work()
        })
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).expect("netnice-path runs");
    }

    /// Ends the path; its summary.
    fn stop(mut self) -> Value {
        self.signal(Signal::SIGTERM);
        let status = self.child.wait().expect("netnice-path ends");
        assert_eq!(status.code(), Some(128 + 15), "the command was ended by SIGTERM");
        serde_json::from_reader(File::open(&self.json).expect("a summary")).expect("JSON")
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        // Nothing is left of it in any case: it may have ended already.
        let ended = Instant::now();
        while ended.elapsed() < ENDING && matches!(self.child.try_wait(), Ok(None)) {
            kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).ok();
            thread::sleep(Duration::from_millis(10));
        }
        self.child.kill().ok();
        self.child.wait().ok();
        let report = File::open(&self.json).map(serde_json::from_reader::<_, Value>);
        if matches!(report, Ok(Ok(report)) if report["trusted"] == false) {
            let _ = writeln!(stderr(), "the path says that the machine was too busy");
        }
        std::fs::remove_file(&self.json).ok();
    }
}

/// A packet that arrived, by the receiver's clock.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    at: u64,
    delay: u64,
    bytes: usize,
    marked: bool,
}

/// Receives what a sender of this harness sends, until nothing comes for half a second.
fn receive() -> thread::JoinHandle<Vec<Arrival>> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT)).expect("a free port");
    set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 8 << 20);
    thread::spawn(move || {
        run_before_others();
        let mut arrivals: Vec<Arrival> = Vec::new();
        let mut buffer = [0; 2048];
        socket
            .set_read_timeout(Some(Duration::from_millis(500)))
            .expect("a timeout");
        let begin = Instant::now();
        loop {
            match socket.recv(&mut buffer) {
                Ok(bytes) => {
                    let at = now();
                    let sent = u64::from_ne_bytes(buffer[..8].try_into().expect("eight bytes"));
                    arrivals.push(Arrival {
                        at,
                        delay: at - sent,
                        bytes: bytes + 28,
                        marked: buffer[8] == 1,
                    });
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    if !arrivals.is_empty() || begin.elapsed() > Duration::from_secs(3) {
                        return arrivals;
                    }
                }
                Err(e) => panic!("cannot receive: {e}"),
            }
        }
    })
}

/// Sends packets evenly; how many. Runs in the current thread's namespace.
fn send(to: Ipv4Addr, tos: i32, payload: usize, per_second: u64, time: Duration) -> u64 {
    run_before_others();
    let socket = UdpSocket::bind(("0.0.0.0", 0)).expect("a socket");
    set_option(&socket, libc::IPPROTO_IP, libc::IP_TOS, tos);
    let mut packet = vec![0; payload];
    packet[8] = u8::from(tos == LE);
    let (begin, mut sent) = (Instant::now(), 0);
    while begin.elapsed() < time {
        while sent < (begin.elapsed().as_nanos() * u128::from(per_second) / 1_000_000_000) as u64 {
            packet[..8].copy_from_slice(&now().to_ne_bytes());
            socket.send_to(&packet, (to, PORT)).expect("sending");
            sent += 1;
        }
        thread::sleep(Duration::from_micros(200));
    }
    sent
}

/// Answers every packet to a port, as long as the test runs.
fn echo(address: &str) {
    let socket = UdpSocket::bind((address, PORT)).expect("a free port");
    thread::spawn(move || {
        run_before_others();
        let mut buffer = [0; 2048];
        while let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
            socket.send_to(&buffer[..bytes], from).expect("answering");
        }
    });
}

/// Round-trip times in milliseconds to an echo, sorted. Runs in the current thread's namespace.
fn round_trips(to: &str, count: usize) -> Vec<f64> {
    run_before_others();
    let local = if to.contains(':') { "::" } else { "0.0.0.0" };
    let socket = UdpSocket::bind((local, 0)).expect("a socket");
    socket
        .set_read_timeout(Some(Duration::from_secs(2)))
        .expect("a timeout");
    socket.connect((to, PORT)).expect("a route");
    let mut times: Vec<_> = (0..count)
        .map(|_| {
            let begin = Instant::now();
            socket.send(&[0; 20]).expect("sending");
            socket.recv(&mut [0; 64]).expect("an answer within 2 s");
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

/// A sender or receiver that waits for the CPU would measure other programs, not the path.
fn run_before_others() {
    let parameter = libc::sched_param { sched_priority: 40 };
    // SAFETY: the parameter lives through the call. Where it is refused, a busy machine fails the tests.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) };
}

fn set_option(socket: &UdpSocket, level: i32, name: i32, value: i32) {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: the value lives through the call and its size is right.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

/// The value below which this part of the values lies.
fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part) as usize]
}
