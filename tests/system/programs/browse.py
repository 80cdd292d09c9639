# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A browser's connection: prefetches one URL, then demands another, and says when each has arrived.

Arguments: host, port, the two paths. Between and after them it waits, so that the connection can be looked at.
"""

import http.client
import sys
import time

host, port, ahead, demanded = sys.argv[1:]
connection = http.client.HTTPConnection(host, int(port))
for path, headers in ((ahead, {"Sec-Purpose": "prefetch"}), (demanded, {})):
    connection.request("GET", path, headers=headers)
    reply = connection.getresponse()
    body = reply.read()
    print(reply.status, len(body), flush=True)
    time.sleep(4)
