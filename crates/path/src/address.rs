// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Which addresses a path gets.
//!
//! Blocks come from 100.64.0.0/10 (RFC 6598). A path takes a /16 of it, uses the first two host
//! addresses for itself and leaves the rest to the paths started inside. Those take eighths: /19, /22, /25, /28.
//! So five paths nest, and packets are routed through all of them. Each IPv4 address a.b.c.d has its
//! IPv6 twin fd6e:6e70:6174::a.b.c.d, with prefixes longer by 96.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use thiserror::Error;

/// All that paths may use.
pub const RANGE: Block = Block {
    base: 0x6440_0000,
    prefix: 10,
};
const OUTERMOST_PREFIX: u8 = 16;
const NESTING_BITS: u8 = 3;
const LONGEST_PREFIX: u8 = 28;
const TWIN_PREFIX: u128 = 0xfd6e_6e70_6174 << 80;

/// An IPv4 prefix and, implied, its IPv6 twin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    base: u32,
    prefix: u8,
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("paths are nested too deep: {0} cannot be divided further (five levels is the most)")]
pub struct TooDeep(Block);

impl Block {
    /// The block that starts at `base`, with host bits cleared.
    pub fn new(base: Ipv4Addr, prefix: u8) -> Block {
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
        Block {
            base: u32::from(base) & mask,
            prefix,
        }
    }

    pub fn base(self) -> Ipv4Addr {
        self.base.into()
    }

    pub fn base6(self) -> Ipv6Addr {
        twin(self.base())
    }

    pub fn prefix(self) -> u8 {
        self.prefix
    }

    pub fn prefix6(self) -> u8 {
        self.prefix + 96
    }

    /// The path's outer address, where it was started (or of the first namespace named).
    pub fn outer(self) -> Ipv4Addr {
        (self.base + 1).into()
    }

    /// The path's inner address, where the command runs (or of the second namespace named).
    pub fn inner(self) -> Ipv4Addr {
        (self.base + 2).into()
    }

    pub fn contains(self, other: Block) -> bool {
        other.prefix >= self.prefix && Block::new(other.base(), self.prefix) == self
    }

    fn overlaps(self, other: Block) -> bool {
        self.contains(other) || other.contains(self)
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.base(), self.prefix)
    }
}

/// The IPv6 twin of an address.
pub fn twin(address: Ipv4Addr) -> Ipv6Addr {
    Ipv6Addr::from(TWIN_PREFIX | u128::from(u32::from(address)))
}

/// Free blocks for a new path, best first. `own` is the block of the path one is already inside of, `taken` what
/// addresses and routes use already.
pub fn candidates(own: Option<Block>, taken: &[Block]) -> Result<Vec<Block>, TooDeep> {
    let (parent, prefix, first) = match own {
        None => (RANGE, OUTERMOST_PREFIX, 0),
        Some(own) if own.prefix + NESTING_BITS <= LONGEST_PREFIX => (own, own.prefix + NESTING_BITS, 1),
        Some(own) => return Err(TooDeep(own)),
    };
    let size = 1u32 << (32 - prefix);
    let slots = 1u32 << (prefix - parent.prefix);
    let all = (first..slots).map(|slot| Block {
        base: parent.base + slot * size,
        prefix,
    });
    Ok(all
        .filter(|block| !taken.iter().any(|other| *other != parent && block.overlaps(*other)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        let (base, prefix) = text.split_once('/').expect("a prefix");
        Block::new(base.parse().expect("an address"), prefix.parse().expect("a length"))
    }

    #[test]
    fn the_first_path_takes_the_first_block() {
        let first = candidates(None, &[]).expect("free")[0];
        assert_eq!(first, block("100.64.0.0/16"));
        assert_eq!(first.outer().to_string(), "100.64.0.1");
        assert_eq!(twin(first.inner()).to_string(), "fd6e:6e70:6174::6440:2");
        assert_eq!(first.base6().to_string(), "fd6e:6e70:6174::6440:0");
    }

    #[test]
    fn blocks_in_use_are_passed_over() {
        let taken = [block("100.64.0.0/16"), block("100.65.3.4/32"), block("192.0.2.0/24")];
        assert_eq!(candidates(None, &taken).expect("free")[0], block("100.66.0.0/16"));
        assert!(
            candidates(None, &[block("100.64.0.0/10")]).expect("none").len() == 64,
            "the range itself is ours"
        );
        assert!(candidates(None, &[block("100.0.0.0/8")]).expect("none").is_empty());
    }

    #[test]
    fn nested_paths_take_parts_that_leave_the_parents_link_alone() {
        let mut own = block("100.70.0.0/16");
        for _ in 0..4 {
            let part = candidates(Some(own), &[own]).expect("free")[0];
            assert!(own.contains(part) && !part.contains(Block::new(own.inner(), 32)));
            own = part;
        }
        assert_eq!(candidates(Some(own), &[]), Err(TooDeep(own)));
    }

    #[test]
    fn host_bits_are_cleared() {
        assert_eq!(block("100.64.3.4/16"), block("100.64.0.0/16"));
        assert_eq!(Block::new(Ipv4Addr::new(1, 2, 3, 4), 0), block("0.0.0.0/0"));
    }
}
