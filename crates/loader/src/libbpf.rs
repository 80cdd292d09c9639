// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! libbpf explains itself on stderr: that is kept for the error message it belongs to.

use std::sync::Mutex;

use libbpf_rs::{set_print, PrintLevel};

static LOG: Mutex<String> = Mutex::new(String::new());
/// The verifier's last words are what counts; its whole log can be megabytes.
const LOG_LIMIT: usize = 4096;

pub(crate) fn quiet() {
    fn keep(_: PrintLevel, text: String) {
        let mut log = LOG.lock().unwrap_or_else(|e| e.into_inner());
        log.push_str(&text);
        if log.len() > LOG_LIMIT {
            let cut = log
                .char_indices()
                .map(|(i, _)| i)
                .find(|i| log.len() - i <= LOG_LIMIT)
                .unwrap_or(0);
            log.drain(..cut);
        }
    }
    set_print(Some((PrintLevel::Warn, keep)));
}

pub(crate) fn take_log() -> String {
    std::mem::take(&mut *LOG.lock().unwrap_or_else(|e| e.into_inner()))
}
