"""What EKS refuses in the settings of a node group.

API reference: NodegroupScalingConfig, NodegroupUpdateConfig, NodeRepairConfig, Taint. From memory:
the words and the default sizes.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Row
from embedded_aws.eks.calls import invalid, unsupported

_NAME_LENGTH, _TAINTS, _UNAVAILABLE = 63, 50, 100
_OVERRIDE = (
    *("nodeMonitoringCondition", "nodeUnhealthyReason", "minRepairWaitTimeMins"),
    "repairAction",
)
_REPAIR_PAIRS = ("maxUnhealthyNodeThreshold", "maxParallelNodesRepaired")


def check_settings(given: Mapping[str, Any]) -> None:
    """Refuse settings of a node group.

    Args:
        given: what CreateNodegroup or UpdateNodegroupConfig is given.

    Raises:
        Refusal: InvalidParameterException.
    """
    if len(given["nodegroupName"]) > _NAME_LENGTH:
        raise invalid(f"nodegroupName can't be longer than {_NAME_LENGTH} characters!")
    _check_update(given.get("updateConfig", {}))
    _check_repair(given.get("nodeRepairConfig", {}))
    taints = given.get("taints", [])
    if isinstance(taints, list) and len(taints) > _TAINTS:
        raise invalid(f"A node group has at most {_TAINTS} taints")
    if given.get("warmPoolConfig", {}).get("enabled"):
        raise unsupported("warm pools")


def sizes_of(asked: Mapping[str, int]) -> Row:
    """Return the sizes of a node group.

    Raises:
        Refusal: only some are given, or they are not in order.
    """
    sizes = {"minSize": 1, "maxSize": 2, "desiredSize": 2} | dict(asked)
    if asked and set(asked) != set(sizes):
        raise invalid("minSize, maxSize and desiredSize must all be given, or none")
    low, high, wanted = sizes["minSize"], sizes["maxSize"], sizes["desiredSize"]
    if low > wanted:
        raise invalid(f"Minimum capacity {low} can't be greater than desired size {wanted}")
    if wanted > high:
        raise invalid(f"desired capacity {wanted} can't be greater than max size {high}")
    return sizes


def _check_update(update: Mapping[str, Any]) -> None:
    if {"maxUnavailable", "maxUnavailablePercentage"} <= set(update):
        raise invalid("Only one of maxUnavailable and maxUnavailablePercentage can be specified")
    if update.get("maxUnavailable", 1) > _UNAVAILABLE:
        raise invalid(f"maxUnavailable can't be greater than {_UNAVAILABLE}")


def _check_repair(repair: Mapping[str, Any]) -> None:
    for name in _REPAIR_PAIRS:
        if {f"{name}Count", f"{name}Percentage"} <= set(repair):
            raise invalid(f"Only one of {name}Count and {name}Percentage can be specified")
    for override in repair.get("nodeRepairConfigOverrides", []):
        if missing := [name for name in _OVERRIDE if name not in override]:
            raise invalid(f"nodeRepairConfigOverrides needs {', '.join(missing)}")
