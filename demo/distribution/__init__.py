# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A file for many clients on unlike links, by way of replication servers (TCP Nice, section 6.2)."""
