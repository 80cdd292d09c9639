// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Clients that know a URL: distinct networks, over restarts, the same in a log and live.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use redb::{Database, TableDefinition};

use crate::harness::{address_of, page, run, Folder, Proxy, Site};

const TWO: &str = "[prefetch]\nbackground = [\"reno\"]\nclients = 2\n";
const SECRETS: [&str; 2] = ["/reset?token=1", "/reset/9f3c"];

fn site() -> Site {
    Site::new(|_| page("a page"))
}

/// Requests `/` and each secret in turn; the hints of all replies.
fn visit(proxy: &Proxy, name: &str) -> Vec<String> {
    let mut browser = proxy.browser(name);
    let asked = SECRETS.iter().flat_map(|secret| ["/", secret]);
    asked.flat_map(|path| browser.get(path, "").hints()).collect()
}

/// The hints of `/` for a client that has requested nothing else.
fn hints(proxy: &Proxy, name: &str) -> Vec<String> {
    proxy.browser(name).get("/", "").hints()
}

const NONE: [&str; 0] = [];
const PUBLIC: [&str; 1] = ["/reset/9f3c"];

#[test]
fn one_client_is_one_over_restarts() {
    for settings in ["", TWO] {
        let (site, folder) = (site(), Folder::new());
        for _ in 0..3 {
            let proxy = Proxy::new(&site, &folder, settings);
            assert_eq!(visit(&proxy, "owner"), NONE);
            proxy.end();
        }
        let proxy = Proxy::new(&site, &folder, settings);
        assert_eq!(hints(&proxy, "stranger"), NONE);
    }
}

#[test]
fn the_second_client_is_counted_over_a_restart() {
    let (site, folder) = (site(), Folder::new());
    for name in ["one", "two"] {
        let proxy = Proxy::new(&site, &folder, TWO);
        visit(&proxy, name);
        proxy.end();
    }
    let proxy = Proxy::new(&site, &folder, TWO);
    assert_eq!(hints(&proxy, "three"), PUBLIC);
}

#[test]
fn two_in_turn_are_two() {
    let (site, folder) = (site(), Folder::new());
    let settings = TWO.replace('2', "3");
    let proxy = Proxy::new(&site, &folder, &settings);
    for name in ["one", "two", "one", "two"] {
        visit(&proxy, name);
    }
    assert_eq!(hints(&proxy, "four"), NONE);
    visit(&proxy, "three");
    assert_eq!(hints(&proxy, "five"), PUBLIC);
}

#[test]
fn by_default_five_networks_must_know_a_url() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, "[prefetch]\nbackground = [\"reno\"]\n");
    for number in 0..4 {
        visit(&proxy, &format!("reader {number}"));
    }
    assert_eq!(hints(&proxy, "one"), NONE);
    visit(&proxy, "fifth");
    assert_eq!(hints(&proxy, "two"), PUBLIC);
}

#[test]
fn programs_of_one_network_are_one_client() {
    let (site, folder) = (site(), Folder::new());
    let proxy = Proxy::new(&site, &folder, TWO);
    for program in ["Firefox", "Chromium", "scanner"] {
        let mut browser = proxy.browser_at(address_of("owner"), program);
        browser.get("/", "");
        browser.get("/reset/9f3c", "");
    }
    assert_eq!(hints(&proxy, "stranger"), NONE);
}

/// A log of one visit, by the address in its first column.
fn log(client: &str) -> String {
    let line =
        |path| format!("{client} - - [30/Jan/2001:13:55:36 +0000] \"GET {path} HTTP/1.1\" 200 9 \"-\" \"Old/1\"\n");
    ["/", "/reset/9f3c"].map(line).concat()
}

#[test]
fn a_client_of_the_log_is_the_same_live() {
    let (site, folder) = (site(), Folder::new());
    let log = folder.file("access.log", &log(&address_of("owner").to_string()));
    let store = folder.0.join("learned.redb");
    run(&["train", log.to_str().unwrap(), "--store", store.to_str().unwrap()]);
    let proxy = Proxy::new(&site, &folder, TWO);
    visit(&proxy, "owner");
    assert_eq!(hints(&proxy, "stranger"), NONE);
    visit(&proxy, "another");
    assert_eq!(hints(&proxy, "a third"), PUBLIC);
}

/// A host may come by its address, and would count twice.
#[test]
fn a_name_in_a_log_is_no_client() {
    let (site, folder) = (site(), Folder::new());
    let log = folder.file("access.log", &log("host.example"));
    let store = folder.0.join("learned.redb");
    run(&["train", log.to_str().unwrap(), "--store", store.to_str().unwrap()]);
    let proxy = Proxy::new(&site, &folder, TWO);
    visit(&proxy, "owner");
    assert_eq!(hints(&proxy, "stranger"), NONE);
}

fn mode(file: &Path) -> u32 {
    file.metadata().expect("a file").permissions().mode() & 0o777
}

#[test]
fn store_and_access_log_are_private() {
    let (site, folder) = (site(), Folder::new());
    let (store, log) = (folder.0.join("learned.redb"), folder.0.join("access.log"));
    let settings = format!("access_log = \"{}\"\n", log.display());
    drop(Proxy::new(&site, &folder, &settings));
    assert_eq!((mode(&store), mode(&log)), (0o600, 0o600));
    std::fs::set_permissions(&store, PermissionsExt::from_mode(0o644)).unwrap();
    drop(Proxy::new(&site, &folder, &settings));
    assert_eq!(mode(&store), 0o600, "an older version made it 0644");
}

#[test]
fn a_store_of_an_older_version_is_discarded() {
    let folder = Folder::new();
    let store = folder.0.join("learned.redb");
    let database = Database::create(&store).unwrap();
    let begun = database.begin_write().unwrap();
    for name in ["urls-1", "contexts-1"] {
        let table = TableDefinition::<u32, &[u8]>::new(name);
        begun.open_table(table).unwrap().insert(0, [1].as_slice()).unwrap();
    }
    begun.commit().unwrap();
    drop(database);
    let explain = || run(&["explain", "/a", "--store", store.to_str().unwrap()]);
    let first = explain();
    assert!(first.status.success(), "{first:?}");
    assert!(
        String::from_utf8_lossy(&first.stderr).contains("discarded"),
        "{first:?}"
    );
    assert!(explain().stderr.is_empty(), "it is said once");
}
