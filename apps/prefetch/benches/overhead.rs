// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the proxy costs beside nginx as a plain reverse proxy, in the same minute. Measured are requests a second of 16
//! connections, and the time of a request above that without a proxy. Rounds alternate; medians count. Needs nginx.

#[path = "../tests/harness.rs"]
mod harness;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use harness::{Folder, Proxy, Site};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(1500);
const CONNECTIONS: usize = 16;
const LEAST_SHARE: f64 = 0.7;
const MOST_ADDED_MS: [(&str, f64, f64); 2] = [("p50", 0.5, 0.3), ("p99", 0.99, 2.0)];

struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        // SAFETY: a signal to a child that has not been waited for; nginx ends its workers.
        unsafe { libc::kill(self.0.id() as libc::pid_t, libc::SIGTERM) };
        self.0.wait().ok();
    }
}

/// A site of one small file, and a plain proxy before it.
fn nginx(folder: &Folder) -> (Nginx, SocketAddr, SocketAddr) {
    let free = || {
        TcpListener::bind("127.0.0.1:0")
            .and_then(|l| l.local_addr())
            .expect("a port")
    };
    let (site, proxy) = (free(), free());
    folder.file("index.html", &"x".repeat(1000));
    let root = folder.0.display();
    let text = format!(
        "daemon off; worker_processes auto; pid {root}/pid; error_log {root}/error;
         events {{ worker_connections 1024; }}
         http {{ access_log off; keepalive_requests 100000000; default_type text/html;
           upstream site {{ server {site}; keepalive 64; keepalive_requests 100000000; }}
           server {{ listen {site}; root {root}; }}
           server {{ listen {proxy}; location / {{ proxy_pass http://site; proxy_http_version 1.1;
             proxy_set_header Connection ''; proxy_set_header Host $host; }} }} }}"
    );
    let file = folder.file("nginx.conf", &text);
    let child = Command::new("nginx")
        .arg("-p")
        .arg(&folder.0)
        .arg("-c")
        .arg(file)
        .spawn()
        .expect("nginx");
    let running = Nginx(child);
    while TcpStream::connect(proxy).is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    (running, site, proxy)
}

/// One connection for a round: what each request took, in milliseconds.
fn ask(address: SocketAddr) -> Vec<f64> {
    let mut stream = harness::connect(address);
    stream.set_nodelay(true).expect("a socket");
    let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
    let (began, mut took, mut line) = (Instant::now(), Vec::new(), String::new());
    while began.elapsed() < ROUND {
        let asked = Instant::now();
        stream
            .write_all(b"GET /index.html HTTP/1.1\r\nHost: site\r\n\r\n")
            .expect("to send");
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line).expect("a head");
            if line == "\r\n" {
                break;
            }
            if line.to_ascii_lowercase().starts_with("content-length:") {
                length = line[15..].trim().parse().expect("a length");
            }
        }
        assert_eq!(length, 1000, "not the file");
        let mut body = [0; 1000];
        reader.read_exact(&mut body).expect("a body");
        took.push(asked.elapsed().as_secs_f64() * 1e3);
    }
    took
}

fn rate(address: SocketAddr) -> f64 {
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|_| std::thread::spawn(move || ask(address).len()))
        .collect();
    let all: usize = threads.into_iter().map(|t| t.join().expect("a client")).sum();
    all as f64 / ROUND.as_secs_f64()
}

fn quantile(mut values: Vec<f64>, q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * q) as usize]
}

fn main() -> ExitCode {
    let folder = Folder::new();
    let (_nginx, site, plain) = nginx(&folder);
    let upstream = Site {
        address: site,
        seen: Default::default(),
    };
    let ours = Proxy::new(&upstream, &folder, "[prefetch]\nmode = \"off\"\n");
    let (mut shares, mut rates, mut plain_rates) = (Vec::new(), Vec::new(), Vec::new());
    let mut added = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let (a, b) = (rate(ours.address), rate(plain));
        shares.push(a / b);
        rates.push(a);
        plain_rates.push(b);
        let (through, direct) = (ask(ours.address), ask(site));
        for (values, (_, q, _)) in added.iter_mut().zip(MOST_ADDED_MS) {
            values.push(quantile(through.clone(), q) - quantile(direct.clone(), q));
        }
    }
    let share = quantile(shares, 0.5);
    let mut met = share >= LEAST_SHARE;
    let mut text = format!(
        "requests a second: {:.0}, nginx {:.0}: {:.0} % (at least {:.0})\n",
        quantile(rates, 0.5),
        quantile(plain_rates, 0.5),
        100.0 * share,
        100.0 * LEAST_SHARE
    );
    for (values, (name, _, most)) in added.into_iter().zip(MOST_ADDED_MS) {
        let value = quantile(values, 0.5);
        met &= value <= most;
        writeln!(text, "{name}: {value:.3} ms added (at most {most})").expect("memory");
    }
    netnice_output::print(text).expect("standard output");
    ExitCode::from(u8::from(!met))
}
