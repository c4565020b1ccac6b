"""A Ray cluster (https://docs.ray.io). Joins or starts the cluster, and sends tasks to it."""

from __future__ import annotations

import importlib.util
import logging
import os
import pickle
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from typing import Any

from ingest.errors import IngestError, OptionError, StoreError
from ingest.pipeline.workers.ray_task import ClusterSettings, TaskOutcome
from ingest.version import CALLGAUGE_VERSION, install_command

_OBJECT_STORE = (
    80 * 1024 * 1024
)  # bytes; Callgauge stores only settings and names there, but Ray requires at least 75 MB
_ATTEMPTS = 3  # number of attempts for a task when its machine or process dies
_ANSWERS = 10.0  # seconds to wait for an answer from a cluster
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # by default, Ray sends usage data to its makers
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # by default, each task warns of a future change in Ray
}


class TaskDiedError(Exception):
    """A task died in every attempt, because its process or its machine died."""


class RayCluster:
    """A cluster that runs tasks. `close` stops the cluster only if this object started it."""

    def __init__(self, where: str, cpus: int) -> None:
        """Join the cluster at `ray://HOST:PORT`.

        For `ray`, join the cluster of this machine. If there is none, start a cluster with `cpus` processors.
        Raises OptionError.
        """
        os.environ.update({name: os.environ.get(name, value) for name, value in _QUIET.items()})
        if importlib.util.find_spec("ray") is None:
            raise OptionError(f"--on ray needs Ray, which is not installed: {install_command('ray')}")
        import ray

        self._ray = ray
        self._settings: Any = None
        with ExitStack() as opened:
            # Ray prints errors of its machines to stdout. Commands write only results there, so redirect the
            # errors.
            opened.enter_context(redirect_stdout(sys.stderr))
            if not ray.is_initialized():
                opened.callback(ray.shutdown)
                with _preserve_signal_handlers():
                    self._connect(where, cpus)
            self.cpus = int(ray.cluster_resources().get("CPU", cpus))
            self._opened = opened.pop_all()
        self._run = ray.remote(num_cpus=1, max_retries=_ATTEMPTS)(_make_runner())

    def _connect(self, where: str, cpus: int) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        named = where if "://" in where else os.environ.get("RAY_ADDRESS")
        try:
            _try_address(named or "")
            self._ray.init(address=named or "auto", **quiet)
        except ImportError as error:
            raise OptionError(
                f"--on {where} needs Ray's client: {install_command('ray')} ({error})"
            ) from error
        except (OSError, RuntimeError, ValueError, self._ray.exceptions.RayError) as error:
            if named is not None:
                reason = " ".join(str(error).split())[:200]
                raise OptionError(
                    f"the Ray cluster at {named} cannot be reached ({reason}); check that it runs "
                    "(`ray status`), that it has the same Ray and Python versions as this machine, "
                    "and, if it asks for a token, that RAY_AUTH_MODE=token and RAY_AUTH_TOKEN are set here"
                ) from error
            # without this variable, Ray would write an access token to ~/.ray
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
            self._ray.init(
                address="local",
                num_cpus=cpus,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE,
                **quiet,
            )

    def share(self, settings: ClusterSettings) -> None:
        """Send the settings of all tasks to the cluster. Call this before the first `submit`."""
        self._settings = self._ray.put(pickle.dumps(settings))

    def submit(self, task: bytes) -> Any:
        """Start a task and return the reference to the task."""
        return self._run.remote(CALLGAUGE_VERSION, self._settings, task)

    def find_done(self, references: Sequence[Any], seconds: float) -> list[Any]:
        """Return the tasks that have ended. Wait at most `seconds` for the first task to end."""
        if not references:
            return []
        done, _ = self._ray.wait(
            list(references), num_returns=1 if seconds else len(references), timeout=seconds or 0.001
        )
        return list(done)

    def take_outcome(self, reference: Any) -> TaskOutcome:
        """Return the outcome of a task that has ended.

        Raises TaskDiedError, or an IngestError when the cluster cannot continue.
        """
        try:
            outcome: TaskOutcome = self._ray.get(reference)
        except ModuleNotFoundError as error:
            raise OptionError(
                f"a machine of the cluster cannot import {error.name}: install callgauge[ray] "
                f"{CALLGAUGE_VERSION} there"
            ) from error
        except self._ray.exceptions.RayTaskError:
            raise
        except (self._ray.exceptions.RaySystemError, ConnectionError) as error:
            raise StoreError(
                "the Ray cluster disappeared; run the command again. Files that were read are kept. "
                "The published store is unchanged."
            ) from error
        except self._ray.exceptions.RayError as error:
            raise TaskDiedError(type(error).__name__) from error
        return outcome

    def names_of(self, references: Sequence[Any]) -> set[str]:
        """Return the names of the rows that the ended tasks wrote. Tasks in progress are ignored."""
        names = set()
        for reference in self.find_done(references, 0.0):
            with suppress(TaskDiedError, IngestError):
                names.add(self.take_outcome(reference).name)
        return {name for name in names if name is not None}

    def close(self) -> None:
        """Leave the cluster. Stop the cluster if this object started it."""
        with suppress(Exception):  # the cluster may have ended already
            self._opened.close()


def _try_address(address: str) -> None:
    """Raise OSError when no server answers at a host and port. Ray itself would try for minutes."""
    host, _, port = address.rpartition("//")[2].partition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_ANSWERS).close()


def _make_runner() -> Callable[[str, bytes, bytes], Any]:
    """Return the function that Ray executes on a worker."""

    def read_log(version: str, settings: bytes, task: bytes) -> Any:
        import contextlib
        import importlib

        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module("callgauge")
        return importlib.import_module("ingest.pipeline.workers.ray_task").run_task(version, settings, task)

    return read_log


@contextmanager
def _preserve_signal_handlers() -> Iterator[None]:
    """Restore the handlers of Ctrl-C and SIGTERM, which Ray replaces when it connects."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        with suppress(ValueError):
            for number, handler in before.items():
                signal.signal(number, handler)
