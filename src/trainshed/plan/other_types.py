"""Which instance types EC2 may launch where it has no capacity of the cluster's own."""

from collections.abc import Sequence

from trainshed import catalogue
from trainshed.catalogue import InstanceType
from trainshed.catalogue.interchangeable import differences
from trainshed.errors import UnknownName
from trainshed.orchestrators import Orchestrator, traits
from trainshed.plan.notes import Notes
from trainshed.plan.zone import Zone

_FIELD = ("capacity", "instance_types")


def plan_other_types(
    notes: Notes,
    names: Sequence[str],
    instance: InstanceType | None,
    region: str | None,
    zone: Zone | None,
    usage_class: str,
) -> tuple[InstanceType, ...]:
    """Return the types after the first, and note what keeps them from being launched.

    Args:
        notes: for decisions and problems.
        names: of the types, in order of preference; none of a cluster of one type.
        instance: the type of the cluster, from which all is planned.
        region: of the cluster.
        zone: of the nodes.
        usage_class: how nodes are bought: `on-demand` or `spot`.
    """
    if not names or instance is None:
        return ()
    if why := traits(notes.spec.orchestrator, spot=notes.spec.on_spot).one_type:
        others = " or ".join(each for each in Orchestrator if not traits(each).one_type)
        notes.problem(_FIELD, f"{why}; use orchestrator {others}")
    if names[0] != instance.name:
        notes.problem(
            (*_FIELD, 0),
            f"is {names[0]}, and instance.type is {instance.name}: the first type is that of the "
            "cluster, from which interfaces are planned; write the same in both",
        )
    types = []
    for index, name in enumerate(names[1:], start=1):
        if name in names[:index]:
            notes.problem((*_FIELD, index), f"names {name} twice; leave one out")
            continue
        try:
            other = catalogue.lookup(name)
        except UnknownName as error:
            notes.problem((*_FIELD, index), str(error))
            continue
        if wrong := _problem(instance, other, region, zone, usage_class):
            notes.problem((*_FIELD, index), wrong)
        types.append(other)
    order = traits(notes.spec.orchestrator).spot_order if usage_class == "spot" else None
    notes.decide(
        "other instance types",
        ", ".join(each.name for each in types) or "none",
        f"not in this order: {order}"
        if order
        else "for the nodes that EC2 has no capacity for, in this order",
    )
    return tuple(types)


def _problem(
    instance: InstanceType,
    other: InstanceType,
    region: str | None,
    zone: Zone | None,
    usage_class: str,
) -> str | None:
    if unlike := "; ".join(differences(instance, other)):
        return f"{other.name} cannot be launched in place of {instance.name} ({unlike})"
    if usage_class not in other.usage_classes:
        return (
            f"{other.name} is not sold {'on Spot' if usage_class == 'spot' else 'on demand'} (its "
            f"usage classes: {', '.join(other.usage_classes)})"
        )
    if region is None or zone is None:
        return None
    zones = catalogue.zones_offering(other.name, region)
    if not zones:
        regions = ", ".join(catalogue.regions_offering(other.name))
        return f"{other.name} is not offered in {region} (offered in: {regions})"
    # Which ID a name stands for is the account's: preflight asks it.
    if zone.is_id and zone.name not in zones:
        return f"{other.name} is not offered in {zone.name} (zones that do: {', '.join(zones)})"
    return None
