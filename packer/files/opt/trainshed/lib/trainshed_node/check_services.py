"""Self-test: what must run does, and what must wait for the mount does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed_node.mounts import HELD
from trainshed_node.pci import ACCELERATORS, NVSWITCHES, Card, count
from trainshed_node.recipe import Recipe
from trainshed_node.results import BOOT, FAILED, OK, Result, verdict
from trainshed_node.system import run

_ENABLED = ("enabled", "enabled-runtime", "alias", "generated")


@dataclass(frozen=True)
class Service:
    """A service that the AMI must have.

    Attributes:
        units: names it has in one distribution or another.
        runs: it must be active after boot, too; the agents of a cluster are not where there is no
            cluster.
        cards: it must be active after boot where the machine has one of these, and only there.
        accelerator: only for this one.
        agents: only for those that begin so.
        base: only for bases of this name.
    """

    units: tuple[str, ...]
    runs: bool = True
    cards: tuple[Card, ...] = ()
    accelerator: str = ""
    agents: tuple[str, ...] = ("ec2", "ecs", "eks")
    base: str = ""

    def is_in(self, recipe: Recipe) -> bool:
        """Return whether an AMI has it."""
        return (
            self.accelerator in ("", recipe.accelerator)
            and recipe.agent.startswith(self.agents)
            and recipe.base.startswith(self.base)
        )

    def has_to_run(self) -> bool:
        """Return whether it must be active on this machine."""
        return count(self.cards) > 0 if self.cards else self.runs


_SERVICES = (
    Service(("chronyd.service", "chrony.service")),
    Service(("amazon-ssm-agent.service",)),
    Service(("amazon-cloudwatch-agent.service",), runs=False),
    Service(("trainshed-first-boot.service",)),
    Service(("trainshed-selftest.service",), runs=False),
    Service(("trainshed-spot.service",), runs=False),
    Service(("trainshed-idle-check.timer",)),
    Service(("docker.service",), agents=("ec2", "ecs")),
    Service(("ecs.service",), runs=False, agents=("ecs",)),
    Service(("containerd.service",), agents=("eks",)),
    Service(("nodeadm-config.service",), runs=False, agents=("eks",), base="amazon"),
    Service(("nodeadm-run.service",), runs=False, agents=("eks",), base="amazon"),
    Service(("nvidia-persistenced.service",), cards=ACCELERATORS["nvidia"], accelerator="nvidia"),
    Service(("nvidia-fabricmanager.service",), cards=NVSWITCHES, accelerator="nvidia"),
)
# All units of an accelerator's packages. Without a card some of them fail, and may.
_UNITS_OF_ACCELERATOR = {
    "habana": ("habana*", "hl-*"),
    "neuron": ("neuron*", "aws-neuron*"),
    "nvidia": ("nvidia*", "nv-*"),
}


def check_services(recipe: Recipe, stage: str) -> Iterator[Result]:
    """Yield a result for each service, and for each that waits for the first boot."""
    for service in _SERVICES:
        if service.is_in(recipe):
            yield _service(service, stage)
    if stage == BOOT and count(ACCELERATORS[recipe.accelerator]):
        yield _units_of_accelerator(recipe.accelerator)
    for unit in HELD:
        if run("systemctl", "cat", unit).ok:
            yield _held(unit)


def _service(service: Service, stage: str) -> Result:
    name = f"service {service.units[0].rpartition('.')[0]}"
    for unit in service.units:
        state = run("systemctl", "is-enabled", unit).output.strip()
        if state in _ENABLED:
            break
    else:
        return Result(name, "", "", FAILED, "is not enabled")
    if stage == BOOT and service.has_to_run():
        active = run("systemctl", "is-active", unit).output.strip()
        return verdict(name, active == "active", detail=f"is {active or 'unknown'}")
    return Result(name, "", "", OK)


def _units_of_accelerator(accelerator: str) -> Result:
    listed = run(
        *("systemctl", "list-units", "--all", "--state=failed", "--plain", "--no-legend"),
        *_UNITS_OF_ACCELERATOR[accelerator],
    )
    failed = [line.split()[0] for line in listed.output.splitlines() if line.strip()]
    return verdict(
        f"units of {accelerator}",
        listed.ok and not failed,
        detail=f"failed: {', '.join(failed)}; see journalctl --unit {failed[0]}"
        if failed
        else listed.last_line,
    )


def _held(unit: str) -> Result:
    """A drop-in of the AMI must hold it until the first boot is done."""
    required = run("systemctl", "show", "--property=Requires", "--value", unit).output.split()
    return verdict(
        f"hold of {unit.removesuffix('.service')}",
        "trainshed-first-boot.service" in required,
        detail="does not wait for trainshed-first-boot.service",
    )
