# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Images pulled from a registry and a model over sixteen connections, beside documents."""
