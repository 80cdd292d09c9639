// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! 100,000 connections of strangers: the server sends them next to nothing, stays small, and serves its own client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::{said, Bench, RATE};
use socket2::{Domain, Socket, Type};

/// The least: they go on until the honest client is served.
const CONNECTIONS: usize = 100_000;
const ATTACKERS: usize = 4;
/// A nonce, and 'N'.
const MOST_SENT: u64 = 33;
const MEMORY_KIB: u64 = 64 * 1024;
const DESCRIPTORS: usize = 700;

/// From an address of its own, so that the honest client's is another.
fn connect(server: SocketAddr, attacker: usize) -> Option<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
    // The end is a reset: ports are free again at once.
    socket.set_linger(Some(Duration::ZERO)).ok()?;
    socket
        .bind(&SocketAddr::from(([127, 0, 1, attacker as u8], 0)).into())
        .ok()?;
    socket.set_write_timeout(Some(Duration::from_secs(5))).ok()?;
    socket.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    socket.connect(&server.into()).ok()?;
    Some(socket.into())
}

/// One stranger; gives what the server sent to it. Errors are what it deserves.
fn attack(server: SocketAddr, attacker: usize, number: usize, kept: &mut Vec<TcpStream>) -> u64 {
    let Some(mut stream) = connect(server, attacker) else {
        return 0;
    };
    let greeting = [b"NNMEAS1\n".as_slice(), &[7; 32]].concat();
    match number % 5 {
        0 => stream.write_all(b"GET / HTTP/1.1\r\n\r\n").ok(),
        1 => stream.write_all(&greeting).ok(),
        2 => stream
            .write_all(&greeting)
            .and_then(|()| stream.write_all(&[9; 32]))
            .ok(),
        3 => stream.write_all(&greeting[..20]).ok(),
        _ => stream.write_all(&[0xff; 4096]).ok(),
    };
    // Some say nothing and stay.
    if number % 100 == 4 {
        kept.push(stream);
        if kept.len() > 500 {
            kept.clear();
        }
        return 0;
    }
    if number % 5 != 2 {
        return 0;
    }
    let mut sent = Vec::new();
    stream.read_to_end(&mut sent).ok();
    sent.len() as u64
}

#[test]
fn a_hundred_thousand_strangers() {
    let bench = Bench::new();
    let server = bench.serve(0, &["--rate", RATE]);
    let address = SocketAddr::from(([127, 0, 0, 1], server.port));
    let (next, most_sent) = (AtomicUsize::new(0), AtomicU64::new(0));
    let served = AtomicBool::new(false);
    thread::scope(|scope| {
        for attacker in 1..=ATTACKERS {
            let (next, most_sent, served) = (&next, &most_sent, &served);
            scope.spawn(move || {
                let mut kept = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= CONNECTIONS && served.load(Ordering::Relaxed) {
                        break;
                    }
                    most_sent.fetch_max(attack(address, attacker, number, &mut kept), Ordering::Relaxed);
                }
            });
        }
        // In the midst of it, a client with the token.
        while next.load(Ordering::Relaxed) < CONNECTIONS / 10 {
            thread::sleep(Duration::from_millis(10));
        }
        let honest = bench.client(server.port, &["--bytes", "1MB"]).output().expect("run");
        served.store(true, Ordering::Relaxed);
        assert!(honest.status.success(), "{}", said(&honest));
        let (memory, descriptors) = server.uses();
        assert!(
            memory < MEMORY_KIB && descriptors < DESCRIPTORS,
            "{memory} KiB, {descriptors} descriptors"
        );
    });
    let sent = most_sent.load(Ordering::Relaxed);
    assert!((1..=MOST_SENT).contains(&sent), "{sent} bytes to a stranger");
    let (memory, descriptors) = server.uses();
    assert!(
        memory < MEMORY_KIB && descriptors < DESCRIPTORS,
        "{memory} KiB, {descriptors} descriptors"
    );
}

#[test]
fn datagrams_of_strangers_get_no_answer() {
    let bench = Bench::new();
    let server = bench.serve(0, &[]);
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.connect(("127.0.0.1", server.port)).expect("connected");
    socket.set_read_timeout(Some(Duration::from_millis(300))).expect("set");
    for length in [0, 1, 31, 32, 200, 1400] {
        for number in 0..100u8 {
            socket.send(&vec![number; length]).expect("sent");
        }
    }
    assert!(socket.recv(&mut [0; 2000]).is_err(), "an answer to a stranger");
}
