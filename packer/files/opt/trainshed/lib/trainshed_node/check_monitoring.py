"""Self-test: what sends metrics is there, and works where the cluster has monitoring."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator

from trainshed_node.documents import read_object
from trainshed_node.monitoring import AGENT_UNIT, FOLDER, PROMETHEUS
from trainshed_node.pci import ACCELERATORS, count
from trainshed_node.recipe import Recipe
from trainshed_node.results import BAKE, BOOT, FAILED, OK, Result, unchecked, verdict
from trainshed_node.system import run

# It is named like its component.
_DCGM = "nvidia-dcgm-exporter"
_FILES = ("agent.json", "prometheus.json")
# How systemd calls a unit that nothing starts but the first boot, and one that its users want.
_OFF, _ON = ("disabled", "static"), "enabled"
_ANSWER_SECONDS = 10
# From when a unit is started until it listens.
_START_SECONDS = 20


def check_monitoring(recipe: Recipe, stage: str) -> Iterator[Result]:
    """Yield results for the exporters, and on a node with monitoring for what runs there."""
    missing = [name for name in _FILES if not (FOLDER / name).exists()]
    yield verdict(
        "metrics", not missing, detail=f"there is no {' and no '.join(missing)} in {FOLDER}"
    )
    wanted = ["trainshed-exporter", *([_DCGM] if _DCGM in recipe.components else [])]
    runs = _read_exporters() if stage == BOOT and PROMETHEUS.exists() else {}
    for exporter in wanted:
        name = f"exporter {exporter}"
        state = run("systemctl", "is-enabled", f"{exporter}.service").output.strip()
        if state == _ON and stage == BAKE:
            yield Result(name, "", "", FAILED, "is enabled, and would run without monitoring")
        elif state not in (*_OFF, _ON):
            yield Result(name, "", "", FAILED, f"is {state or 'not there'}")
        elif runs and exporter not in runs:
            yield Result(name, "", "", FAILED, f"{PROMETHEUS} does not have the agent read it")
        elif runs and not count(ACCELERATORS[recipe.accelerator]):
            # The tools that it asks fail, or end.
            yield unchecked(name, f"this machine has no {recipe.accelerator} device")
        elif runs:
            yield _answer(name, exporter, runs[exporter])
        else:
            yield Result(name, "", "", OK)
    if runs:
        active = run("systemctl", "is-active", AGENT_UNIT).output.strip()
        detail = f"is {active or 'unknown'}; see journalctl --unit {AGENT_UNIT}"
        yield verdict("agent of metrics", active == "active", detail=detail)


def _read_exporters() -> dict[str, str]:
    """Return the exporters that the agent reads, and where they answer."""
    return {
        job["job_name"]: job["static_configs"][0]["targets"][0]
        for job in read_object(PROMETHEUS)["scrape_configs"]
    }


def _answer(name: str, exporter: str, address: str) -> Result:
    """Read an exporter as the agent does; one that has just been started may not listen yet."""
    see = f"see journalctl --unit {exporter}"
    end = time.monotonic() + _START_SECONDS
    while True:
        active = run("systemctl", "is-active", f"{exporter}.service").output.strip()
        if active != "active":
            return Result(name, "", "", FAILED, f"is {active or 'unknown'}; {see}")
        try:
            connection = http.client.HTTPConnection(address, timeout=_ANSWER_SECONDS)
            connection.request("GET", "/metrics")
            status = connection.getresponse().status
        except ConnectionRefusedError:
            if time.monotonic() < end:
                time.sleep(0.2)
                continue
            return Result(name, "", "", FAILED, f"does not listen on {address}; {see}")
        except (OSError, http.client.HTTPException) as error:
            return Result(name, "", "", FAILED, f"no answer from {address}: {error}; {see}")
        return verdict(name, status == 200, detail=f"answers {status} on {address}; {see}")
