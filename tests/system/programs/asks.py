# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""asks.py VERB NICENESS [COUNT]: the call of algorithms/niceness/call.h, as anybody may write it.

Prints what the kernel answered to the last of COUNT calls: a number, which is the errno of who is answered, or the name
of an error.
"""

import errno
import os
import sys

verb, niceness, count = (int(word) for word in [*sys.argv[1:], "1"][:3])
file = os.open("/proc/sys/kernel/ostype", os.O_RDONLY)
answer = "nobody"
for _ in range(count):
    try:
        os.pread(file, 1, 1 << 30 | verb << 28 | niceness << 22)
    except OSError as error:
        answer = errno.errorcode.get(error.errno or 0, str(error.errno))
print(answer)
