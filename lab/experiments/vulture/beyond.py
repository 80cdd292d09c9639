# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Beyond Vulture's report: other routes, strangers, jitter, clocks, documents, and the least window on slow links."""

from dataclasses import replace

from experiments.frontier import TODAY_DIFFERS, today
from experiments.vulture.report import BOTH, FAITHFUL, KEPT, LATE, SHARE, SHORT, USE, report_figure
from experiments.vulture.scenarios import beside_steady, joined, on_off, rerouted
from experiments.vulture.testbed import Floor
from netnice_lab.model.experiment import Bar, Experiment, Figure, Number, Table
from netnice_lab.model.receiver import Receiver
from netnice_lab.model.scenario import Scenario
from netnice_lab.model.topology import Queue, dumbbell
from netnice_lab.model.traffic import Bulk, Documents

EXPERIMENTS: dict[str, Experiment] = {}

# A route change under a download that yields: its data take longer for 90 seconds.
LONGER = (3_000, 6_000, 10_000, 20_000, 50_000, 100_000)
BETWEEN = (
    "{mean}, where a sample of each segment had .976: 3 ms are between half its target and the target, where the "
    "window stands, and of half as many samples the least is seldom lower"
)
EXPERIMENTS["vulture-route"] = report_figure(
    title="A route change: the data's way becomes longer by 3 to 100 ms",
    claim="Not in the report. The bars: at least .97 of the path is used, as before the change.",
    differs="Not in the report.",
    sweep={"receiver": ("tide", "as_sender", "rledbat"), "longer": LONGER},
    scenario=rerouted,
    figures=[
        Figure("longer", "use", "receiver", "longer, us", "use of the path from 30 s after the change"),
        Figure("longer", "found", "receiver", "longer, us", "seconds until 80 % is used"),
    ],
    tables=[Table("route", ("receiver",), "longer", [Number("use"), Number("found", 0)])],
    pinned=("use", "found"),
    bars=[
        *(Bar(f"{us // 1000} ms: the path is used", "use", {"receiver": "tide", "longer": us}, minimum=0.97,
              holds=us > 3_000, reason="" if us > 3_000 else BETWEEN) for us in LONGER),
        *(Bar(f"{us // 1000} ms: and soon", "found", {"receiver": "tide", "longer": us}, maximum=20.0)
          for us in LONGER),
        *(Bar(f"as the sender, {us // 1000} ms: the path is used", "use", {"receiver": "as_sender", "longer": us},
              minimum=0.97) for us in LONGER),
    ],
)  # fmt: skip

# A stranger joins a download that yields, and its queue may stand still: is it taken for a longer route?
KEEPS = {"cubic": 0.99, "reno": 0.99, "bbr": 0.98, "vegas-1-3": 0.98, "nnledbat": 0.98, "nnledbatpp": 0.98}
"""What each has to keep of what it has alone. The last four measure delays, to which a segment a round trip adds."""
SENDERS = ("cubic", "bbr")
DATAGRAMS = ("udp-9.9", "udp-10.1", "udp-12")
EXPERIMENTS["vulture-joined"] = report_figure(
    title="A stranger that joins: senders whose queue moves, senders whose queue stands still, too much UDP",
    claim="Not in the report. A queue that stands still is what a longer route looks like.",
    differs="Not in the report.",
    sweep={"receiver": ("tide", "absent"), "stranger": (*KEEPS, *DATAGRAMS), "sender": SENDERS},
    scenario=joined,
    figures=[
        Figure("stranger", "foreground_got", "receiver", "stranger", "Mbit/s of the stranger"),
        Figure("stranger", "background_got", "receiver", "stranger", "Mbit/s of the background"),
        Figure("stranger", "udp_loss", "receiver", "stranger", "part of the datagrams lost"),
    ],
    pinned=("background_got",),
    bars=[
        *(Bar(f"{name}, beside a {sender} sender that yields", "foreground_got",
              {"receiver": "tide", "stranger": name, "sender": sender},
              {"receiver": "absent", "stranger": name, "sender": sender}, minimum=least)
          for name, least in KEEPS.items() for sender in SENDERS),
        *(Bar(f"{name}: next to nothing is left to a {sender} sender", "background_got",
              {"receiver": "tide", "stranger": name, "sender": sender}, maximum=0.5)
          for name in (*KEEPS, *DATAGRAMS) for sender in SENDERS),
    ],
)  # fmt: skip

# How much of Vulture's figure 9 is its testbed: the same with packets that are more or less exactly spaced.
EXPERIMENTS["vulture-jitter"] = report_figure(
    title="Vulture's figure 9 with other jitter",
    claim="0.56 of 30 s, 20 s to find 10 Mbit/s, on machines whose jitter the report does not state.",
    differs="Not in the report: its mode hangs on the sign of a sum of rounded intervals.",
    sweep={"receiver": BOTH, "jitter": (0, 100, 250, 500, 2000)},
    scenario=lambda receiver, jitter, seed: on_off(receiver, 30, seed=seed, jitter=jitter),
    figures=[
        Figure("jitter", "use", "receiver", "jitter, us", "use of the off periods"),
        Figure("jitter", "found", "receiver", "jitter, us", "seconds until 80 % is used"),
    ],
    pinned=("use",),
    bars=[
        Bar("without jitter, far more than the paper", "use", {"receiver": FAITHFUL, "jitter": 0}, minimum=0.62),
        Bar("with 2 ms, next to nothing", "use", {"receiver": FAITHFUL, "jitter": 2000}, maximum=0.10),
    ],
)

# Clocks 100 ppm apart for an hour: the bars of figures 15, 16 and 19, held beside the same hour without drift.
HOUR = 3600
ALWAYS = 0
"""As a period: figure 15's foreground, that sends all the time."""
DRIFT = 100


def for_an_hour(period: int, drift: int, seed: int) -> Scenario:
    """One of the figures, as long as it takes the clocks to be 360 ms apart."""
    if period == ALWAYS:
        return beside_steady("tide", seed=seed, lasting=HOUR, drift=drift)
    return on_off("tide", period, seed=seed, lasting=HOUR, drift=drift)


def hour(period: int, drift: int = DRIFT) -> dict[str, int]:
    """A cell."""
    return {"period": period, "drift": drift}


EXPERIMENTS["vulture-clocks"] = report_figure(
    title="An hour with the receiver's clock 100 ppm fast",
    claim="Not in the report. The bar: what holds beside exact clocks holds while they drift apart.",
    differs="Our clock is the fast one: a queue seems to grow by 0.1 ms a second, until after two minutes TIDE knows "
    "by how much. The other way round the next segment corrects a base that is too high.",
    sweep={"period": (ALWAYS, 1, 3, 5, 10, 30), "drift": (0, DRIFT)},
    scenario=for_an_hour,
    figures=[
        Figure("period", "use", "drift", "seconds on and off (0: steady)", "use of what is left"),
        Figure("period", "share", "drift", "seconds on and off", "share of the on periods"),
    ],
    pinned=("use", "share"),
    bars=[
        Bar("beside 6 Mbit/s: goodput kept", "foreground_kept", hour(ALWAYS), minimum=KEPT),
        Bar("beside 6 Mbit/s: use of what is left", "use", hour(ALWAYS), minimum=0.93),
        Bar("beside 6 Mbit/s: RTT added", "rtt_added", hour(ALWAYS), maximum=0.06),
        *(Bar(f"{t} s off", "use", hour(t), minimum=least, holds=t != 1, reason=SHORT)
          for t, least in USE.items()),
        *(Bar(f"{t} s on", "share", hour(t), maximum=most, holds=t >= 10,
              reason=SHORT if t == 1 else LATE) for t, most in SHARE.items()),
        *(Bar(f"{t} s: the foreground has what it has without drift", "foreground_on", hour(t), hour(t, 0),
              minimum=0.99)
          for t in USE),
    ],
)  # fmt: skip

# Documents beside downloads that yield: what a page waits for them, and what they get of the rest.
NONE = {"kind": "none"}
YIELDING = ("tide", "as_sender", "vulture", "rledbat")
MANY = (
    "what is granted comes for one round trip more, from each of them. Before downloads crept together it was 1.37 "
    "beside 16, which then took 83 % of what router priority takes, now 63. A part of a segment also for flows below "
    "the mean gave 1.14, but 64 flows alone a Jain's index of .68; if each left as soon as another did, 16 alone "
    "used half of a link"
)


def beside_documents(kind: str, downloads: int, seed: int) -> Scenario:
    """A link of 10 Mbit/s and 40 ms, half of it documents; the downloads come by CUBIC."""
    made = today("cubic" if kind in YIELDING else kind, rate=10.0, flows=downloads, seed=seed)
    if kind not in YIELDING:
        return made
    traffic = (replace(t, receiver=True) if isinstance(t, Bulk) else t for t in made.traffic)
    return replace(made, traffic=tuple(traffic), receiver=Receiver(kind))


EXPERIMENTS["vulture-documents"] = Experiment(
    title="Documents on half of 10 Mbit/s, 40 ms, beside 1 to 16 downloads",
    claim="Not in the report. The bar: a page beside real downloads takes at most 1.10 times as long.",
    differs=TODAY_DIFFERS,
    sweep={"kind": ("none", "priority", "cubic", *YIELDING), "downloads": (1, 4, 16)},
    scenario=beside_documents,
    figures=[
        Figure("downloads", "latency", "kind", "downloads", "document latency, ms"),
        Figure("downloads", "background", "kind", "downloads", "Mbit/s of the downloads"),
    ],
    tables=[Table("documents", ("kind",), "downloads", [Number("latency", 0), Number("background", 1)])],
    seeds=5,
    pinned={"latency": 0.05, "background": 0.05},
    bars=[
        *(Bar(f"{n} downloads: latency", "latency", {"kind": "tide", "downloads": n}, NONE | {"downloads": n},
              maximum=1.10, holds=n == 1, reason=MANY)
          for n in (1, 4, 16)),
        Bar("16 downloads: far from 16 CUBICs", "latency", {"kind": "tide", "downloads": 16},
            {"kind": "cubic", "downloads": 16}, maximum=0.20),
        Bar("one download: of the spare", "background", {"kind": "tide", "downloads": 1},
            {"kind": "priority", "downloads": 1}, minimum=0.50),
    ],
)  # fmt: skip

# A fast long path alone, by what the host's receive buffers may grow to: TIDE's window is not above 16 MiB (window.h).
# They begin with 32 MiB: in the lab the kernel's own tuning of a buffer never goes beyond the default.
FAST, FAR, MIB = 1_000_000_000, 100_000, 1 << 20


def on_a_fast_long_path(receiver: str, most: int, seed: int) -> Scenario:
    """1 Gbit/s and 100 ms, a buffer of a BDP; the download comes by CUBIC, and its first 6 s are not counted."""
    running = None if receiver == "none" else Receiver(receiver)
    traffic = (Bulk("www", "home", 1, "cubic", (0.0, 0.1), receiver=running is not None, group="background"),)
    sizes = (("ipv4/tcp_rmem", f"4096 {32 * MIB} {most * MIB}"), ("ipv4/tcp_wmem", f"4096 262144 {64 * MIB}"))
    topology = dumbbell(FAST, FAR, Queue("fifo", bytes=FAST // 8 * FAR // 1_000_000))
    room = (("/proc/sys/net/ipv4/tcp_mem", "32768 49152 65536"),)
    return Scenario(topology, traffic, 14.0, 6.0, seed, sysctls=sizes, knobs=room, receiver=running)


EXPERIMENTS["vulture-fast"] = report_figure(
    title="A download alone on 1 Gbit/s and 100 ms, by the largest receive buffer of the host in MiB",
    claim="Not in the report. The bar: it has .95 of what it has when it does not yield.",
    differs="Not in the report.",
    sweep={"receiver": ("none", "tide"), "most": (32, 1024)},
    scenario=on_a_fast_long_path,
    figures=[Figure("most", "background", "receiver", "MiB", "Mbit/s of the download")],
    pinned=("background",),
    bars=[
        Bar(f"{most} MiB: of what does not yield", "background", {"receiver": "tide", "most": most},
            {"receiver": "none", "most": most}, minimum=0.95)
        for most in (32, 1024)
    ],
)  # fmt: skip

# What the least window costs on slow links, beside documents and beside an endless transfer.
#
# It is physics. A receiver's only means is its window, and a window below a segment is none. The sender waits for more,
# until its persist timer sends what fits, once in 0.2 s and more seldom: 3 kB/s. With two segments
# delayed ACKs keep pace, with one each waits for its own. The kernel rounds to its window scale: 1448 or 2896 bytes
# become 2 or 3 kB with a scale of 10. So the least that a download takes is a segment or two in each round trip. Of n
# segments that path and queue hold, that transfer loses one in n. Pauses below it, beside siblings, are TIDE's
# (tide.h).
RATES = (0.25, 0.5, 1.0, 2.0)
LEAST = {f"least-{n}": Receiver("rledbat", (("floor", n), ("initial", n), ("target", 100))) for n in (1, 2)}
"""Receivers that hold the least window of 1 or 2 segments: any queue is more than 0.1 ms."""
RECEIVERS = ("absent", "none", *LEAST, "tide", "vulture", "rledbat")
BUFFER = 24_000
"""Bytes: 16 full packets."""
ROUND_TRIP = 40.0
LONG = 240.0
"""Seconds: at 0.25 Mbit/s a document comes once a second."""
RARE = (
    "{mean}, where a sample of each segment had .98 and more: of rounds of one or two segments, an ACK's newest is "
    "often the only sample"
)
BULK = Bulk("www", "home", 1, "cubic", start=(0.0, 0.1), group="foreground")


def on_slow_link(receiver: str, rate: float, beside: str, seed: int) -> Scenario:
    """40 ms; the download comes by CUBIC. `none`: its receiver does not yield. `absent`: there is no download."""
    yields = receiver not in ("absent", "none")
    buffer = BUFFER * 8 / (rate * 1e6 * ROUND_TRIP / 1e3)
    made = today(
        "none" if receiver == "absent" else "cubic", rate, ROUND_TRIP, buffer, flows=1, seed=seed, duration=LONG
    )
    documents = [t for t in made.traffic if isinstance(t, Documents)]
    downloads = [replace(t, receiver=yields) for t in made.traffic if isinstance(t, Bulk)]
    return replace(
        made,
        traffic=(*(documents if beside == "documents" else [BULK]), *downloads),
        receiver=LEAST.get(receiver, Receiver(receiver)) if yields else None,
        sample=0.1,
        measure=Floor(),
    )


def at(receiver: str, rate: float, beside: str) -> dict[str, str | float]:
    """A cell."""
    return {"receiver": receiver, "rate": rate, "beside": beside}


def floor(rate: float) -> list[Bar]:
    """What the least window is and costs, and whether the receivers come down to it."""
    bulk, least, alone = (at(name, rate, "bulk") for name in ("tide", "least-1", "absent"))
    pages = [at(name, rate, "documents") for name in ("tide", "least-1", "absent")]
    link = f"{rate:g} Mbit/s"
    return [
        *(Bar(f"{link}, bulk: a window of {n} is {n} a round trip", "a_round", at(f"least-{n}", rate, "bulk"),
              maximum=1.2 * n) for n in (1, 2)),
        Bar(f"{link}, bulk: the least window leaves", "foreground", least, alone, minimum=0.90),
        Bar(f"{link}, bulk: TIDE comes down to it", "foreground", bulk, least, minimum=0.98,
            holds=rate > 0.5, reason=RARE),
        Bar(f"{link}, documents: the least window costs", "latency", pages[1], pages[2], maximum=1.30),
        Bar(f"{link}, documents: TIDE costs no more", "latency", pages[0], pages[1], maximum=1.10),
    ]  # fmt: skip


EXPERIMENTS["vulture-floor"] = Experiment(
    title="Slow links: what the least window costs",
    claim="Not in the report. The least window is a segment or two a round trip, and is physics: with less the sender "
    "stalls. Of 17 segments that path and queue hold it takes one or two from a transfer.",
    differs=TODAY_DIFFERS,
    sweep={"receiver": RECEIVERS, "rate": RATES, "beside": ("documents", "bulk")},
    scenario=on_slow_link,
    figures=[
        Figure("rate", "latency", "receiver", "Mbit/s", "document latency, ms", False, True),
        Figure("rate", "foreground", "receiver", "Mbit/s", "Mbit/s of the foreground", panel="beside"),
        Figure("rate", "a_round", "receiver", "Mbit/s", "segments a round trip of the download", panel="beside"),
    ],
    seeds=3,
    pinned={"foreground": 0.03, "background": 0.10, "a_round": 0.10},
    bars=[bar for rate in RATES for bar in floor(rate)],
)
