"""The choices for a new project, and the cluster file that they give."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from trainshed.documents.problems import Problem
from trainshed.errors import TrainshedError
from trainshed.plan import ClusterPlan, load_fleet
from trainshed.spec import SpecError

ON_DEMAND = "on-demand"
_CAPACITY = re.compile(r"(reservation|capacity-block)=(.+)")
# The option that a field of the cluster file comes from; fields within these come from it too.
_OPTIONS = {
    ("name",): "--name",
    ("region",): "--region",
    ("instance", "nodes"): "--nodes",
    ("instance",): "--type",
    ("storage",): "--storage",
    ("capacity",): "--capacity",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What `trainshed init` asks for.

    Attributes:
        name: of the cluster and its stack.
        region: AWS region.
        instance_type: EC2 instance type of the nodes.
        nodes: the largest number of nodes.
        storage: whether the cluster gets a Lustre file system, of the smallest size.
        capacity: `on-demand`, `reservation=cr-...` or `capacity-block=cr-...`.
    """

    name: str
    region: str
    instance_type: str
    nodes: int
    storage: bool
    capacity: str

    @property
    def stem(self) -> str:
        """Name of the cluster's file without its ending: `train` for `TrainCluster`."""
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", self.name.removesuffix("Cluster"))
        return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-") or "cluster"

    def cluster_text(self) -> str:
        """Return the cluster file.

        Raises:
            TrainshedError: the capacity has none of its forms.
        """
        lines = [
            "# yaml-language-server: $schema=../cluster.schema.json",
            f"name: {_scalar(self.name)}",
            f"region: {_scalar(self.region)}",
            "instance:",
            f"  type: {_scalar(self.instance_type)}",
            f"  nodes: {{max: {self.nodes}}}",
        ]
        if self.storage:
            lines += [
                "storage:",
                "  lustre: {deployment: persistent-2, capacity_gib: 1200, mount: /fsx}",
            ]
        if self.capacity != ON_DEMAND:
            lines.append(f"capacity: {{{_capacity(self.capacity)}}}")
        return "\n".join(lines) + "\n"


def plan_choices(choices: Choices) -> ClusterPlan:
    """Plan the cluster of a new project, as its app will.

    Raises:
        TrainshedError: choices that contradict AWS or each other; the message names the options.
    """
    with TemporaryDirectory(prefix="trainshed-init-") as folder:
        file = Path(folder) / f"{choices.stem}.yaml"
        file.write_text(choices.cluster_text(), encoding="utf-8")
        try:
            [plan] = load_fleet([file]).clusters
        except SpecError as error:
            messages = dict.fromkeys(map(_by_option, error.problems))
            raise TrainshedError(*messages) from error
    return plan


def _by_option(problem: Problem) -> str:
    option = next((o for path, o in _OPTIONS.items() if problem.path[: len(path)] == path), None)
    return f"{option}: {problem.message}" if option else problem.message


def _capacity(text: str) -> str:
    found = _CAPACITY.fullmatch(text)
    if not found:
        raise TrainshedError(
            f"--capacity: {text!r} is not {ON_DEMAND}, reservation=cr-... or capacity-block=cr-..."
        )
    return f"{found[1].replace('-', '_')}: {_scalar(found[2])}"


def _scalar(text: str) -> str:
    """Return a text as YAML: plain where that is safe, else quoted."""
    return text if re.fullmatch(r"[A-Za-z][A-Za-z0-9.-]*", text) else json.dumps(text)
