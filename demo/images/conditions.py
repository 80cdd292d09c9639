# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is pulled; the link, the documents and the kinds of background are those of the scene documents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """One program that fetches over several connections."""

    key: str
    title: str


LOADS = (
    Load("pull", "an image's layers, by skopeo"),
    Load("daemon", "the same by podman's daemon"),
    Load("model", "a model over 16 connections, by aria2c"),
)

LAYERS = 8
"""Of the image. skopeo and podman fetch six at a time."""

CONNECTIONS = 16
"""Of aria2c, which allows no more to one server."""
