"""Groups of Kubernetes that the access entries of a cluster are in.

Access policies of EKS cannot be changed and know no JobSets and no nodes; RBAC gives these to
groups. EKS user guide, "Create access entries": a group's name begins with nothing of AWS's own.
"""

from trainshed.orchestrators.eks.traits import AccessPolicy


def access_group(policy: AccessPolicy, namespace: str | None) -> str:
    """Return the group of the entries with a policy.

    Args:
        policy: what they may do.
        namespace: the only one where they may do it, or None for all.
    """
    return f"trainshed:{policy}:{namespace}" if namespace else f"trainshed:{policy}"


def groups_in(namespace: str, *policies: AccessPolicy) -> tuple[str, ...]:
    """Return the groups of all entries that some policies hold for in a namespace."""
    return tuple(access_group(policy, where) for policy in policies for where in (None, namespace))
