// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! A site, the proxy before it, and a browser that says exactly what it is told to.
#![allow(dead_code)] // The benchmark uses a part.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_netnice-prefetch");
const FRESH: &str = "Cache-Control: max-age=600\r\n";

/// What a site answers: everything but the framing of the body.
pub struct Answer {
    pub status: &'static str,
    pub headers: String,
    pub body: Vec<u8>,
    pub after: Duration,
}

pub fn page(body: &str) -> Answer {
    Answer {
        status: "200 OK",
        headers: format!("Content-Type: text/html\r\n{FRESH}"),
        body: body.into(),
        after: Duration::ZERO,
    }
}

pub fn file(bytes: usize) -> Answer {
    Answer {
        headers: format!("Content-Type: image/png\r\n{FRESH}"),
        body: vec![b'x'; bytes],
        ..page("")
    }
}

/// A site on a port of its own, with the requests that it saw.
pub struct Site {
    pub address: SocketAddr,
    pub seen: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub fn new(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, notes) = (Arc::new(answer), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, notes) = (answer.clone(), notes.clone());
                std::thread::spawn(move || converse(stream, &*answer, &notes));
            }
        });
        Self { address, seen }
    }

    pub fn requests(&self) -> Vec<String> {
        self.seen.lock().expect("no panic").clone()
    }
}

fn converse(stream: TcpStream, answer: &dyn Fn(&str) -> Answer, seen: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
    let mut stream = stream;
    while let Some(head) = head(&mut reader) {
        let length = header(&head, "content-length").map_or(0, |l| l.parse().expect("one length"));
        if header(&head, "transfer-encoding").is_some() {
            while chunk(&mut reader) {}
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink()).ok();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        seen.lock().expect("no panic").push(head);
        let a = answer(&path);
        std::thread::sleep(a.after);
        let text = format!(
            "HTTP/1.1 {}\r\n{}Content-Length: {}\r\n\r\n",
            a.status,
            a.headers,
            a.body.len()
        );
        if stream.write_all(&[text.as_bytes(), &a.body].concat()).is_err() {
            return;
        }
    }
}

fn chunk(reader: &mut impl BufRead) -> bool {
    let mut size = String::new();
    reader.read_line(&mut size).ok();
    let size = u64::from_str_radix(size.trim(), 16).unwrap_or(0);
    std::io::copy(&mut reader.take(size + 2), &mut std::io::sink()).ok();
    size > 0
}

/// A head, without its empty line; None at the end of the connection.
fn head(reader: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            return Some(head);
        }
        head += &line;
    }
}

pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let named = head.lines().filter_map(|line| line.split_once(':'));
    named
        .filter(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
        .next()
}

static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// A folder that is gone afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("netnice-prefetch-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A running proxy; ended when dropped.
pub struct Proxy {
    pub child: Child,
    pub address: SocketAddr,
    pub admin: SocketAddr,
}

impl Proxy {
    /// `settings` are the configuration file's, beside addresses.
    pub fn new(site: &Site, folder: &Folder, settings: &str) -> Self {
        let text = format!(
            "upstream = \"http://{}\"\nlisten = [\"127.0.0.1:0\"]\nadmin = \"127.0.0.1:0\"\n{settings}",
            site.address
        );
        let config = folder.file("config.toml", &text);
        let mut child = Command::new(PROGRAM)
            .arg("--config")
            .arg(config)
            .arg("--store")
            .arg(folder.0.join("learned.redb"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("the proxy");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"))
            .lines()
            .map_while(Result::ok);
        let mut told = |what: &str| {
            let line = said.find(|line| line.contains(what)).expect("the proxy ended");
            line.rsplit_once("://")
                .expect("an address")
                .1
                .parse()
                .expect("an address")
        };
        let (admin, address) = (told("metrics on"), told(" is on http"));
        // It must be able to go on complaining.
        std::thread::spawn(move || said.for_each(drop));
        Self { child, address, admin }
    }

    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: a signal to a child that has not been waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    /// Its orderly end.
    pub fn end(mut self) {
        self.signal(libc::SIGTERM);
        assert!(self.child.wait().expect("a child").success());
    }

    /// A client with an address and a program of its own; the same name is the same client.
    pub fn browser(&self, name: &str) -> Browser {
        self.browser_at(address_of(name), name)
    }

    pub fn browser_at(&self, address: Ipv4Addr, name: &str) -> Browser {
        Browser {
            stream: connect_from(address, self.address),
            name: name.into(),
        }
    }

    /// A counter or gauge, by the beginning of its line.
    pub fn metric(&self, name: &str) -> f64 {
        let mut admin = Browser {
            stream: connect(self.admin),
            name: "operator".into(),
        };
        let text = admin.get("/metrics", "").text();
        let line = text.lines().find(|line| line.starts_with(name));
        line.map_or(0.0, |line| {
            line.rsplit_once(' ').expect("a value").1.parse().expect("a number")
        })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    connect_from(Ipv4Addr::LOCALHOST, address)
}

static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Of the loopback, as all of 127.0.0.0/8 is.
pub fn address_of(name: &str) -> Ipv4Addr {
    let mut names = NAMES.lock().expect("no panic");
    let known = names.iter().position(|n| n == name);
    let number = known.unwrap_or(names.len());
    if known.is_none() {
        names.push(name.into());
    }
    Ipv4Addr::from_bits(Ipv4Addr::new(127, 0, 1, 1).to_bits() + number as u32)
}

pub fn connect_from(from: Ipv4Addr, to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from((from, 0)).into()).expect("an address");
    socket.connect(&to.into()).expect("a connection");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
    stream
}

pub fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().expect("the program")
}

/// One connection of a client of its own.
pub struct Browser {
    pub stream: TcpStream,
    name: String,
}

pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }

    pub fn hints(&self) -> Vec<String> {
        let is_link = |line: &&str| line.to_ascii_lowercase().starts_with("link:");
        let links = self.head.lines().filter(is_link).map(|line| line[5..].trim());
        let url = |link: &str| link.trim_start_matches('<').split('>').next().map(str::to_owned);
        links.filter_map(url).collect()
    }
}

impl Browser {
    pub fn send(&mut self, path: &str, headers: &str) {
        let text = format!(
            "GET {path} HTTP/1.1\r\nHost: site\r\nUser-Agent: {}\r\n{headers}\r\n",
            self.name
        );
        self.stream.write_all(text.as_bytes()).expect("to send");
    }

    pub fn receive(&mut self) -> Reply {
        self.try_receive().expect("a reply")
    }

    /// None: the connection ended before.
    pub fn try_receive(&mut self) -> Option<Reply> {
        let mut reader = BufReader::new(&mut self.stream);
        let head = head(&mut reader)?;
        let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
        let mut body = Vec::new();
        if let Some(length) = header(&head, "content-length") {
            let length: usize = length.parse().expect("a length");
            body.resize(length, 0);
            reader.read_exact(&mut body).ok()?;
        } else if header(&head, "transfer-encoding").is_some() {
            loop {
                let mut size = String::new();
                reader.read_line(&mut size).ok()?;
                let size = usize::from_str_radix(size.trim(), 16).expect("a size");
                let mut chunk = vec![0; size + 2];
                reader.read_exact(&mut chunk).ok()?;
                if size == 0 {
                    break;
                }
                body.extend_from_slice(&chunk[..size]);
            }
        }
        Some(Reply { status, head, body })
    }

    pub fn get(&mut self, path: &str, headers: &str) -> Reply {
        self.send(path, headers);
        self.receive()
    }

    pub fn prefetch(&mut self, path: &str) -> Reply {
        self.get(path, "Sec-Purpose: prefetch\r\n")
    }
}

/// As many clients as make a URL one that others may be told of.
pub const ENOUGH: usize = 5;

/// Enough clients come from `/` to each of `next`.
pub fn teach(proxy: &Proxy, next: &[&str]) {
    for number in 0..ENOUGH {
        let mut browser = proxy.browser(&format!("teacher {number}"));
        for path in next {
            browser.get("/", "");
            browser.get(path, "");
        }
    }
}
