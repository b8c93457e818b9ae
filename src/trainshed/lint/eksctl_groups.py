"""The node groups of an eksctl cluster file.

Fields and defaults are those of eksctl's schema: https://docs.eksctl.io/usage/schema/ and
`pkg/apis/eksctl.io/v1alpha5/{types,defaults}.go` of github.com/eksctl-io/eksctl.
"""

from dataclasses import dataclass

from trainshed.documents.yaml import Value
from trainshed.lint.model import Given, Known, NodeGroup, Unknown, single
from trainshed.lint.section import FileSection

# defaults.go, DefaultNodeCount.
_DEFAULT_NODES = 2
# Values of `ami` that leave the choice to eksctl.
_CHOSEN_BY_EKSCTL = ("auto", "auto-ssm", "static")
_RESERVATION = ("capacityReservation", "capacityReservationTarget")
# eksctl takes keys in any case; its schema has ID and ARN.
_RESERVATION_ID = ("capacityReservationID", "capacityReservationId")
_RESERVATION_GROUP = ("capacityReservationResourceGroupARN", "capacityReservationResourceGroupArn")


@dataclass(frozen=True, slots=True, kw_only=True)
class EksctlGroup(NodeGroup):
    """A node group of eksctl.

    Attributes:
        managed: by EKS; otherwise eksctl makes the Auto Scaling group itself.
        own_name: as the file has it.
        keys: of all that the file gives for it.
        reservation_id: of the capacity reservation or block.
        reservation: that id, or ARN of a group of them.
        market: type of market, which is `capacity-block` for one.
        made_group: whether eksctl makes a placement group for it.
        in_public_subnets: whether its subnets are public.
        listed_subnets: how many the file lists of the kind that it is put into; None for none.
        template_version: of the launch template that it names; None where it names none.
        bootstrap: the command or document that replaces eksctl's own.
        of_eksctl: its settings that eksctl cannot make on an AMI of one's own, by their names.
        attached: security groups that the file adds.
        shared_security_group: whether its nodes are in the group that eksctl's nodes share.
        local_security_group: whether they are in one of their own.
    """

    managed: bool = True
    own_name: Given[str] = None
    keys: tuple[str, ...] = ()
    reservation_id: Given[str] = None
    reservation: Given[str] = None
    market: Given[str] = None
    made_group: Given[bool] = None
    in_public_subnets: Given[bool] = None
    listed_subnets: int | None = None
    template_version: Given[str] = None
    bootstrap: Given[str] = None
    of_eksctl: tuple[str, ...] = ()
    attached: Given[tuple[str, ...]] = None
    shared_security_group: Given[bool] = None
    local_security_group: Given[bool] = None


def read_groups(root: FileSection) -> tuple[EksctlGroup, ...]:
    """Return the node groups of a file.

    Raises:
        UnreadableFile: a list of node groups is none.
    """
    return tuple(
        _group(group, root, managed=key == "managedNodeGroups")
        for key in ("nodeGroups", "managedNodeGroups")
        for group in root.sections(key)
    )


def _group(group: FileSection, root: FileSection, *, managed: bool) -> EksctlGroup:
    name = group.text("name")
    ami = group.text("ami")
    chosen = isinstance(ami, Known) and ami.value in _CHOSEN_BY_EKSCTL
    return EksctlGroup(
        name=name.value if isinstance(name, Known) else ".".join(map(str, group.path)),
        path=group.path,
        launch="eksctl",
        managed=managed,
        own_name=name,
        keys=tuple(group.value),
        instance_types=_instance_types(group),
        nodes=_nodes(group),
        efa=_efa(group),
        placement_group=group.text("placement", "groupName"),
        made_group=_made_group(group, managed=managed),
        image=None if chosen else ami,
        image_type=group.text("amiFamily"),
        subnets=group.references("subnets"),
        zones=group.references("availabilityZones"),
        purchase=_purchase(group),
        root_gib=group.whole("volumeSize"),
        reservation_id=_first(group, _RESERVATION_ID),
        reservation=_first(group, (*_RESERVATION_ID, *_RESERVATION_GROUP)),
        market=group.text("instanceMarketOptions", "marketType"),
        in_public_subnets=_in_public_subnets(group, root),
        listed_subnets=_listed_subnets(group, root),
        template_version=_template_version(group),
        bootstrap=group.verbatim("overrideBootstrapCommand"),
        of_eksctl=tuple(key for key in ("maxPodsPerNode", "releaseVersion") if group.gives(key)),
        attached=group.references("securityGroups", "attachIDs"),
        shared_security_group=group.flag("securityGroups", "withShared"),
        local_security_group=group.flag("securityGroups", "withLocal"),
    )


def _template_version(group: FileSection) -> Given[str]:
    if not group.gives("launchTemplate"):
        return None
    # Without a version EKS takes the template's default one.
    return group.text("launchTemplate", "version") or Known(
        value="$Default", path=(*group.path, "launchTemplate")
    )


def _instance_types(group: FileSection) -> Given[tuple[str, ...]]:
    if group.gives("instanceSelector"):
        return Unknown(
            why="instanceSelector, which eksctl resolves when it runs",
            path=(*group.path, "instanceSelector"),
        )
    several = group.texts("instanceTypes") or group.texts("instancesDistribution", "instanceTypes")
    return several or single(group.text("instanceType"))


def _nodes(group: FileSection) -> Given[int]:
    return (
        group.whole("maxSize")
        or group.whole("desiredCapacity")
        or group.whole("minSize")
        or Known(value=_DEFAULT_NODES, path=group.path)
    )


def _efa(group: FileSection) -> Given[bool]:
    if asked := group.flag("efaEnabled"):
        return asked
    # With a launch template of somebody else's, eksctl makes no interfaces.
    return None if group.gives("launchTemplate") else Known(value=False, path=group.path)


def _made_group(group: FileSection, *, managed: bool) -> Given[bool]:
    """Return whether eksctl makes a placement group.

    It does for every group with EFA that names none, except for managed ones with a reservation:
    https://github.com/eksctl-io/eksctl/pull/8220.
    """
    named = group.gives("placement", "groupName")
    if named or (managed and group.gives("capacityReservation")):
        return None
    return _efa(group)


def _first(group: FileSection, keys: tuple[str, ...]) -> Given[str]:
    """Return the first text that the target of the reservation has under some keys."""
    for key in keys:
        if named := group.text(*_RESERVATION, key):
            return named
    return None


def _listed_subnets(group: FileSection, root: FileSection) -> int | None:
    private = group.flag("privateNetworking")
    kind = "private" if isinstance(private, Known) and private.value else "public"
    return len(_subnets(root, kind)) or None


def _purchase(group: FileSection) -> Given[str]:
    """Return how the nodes are bought; with self-managed groups the distribution says so."""
    spot = group.flag("spot")
    on_demand = group.whole("instancesDistribution", "onDemandPercentageAboveBaseCapacity")
    if isinstance(on_demand, Known):
        spot = Known(value=on_demand.value < 100, path=on_demand.path)
    elif on_demand:
        spot = on_demand
    on_its_own = not group.gives("launchTemplate")
    default = Known(value="on-demand", path=group.path) if on_its_own else None
    market = group.text("instanceMarketOptions", "marketType")
    if not isinstance(spot, Known):
        return spot or market or default
    return Known(value="spot", path=spot.path) if spot.value else market or default


def _in_public_subnets(group: FileSection, root: FileSection) -> Known[bool] | Unknown:
    private = group.flag("privateNetworking") or root.flag("privateCluster", "enabled")
    if isinstance(private, Unknown):
        return private
    asked = bool(private and private.value)
    if not group.gives("subnets"):
        return Known(value=not asked, path=private.path if private else group.path)
    path = (*group.path, "subnets")
    named = group.references("subnets")
    if not isinstance(named, Known):
        return named or Unknown(why="the subnets", path=path)
    public, others = _declared(root, "public"), _declared(root, "private")
    # eksctl looks for a name among those of its kind first, and refuses private ones otherwise:
    # selectNodeGroupSubnetsFromIDs of pkg/vpc/vpc.go.
    if any(name in public and not (asked and name in others) for name in named.value):
        return Known(value=True, path=path)
    if asked or all(name in others for name in named.value):
        return Known(value=False, path=path)
    return Unknown(why="the subnets", path=path)


def _declared(root: FileSection, kind: str) -> set[str]:
    """Return the names and the ids of the subnets that the file calls public, or private."""
    found = _subnets(root, kind)
    ids = {str(entry.get("id")) for entry in found.values() if isinstance(entry, dict)}
    return {*found, *ids}


def _subnets(root: FileSection, kind: str) -> dict[str, Value]:
    found: Value = dict(root.value)
    for key in ("vpc", "subnets", kind):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
