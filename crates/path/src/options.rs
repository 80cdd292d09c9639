// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The command line, and what it asks of each direction.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Parser;
use netnice_units::{within, Quantity, Rate, Share, Size, Time, UnitError};

use crate::link::{Limit, LinkSpec, Nanos};

const PACKET: u64 = 1500;
const SLOWEST: Rate = Rate::from_bits(1).unwrap();
const FASTEST: Rate = Rate::from_bits(1_000_000_000_000).unwrap();
const MILLISECOND: Time = Time::from_millis(1);
const MINUTE: Time = Time::from_secs(60);
/// A queue without a rate never fills; with one but without a delay it needs some size.
const QUEUE_WITHOUT_BDP: Limit = Limit::Packets(1000);

const ABOUT: &str = "Run a command behind an emulated network path";

const LONG_ABOUT: &str = "\
Run a command behind an emulated network path, or put a path between two namespaces.

COMMAND runs in a fresh network namespace. Its only way out is a path of the rate, delay, queue and \
loss you give. At the other end is the network namespace that netnice-path was started in. Paths nest: a \
netnice-path started as COMMAND adds its path to the first one's. netem is not needed. Nothing is left when \
netnice-path ends, not even after kill -9. Needs root. Without COMMAND it runs your shell.";

const EXAMPLES: &str = "\
Examples:
  sudo netnice-path --rate 10mbit --rtt 40ms -- iperf3 -c 100.64.0.1
  sudo netnice-path --rtt 40ms -- sh -c 'ping -c 3 $NETNICE_PATH_PEER'";

/// For the manual page.
const MORE: &str = "\
More examples:
  A cable modem, 100 Mbit/s down, 5 Mbit/s up, a long upload queue:
      netnice-path --down-rate 100mbit --up-rate 5mbit --rtt 20ms \\
          --up-queue 500kB -- bash

  Two paths in a row, 10 ms + 30 ms, the outer one loses 1 % of packets:
      netnice-path --rtt 10ms --loss 1% -- netnice-path --rtt 30ms -- bash

  The ideal router, which sends packets marked LE (DSCP 1) only when no
  other packet waits:
      netnice-path --rate 10mbit --rtt 40ms --priority -- ./my-test

  As an ordinary user inside:
      sudo netnice-path --rate 1mbit --rtt 300ms -- sudo -u $USER -- curl URL

  Between two namespaces ('ip netns add a; ip netns add b'), until Ctrl-C:
      netnice-path --between a b --rate 10mbit --rtt 40ms

Units:
  rates   bit kbit mbit gbit, or kB MB GB for bytes; '/s' may follow
  delays  us ms s min
  queues  p (packets), B kB KiB MB MiB, or bdp: rate times round-trip delay
  loss    %

Queues:
  A queue counts the packet being sent: an accepted packet leaves after at
  most size / rate. A full queue drops what arrives. With --priority the two
  bands share the queue. A full queue then drops LE packets, the latest
  first, to make room for a packet that is not LE. Random loss comes before
  the queue.

Processes and signals:
  Processes that COMMAND leaves running are killed when it ends. TERM, HUP,
  INT, QUIT, USR1 and USR2 are forwarded to COMMAND.

Environment of COMMAND:
  NETNICE_PATH_PEER, NETNICE_PATH_PEER6        addresses of the other end
  NETNICE_PATH_ADDRESS, NETNICE_PATH_ADDRESS6  addresses of this end
  With --between: NETNICE_PATH_A, NETNICE_PATH_A6, NETNICE_PATH_B,
  NETNICE_PATH_B6

Addresses:
  They come from 100.64.0.0/10 and fd6e:6e70:6174::/48, the first free /16.
  Up to five paths nest. Beyond the other end, answers find the way back only
  by routes or NAT.

Summary:
  At the end netnice-path prints how late packets were delivered. It says not
  to trust the run if 1 % of packets, or of the emulator's own wake-ups (one
  each 10 ms), were later than 1 ms or 5 % of the round-trip delay, whichever
  is more, or if the kernel dropped packets before they were read.

Exit status:
  COMMAND's; 128 + N if signal N ended it; or
  125  netnice-path failed
  126  COMMAND cannot be run
  127  COMMAND was not found";

/// The options of `netnice-path`.
#[derive(Debug, Parser)]
#[command(name = "netnice-path", version, about = ABOUT, long_about = LONG_ABOUT)]
#[command(after_help = EXAMPLES, after_long_help = MORE)]
pub struct Options {
    /// Rate of both directions, as 10mbit
    ///
    /// The default is no limit.
    #[arg(long, value_name = "RATE", value_parser = within(SLOWEST, FASTEST))]
    pub rate: Option<Rate>,
    /// Rate from COMMAND (from A to B)
    #[arg(long, value_name = "RATE", value_parser = within(SLOWEST, FASTEST))]
    pub up_rate: Option<Rate>,
    /// Rate to COMMAND (from B to A)
    #[arg(long, value_name = "RATE", value_parser = within(SLOWEST, FASTEST))]
    pub down_rate: Option<Rate>,

    /// Round-trip delay, half of it each way, as 40ms
    #[arg(long, value_name = "TIME", value_parser = within(Time::ZERO, MINUTE))]
    pub rtt: Option<Time>,
    /// One-way delay from COMMAND (from A to B)
    #[arg(long, value_name = "TIME", value_parser = within(Time::ZERO, MINUTE))]
    pub up_delay: Option<Time>,
    /// One-way delay to COMMAND (from B to A)
    #[arg(long, value_name = "TIME", value_parser = within(Time::ZERO, MINUTE))]
    pub down_delay: Option<Time>,

    /// Queue of each direction: 50p, 60kB, 1bdp
    ///
    /// The default is 1bdp; without a delay or a rate 1000p.
    #[arg(long, value_name = "SIZE")]
    pub queue: Option<QueueSize>,
    /// Queue from COMMAND (from A to B)
    #[arg(long, value_name = "SIZE")]
    pub up_queue: Option<QueueSize>,
    /// Queue to COMMAND (from B to A)
    #[arg(long, value_name = "SIZE")]
    pub down_queue: Option<QueueSize>,

    /// Random loss of each direction, as 2%
    #[arg(long, value_name = "PERCENT")]
    pub loss: Option<Share>,
    /// Random loss from COMMAND (from A to B)
    #[arg(long, value_name = "PERCENT")]
    pub up_loss: Option<Share>,
    /// Random loss to COMMAND (from B to A)
    #[arg(long, value_name = "PERCENT")]
    pub down_loss: Option<Share>,
    /// Seed of the random losses
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// Send LE packets only when no other waits
    ///
    /// Those marked DSCP 000001.
    #[arg(long)]
    pub priority: bool,

    /// Connect two existing network namespaces
    ///
    /// Names in /run/netns, or paths. No namespace is made.
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub between: Option<Vec<String>>,

    /// Write the summary as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write queues, throughput and drops over time
    ///
    /// By class; one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Time between two lines of the trace
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = within(MILLISECOND, MINUTE))]
    pub trace_interval: Time,
    /// No summary; errors and warnings are printed
    #[arg(short, long)]
    pub quiet: bool,

    /// The command to run, with its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

/// Both directions: outwards (A to B), and back.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSpec {
    pub up: LinkSpec,
    pub down: LinkSpec,
}

impl PathSpec {
    /// Round-trip delay of the empty path.
    pub fn rtt(&self) -> Nanos {
        self.up.delay + self.down.delay
    }
}

/// A queue in bdp of a direction without a rate.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "a queue in bdp needs a rate and a delay. The {0} direction lacks one; \
     give --rate and --rtt, or the queue in packets (50p) or bytes (60kB)"
)]
pub struct NoBdp(&'static str);

impl Options {
    /// What the options ask of each direction.
    pub fn path(&self) -> Result<PathSpec, NoBdp> {
        let half = self.rtt.unwrap_or_default().as_nanos() / 2;
        let up_delay = self.up_delay.map_or(half, Time::as_nanos);
        let down_delay = self.down_delay.map_or(half, Time::as_nanos);
        let rtt = up_delay + down_delay;
        let link = |name, rate: Option<Rate>, delay, queue: Option<QueueSize>, loss: Option<Share>, seed| {
            let rate = rate.or(self.rate).map(Rate::bits);
            Ok(LinkSpec {
                rate,
                delay,
                limit: limit(queue.or(self.queue), rate, rtt).ok_or(NoBdp(name))?,
                loss: loss.or(self.loss).unwrap_or_default().to_f64(),
                priority: self.priority,
                seed,
            })
        };
        Ok(PathSpec {
            up: link("up", self.up_rate, up_delay, self.up_queue, self.up_loss, self.seed)?,
            // Another sequence of losses, as certain as the first.
            down: link(
                "down",
                self.down_rate,
                down_delay,
                self.down_queue,
                self.down_loss,
                !self.seed,
            )?,
        })
    }
}

/// The queue in packets or bytes. A BDP too small for two full packets is raised to that, or nothing would get through.
fn limit(size: Option<QueueSize>, rate: Option<u64>, rtt: Nanos) -> Option<Limit> {
    let bdp = rate.filter(|_| rtt > 0).map(|rate| rate as f64 * rtt as f64 / 8e9);
    let bytes = |bdps: f64| bdp.map(|bdp| Limit::Bytes(((bdp * bdps).round() as u64).max(2 * PACKET)));
    match size {
        Some(QueueSize::Packets(packets)) => Some(Limit::Packets(packets.into())),
        Some(QueueSize::Bytes(most)) => Some(Limit::Bytes(most)),
        Some(QueueSize::Bdp(bdps)) => bytes(bdps),
        None => Some(bytes(1.0).unwrap_or(QUEUE_WITHOUT_BDP)),
    }
}

const EXAMPLE: &str = "50p, 60kB or 1bdp";
const MOST_PACKETS: u64 = 1_000_000;
const MOST_BDP: f64 = 1000.0;
/// One full packet.
const LEAST_BYTES: u64 = 1500;
const MOST_BYTES: u64 = 1_000_000_000;

/// How much a queue may hold; a multiple of the BDP is resolved once rate and delay are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueSize {
    Packets(u32),
    Bytes(u64),
    Bdp(f64),
}

impl FromStr for QueueSize {
    type Err = UnitError;

    /// Packets `p`, a multiple of the BDP `bdp`, or a size with its unit.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let quantity = Quantity::read(text, EXAMPLE)?;
        let range = |range: &str| UnitError::OutOfRange(text.into(), range.into());
        match quantity.unit {
            "" => Err(UnitError::NoUnit(text.into(), EXAMPLE)),
            "p" => match quantity.whole() {
                Some(packets @ 1..=MOST_PACKETS) => Ok(Self::Packets(packets as u32)),
                _ => Err(range("a queue holds 1p to 1000000p, whole packets")),
            },
            "bdp" | "BDP" => match quantity.to_f64() {
                bdps if bdps > 0.0 && bdps <= MOST_BDP => Ok(Self::Bdp(bdps)),
                _ => Err(range("a queue is more than 0 and at most 1000bdp")),
            },
            unit => match text.parse().map(Size::bytes) {
                Ok(bytes @ LEAST_BYTES..=MOST_BYTES) => Ok(Self::Bytes(bytes)),
                Ok(_) => Err(range("a queue holds 1500B (one full packet) to 1000MB")),
                Err(UnitError::UnknownUnit(..)) => Err(UnitError::UnknownUnit(
                    text.into(),
                    unit.into(),
                    "p, bdp, or B, kB, KiB, MB, MiB",
                )),
                Err(why) => Err(why),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(args: &[&str]) -> Result<PathSpec, NoBdp> {
        let args = ["netnice-path"].iter().chain(args);
        Options::try_parse_from(args).expect("good options").path()
    }

    #[test]
    fn both_directions_share_the_rate_and_halve_the_rtt() {
        let path = path(&["--rate", "10mbit", "--rtt", "40ms", "--queue", "1bdp"]).expect("a path");
        assert_eq!((path.up.rate, path.down.rate), (Some(10_000_000), Some(10_000_000)));
        assert_eq!((path.up.delay, path.down.delay), (20_000_000, 20_000_000));
        assert_eq!(
            (path.up.limit, path.down.limit),
            (Limit::Bytes(50_000), Limit::Bytes(50_000))
        );
        assert_ne!(path.up.seed, path.down.seed);
    }

    #[test]
    fn a_direction_can_differ() {
        let path = path(&[
            "--rate",
            "10mbit",
            "--up-rate",
            "1mbit",
            "--up-delay",
            "5ms",
            "--rtt",
            "40ms",
        ])
        .expect("ok");
        assert_eq!((path.up.rate, path.down.rate), (Some(1_000_000), Some(10_000_000)));
        assert_eq!((path.up.delay, path.down.delay), (5_000_000, 20_000_000));
        assert_eq!(path.up.limit, Limit::Bytes(3125));
    }

    #[test]
    fn a_bdp_holds_at_least_two_packets() {
        let path = path(&["--rate", "1mbit", "--rtt", "1ms"]).expect("a path");
        assert_eq!(path.up.limit, Limit::Bytes(3000));
    }

    #[test]
    fn a_bdp_without_a_rate_or_delay_is_refused() {
        assert_eq!(path(&["--rtt", "40ms", "--queue", "1bdp"]), Err(NoBdp("up")));
        assert_eq!(path(&["--rate", "1mbit", "--queue", "1bdp"]), Err(NoBdp("up")));
        assert_eq!(path(&["--rate", "1mbit"]).expect("a path").up.limit, QUEUE_WITHOUT_BDP);
    }

    #[test]
    fn options_after_the_command_are_the_commands() {
        let options = Options::try_parse_from(["netnice-path", "--rtt", "1ms", "ping", "-c", "3", "--rate"]);
        assert_eq!(options.expect("good options").command, ["ping", "-c", "3", "--rate"]);
    }

    fn queue(text: &str) -> Result<QueueSize, UnitError> {
        text.parse()
    }

    #[test]
    fn queues_are_packets_bytes_or_bdp() {
        assert_eq!(queue("50p"), Ok(QueueSize::Packets(50)));
        assert_eq!(queue("60kB"), Ok(QueueSize::Bytes(60_000)));
        assert_eq!(queue("64KiB"), Ok(QueueSize::Bytes(65_536)));
        assert_eq!(queue("0.5bdp"), Ok(QueueSize::Bdp(0.5)));
    }

    #[test]
    fn queues_that_cannot_be_are_refused() {
        for text in ["0p", "1.5p", "100B", "0bdp", "1001bdp", "2GB"] {
            let out = matches!(queue(text), Err(UnitError::OutOfRange(..)));
            assert!(out, "{text}: {:?}", queue(text));
        }
        assert!(matches!(queue("50"), Err(UnitError::NoUnit(..))));
        let why = queue("50x").unwrap_err().to_string();
        assert!(why.contains("p, bdp, or B"), "{why}");
    }
}
