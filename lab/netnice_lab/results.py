# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From a guest's raw output to numbers: per document, per flow, per run."""

import io
import json
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from netnice_lab import over_time, yielded
from netnice_lab.errors import LabError
from netnice_lab.machine import Output
from netnice_lab.scenario import Run

Metrics = dict[str, float]

UNITS = {
    "latency": "ms from the first byte sent to the last ACK, mean over documents",
    "latency_geometric": "ms, geometric mean",
    "latency_p50": "ms",
    "latency_p95": "ms",
    "latency_p99": "ms",
    "response": "ms from the request (with the connection's set-up) to the last byte",
    "documents": "documents asked for in the measured window",
    "unfinished": "of them, those whose last ACK did not come within the run",
    "foreground": "Mbit/s of documents",
    "background": "Mbit/s acknowledged of the background flows",
    "background_retransmits": "segments",
    "background_fairness": "Jain's index of the background flows",
    "background_rtt": "ms, mean of the flows' smoothed RTT at the end",
    "window": "segments, mean of the background flows' own windows at the end",
    "use": "part of the capacity that the foreground left (alone: of all) that the background used",
    "share": "of the background in what both got while the foreground was on",
    "rtt_added": "to the foreground's smoothed RTT, as a part of it",
    "rtt_before": "ms, mean of the foreground's smoothed RTT before the background starts",
    "rtt_beside": "ms, the same while it is there",
    "rtt_after": "ms, the same after it has ended",
    "filled": "part of the capacity that foreground and background have together, on and off periods alike",
    "foreground_kept": "goodput of the foreground with the background, as a part of that without",
    "use_settled": "the same from 35 s after the start of the background on",
    "kept": "goodput of a flow alone as background, as a part of that before",
    "foreground_got": "of the rate that the foreground offers",
    "found": "seconds until the background has had 80 % of what was set free for half a second, mean",
    "taken": "the advertised window at the switch, as a part of the estimate",
    "estimate": "the receiver's estimate of the sender's window, as a part of it, median",
    "estimate_follows": "part of the time in which it is within a tenth of the window",
    "estimate_held": "the estimate as a part of the advertised window where that is the limit, median",
    "a_round": "segments that the background gets in a round trip of its own",
    "first_share": "of two groups 'first' and 'second': the first's part of both goodputs",
    "total": "Mbit/s of both",
    "upper": "Mbit/s of the flow of the higher priority, settled",
    "upper_latency": "ms, mean of its sampled smoothed RTT, settled",
    "held": "round trips until a newcomer has 90 % of the link's payload, for 50 of them",
    "wins": "1 if the first's goodput is the larger, else 0",
    "udp_loss": "part of the foreground's datagrams",
    "udp_delay": "ms, mean one-way delay of the foreground's datagrams",
    "queue": "bytes in the bottleneck, mean of the samples",
    "queue_p50": "bytes",
    "queue_p95": "bytes",
}


NOT_MEASURED = ("experiment", "seed", "digest", "cpu_seconds")
"""Columns of a run that are not its outcome."""


def measured(rows: pd.DataFrame, keys: Iterable[str]) -> list[str]:
    """The columns that some run has a number in, the groups' own too, besides the keys of its cell."""
    aside = {*NOT_MEASURED, *keys}
    return [c for c in rows.columns if c not in aside and pd.api.types.is_numeric_dtype(rows[c]) and rows[c].any()]


def table(output: Output, name: str) -> pd.DataFrame:
    """One of the raw tables."""
    return pd.read_csv(io.StringIO(output.files[name]))


def document_metrics(run: Run, output: Output) -> Metrics:
    """Latencies. A document that did not end within the run counts with the time it has had."""
    frame = table(output, "documents.csv")
    frame = frame[frame.asked_us >= run.warm_up * 1e6]
    if frame.empty:
        return {}
    end = (run.warm_up + run.window) * 1e6
    first = frame.first_us.where(frame.first_us > 0, frame.asked_us)
    latency = (frame.acked_us.where(frame.acked_us > 0, end) - first).clip(lower=1) / 1e3
    response = (frame.arrived_us.where(frame.arrived_us > 0, end) - frame.asked_us) / 1e3
    done = frame.acked_us > 0
    return {
        "latency": float(latency.mean()),
        "latency_geometric": float(np.exp(np.log(latency).mean())),
        "latency_p50": float(latency.quantile(0.5)),
        "latency_p95": float(latency.quantile(0.95)),
        "latency_p99": float(latency.quantile(0.99)),
        "response": float(response.mean()),
        "documents": float(len(frame)),
        "unfinished": float((~done).sum()),
        "foreground": float(frame["size"][done].sum() * 8 / 1e6 / run.window),
    }


def flow_metrics(run: Run, output: Output) -> Metrics:
    """Goodput, retransmissions, RTT and window of every group of bulk flows."""
    frame = table(output, "flows.csv").set_index("id")
    metrics: Metrics = {}
    for group, numbers in run.groups.items():
        flows = frame.loc[numbers]
        rates = flows.measured_bytes.to_numpy(float) * 8 / 1e6 / run.window
        metrics[group] = float(rates.sum())
        metrics[f"{group}_retransmits"] = float(flows.retrans.sum())
        metrics[f"{group}_rtt"] = float(flows.srtt_us.mean() / 1e3)
        if len(rates) > 1 and rates.any():
            metrics[f"{group}_fairness"] = float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))
        if group == "background":
            metrics["window"] = float(flows.window.mean() / 65536)
    if {"first", "second"} <= metrics.keys():
        both = metrics["first"] + metrics["second"]
        metrics["total"] = both
        metrics["first_share"] = metrics["first"] / both if both else 0.0
        metrics["wins"] = float(metrics["first"] > metrics["second"])
    return metrics


def udp_metrics(output: Output) -> Metrics:
    """Loss and delay of the UDP foreground."""
    frame = table(output, "udp.csv")
    sent, received = frame.sent.sum(), frame.received.sum()
    if not sent:
        return {}
    delay = (frame.mean_delay_us * frame.received).sum() / received if received else math.nan
    return {"udp_loss": float(1 - received / sent), "udp_delay": float(delay / 1e3)}


def samples(output: Output) -> dict[str, pd.DataFrame]:
    """What was sampled: 'queue' (bytes, packets, drops) and 'flow' (acked, rtt, window, retransmits) over time."""
    rows: dict[str, list[list[str]]] = {"queue": [], "flow": [], "receiver": []}
    for line in output.files["samples.csv"].splitlines():
        kind, *values = line.split(",")
        rows[kind].append(values)
    queue = pd.DataFrame(rows["queue"], columns=["us", "device", "bytes", "packets", "drops"])
    flow = pd.DataFrame(rows["flow"], columns=["us", "id", "acked", "rtt_us", "window", "retrans"])
    names = ["us", "port", "window", "target", "estimate"]
    receiver = pd.DataFrame(rows["receiver"], columns=names).astype(int)
    numeric = queue.drop(columns="device").astype(int).assign(device=queue.device)
    return {"queue": numeric, "flow": flow.astype(int), "receiver": receiver}


def metrics(run: Run, output: Output) -> Metrics:
    """Every number of a run."""
    result = document_metrics(run, output) | flow_metrics(run, output) | udp_metrics(output)
    if run.measure:
        found = over_time if run.measure.split()[0] in over_time.MEASURES else yielded
        result |= found.metrics(run.measure, run.groups, run.warm_up + run.window, samples(output))
    if output.files["samples.csv"]:
        queue = samples(output)["queue"]
        queue = queue[queue.us >= run.warm_up * 1e6]
        if not queue.empty:
            result["queue"] = float(queue.bytes.mean())
            result["queue_p50"] = float(queue.bytes.quantile(0.5))
            result["queue_p95"] = float(queue.bytes.quantile(0.95))
    return result


def write(frame: pd.DataFrame, path: Path) -> None:
    """Save rows as JSON or Parquet, by the file's ending."""
    try:
        if path.suffix == ".parquet":
            frame.infer_objects().to_parquet(path, index=False)
        elif path.suffix == ".json":
            rows = json.loads(frame.to_json(orient="records", double_precision=15))
            path.write_text(json.dumps(rows, indent=1) + "\n")
        else:
            raise LabError(f"cannot write {path}", "its ending", "use .json or .parquet")
    except OSError as error:
        raise LabError(
            f"cannot write {path}", str(error), "results are kept in the cache: free space, run again"
        ) from error
