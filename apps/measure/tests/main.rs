// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! netnice-measure between its own server and client: alone for hours, among strangers, and its report.

mod harness;
mod hostile;
mod report;
mod unattended;
