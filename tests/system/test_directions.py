# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""One direction of a launched command yields and the other is left alone: by what each gets of a path it shares."""

from __future__ import annotations

import time

import pytest

from system.harness.days import Day, on_a_path, say, until_trusted
from system.harness.downloads import Downloads, downloads
from testbed import Path, sockets

#: The kernel's own control against one that yields: seen, .98 to 1.00. Two that yield, or two that do not, have a half.
MOST = 0.85


def controls(day: Downloads) -> list[str]:
    """What the acknowledgements of both downloads are sent by."""
    both = [sockets(day.home, peer_port=server.port) for server in (day.web, day.other)]
    return [connection.congestion_control for (connection,) in both]


@pytest.mark.usefixtures("up")
def test_a_download_that_yields_in_sending_only_is_a_plain_one(capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> tuple[Path, tuple[float, float, float, list[str]]]:
        with (
            downloads() as day,
            day.start(day.web, "netnice", "--send-only"),
            day.start(day.other, "netnice", "--receive-only"),
        ):
            time.sleep(3)
            return day.path, (day.share(4), day.window(day.web), day.window(day.other), controls(day))

    share, wide, narrow, found = until_trusted(run)
    say(capsys, f"--send-only downloads {share:.0%} beside --receive-only; windows {wide:,.0f} and {narrow:,.0f} bytes")
    assert share > MOST
    assert wide > 10 * narrow
    assert found == ["netnice", "cubic"], "what a download sends are its acknowledgements"


def test_an_upload_that_yields_in_receiving_only_is_a_plain_one(capsys: pytest.CaptureFixture[str]) -> None:
    def measure(day: Day) -> dict[str, float]:
        def sent() -> dict[str, int]:
            return {s.congestion_control: s.bytes_acked for s in sockets(day.a, peer_port=day.store.port)}

        with day.uploads(1, "netnice", "--receive-only"), day.uploads(1, "netnice", "--send-only"):
            time.sleep(3)
            before = sent()
            time.sleep(4)
            return {name: bytes_acked - before[name] for name, bytes_acked in sent().items()}

    sent = on_a_path(measure)
    assert sorted(sent) == ["cubic", "netnice"]
    share = sent["cubic"] / sum(sent.values())
    say(capsys, f"--receive-only uploads {share:.0%} beside --send-only")
    assert share > MOST
