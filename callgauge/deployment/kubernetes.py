"""Kubernetes: a Deployment with its Service for the server, a CronJob for the night, a claim for the store.

One node reads and writes the store, as its files are locked there: the night runs where the server runs.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from callgauge.deployment.container_paths import (
    USER_ID,
    container_commands,
    find_place,
    list_warnings,
)
from callgauge.deployment.installation import Installation, ServiceFiles
from callgauge.deployment.yaml_text import write_yaml

_NAME = "callgauge"
_CONFIG, _SECRETS, _USERS = f"{_NAME}-config", f"{_NAME}-secrets", f"{_NAME}-users"
_STORE, _LOGS = f"{_NAME}-store", f"{_NAME}-logs"
_LABELS = {"app.kubernetes.io/name": _NAME}
_SERVER = {**_LABELS, "app.kubernetes.io/component": "server"}
_NIGHT = {**_LABELS, "app.kubernetes.io/component": "nightly"}
_ALIVE = {"path": "/healthz/live", "port": "http"}
_NO_KEY = re.compile(r"[^A-Za-z0-9._-]+")


def make_kubernetes_files(known: Installation) -> ServiceFiles:
    """Return the manifest, and what has to be there before it is applied. Raises DeploymentError."""
    objects = [_make_claim(), _make_deployment(known), _make_service(), _make_cron_job(known)]
    return ServiceFiles({"callgauge.yaml": write_yaml(*objects)}, _list_steps(known))


def _make_claim() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": _STORE, "labels": _LABELS},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "20Gi"}}},
    }


def _make_deployment(known: Installation) -> dict[str, Any]:
    container = {
        **_make_container(known, container_commands(known)[0]),
        "ports": [{"name": "http", "containerPort": known.port}],
        # Not /healthz: a restart makes no store fresher, and old numbers are better than none. Watch
        # /healthz, or the metrics, with what wakes people.
        "startupProbe": {"httpGet": _ALIVE, "periodSeconds": 2, "failureThreshold": 60, "timeoutSeconds": 5},
        "livenessProbe": {"httpGet": _ALIVE, "periodSeconds": 20, "failureThreshold": 6, "timeoutSeconds": 5},
        "readinessProbe": {"httpGet": _ALIVE, "periodSeconds": 10, "timeoutSeconds": 5},
        "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"memory": "4Gi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": _NAME, "labels": _SERVER},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": _SERVER},
            "template": {
                "metadata": {"labels": _SERVER},
                "spec": {**_make_pod(known), "terminationGracePeriodSeconds": 30, "containers": [container]},
            },
        },
    }


def _make_service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _NAME, "labels": _SERVER},
        "spec": {"selector": _SERVER, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    }


def _make_cron_job(known: Installation) -> dict[str, Any]:
    container = {
        **_make_container(known, container_commands(known)[1]),
        "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"memory": "8Gi"}},
    }
    near = {"labelSelector": {"matchLabels": _SERVER}, "topologyKey": "kubernetes.io/hostname"}
    pod = {
        **_make_pod(known),
        "restartPolicy": "Never",
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}},
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": f"{_NAME}-nightly", "labels": _NIGHT},
        "spec": {
            "schedule": f"{known.minute} {known.hour} * * *",
            "timeZone": "Etc/UTC",
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {
                "spec": {"backoffLimit": 2, "template": {"metadata": {"labels": _NIGHT}, "spec": pod}}
            },
        },
    }


def _make_pod(known: Installation) -> dict[str, Any]:
    volumes: list[dict[str, Any]] = [
        {"name": "tmp", "emptyDir": {"sizeLimit": "4Gi"}},
        {"name": "store", "persistentVolumeClaim": {"claimName": _STORE}},
        {"name": "config", "configMap": {"name": _CONFIG}},
    ]
    if known.secret_files:
        volumes.append({"name": "users", "secret": {"secretName": _USERS, "defaultMode": 0o440}})
    if known.logs:
        claim = {"claimName": _LOGS, "readOnly": True}
        volumes.append({"name": "logs", "persistentVolumeClaim": claim})
    return {
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER_ID,
            "runAsGroup": USER_ID,
            "fsGroup": USER_ID,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumes": [
            {"name": "tmp", "emptyDir": {"sizeLimit": "4Gi"}},
            {"name": "store", "persistentVolumeClaim": {"claimName": _STORE}},
            {"name": "config", "configMap": {"name": _CONFIG}},
            *(
                [{"name": "logs", "persistentVolumeClaim": {"claimName": _LOGS, "readOnly": True}}]
                if known.logs
                else []
            ),
        ],
    }


def _make_container(known: Installation, arguments: list[str]) -> dict[str, Any]:
    return {
        "name": _NAME,
        "image": known.image,
        # In arguments Kubernetes replaces $(NAME); a doubled sign stays one.
        "args": [word.replace("$(", "$$(") for word in arguments],
        "envFrom": [{"secretRef": {"name": _SECRETS, "optional": not known.secrets}}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, *_list_mounts(known)],  # noqa: S108 - its own
    }


def _list_mounts(known: Installation) -> Iterator[dict[str, Any]]:
    """Yield the mounts of the volumes; each a part of one, so that it hides nothing beside it."""
    for number, path in enumerate((known.store, *known.writable)):
        part = "store" if number == 0 else f"folder-{number}"
        yield {"name": "store", "mountPath": str(find_place(known, path)), "subPath": part}
    for volume, files in (("config", _list_open_files(known)), ("users", known.secret_files)):
        for path, key in _name_keys(files).items():
            place = str(find_place(known, path))
            yield {"name": volume, "mountPath": place, "subPath": key, "readOnly": True}
    for path in known.logs:
        part = str(path).lstrip("/")
        yield {"name": "logs", "mountPath": str(find_place(known, path)), "subPath": part, "readOnly": True}


def _list_open_files(known: Installation) -> tuple[Path, ...]:
    return known.config, *known.files


def _name_keys(files: Iterable[Path]) -> dict[Path, str]:
    """Return the key of each file in a config map: its name, with a number where two have one."""
    taken: Counter[str] = Counter()
    keys = {}
    for path in files:
        key = _NO_KEY.sub("-", path.name)
        taken[key] += 1
        keys[path] = key if taken[key] == 1 else f"{taken[key]}-{key}"
    return keys


def _list_steps(known: Installation) -> list[str]:
    steps = [f"kubectl create configmap {_CONFIG} {_list_arguments(_list_open_files(known))}"]
    if known.secret_files:
        steps.append(f"kubectl create secret generic {_USERS} {_list_arguments(known.secret_files)}")
    if known.secrets:
        steps.append(
            f"kubectl create secret generic {_SECRETS} --from-env-file=callgauge.env, a file that has "
            f"NAME=value for {', '.join(known.secrets)}"
        )
    if known.logs:
        folders = ", ".join(str(path).lstrip("/") for path in known.logs)
        steps.append(f"a claim {_LOGS} that has the logs of your agents in its folders {folders}")
    return [*list_warnings(known), *steps, "kubectl apply -f callgauge.yaml"]


def _list_arguments(files: Iterable[Path]) -> str:
    return " ".join(shlex.quote(f"--from-file={key}={path}") for path, key in _name_keys(files).items())
