// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The predictor: against its definition, its bounds and its budget; the logs it learns from, and what it keeps to itself.

mod bounds;
mod budget;
mod definition;
mod logs;
mod withheld;
