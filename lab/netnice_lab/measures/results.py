# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""From a guest's raw output to numbers: per document, per flow, per run."""

import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from netnice_lab.errors import LabError
from netnice_lab.model.output import Output, Sampled
from netnice_lab.model.scenario import Run

Metrics = dict[str, float]

OWN = 8
"""Words of the core's own state in a sample: lab/guest/receiver.c."""
QUANTILES = {"p05": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p999": 0.999}
"""Of the queue's samples."""
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
        metrics[f"{group}_min_rtt"] = float(flows.min_rtt_us.mean() / 1e3)
        if len(rates) > 1 and rates.any():
            metrics[f"{group}_fairness"] = float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))
        if group == "background":
            metrics["window"] = float(flows.window.mean() / 65536)
    if {"first", "second"} <= metrics.keys():
        both = metrics["first"] + metrics["second"]
        metrics["total"] = both
        metrics["first_share"] = metrics["first"] / both if both else 0.0
        squares = metrics["first"] ** 2 + metrics["second"] ** 2
        metrics["pair_fairness"] = both**2 / (2 * squares) if both else 0.0
        metrics["wins"] = float(metrics["first"] > metrics["second"])
    return metrics


def udp_metrics(output: Output) -> Metrics:
    """Loss and delay of the UDP foreground."""
    frame = table(output, "udp.csv")
    sent, received = frame.sent.sum(), frame.received.sum()
    if not sent:
        return {}
    delay = (frame.mean_delay_us * frame.received).sum() / received if received else math.nan
    late = float(frame.p95_delay_us.max() / 1e3)
    return {"udp_loss": float(1 - received / sent), "udp_delay": float(delay / 1e3), "udp_p95": late}


def visit_metrics(reports: Sequence[str], files: Mapping[str, str]) -> dict[str, float]:
    """All homes together: waits from the wish to the last byte, and bodies that were demanded and prefetched."""
    found = [json.loads(files[name]) for name in reports]
    demanded = [one for report in found for one in report["demanded"]]
    if not demanded:
        raise LabError("nothing was demanded", "the visits are shorter than their warm-up", "let them last longer")
    waited = np.array([one["waited_ms"] for one in demanded])
    seconds = max(report["seconds"] for report in found)

    def rate(counts: Sequence[float]) -> float:
        return float(sum(counts) * 8 / 1e6 / seconds)

    return {
        "waited": float(waited.mean()),
        "waited_p50": float(np.quantile(waited, 0.5)),
        "waited_p95": float(np.quantile(waited, 0.95)),
        "hits": float(np.mean([one["from"] == "prefetch" for one in demanded])),
        "demanded": rate([report["demanded_bytes"] for report in found]),
        "prefetched": rate([report["prefetched"]["bytes"] for report in found]),
        "wasted": rate([report["prefetched"]["wasted_bytes"] for report in found]),
    }


def samples(output: Output) -> dict[str, pd.DataFrame]:
    """What was sampled: 'queue' (bytes, packets, drops) and 'flow' (acked, rtt, window, retransmits) over time."""
    rows: dict[str, list[list[str]]] = {"queue": [], "flow": [], "receiver": [], "own": [], "granted": []}
    for line in output.files["samples.csv"].splitlines():
        kind, *values = line.split(",")
        rows[kind].append(values)
    queue = pd.DataFrame(rows["queue"], columns=["us", "device", "bytes", "packets", "drops"])
    flow = pd.DataFrame(rows["flow"], columns=["us", "id", "acked", "rtt_us", "window", "retrans"])
    names = ["us", "port", "window", "target", "estimate"]
    receiver = pd.DataFrame(rows["receiver"], columns=names).astype(int)
    numeric = queue.drop(columns="device").astype(int).assign(device=queue.device)
    own = pd.DataFrame(rows["own"], columns=["us", "port", *(f"word{n}" for n in range(OWN))]).astype(int)
    granted = pd.DataFrame(rows["granted"], columns=["us", "id", "bytes"]).astype(int)
    return {"queue": numeric, "flow": flow.astype(int), "receiver": receiver, "own": own, "granted": granted}


def metrics(run: Run, output: Output) -> Metrics:
    """Every number of a run."""
    result = document_metrics(run, output) | flow_metrics(run, output) | udp_metrics(output)
    sampled = samples(output) if run.measure or output.files["samples.csv"] else {}
    if run.measure:
        end, documents = run.warm_up + run.window, table(output, "documents.csv")
        observed = Sampled(
            run.groups,
            end,
            sampled["flow"],
            sampled["receiver"],
            documents,
            run.readers,
            sampled["own"],
            sampled["granted"],
        )
        result |= run.measure.numbers(observed)
    if run.reports:
        result |= visit_metrics(run.reports, output.files)
    if output.files["samples.csv"]:
        queue = sampled["queue"]
        queue = queue[queue.us >= run.warm_up * 1e6]
        if not queue.empty:
            result["queue"] = float(queue.bytes.mean())
            result |= {f"queue_{name}": float(queue.bytes.quantile(part)) for name, part in QUANTILES.items()}
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
