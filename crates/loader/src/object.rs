// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! An object of eBPF that shares maps with those that are loaded, and pins others for those to come.

use std::path::Path;

use libbpf_rs::{ObjectBuilder, OpenObject};

use crate::error::quiet_libbpf;
use crate::{Error, Result};

/// The kernel has its first letters before the names of an object's variables.
const NAME: &str = "netnice_object";

/// Maps, by the ends of their names, and where they are pinned.
pub(crate) type Pinned<'a> = [(&'a str, &'a Path)];

/// Opens it; `what` it is completes an error's sentence. Maps in `shared` are those that are pinned there, maps in `own`
/// will be.
pub(crate) fn open(what: &str, code: &[u8], shared: &Pinned<'_>, own: &Pinned<'_>) -> Result<OpenObject> {
    quiet_libbpf();
    let mut object = ObjectBuilder::default()
        .name(NAME)
        .and_then(|builder| builder.open_memory(code))
        .map_err(Error::bpf(format!("open {what}")))?;
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if let Some(pin) = pin_of(&name, shared) {
            map.reuse_pinned_map(pin)
                .map_err(Error::bpf(format!("share a map with {what}")))?;
        } else if let Some(pin) = pin_of(&name, own) {
            map.set_pin_path(pin)
                .map_err(Error::bpf(format!("pin a map of {what}")))?;
        }
    }
    Ok(object)
}

/// By the end of the map's name.
pub(crate) fn pin_of<'a>(name: &str, pins: &Pinned<'a>) -> Option<&'a Path> {
    let found = pins.iter().find(|(suffix, _)| name.ends_with(suffix));
    found.map(|(_, pin)| *pin)
}
