// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! What -l prints: it needs neither rights nor a loaded netnice.

use netnice_loader::catalogue::Catalogue;
use serde_json::json;

pub(crate) fn listed(as_json: bool) -> String {
    let catalogue = Catalogue::read();
    if as_json {
        return format!("{:#}\n", json!(catalogue));
    }
    catalogue.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_an_algorithm() {
        let text = listed(false);
        let all: serde_json::Value = serde_json::from_str(&listed(true)).expect("JSON");
        for part in ["levels", "receivers", "comparison"] {
            let entries = all[part].as_array().expect("a list");
            assert!(!entries.is_empty());
            for entry in entries {
                let (name, about) = (entry["name"].as_str(), entry["about"].as_str());
                let (name, about) = (name.expect("named"), about.expect("told"));
                let of = |l: &&str| l.split_whitespace().take(2).any(|word| word == name);
                let found = text.lines().filter(of).filter(|l| l.ends_with(about));
                assert_eq!(found.count(), 1, "{name}");
            }
        }
        assert_eq!(all["levels"][2]["level"], 2);
    }
}
