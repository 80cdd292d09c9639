# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The tree's rules find what they are for."""

import pytest

from lint import tree

DUAL = "// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause\n"
SCREEN = "sudo netnice rsync\n| a | b |\n| --- | ---: |\n./setup demo\n./setup test\n"
GPL = "// SPDX-License-Identifier: GPL-2.0\n"


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (tree.spdx, "crates/a/src/main.rs", "fn main() {}\n"),
        (tree.spdx, "tests/run", "#!/bin/sh\ntrue\n"),
        (tree.spdx, "crates/a/src/main.rs", "// SPDX-License-Identifier: MIT\n"),
        (tree.spdx, "transport/policy/policy.bpf.c", DUAL),
        (tree.spdx, "a.c", "\n" * 9 + DUAL),
        (tree.length, "a.rs", "x\n" * 401),
        (tree.length, "algorithms/sender/a.h", "x\n" * 251),
        (tree.length, "algorithms/sender/nice.h", "x\n" * 121),
        (tree.first_screen, "README.md", SCREEN + "| a | b | c | d | e |\n"),
        (tree.first_screen, "README.md", SCREEN.replace("./setup test", "")),
        (tree.finished, "a.md", "one day // TO" + "DO\n"),
        (tree.portable, "README.md", "cd /ro" + "ot/netnice\n"),
        (tree.portable, "a.py", "open('/ho" + "me/someone/x')\n"),
        (tree.tidy, "a.rs", "fn main() {}"),
    ],
)
def test_a_breach_is_found(rule: tree.Rule, path: str, text: str) -> None:
    assert len(list(rule(path, text))) == 1


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (tree.spdx, "algorithms/a.h", "/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */\n"),
        (tree.spdx, "transport/policy/policy.bpf.c", GPL),
        (tree.spdx, "README.md", "no code\n"),
        (tree.length, "a.rs", "x\n" * 400),
        (tree.length, "algorithms/sender/a.h", "x\n" * 250),
        (tree.length, "algorithms/sender/nice.h", "x\n" * 120),
        (tree.first_screen, "README.md", SCREEN + "\n" * 40 + "| a | b | c | d | e |\n"),
        (tree.first_screen, "docs/README.md", "| a | b | c | d | e |\n"),
        (tree.length, "table.csv", "x\n" * 4000),
        (tree.finished, "a.rs", "todo_list = mastodon\n"),
        (tree.portable, "a.sh", "cd ${x}/ro" + "ot/b $HOME/wo" + "rk/c\n"),
        (tree.tidy, "empty.py", ""),
    ],
)
def test_good_text_is_left_alone(rule: tree.Rule, path: str, text: str) -> None:
    assert list(rule(path, text)) == []
