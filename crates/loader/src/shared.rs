// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What the eBPF programs and we both know, as their headers have it.
#![allow(non_camel_case_types, non_upper_case_globals, dead_code)]

include!(concat!(env!("OUT_DIR"), "/shared.rs"));
