// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How many connections there are, in all and of each network. One that became a WebSocket is still one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::metrics::gauge::Gauge;

use crate::clients::network;

#[derive(Debug)]
pub struct Connections {
    counts: Mutex<Counts>,
    gauge: Gauge,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    by_network: HashMap<IpAddr, usize>,
}

/// One of them; the place is free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    of: Arc<Connections>,
    network: IpAddr,
}

impl Connections {
    /// `gauge` shows how many are open.
    pub fn new(gauge: Gauge) -> Arc<Self> {
        let counts = Mutex::default();
        Arc::new(Self { counts, gauge })
    }

    /// None: there are `most`, or `most_of_one` of this address' network.
    pub fn take(self: &Arc<Self>, address: IpAddr, most: usize, most_of_one: usize) -> Option<Place> {
        let network = network(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = counts.by_network.get(&network).copied().unwrap_or(0);
        if counts.all >= most || of_one >= most_of_one {
            return None;
        }
        counts.all += 1;
        counts.by_network.insert(network, of_one + 1);
        self.gauge.inc();
        Some(Place {
            of: self.clone(),
            network,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.of.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        self.of.gauge.dec();
        if let Some(of_one) = counts.by_network.get_mut(&self.network) {
            *of_one -= 1;
            if *of_one == 0 {
                counts.by_network.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_is_limited_as_one_address() {
        let connections = Connections::new(Gauge::default());
        let take = |address: &str| connections.take(address.parse().expect("an address"), 9, 2);
        let mut places = vec![take("2001:db8::1"), take("2001:db8::2")];
        assert!(places.iter().all(Option::is_some));
        assert!(take("2001:db8::3").is_none());
        assert!(take("2001:db8:0:1::1").is_some());
        places.pop();
        assert!(take("2001:db8::3").is_some());
    }

    #[test]
    fn all_networks_together_are_limited() {
        let connections = Connections::new(Gauge::default());
        let take = |last: u8| connections.take([192, 0, 2, last].into(), 3, 2);
        let places: Vec<_> = (0..4).map(take).collect();
        assert_eq!(places.iter().filter(|p| p.is_some()).count(), 3);
        assert_eq!(connections.gauge.get(), 3);
    }
}
