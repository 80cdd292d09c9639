# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The bpf system call, for what no program at hand can do: links, and congestion controls that a link holds."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import subprocess
from functools import cache
from pathlib import Path

from testbed import program

#: Its number on the machines that are tested.
_NUMBER = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
_MAP_CREATE, _MAP_UPDATE, _PROG_LOAD, _OBJ_PIN, _OBJ_GET, _TRACE, _BTF_LOAD, _LINK_CREATE = 0, 2, 5, 6, 7, 17, 18, 28
_STRUCT_OPS_MAP, _STRUCT_OPS_PROGRAM, _STRUCT_OPS_ATTACH = 26, 27, 44
_HELD_BY_LINK = 1 << 13  # BPF_F_LINK
#: How cgroup programs are attached.
INGRESS, SOCK_OPS = 0, 3

_libc = ctypes.CDLL(None, use_errno=True)


def _bpf(command: int, attributes: bytes) -> int:
    room = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    result = int(_libc.syscall(_NUMBER, command, room, 128))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}: {os.strerror(ctypes.get_errno())}")
    return result


def _pin(descriptor: int, path: Path) -> None:
    name = ctypes.create_string_buffer(os.fsencode(path))
    _bpf(_OBJ_PIN, struct.pack("=QI", ctypes.addressof(name), descriptor))


def link(pinned: Path, cgroup: Path, attach: int, pin: Path) -> None:
    """Attaches a pinned program to a cgroup, by a link that is pinned."""
    name = ctypes.create_string_buffer(os.fsencode(pinned))
    code, where = _bpf(_OBJ_GET, struct.pack("=Q", ctypes.addressof(name))), os.open(cgroup, os.O_RDONLY)
    held = _bpf(_LINK_CREATE, struct.pack("=III", code, where, attach))
    _pin(held, pin)
    for descriptor in (code, where, held):
        os.close(descriptor)


def trace(pinned: Path, point: str) -> int:
    """Attaches a pinned program to a trace point, until the descriptor that this returns is closed."""
    name, where = ctypes.create_string_buffer(os.fsencode(pinned)), ctypes.create_string_buffer(point.encode())
    code = _bpf(_OBJ_GET, struct.pack("=Q", ctypes.addressof(name)))
    held = _bpf(_TRACE, struct.pack("=QI", ctypes.addressof(where), code))
    os.close(code)
    return held


def congestion_control(name: str, pin: Path) -> None:
    """Registers one that keeps the window that a connection begins with, by a link that is pinned."""
    kernel, wrapper = _structure("tcp_congestion_ops"), _structure("bpf_struct_ops_tcp_congestion_ops")
    value, data, descriptors = bytearray(wrapper.size), wrapper.members["data"], []
    at = data + kernel.members["name"]
    value[at : at + len(name)] = name.encode()
    for number, (member, offset) in enumerate(kernel.members.items()):
        if member in ("ssthresh", "cong_avoid", "undo_cwnd"):
            code = _returns_ten(f"{name}_{member}", kernel.number, number)
            struct.pack_into("=Q", value, data + offset, code)
            descriptors.append(code)
    head = struct.pack("=IIIIIII16s", _STRUCT_OPS_MAP, 4, wrapper.size, 1, _HELD_BY_LINK, 0, 0, name.encode())
    types = _some_types()
    table = _bpf(_MAP_CREATE, head + struct.pack("=IIIII", 0, types, 0, 0, wrapper.number))
    key, room = ctypes.create_string_buffer(4), ctypes.create_string_buffer(bytes(value), wrapper.size)
    _bpf(_MAP_UPDATE, struct.pack("=IIQQQ", table, 0, ctypes.addressof(key), ctypes.addressof(room), 0))
    held = _bpf(_LINK_CREATE, struct.pack("=III", table, 0, _STRUCT_OPS_ATTACH))
    _pin(held, pin)
    for descriptor in (*descriptors, types, table, held):
        os.close(descriptor)


def _some_types() -> int:
    """The kernel wants an object's own types beside its structures: an int will do."""
    types, names = struct.pack("=IIII", 1, 1 << 24, 4, 32), b"\0int\0"
    head = struct.pack("=HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(names))
    room = ctypes.create_string_buffer(whole := head + types + names, len(whole))
    return _bpf(_BTF_LOAD, struct.pack("=QQI", ctypes.addressof(room), 0, len(whole)))


def _returns_ten(name: str, structure: int, member: int) -> int:
    code = ctypes.create_string_buffer(bytes.fromhex("b70000000a000000 9500000000000000"))  # r0 = 10; exit
    licence = ctypes.create_string_buffer(b"GPL")
    head = struct.pack("=IIQQ", _STRUCT_OPS_PROGRAM, 2, ctypes.addressof(code), ctypes.addressof(licence))
    named = struct.pack("=24x16sII", name.encode()[:15], 0, member)
    return _bpf(_PROG_LOAD, (head + named).ljust(108, b"\0") + struct.pack("=I", structure))


class _Structure:
    """A structure of the running kernel: its number among the types, bytes, and where its members begin."""

    def __init__(self, found: re.Match[str]) -> None:
        self.number, self.size = int(found[1]), int(found[2])
        members = re.findall(r"'(\w+)' type_id=\d+ bits_offset=(\d+)", found[3])
        self.members = {name: int(bits) // 8 for name, bits in members}


@cache
def _types() -> str:
    command = [program("bpftool"), "btf", "dump", "file", "/sys/kernel/btf/vmlinux"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _structure(name: str) -> _Structure:
    found = re.search(rf"^\[(\d+)\] STRUCT '{name}' size=(\d+) vlen=\d+\n((?:\t.*\n)*)", _types(), re.MULTILINE)
    assert found, f"this kernel has no {name}"
    return _Structure(found)
