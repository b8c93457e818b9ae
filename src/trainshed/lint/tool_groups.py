"""Node groups for which eksctl or ParallelCluster makes interfaces and placement groups."""

from trainshed import catalogue
from trainshed.catalogue import InstanceType
from trainshed.lint.eksctl import EksctlGroup, eksctl_groups
from trainshed.lint.model import Document, NodeGroup
from trainshed.lint.parallelcluster import QueueNodes, slurm_nodes
from trainshed.lint.rule import decided

Group = EksctlGroup | QueueNodes


def tool_groups(document: Document) -> tuple[Group, ...]:
    """Return the groups for which a tool makes what EFA needs."""
    return (*eksctl_groups(document), *slurm_nodes(document))


def types_of(group: NodeGroup) -> tuple[InstanceType, ...]:
    """Return the types of a group; those that the catalogue does not have are left out.

    Raises:
        NotDecided: the file does not decide the types.
    """
    types = decided(group.instance_types)
    known = catalogue.all_types()
    return tuple(catalogue.lookup(name) for name in (types.value if types else ()) if name in known)


def has_efa(group: NodeGroup) -> bool:
    """Whether the tool is asked for EFA.

    Raises:
        NotDecided: the file does not decide it.
    """
    efa = decided(group.efa)
    return bool(efa and efa.value)
