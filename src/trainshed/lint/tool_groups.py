"""Node groups for which eksctl or ParallelCluster makes interfaces and placement groups."""

from trainshed.catalogue import InstanceType
from trainshed.lint.eksctl import eksctl_groups
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.model import LintedFile, NodeGroup
from trainshed.lint.parallelcluster import QueueNodes, slurm_nodes
from trainshed.lint.parts import known_types
from trainshed.lint.read import read

Group = EksctlGroup | QueueNodes


def tool_groups(document: LintedFile) -> tuple[Group, ...]:
    """Return the groups for which a tool makes what EFA needs."""
    return (*eksctl_groups(document), *slurm_nodes(document))


def named_types(group: NodeGroup) -> tuple[InstanceType, ...]:
    """Return the types of a group; those that the catalogue does not have are left out.

    Raises:
        NotDecided: the file does not decide the types.
    """
    types = read(group.instance_types)
    return tuple(known_types(types.value)) if types else ()


def has_efa(group: NodeGroup) -> bool:
    """Whether the tool is asked for EFA.

    Raises:
        NotDecided: the file does not decide it.
    """
    efa = read(group.efa)
    return bool(efa and efa.value)
