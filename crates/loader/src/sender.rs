// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The congestion controls: one eBPF object, registered with TCP through pinned links.

use std::path::PathBuf;

use libbpf_rs::{MapCore, MapMut, MapType, Object, ObjectBuilder};

use crate::error::quiet_libbpf;
use crate::{facts, pins, Error, Result, Step};

pub(crate) const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sender.bpf.o"));
/// Maps for kernels where cong_control takes two arguments end in this.
const OLD_SIGNATURE: &str = "_v1";
/// Maps that other objects share: what sockets had before they came to a level, and rates that they have at least.
fn shared(name: &str) -> Option<PathBuf> {
    Some(match name {
        "before" => pins::before(),
        "floors" => pins::floors(),
        "floor_of" => pins::floor_of(),
        _ => return None,
    })
}

/// Loads the object with only the wanted maps, registers and pins each.
pub(crate) fn load(wanted: &[String], cong_control_args: u32, on_step: &mut dyn FnMut(Step)) -> Result<()> {
    let taken = facts::congestion_controls()?;
    if let Some(cc) = wanted.iter().find(|cc| taken.contains(cc)) {
        return Err(Error::NameTaken(cc.clone()));
    }
    let mut object = open(wanted, cong_control_args)?;
    on_step(Step::SenderLoaded);
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if map.map_type() == MapType::StructOps && map.autocreate() {
            let cc = name.trim_end_matches(OLD_SIGNATURE);
            register(&mut map, cc, on_step)?;
        } else if name.ends_with(".data") {
            map.pin(pins::params()).map_err(Error::bpf("pin the parameters"))?;
            on_step(Step::ParamsPinned);
        } else if let Some(pin) = shared(&name) {
            map.pin(pin).map_err(Error::bpf(format!("pin the map '{name}'")))?;
        }
    }
    Ok(())
}

fn open(wanted: &[String], cong_control_args: u32) -> Result<Object> {
    quiet_libbpf();
    let mut open = ObjectBuilder::default()
        .name("netnice_sender")
        .and_then(|builder| builder.open_memory(OBJECT))
        .map_err(Error::bpf("open the sender object"))?;
    for mut map in open.maps_mut().filter(|m| m.map_type() == MapType::StructOps) {
        let name = map.name().to_string_lossy().into_owned();
        let (cc, args) = match name.strip_suffix(OLD_SIGNATURE) {
            Some(cc) => (cc, 2),
            None => (name.as_str(), 4),
        };
        let wanted = args == cong_control_args && wanted.iter().any(|w| w == cc);
        map.set_autocreate(wanted)
            .map_err(Error::bpf("leave out a congestion control"))?;
    }
    open.load().map_err(Error::bpf("load the congestion control"))
}

fn register(map: &mut MapMut<'_>, cc: &str, on_step: &mut dyn FnMut(Step)) -> Result<()> {
    let mut link = map
        .attach_struct_ops()
        .map_err(Error::bpf(format!("register '{cc}' with TCP")))?;
    on_step(Step::SenderRegistered);
    link.pin(pins::sender_link(cc))
        .map_err(Error::bpf(format!("pin '{cc}'")))?;
    on_step(Step::SenderPinned);
    Ok(())
}
