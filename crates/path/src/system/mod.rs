// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the path needs of Linux: devices, namespaces, real-time scheduling.

pub mod clock;
pub mod keeper;
pub mod namespace;
pub mod netlink;
pub mod realtime;
pub mod tun;
