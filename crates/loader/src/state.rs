// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What is loaded, in a pinned map of one JSON value: it appears at once, when everything else is in
//! place, and goes with a reboot like the objects it describes.

use std::mem::size_of;
use std::time::{SystemTime, UNIX_EPOCH};

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use serde::{Deserialize, Serialize};

use crate::{pins, Error, Result};

const SIZE: usize = 1024;
const KEY: [u8; 4] = [0; 4];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Of the netnice that loaded it.
    pub version: String,
    pub build_id: String,
    /// Seconds since 1970.
    pub since: u64,
    pub algorithms: Vec<String>,
    /// DSCP LE on the sockets of level cgroups that are not called unmarked.
    pub mark: bool,
    /// Why only root can put a process into the background; `None` when everybody can.
    #[serde(default)]
    pub hindered: Option<String>,
}

impl State {
    pub(crate) fn new(algorithms: Vec<String>, mark: bool, hindered: Option<String>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build_id: crate::BUILD_ID.to_owned(),
            since: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |d| d.as_secs()),
            algorithms,
            mark,
            hindered,
        }
    }

    /// `None` when nothing complete is loaded, or it may not be read.
    pub fn read() -> Option<Self> {
        let map = pins::map(&pins::state())?;
        let value = map.lookup(&KEY, MapFlags::ANY).ok()??;
        let text = value.split(|b| *b == 0).next()?;
        serde_json::from_slice(text).ok()
    }

    pub(crate) fn pin(&self) -> Result<()> {
        let mut value = serde_json::to_vec(self).expect("strings and numbers");
        assert!(value.len() < SIZE, "the state outgrew its map");
        value.resize(SIZE, 0);
        let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as _,
            ..Default::default()
        };
        let (key, size) = (KEY.len() as u32, SIZE as u32);
        let mut map = MapHandle::create(
            MapType::Array,
            Some("netnice_state"),
            key,
            size,
            1,
            &options,
        )
        .map_err(Error::bpf("create the state map"))?;
        map.update(&KEY, &value, MapFlags::ANY)
            .map_err(Error::bpf("write the state map"))?;
        map.pin(pins::state())
            .map_err(Error::bpf("pin the state map"))
    }
}
