// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! How netnice-path behaves as a program. Needs root.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{echo, first_line, in_new_namespace, round_trips, Path, BINARY};
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;

fn run(arguments: &[&str]) -> Output {
    Command::new(BINARY)
        .args(arguments)
        .output()
        .expect("netnice-path runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn exit_statuses_are_those_of_nice_and_env() {
    in_new_namespace(|| {
        assert_eq!(run(&["--", "true"]).status.code(), Some(0));
        assert_eq!(run(&["--", "sh", "-c", "exit 42"]).status.code(), Some(42));
        assert_eq!(run(&["--", "sh", "-c", "kill -USR1 $$"]).status.code(), Some(128 + 10));
        assert_eq!(run(&["--", "/etc/passwd"]).status.code(), Some(126));
        assert_eq!(run(&["--", "no-such-command"]).status.code(), Some(127));
        assert_eq!(run(&["--rate", "10mbps", "--", "true"]).status.code(), Some(125));
        assert_eq!(run(&["--queue", "1bdp", "--", "true"]).status.code(), Some(125));
        assert_eq!(run(&["--help"]).status.code(), Some(0));
    });
}

#[test]
fn messages_say_what_why_and_what_to_do() {
    in_new_namespace(|| {
        assert!(stderr(&run(&["--rate", "10mbps", "--", "true"])).contains("10mbit"));
        assert!(stderr(&run(&["--queue", "1bdp", "--", "true"])).contains("give --rate and --rtt"));
        assert!(stderr(&run(&["--between", "nn-no-a", "nn-no-b"])).contains("ip netns add nn-no-a"));
        assert!(stderr(&run(&["--json", "/no/such/place", "--", "true"])).contains("/no/such/place"));
    });
}

#[test]
fn without_the_capability_it_says_what_is_missing() {
    in_new_namespace(|| {
        let mut command = Command::new(BINARY);
        command.args(["--", "true"]);
        // SAFETY: one system call.
        unsafe {
            command.pre_exec(|| {
                const CAP_NET_ADMIN: libc::c_ulong = 12;
                nix::errno::Errno::result(libc::prctl(libc::PR_CAPBSET_DROP, CAP_NET_ADMIN))?;
                Ok(())
            })
        };
        let output = command.output().expect("netnice-path runs");
        assert_eq!(output.status.code(), Some(125));
        let said = stderr(&output);
        assert!(said.contains("CAP_NET_ADMIN"), "{said}");
        assert!(said.contains("sudo netnice-path … -- sudo -u $USER COMMAND"), "{said}");
    });
}

#[test]
fn the_summary_counts_what_went_through() {
    in_new_namespace(|| {
        let path = Path::start("--rtt 4ms");
        echo("100.64.0.1");
        path.inside(|| round_trips("100.64.0.1", 50)).join().expect("answers");
        let report = path.stop();
        for side in ["up", "down"] {
            let flow = &report[side]["best_effort"];
            assert_eq!(flow["arrived"], flow["delivered"], "{side}");
            assert!(flow["delivered"]["packets"].as_u64() >= Some(50), "{side}");
            assert!(
                report[side]["lateness"]["p50_us"].as_f64() < Some(1000.0),
                "{side}: {report}"
            );
        }
    });
}

#[test]
fn a_machine_that_was_too_busy_is_reported() {
    in_new_namespace(|| {
        let path = Path::start("--rtt 4ms");
        thread::sleep(Duration::from_millis(100)); // its command runs a little before it does
        path.signal(Signal::SIGSTOP);
        thread::sleep(Duration::from_millis(300));
        path.signal(Signal::SIGCONT);
        thread::sleep(Duration::from_millis(300));
        let report = path.stop();
        assert_eq!(report["trusted"], false);
        assert!(
            report["reasons"][0]
                .as_str()
                .is_some_and(|r| r.contains("kept off the CPU")),
            "{report}"
        );
    });
}

#[test]
fn the_trace_has_a_head_and_a_line_each_interval() {
    in_new_namespace(|| {
        let file = format!("{}/trace-{}.jsonl", env!("CARGO_TARGET_TMPDIR"), std::process::id());
        run(&[
            "--rate",
            "1mbit",
            "--trace",
            &file,
            "--trace-interval",
            "50ms",
            "--",
            "sleep",
            "0.52",
        ]);
        let text = fs::read_to_string(&file).expect("a trace");
        let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
        assert_eq!(lines[0]["up"]["bits_per_second"], 1_000_000);
        assert!((10..=11).contains(&(lines.len() - 1)), "{} lines", lines.len());
        assert!(lines[1]["up"]["lower_effort"]["bits_per_second"].is_u64());
        fs::remove_file(file).expect("removing the trace");
    });
}

#[test]
fn commands_keep_cgroup_and_bpf_mounts() {
    in_new_namespace(|| {
        let ours = || fs::read_to_string("/proc/self/mountinfo").expect("our own");
        // Others' mounts propagate to both while the command starts: compared where ours stayed the same.
        let (before, inside) = (0..50)
            .map(|_| (ours(), run(&["--quiet", "--", "cat", "/proc/self/mountinfo"]).stdout))
            .find(|(before, _)| *before == ours())
            .expect("half a second without a mount by others");
        assert_eq!(String::from_utf8_lossy(&inside), before);
    });
}

#[test]
fn kill_9_leaves_nothing() {
    in_new_namespace(|| {
        let mut path = Path::start("--rtt 10ms");
        let namespace = fs::read_link(format!("/proc/{}/ns/net", path.inside)).expect("a namespace");
        assert!(devices().contains("nnp0"));

        path.child.kill().expect("netnice-path runs");
        path.child.wait().expect("it ends");
        assert!(soon(|| !devices().contains("nnp0")), "the TUN device is left");
        assert!(
            soon(|| holders(&namespace).is_empty()),
            "processes are left: {:?}",
            holders(&namespace)
        );
    });
}

#[test]
fn kill_9_reaches_daemons_of_the_command() {
    in_new_namespace(|| {
        let script = "setsid sh -c 'sleep 601 & sleep 602' & sleep 0.2; readlink /proc/self/ns/net; exec sleep 603";
        let mut path = Command::new(BINARY)
            .args(["--quiet", "--", "sh", "-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .expect("netnice-path runs");
        let namespace = first_line(path.stdout.take()).into();
        assert!(soon(|| holders(&namespace).len() >= 4), "{:?}", holders(&namespace));
        path.kill().expect("netnice-path runs");
        path.wait().expect("it ends");
        assert!(
            soon(|| holders(&namespace).is_empty()),
            "processes are left: {:?}",
            holders(&namespace)
        );
    });
}

#[test]
fn a_path_between_named_namespaces_ends_on_sigint() {
    in_new_namespace(|| {
        let names = ["a", "b"].map(|side| format!("nn-path-test-{}-{side}", std::process::id()));
        let _named = names.each_ref().map(|name| Named::add(name));
        let mut path = Command::new(BINARY)
            .args(["--rtt", "20ms", "--between", &names[0], &names[1]])
            .stderr(Stdio::piped())
            .spawn()
            .expect("netnice-path runs");
        let ready = first_line(path.stderr.take());
        assert!(ready.contains("ready") && ready.contains("100.64.0.2"), "{ready}");
        let [a, b] = names
            .each_ref()
            .map(|name| fs::File::open(format!("/run/netns/{name}")).expect("it exists"));
        let times = thread::spawn(move || {
            let enter = |namespace| nix::sched::setns(namespace, nix::sched::CloneFlags::CLONE_NEWNET);
            enter(b).expect("root");
            echo("100.64.0.2");
            enter(a).expect("root");
            round_trips("100.64.0.2", 11)
        });
        let times = times.join().expect("answers");
        assert!((20.0..22.0).contains(&times[5]), "{times:?}");
        kill(Pid::from_raw(path.id() as i32), Signal::SIGINT).expect("it runs");
        assert_eq!(path.wait().expect("it ends").code(), Some(0));
    });
}

/// A named namespace for as long as the value lives.
struct Named(String);

impl Named {
    fn add(name: &str) -> Named {
        let added = Command::new("ip")
            .args(["netns", "add", name])
            .status()
            .expect("the ip command");
        assert!(added.success());
        Named(name.into())
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        Command::new("ip")
            .args(["netns", "del", &self.0])
            .status()
            .expect("the ip command");
    }
}

/// Names of the devices in this thread's namespace.
fn devices() -> String {
    fs::read_to_string("/proc/thread-self/net/dev").expect("the list of devices")
}

/// Processes in a network namespace, in the form `net:[number]`.
fn holders(namespace: &std::path::PathBuf) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let inside = processes.filter(|p| fs::read_link(p.path().join("ns/net")).is_ok_and(|n| n == *namespace));
    inside.map(|p| p.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether something becomes true within two seconds.
fn soon(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(2) {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}
