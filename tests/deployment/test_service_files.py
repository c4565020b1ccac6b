"""Tests that service managers receive the paths of callgauge.toml unchanged, even with special characters."""

from __future__ import annotations

import os
import plistlib
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from callgauge.cli.main import app as cli
from callgauge.configuration.configuration_file import read_configuration
from callgauge.deployment.installation import DeploymentError, Installation, describe_installation
from callgauge.deployment.service_files import (
    ServiceFiles,
    find_place,
    make_compose_files,
    make_cron_files,
    make_docker_files,
    make_kubernetes_files,
    make_launchd_files,
    make_systemd_files,
    write_files,
)

HOSTILE = '/srv/a b/50% of $HOME; "it\'s" $(id) `id` #é'
TARGETS = ("systemd", "cron", "launchd", "kubernetes", "docker", "compose")


def an_installation(folder: str = "/etc/callgauge", **changed: Any) -> Installation:
    usual = Installation(
        command=("/opt/callgauge/bin/callgauge",),
        config=Path(folder) / "callgauge.toml",
        store=Path(folder) / "store",
        hour=2,
        minute=14,
        user=None,
        address="0.0.0.0",  # noqa: S104 - as in a container
        port=8501,
        image="callgauge:1",
        logs=(Path(folder) / "logs",),
        writable=(Path("/var/backups/call gauge"),),
    )
    return replace(usual, **changed)


def nightly_of(installation: Installation) -> list[str]:
    return [*installation.command, "nightly", "--config", str(installation.config)]


def read_unit(text: str) -> dict[str, list[str]]:
    """Return the settings of a systemd unit with all values. Fail if a line is continued on the next line."""
    values: dict[str, list[str]] = {}
    for line in text.splitlines():
        assert not line.endswith("\\")
        name, is_setting, value = line.partition("=")
        if is_setting and not line.startswith("#"):
            values.setdefault(name, []).append(value)
    return values


def split_as_systemd_does(value: str) -> list[str]:
    """Split a command or a list of paths as systemd does, with quotes, backslashes and specifiers."""
    if variables := value.startswith(":"):
        value = value[1:]
    words = shlex.split(value)
    assert variables or "$" not in value, "systemd would replace a variable"
    assert all(re.fullmatch(r"(?:[^%]|%%)*", word) for word in words), "systemd would replace a specifier"
    return [word.replace("%%", "%") for word in words]


@pytest.mark.parametrize("folder", ["/etc/callgauge", HOSTILE, "/srv/back\\slash"])
def test_systemd_starts_what_the_configuration_says(folder: str) -> None:
    installation = an_installation(folder)
    files = make_systemd_files(installation).files
    night = read_unit(files["callgauge-nightly.service"])
    assert split_as_systemd_does(night["ExecStart"][0]) == nightly_of(installation)
    (paths,) = night["ReadWritePaths"]
    # systemd replaces no variables in paths
    paths_of_unit = split_as_systemd_does(paths if "$" not in paths else ":" + paths)
    assert paths_of_unit == [str(installation.store), "/var/backups/call gauge"]
    environment = night["EnvironmentFile"][0]
    assert environment.removeprefix("-").replace("%%", "%") == str(installation.environment_file)
    server = read_unit(files["callgauge.service"])
    assert split_as_systemd_does(server["ExecStart"][0])[1:] == [
        "serve",
        "--config",
        str(installation.config),
    ]
    assert server["Restart"] == ["on-failure"]


def test_systemd_units_are_hardened_and_run_as_no_root() -> None:
    files = make_systemd_files(an_installation(user="gauge")).files
    for name in ("callgauge.service", "callgauge-nightly.service"):
        unit = read_unit(files[name])
        assert unit["User"] == ["gauge"]
        assert (unit["NoNewPrivileges"], unit["ProtectSystem"]) == (["yes"], ["strict"])
        assert unit["CapabilityBoundingSet"] == [""]
        assert (unit["ProtectHome"], unit["PrivateTmp"]) == (["yes"], ["yes"])
    assert read_unit(files["callgauge-nightly.timer"])["OnCalendar"] == ["*-*-* 02:14:00"]


@pytest.mark.parametrize(
    ("folder", "home", "private"),
    [("/home/ann/cg", "read-only", "yes"), ("/tmp/cg", "yes", "no")],  # noqa: S108
)
def test_systemd_does_not_hide_what_the_service_reads(folder: str, home: str, private: str) -> None:
    unit = read_unit(make_systemd_files(an_installation(folder)).files["callgauge.service"])
    assert (unit["ProtectHome"], unit["PrivateTmp"]) == ([home], [private])


def run_as_cron_does(line: str) -> list[str]:
    """Return the words that a shell gets from a crontab line, after cron has replaced each % sign."""
    command = line.split(None, 5)[5].rstrip("\n")
    assert not re.search(r"(?<!\\)%", command)
    return run_words(command.replace("\\%", "%"))


def run_words(command: str) -> list[str]:
    """Return the arguments that a program gets if a shell executes this command."""
    listed = re.sub(r"(^|exec )(?=/opt/)", r"\1printf '%s\\0' ", command, count=1)
    assert listed != command
    listed = listed.replace("exec printf", "printf")
    shown = subprocess.run(["/bin/sh", "-c", listed], capture_output=True, check=True).stdout
    return shown.decode().split("\0")[:-1]


@pytest.mark.parametrize("folder", ["/etc/callgauge", HOSTILE])
def test_cron_starts_the_night_of_the_configuration(folder: str) -> None:
    installation = an_installation(folder)
    (line,) = make_cron_files(installation).files.values()
    assert line.count("\n") == 1
    assert line.startswith("14 2 * * * ")
    assert run_as_cron_does(line) == nightly_of(installation)


def test_cron_names_the_user_where_the_line_is_the_machines() -> None:
    files = make_cron_files(an_installation(user="gauge")).files
    assert files["callgauge"].split()[:7] == [
        "14",
        "2",
        "*",
        "*",
        "*",
        "gauge",
        "/opt/callgauge/bin/callgauge",
    ]


def test_cron_reads_secrets_from_their_file(tmp_path: Path) -> None:
    installation = an_installation(str(tmp_path / "a b%"), secrets=("HOOK",))
    installation.config.parent.mkdir()
    installation.environment_file.write_text("HOOK=https://hooks.example/x\n")
    (line,) = make_cron_files(installation).files.values()
    assert run_as_cron_does(line) == nightly_of(installation)


@pytest.mark.parametrize(("folder", "advice"), [("/" + "é" * 500, "shorter path"), ("/a\\b", "backslash")])
def test_cron_refuses_what_it_would_cut_or_change(folder: str, advice: str) -> None:
    with pytest.raises(DeploymentError, match=advice):
        make_cron_files(an_installation(folder))


@pytest.mark.parametrize("secrets", [(), ("HOOK",)])
def test_launchd_starts_server_and_night(secrets: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE.lstrip("/")
    folder.mkdir(parents=True)
    installation = an_installation(str(folder), secrets=secrets)
    installation.environment_file.write_text("HOOK=x\n")
    jobs = {
        name: plistlib.loads(text.encode()) for name, text in make_launchd_files(installation).files.items()
    }
    night = jobs["org.callgauge.nightly.plist"]
    words = night["ProgramArguments"]
    assert (run_words(words[2]) if secrets else words) == nightly_of(installation)
    assert night["StartCalendarInterval"] == {"Hour": 2, "Minute": 14}
    server = jobs["org.callgauge.server.plist"]
    assert server["KeepAlive"] == {"SuccessfulExit": False}
    assert "UserName" not in server
    daemon = make_launchd_files(an_installation(user="gauge")).files["org.callgauge.server.plist"]
    assert plistlib.loads(daemon.encode())["UserName"] == "gauge"


def test_what_lies_beside_the_configuration_lies_so_in_a_container() -> None:
    installation = an_installation("/home/ann/cg")
    assert str(find_place(installation, installation.config)) == "/callgauge/callgauge.toml"
    assert str(find_place(installation, installation.store)) == "/callgauge/store"
    assert str(find_place(installation, Path("/var/log/agents"))) == "/var/log/agents"
    for path in ("/", "/etc", "/usr", "/opt/callgauge"):
        with pytest.raises(DeploymentError, match="cannot be mounted"):
            find_place(installation, Path(path))


def read_manifest(installation: Installation) -> dict[str, dict[str, Any]]:
    (text,) = make_kubernetes_files(installation).files.values()
    assert "&id" not in text
    return {manifest["kind"]: manifest for manifest in yaml.safe_load_all(text)}


def pods_of(objects: dict[str, dict[str, Any]]) -> Sequence[dict[str, Any]]:
    return (
        objects["Deployment"]["spec"]["template"]["spec"],
        objects["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"],
    )


def test_kubernetes_runs_server_and_night_without_rights() -> None:
    objects = read_manifest(an_installation(secrets=("HOOK",)))
    for pod in pods_of(objects):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] != 0
        assert pod["automountServiceAccountToken"] is False
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["envFrom"] == [{"secretRef": {"name": "callgauge-secrets", "optional": False}}]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert "emptyDir" in volumes["tmp"]
        mounts = [mount["mountPath"] for mount in container["volumeMounts"]]
        assert len(mounts) == len(set(mounts))
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    server, night = (pod["containers"][0] for pod in pods_of(objects))
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert server[probe]["httpGet"]["path"].startswith("/healthz")
    assert server["args"][0] == "serve"
    assert night["args"] == ["nightly", "--config", "/callgauge/callgauge.toml"]
    cron = objects["CronJob"]["spec"]
    assert (cron["schedule"], cron["timeZone"], cron["concurrencyPolicy"]) == (
        "14 2 * * *",
        "Etc/UTC",
        "Forbid",
    )
    labels = objects["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert (
        objects["Service"]["spec"]["selector"]
        == objects["Deployment"]["spec"]["selector"]["matchLabels"]
        == labels
    )
    near = pods_of(objects)[1]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert near[0]["labelSelector"]["matchLabels"] == labels, "one node locks the store's files"


def test_kubernetes_keeps_files_with_secrets_out_of_the_config_map() -> None:
    users, tools = Path("/etc/callgauge/users.txt"), Path("/srv/tools.json")
    more = Path("/srv/more/tools.json")
    installation = an_installation(files=(tools, more), secret_files=(users,))
    (pod, _) = pods_of(read_manifest(installation))
    (container,) = pod["containers"]
    users_volume = {"secretName": "callgauge-users", "defaultMode": 0o440}
    assert [volume.get("secret") for volume in pod["volumes"] if volume["name"] == "users"] == [users_volume]
    mounts = {
        mount["mountPath"]: (mount["name"], mount.get("subPath")) for mount in container["volumeMounts"]
    }
    assert mounts["/callgauge/users.txt"] == ("users", "users.txt")
    assert mounts["/srv/tools.json"] == ("config", "tools.json")
    assert mounts["/srv/more/tools.json"] == ("config", "2-tools.json")
    steps = "\n".join(make_kubernetes_files(installation).steps)
    assert "configmap callgauge-config --from-file=callgauge.toml=" in steps
    assert "secret generic callgauge-users --from-file=users.txt=" in steps


def test_compose_runs_server_and_night_without_rights() -> None:
    installation = an_installation(HOSTILE, secrets=("HOOK",))
    made = make_compose_files(installation)
    services = yaml.safe_load(made.files["compose.yaml"])["services"]
    for name, service in services.items():
        assert service["read_only"] is True
        assert service["user"] == "10001:10001"
        assert service["cap_drop"] == ["ALL"]
        assert service["command"] == [
            {"server": "serve"}.get(name, name),
            "--config",
            "/callgauge/callgauge.toml",
        ]
        mounts = {mount["target"]: mount for mount in service["volumes"]}
        assert mounts["/callgauge/store"]["source"].replace("$$", "$") == str(installation.store)
        assert not re.search(r"(?<!\$)(\$\$)*\$(?!\$)", mounts["/callgauge/store"]["source"])
        assert [target for target, mount in mounts.items() if not mount["read_only"]] == [
            "/callgauge/store",
            "/var/backups/call gauge",
        ]
    assert services["server"]["ports"] == ["127.0.0.1:8501:8501"]
    assert "/healthz" in services["server"]["healthcheck"]["test"][-1]
    assert services["nightly"]["profiles"] == ["nightly"]


def test_the_image_is_built_from_the_lock_and_runs_as_no_root() -> None:
    recipe = make_docker_files(an_installation()).files["Dockerfile"]
    build, final = re.split(r"^FROM ", recipe, flags=re.MULTILINE)[1:]
    assert "--require-hashes" in build
    assert "--only-binary :all:" in build
    assert re.search(r"^USER 10001:10001$", final, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK .*\n.*healthz", final, re.MULTILINE)
    assert "pip" not in final
    (step,) = make_docker_files(an_installation(packages=("s3fs",), checkout=Path("/src/a b"))).steps
    assert shlex.split(step)[-3:] == ["--build-arg", "EXTRA_PACKAGES=s3fs", "/src/a b"]
    ignored = make_docker_files(an_installation()).files["Dockerfile.dockerignore"].splitlines()
    copied = re.findall(r"^COPY (?!--from)(\S+)", build, re.MULTILINE)
    assert ignored[1] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied)


def test_a_server_that_nobody_could_reach_in_its_container_is_told() -> None:
    near = an_installation(address="127.0.0.1")
    for steps in (make_kubernetes_files(near).steps, make_compose_files(near).steps):
        assert "only the container itself reaches" in steps[0]
    assert "reaches" not in "".join(make_compose_files(an_installation()).steps)


def configure(folder: Path, text: str) -> Path:
    path = folder / "callgauge.toml"
    path.write_text(text, encoding="utf-8")
    return path


def describe(path: Path, **options: Any) -> Installation:
    usual = {"at": "02:14", "user": None, "image": "callgauge:1", "checkout": None}
    return describe_installation(read_configuration(path), ["callgauge"], **{**usual, **options})


FULL = """
store = "store"
[sources.gateway]
paths = ["logs/2026-*/x.jsonl", "logs", "/var/log/agents/**/*.jsonl", "s3://bucket/x"]
manifests = ["/lists/today.txt"]
[load]
tools = ["tools.json"]
labels = "labels.toml"
[backup]
to = "/var/backups/callgauge"
[report]
address = "https://callgauge.example.com"
folder = "store/reports"
[[report.webhooks]]
kind = "slack"
url = "env:SLACK_HOOK"
[report.email]
host = "mail.example.com"
from = "callgauge@example.com"
to = "team@example.com"
user = "callgauge"
password = "env:MAIL_PASSWORD"
[sign_in]
method = "oidc"
issuer = "https://id.example.com"
client_id = "callgauge"
client_secret = "env:OIDC_SECRET"
secret = "env:OUR_SECRET"
domains = ["example.com"]
"""


def test_folders_files_and_names_of_secrets_are_those_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    installation = describe(configure(tmp_path, FULL), at="23:05")
    assert installation.store == tmp_path / "store"
    assert installation.logs == (tmp_path / "logs", Path("/var/log/agents"), Path("/lists"))
    assert installation.files == (tmp_path / "tools.json", tmp_path / "labels.toml")
    assert installation.writable == (Path("/var/backups/callgauge"),), "reports lie in the store"
    assert installation.secrets == ("SLACK_HOOK", "MAIL_PASSWORD", "OUR_SECRET", "OIDC_SECRET")
    assert installation.packages == ("authlib", "joserfc", "s3fs")
    assert (installation.hour, installation.minute) == (23, 5)


@pytest.mark.parametrize(("place", "listed"), [("users.json", ["users.json"]), ("store/users.json", [])])
def test_a_file_of_users_in_the_store_needs_no_place_of_its_own(
    place: str, listed: list[str], tmp_path: Path
) -> None:
    sign_in = f'[sign_in]\nmethod = "password"\npassword_file = "{place}"'
    installation = describe(configure(tmp_path, f'store = "store"\n{sign_in}'))
    assert [path.name for path in installation.secret_files] == listed


@pytest.mark.parametrize("target", TARGETS)
def test_no_secret_is_in_a_file(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLACK_HOOK", "MAIL_PASSWORD", "OUR_SECRET", "OIDC_SECRET"):
        monkeypatch.setenv(name, "hunter2-hunter2-hunter2-hunter2")
    path = configure(tmp_path, FULL)
    done = CliRunner().invoke(cli, ["install-service", "--config", str(path), "--for", target])
    assert done.exit_code == 0, done.output
    assert "hunter2" not in done.output
    assert "next:" in done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"at": "2:14"}, "like 02:14"),
        ({"at": "24:00"}, "like 02:14"),
        ({"user": "root"}, "other than root"),
        ({"user": "a b"}, "other than root"),
        ({"user": "a\nUser=root"}, "other than root"),
        ({"image": "x\nExecStartPre=/bin/id"}, "rename it"),
    ],
)
def test_what_makes_no_service_is_refused(options: dict[str, Any], advice: str, tmp_path: Path) -> None:
    path = configure(tmp_path, 'store = "store"')
    with pytest.raises(DeploymentError, match=advice):
        describe(path, **options)


@pytest.mark.parametrize("name", ["a\nb", "a\x7fb", "a\u202eb"])
def test_a_path_that_would_end_a_line_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(DeploymentError, match="service files do not support"):
        describe(configure(tmp_path / name, 'store = "store"'))


def test_a_path_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    folder.mkdir()
    with pytest.raises(DeploymentError, match="service files do not support"):
        describe(configure(folder, 'store = "store"'))


def test_logs_in_the_root_folder_itself_are_refused(tmp_path: Path) -> None:
    path = configure(tmp_path, 'store = "store"\n[sources.all]\npaths = ["/*.jsonl"]')
    with pytest.raises(
        DeploymentError, match="a source is directly in /; move the logs to a folder, and name that folder"
    ):
        describe(path)


def test_files_are_written_once_and_a_changed_one_stays(tmp_path: Path) -> None:
    path = configure(tmp_path, 'store = "store"')
    folder = tmp_path / "units"
    command = ["install-service", "--config", str(path), "--for", "systemd", "--write", str(folder)]
    first = CliRunner().invoke(cli, command)
    assert first.exit_code == 0, first.output
    assert len(list(folder.iterdir())) == 3
    again = CliRunner().invoke(cli, command)
    assert again.exit_code == 0
    assert "nothing to write" in again.stderr
    (folder / "callgauge.service").write_text("ours\n")
    (folder / "callgauge-nightly.timer").unlink()
    refused = CliRunner().invoke(cli, command)
    assert refused.exit_code == 1
    assert "callgauge.service" in refused.stderr
    assert not (folder / "callgauge-nightly.timer").exists(), "all or nothing"
    forced = CliRunner().invoke(cli, [*command, "--force"])
    assert forced.exit_code == 0
    assert (folder / "callgauge.service").read_text("utf-8") != "ours\n"


def test_a_link_that_leads_nowhere_is_no_free_name(tmp_path: Path) -> None:
    (tmp_path / "callgauge.cron").symlink_to(tmp_path / "none")
    files: ServiceFiles = make_cron_files(an_installation())
    with pytest.raises(DeploymentError, match="other content"):
        write_files(files.files, tmp_path, force=False)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DeploymentError, match="cannot be written"):
        write_files({"x": "y"}, tmp_path / "file", force=False)


def test_a_container_takes_no_user(tmp_path: Path) -> None:
    path = configure(tmp_path, 'store = "store"')
    words = ["install-service", "--config", str(path), "--for", "docker", "--user", "ann"]
    assert CliRunner().invoke(cli, words).exit_code == 2


def test_a_mistake_in_the_configuration_is_told(tmp_path: Path) -> None:
    path = configure(tmp_path, "store = 3")
    done = CliRunner().invoke(cli, ["install-service", "--config", str(path), "--for", "cron"])
    assert done.exit_code == 2
    assert "store" in done.stderr
