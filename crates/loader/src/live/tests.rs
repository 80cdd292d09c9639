// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! On sockets of this very process, with congestion controls that every kernel has.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;

use rustix::net::sockopt;

use super::process::{inode, Process};
use super::socket::Tcp;
use super::*;

fn tcp(socket: &impl AsFd) -> Tcp {
    Tcp::of(socket.as_fd().try_clone_to_owned().expect("duplicate")).expect("a TCP socket")
}

fn tos(socket: &impl AsFd) -> u8 {
    sockopt::ip_tos(socket).expect("an IP socket")
}

#[test]
fn links_of_descriptors() {
    assert_eq!(inode("socket:[4711]".as_ref()), Some(4711));
    assert_eq!(inode("pipe:[4711]".as_ref()), None);
    assert_eq!(inode("/tmp/socket:[1]".as_ref()), None);
}

#[test]
fn a_congestion_control_and_its_name() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let socket = tcp(&listener);
    socket.set_congestion_control("reno").expect("always there");
    assert_eq!(socket.congestion_control().expect("readable"), "reno");
    assert!(!socket.is_of_a_level().expect("readable"));
    let unknown = socket.set_congestion_control("no-such-one");
    let why = unknown.expect_err("unknown");
    assert_eq!(Errno::from_io_error(&why), Some(Errno::NOENT));
}

#[test]
fn the_mark_goes_on_and_what_was_there_comes_back() {
    for (address, own) in [
        ("127.0.0.1:0", 0),
        ("[::]:0", 0),
        ("127.0.0.1:0", 0x28),
        ("[::]:0", 0x28),
    ] {
        let listener = TcpListener::bind(address).expect("a free port");
        sockopt::set_ip_tos(&listener, own).expect("an IP socket");
        let socket = tcp(&listener);
        let had = socket.before().expect("readable");
        let noted = Before::decode(&had.encode()).expect("long enough");
        socket.mark().expect("TCP takes it");
        assert_eq!(tos(&listener), 4);
        socket.unmark(&noted).expect("TCP takes it");
        assert_eq!(tos(&listener), own);
        socket.mark().expect("TCP takes it");
        sockopt::set_ip_tos(&listener, 0xb8).expect("an IP socket");
        socket.unmark(&noted).expect("TCP takes it");
        assert_eq!(tos(&listener), 0xb8, "the program's choice since");
    }
}

#[test]
fn what_a_socket_had_in_bytes() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let socket = tcp(&listener);
    socket.set_congestion_control("reno").expect("always there");
    let had = socket.before().expect("readable");
    assert_eq!(had.congestion_control(), Some("reno"));
    assert_eq!(Before::default().congestion_control(), None);
    assert!(Before::decode(&had.encode()[1..]).is_none());
}

#[test]
fn a_listeners_window_scale_and_an_applications_own_clamp() {
    let clamp = |socket: &TcpListener, to: i32| {
        let value = to.to_ne_bytes();
        // SAFETY: the kernel reads four bytes of a value that outlives the call.
        unsafe { libc::setsockopt(socket.as_raw_fd(), 6, libc::TCP_WINDOW_CLAMP, value.as_ptr().cast(), 4) }
    };
    for (own, limited, after) in [(0, 65535 << 8, 1 << 30), (70_000, 70_000, 70_000)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        if own > 0 {
            assert_eq!(clamp(&listener, own), 0);
        }
        let socket = tcp(&listener);
        socket.limit_scale(true).expect("TCP takes it");
        assert_eq!(socket.window_clamp().expect("readable"), limited);
        socket.limit_scale(false).expect("TCP takes it");
        assert_eq!(socket.window_clamp().expect("readable"), after);
    }
}

#[test]
fn sockets_of_other_kinds_are_left_alone() {
    let udp = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    assert!(Tcp::of(OwnedFd::from(udp)).is_none());
}

#[test]
fn all_of_a_process_are_found() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let client = TcpStream::connect(address).expect("it listens");
    let process = Process::open(std::process::id()).expect("this process");
    let found = process.sockets().expect("one's own");
    for fd in [listener.as_raw_fd(), client.as_raw_fd()] {
        assert!(found.iter().any(|(other, _)| *other == fd), "{fd}");
    }
    let copy = process.duplicate(client.as_raw_fd()).expect("one's own");
    let copy = tcp(&copy.expect("still open"));
    copy.set_congestion_control("reno").expect("always there");
    assert_eq!(
        tcp(&client).congestion_control().expect("readable"),
        "reno",
        "the copy is the same socket"
    );
    assert!(process.duplicate(1 << 20).expect("no error").is_none());
}

#[test]
fn a_process_that_does_not_exist() {
    let target = Target {
        congestion_control: Some("reno".into()),
        mark: false,
        receive: false,
        only_nicer: false,
    };
    assert!(matches!(switch(i32::MAX as u32, &target), Err(Error::Unreachable(..))));
}
