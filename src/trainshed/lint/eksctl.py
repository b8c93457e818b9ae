"""Read an eksctl cluster file (ClusterConfig, eksctl.io/v1alpha5).

Fields and defaults are those of eksctl's schema: https://docs.eksctl.io/usage/schema/ and
`pkg/apis/eksctl.io/v1alpha5/{types,defaults}.go` of github.com/eksctl-io/eksctl.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.documents.yaml import Value
from trainshed.lint.model import FileKind, Given, Known, LintedFile, NodeGroup, Unknown, single
from trainshed.lint.reading import Content
from trainshed.lint.section import FileSection

_API = "eksctl.io/"
# defaults.go, DefaultNodeCount.
_DEFAULT_NODES = 2
# Values of `ami` that leave the choice to eksctl.
_CHOSEN_BY_EKSCTL = ("auto", "auto-ssm", "static")
_RESERVATION = ("capacityReservation", "capacityReservationTarget")
# eksctl takes keys in any case; its schema has ID and ARN.
_RESERVATION_KEYS = (
    "capacityReservationID",
    "capacityReservationId",
    "capacityReservationResourceGroupARN",
    "capacityReservationResourceGroupArn",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EksctlGroup(NodeGroup):
    """A node group of eksctl.

    Attributes:
        reservation: id of the capacity reservation or block, or ARN of a group of them.
        made_group: whether eksctl makes a placement group for it.
        in_public_subnets: whether its subnets are public.
        template_version: of the launch template that it names; None where it names none.
    """

    reservation: Given[str] = None
    made_group: Given[bool] = None
    in_public_subnets: Given[bool] = None
    template_version: Given[str] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EksctlCluster(LintedFile):
    """An eksctl cluster file.

    Attributes:
        groups: its node groups.
        version: of Kubernetes.
    """

    groups: tuple[EksctlGroup, ...]
    version: Given[str] = None


def is_eksctl(value: Mapping[str, Value]) -> bool:
    """Whether a mapping is an eksctl cluster file."""
    return str(value.get("apiVersion")).startswith(_API)


def read_eksctl(content: Content) -> tuple[EksctlCluster]:
    """Return what an eksctl cluster file asks of AWS.

    Raises:
        UnreadableFile: a list of node groups is none.
    """
    root = FileSection(value=content.value, path=(), where=content.where)
    groups = tuple(
        _group(group, root, managed=key == "managedNodeGroups")
        for key in ("nodeGroups", "managedNodeGroups")
        for group in root.sections(key)
    )
    cluster = EksctlCluster(
        kind=FileKind.EKSCTL,
        where=content.where,
        region=root.text("metadata", "region"),
        version=root.text("metadata", "version"),
        groups=groups,
        not_judged=tuple(
            Unknown(
                why=f"what the launch template of {group.name} sets",
                path=(*group.path, "launchTemplate"),
            )
            for group in groups
            if group.template_version
        ),
    )
    return (cluster,)


def eksctl_groups(document: LintedFile) -> tuple[EksctlGroup, ...]:
    """Return the node groups of a file; none of a file of another kind."""
    return document.groups if isinstance(document, EksctlCluster) else ()


def _group(group: FileSection, root: FileSection, *, managed: bool) -> EksctlGroup:
    name = group.text("name")
    ami = group.text("ami")
    chosen = isinstance(ami, Known) and ami.value in _CHOSEN_BY_EKSCTL
    return EksctlGroup(
        name=name.value if isinstance(name, Known) else ".".join(map(str, group.path)),
        path=group.path,
        launch="eksctl",
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
        reservation=_reservation(group),
        in_public_subnets=_in_public_subnets(group, root),
        template_version=_template_version(group),
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


def _reservation(group: FileSection) -> Given[str]:
    for key in _RESERVATION_KEYS:
        if named := group.text(*_RESERVATION, key):
            return named
    return None


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
    found: Value = dict(root.value)
    for key in ("vpc", "subnets", kind):
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return set()
    ids = {str(entry.get("id")) for entry in found.values() if isinstance(entry, dict)}
    return {*found, *ids}
