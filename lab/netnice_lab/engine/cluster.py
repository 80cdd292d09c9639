# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The same tasks on a Dask cluster: an existing engine, never a home-made one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from netnice_lab.engine import machine
from netnice_lab.engine.sweep import Task, work
from netnice_lab.errors import LabError
from netnice_lab.model.output import Output


@dataclass(frozen=True)
class Cluster:
    """A Dask scheduler's address. Its workers need this package and a built kernel; nothing else is shared."""

    address: str
    timeout: float = 10.0
    """Seconds to wait for the scheduler's answer."""

    def map(self, tasks: Sequence[Task], limit: float) -> Iterator[tuple[Task, Output]]:
        """Hand out tasks, take results as they come, keep them here too."""
        from dask.distributed import Client, as_completed

        try:
            client = Client(self.address, timeout=self.timeout)
        except (OSError, ValueError) as error:
            raise LabError(f"no Dask scheduler at {self.address}", str(error), "dask scheduler --port 8786") from error
        try:
            if not client.scheduler_info()["workers"]:
                raise LabError(
                    f"the scheduler at {self.address} has no workers",
                    "",
                    f"dask worker {self.address} --nworkers 2 --nthreads 1",
                )
            futures = {client.submit(work, task, limit, pure=False): task for task in tasks}
            try:
                for future in as_completed(list(futures)):
                    output = future.result()
                    machine.save(output)
                    yield futures[future], output
            finally:
                client.cancel(list(futures))
        finally:
            client.close()
