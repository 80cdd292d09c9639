# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What MkDocs is told beyond its configuration: anchors as GitHub has them, and no links to what is no page."""

import re
from typing import Any

from lint.links import SCHEME, prose, slug

#: A link to a file or folder of the tree that is not among the pages; its text stays.
SOURCE_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^)#\s]+)\)")


def on_config(config: Any) -> Any:
    """Headings get the anchors that the links in the pages name."""
    config["mdx_configs"]["toc"] = {"slugify": lambda heading, _: slug(heading)}
    return config


def on_page_markdown(markdown: str, **context: Any) -> str:
    """Takes links to sources out of a page: the site is without them."""

    def text(link: re.Match[str]) -> str:
        keep = link.group(2).endswith(".md") or SCHEME.match(link.group(2))
        return link.group() if keep else link.group(1)

    lines = markdown.splitlines()
    for number, _ in prose(markdown):
        lines[number - 1] = SOURCE_LINK.sub(text, lines[number - 1])
    return "\n".join(lines)
