// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How many connections there may be, in all and from one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
pub struct Connections(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// One of them; the place is free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    of: Arc<Connections>,
    address: IpAddr,
}

impl Connections {
    pub fn take(
        self: &Arc<Self>,
        address: IpAddr,
        most: usize,
        most_of_one: usize,
    ) -> Option<Place> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = counts.by_address.get(&address).copied().unwrap_or(0);
        if counts.all >= most || of_one >= most_of_one {
            return None;
        }
        counts.all += 1;
        counts.by_address.insert(address, of_one + 1);
        Some(Place {
            of: self.clone(),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        if let Some(of_one) = counts.by_address.get_mut(&self.address) {
            *of_one -= 1;
            if *of_one == 0 {
                counts.by_address.remove(&self.address);
            }
        }
    }
}
