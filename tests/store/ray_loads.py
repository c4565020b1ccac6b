"""Loads logs on a Ray cluster of two nodes on this machine. Run it as a module: LOGS OUT STAGE…

Each STAGE gets a store `OUT/STAGE`. `whole` is an undisturbed load. In `twice`, all tasks are executed twice.
At `driver-STEP`, the load is killed before this durable write, and then repeated. Other stages kill the
second node or a process during a task, see `tests.store.dying_tasks`.

Each stage prints one JSON line: the summary of the last load, the remaining files, and the number of logs
whose rows were already written.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ingest.pipeline.load import load
from ingest.pipeline.workers import ray_cluster
from ingest.store.generations import OnWrite, ignore_write
from tests.store import dying_tasks

Runner = Callable[[str, bytes, bytes], Any]
DIES = "die-before-"


def load_on_ray(logs: Path, store: Path, on_write: OnWrite = ignore_write) -> None:
    row_files = len(list(store.glob("shared/rows/*.rows")))
    report = load([logs], store, on="ray", on_write=on_write)
    outcome = {"loaded": report.loaded, "rejected": len(report.rejected), "kept": row_files}
    left = sorted(path.name for path in store.iterdir())
    print(json.dumps(outcome | {"store": str(store), "left": left}), flush=True)


def kill_load(step: str, logs: Path, store: Path) -> None:
    """Load in a new process of this module, which dies before it writes `step`."""
    done = subprocess.run([sys.executable, "-m", __spec__.name, str(logs), str(store), f"{DIES}{step}"])
    assert done.returncode == -signal.SIGKILL, done.returncode


def dying_before(step: str) -> OnWrite:
    def on_write(now: str) -> None:
        if now == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return on_write


def choose_runner(stage: str, mark: Path, spared: str) -> Callable[[], Runner]:
    """Return a factory of the function that Ray executes. The function is nested, as in `ray_cluster`."""
    if stage == "whole" or stage.startswith("driver-"):
        return ray_cluster._make_runner

    def run(version: str, settings: bytes, task: bytes) -> Any:
        if stage == "twice":
            return dying_tasks.run_twice(version, settings, task)
        return dying_tasks.run_dying(stage, str(mark), spared, version, settings, task)

    return lambda: run


def run_stages(logs: Path, out: Path, stages: list[str]) -> None:
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 * 1024 * 1024, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    os.environ["RAY_ADDRESS"] = cluster.address
    make_runner = ray_cluster._make_runner
    try:
        for stage in stages:
            for other in [node for node in cluster.worker_nodes if node.dead_processes()]:
                cluster.remove_node(other, allow_graceful=False)
            if not cluster.worker_nodes:
                cluster.add_node(**node)
            cluster.wait_for_nodes()
            store = out / stage
            if stage.startswith("driver-"):
                kill_load(stage.removeprefix("driver-"), logs, store)
            mark = out / f"{stage}.killed"
            setattr(ray_cluster, "_make_runner", choose_runner(stage, mark, cluster.head_node.node_id))  # noqa: B010
            load_on_ray(logs, store)
            setattr(ray_cluster, "_make_runner", make_runner)  # noqa: B010
    finally:
        cluster.shutdown()


def main(logs: str, out: str, *stages: str) -> None:
    if stages[0].startswith(DIES):
        load_on_ray(Path(logs), Path(out), dying_before(stages[0].removeprefix(DIES)))
        return
    with TemporaryDirectory(prefix="ray") as folder:  # the paths of Ray's sockets must be short
        os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": "0" * 64, "RAY_TMPDIR": folder}
        run_stages(Path(logs), Path(out), list(stages))


if __name__ == "__main__":
    main(*sys.argv[1:])
