"""What clusters of one app share, and whether they agree on it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from ipaddress import IPv4Network
from typing import Any

from trainshed.documents.problems import Problem
from trainshed.plan.archives import archives_read_elsewhere
from trainshed.plan.cluster import ClusterPlan
from trainshed.plan.network import larger_range
from trainshed.plan.storage.lustre_efa import CONNECTIONS_MAX
from trainshed.plan.tags import shared_tag_problems
from trainshed.plan.zone import Zone
from trainshed.spec import ClusterSpec


def duplicate_names(specs: Iterable[ClusterSpec]) -> Iterator[Problem]:
    """Find clusters that are called like another one, or whose default names are the same.

    Otherwise `Train` and `TrainCluster` would share a network and a file system, and nobody asked
    for it.
    """
    first: dict[str, ClusterSpec] = {}
    for spec in specs:
        known = first.setdefault(spec.short_name, spec)
        if known is spec:
            continue
        there = _place(known, "name")
        if known.name == spec.name:
            message = f"{spec.name!r} is the name of another cluster ({there})"
        else:
            message = (
                f"{spec.name!r} and {known.name!r} ({there}) both shorten to "
                f"{spec.short_name!r}, so their stacks collide; rename one of them"
            )
        yield _problem(spec, "name", message)


def conflicts(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    """Find what two clusters want of one stack and cannot both have."""
    yield from _stack_conflicts(clusters)
    yield from _subnet_conflicts(clusters)
    yield from _control_plane_subnet_conflicts(clusters)
    yield from _tag_conflicts(clusters)
    yield from _efa_connection_conflicts(clusters)
    yield from _reservation_conflicts(clusters)
    yield from archives_read_elsewhere(clusters)


def _tag_conflicts(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    """What clusters share carries the tags of all of them."""
    users: dict[str, list[ClusterPlan]] = {}
    for cluster in clusters:
        for _, stack_name, _ in _stacks(cluster):
            users.setdefault(stack_name, []).append(cluster)
    for stack_name, sharers in users.items():
        if len(sharers) > 1:
            of_clusters = {each.name: each.tags for each in sharers}
            for message in shared_tag_problems(stack_name, of_clusters):
                yield _problem(sharers[-1], "tags", message)


def _stack_conflicts(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    owners: dict[str, tuple[str, ClusterPlan, dict[str, Any]]] = {}
    for cluster in clusters:
        for path, stack_name, wanted in _stacks(cluster):
            kind, first, theirs = owners.setdefault(stack_name, (path, cluster, wanted))
            there = f"{first.name} ({_place(first, kind)})"
            if kind != path:
                message = f"makes a stack called {stack_name}, and so does {kind} of {there}"
                yield _problem(cluster, path, f"{message}; rename one of them")
            elif wanted != theirs:
                message = f"shares the stack {stack_name} with {there}, but differs from it"
                yield _problem(cluster, path, f"{message}: {_differences(wanted, theirs)}")


def _stacks(cluster: ClusterPlan) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name each stack of a cluster: the field it comes from, its name, what must agree."""
    place = {
        "account": cluster.account,
        "region": cluster.region,
        "kms_key": cluster.security.kms_key,
        "iam.boundary": cluster.security.boundary,
        "iam.prefix": cluster.security.role_prefix,
    }
    # `duplicate_names` finds two clusters of one name.
    yield "name", cluster.name, {"its part": "the nodes"}
    yield "name", cluster.prerequisites_stack_name, {"its part": "the prerequisites"}
    network = replace(cluster.network, subnets=(), control_plane_subnets=(), endpoint_services=())
    yield "network", network.stack_name, place | asdict(network)
    for storage in cluster.storages:
        yield storage.field, storage.stack_name, place | storage.shared_facts
    if cluster.control_plane:
        # Its subnets follow from the zone of the nodes.
        zone = {"zone": cluster.zone.name}
        control_plane = asdict(cluster.control_plane)
        yield "kubernetes", cluster.control_plane.stack_name, place | zone | control_plane
    if cluster.repository:
        yield "image", cluster.repository.stack_name, place | asdict(cluster.repository)


def _differences(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} is {_shown(mine[name])} here and {_shown(theirs[name])} there"
        # Of a file system that is there already, the settings of a new one are not known.
        for name in mine
        if name in theirs and mine[name] != theirs[name]
    )


def _shown(value: Any) -> str:
    match value:
        case None | "":
            return "not set"
        case {"name": name}:
            return str(name)
        case dict():
            given = (f"{key}: {each}" for key, each in value.items() if each is not None)
            return f"{{{', '.join(given)}}}"
        case tuple():
            return f"[{', '.join(map(_shown, value))}]"
    return str(value)


def _efa_connection_conflicts(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    """All clients of a file system share its EFA connections."""
    users: dict[str, list[ClusterPlan]] = {}
    for cluster in clusters:
        if cluster.lustre and cluster.lustre_efa_interfaces:
            users.setdefault(cluster.lustre.stack_name, []).append(cluster)
    for sharers in users.values():
        needed = sum(c.nodes.max * c.lustre_efa_interfaces for c in sharers)
        if len(sharers) > 1 and needed > CONNECTIONS_MAX:
            names = ", ".join(cluster.name for cluster in sharers)
            yield _problem(
                sharers[-1],
                "storage.lustre.efa",
                f"the clusters that share the file system ({names}) need {needed} EFA connections "
                f"to it, and it takes {CONNECTIONS_MAX}; use fewer nodes, or a file system each",
            )


def _reservation_conflicts(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    """A reservation, or a Capacity Block, is of one type in one zone."""
    first_users: dict[str, ClusterPlan] = {}
    launches = [(user, id_) for user in clusters for id_ in user.capacity.reservation_ids]
    for cluster, reservation in launches:
        first = first_users.setdefault(reservation, cluster)
        mine, theirs = (
            {
                "account": each.account,
                "region": each.region,
                "zone": each.zone.name,
                "instance.type": each.instance.name,
            }
            for each in (cluster, first)
        )
        if mine != theirs:
            yield _problem(
                cluster,
                "capacity",
                f"launches into {reservation}, as does {first.name} "
                f"({_place(first, 'capacity')}), but differs from it: "
                f"{_differences(mine, theirs)}; a reservation is of one type in one zone",
            )


def _subnet_conflicts(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    """A subnet of a shared network is in one zone, and has addresses for all of its clusters."""
    users: dict[tuple[str, int], list[ClusterPlan]] = {}
    for cluster in clusters:
        if cluster.network.subnets:
            users.setdefault((cluster.network.stack_name, cluster.zone.index), []).append(cluster)
    for (stack_name, _), sharers in users.items():
        first, *others = sharers
        for cluster in others:
            if cluster.zone != first.zone:
                yield _problem(cluster, "zone", _two_names(cluster.zone, first))
        if others:
            yield from _crowded(stack_name, sharers)


def _control_plane_subnet_conflicts(clusters: Sequence[ClusterPlan]) -> Iterator[Problem]:
    """A small network has room for the second zone of one control plane, or of a few."""
    first_users: dict[tuple[str, IPv4Network], tuple[Zone, ClusterPlan]] = {}
    for cluster in clusters:
        for subnet in cluster.network.control_plane_subnets:
            place = cluster.network.stack_name, subnet.cidr
            zone, first = first_users.setdefault(place, (subnet.zone, cluster))
            if zone != subnet.zone:
                yield _problem(
                    cluster,
                    "network.cidr",
                    f"{subnet.cidr} would be a subnet of two zones: {subnet.zone.name} for the "
                    f"control plane of {cluster.name}, {zone.name} for that of {first.name} "
                    f"({_place(first, 'network')}), which shares the network; take a larger range, "
                    "or a network for each",
                )


def _two_names(zone: Zone, first: ClusterPlan) -> str:
    return (
        f"{zone.name} would get the subnet of {first.zone.name} of {first.name} "
        f"({_place(first, 'zone')}), which shares the network: name zones in one way, by ID"
    )


def _crowded(stack_name: str, sharers: Sequence[ClusterPlan]) -> Iterator[Problem]:
    last = sharers[-1]
    (subnet,) = last.network.subnets
    needed = addresses_of(sharers)
    if needed > subnet.usable_addresses:
        names = ", ".join(cluster.name for cluster in sharers)
        yield _problem(
            last,
            "network.cidr",
            f"the clusters that share {stack_name} ({names}) need {needed} addresses in "
            f"{subnet.private_cidr}, which has {subnet.usable_addresses}; "
            f"{larger_range(last.network.cidr, needed)}",
        )


def addresses_of(clusters: Sequence[ClusterPlan]) -> int:
    """Count the addresses that clusters take at their largest, in a subnet that they share."""
    services = {name for cluster in clusters for name in cluster.network.endpoint_services}
    storage = {each.stack_name: each.interfaces for c in clusters for each in c.storages}
    return sum(c.addresses for c in clusters) + len(services) + sum(storage.values())


def _problem(of: ClusterSpec | ClusterPlan, path: str, message: str) -> Problem:
    return Problem(where=of.where, path=tuple(path.split(".")), message=message)


def _place(of: ClusterSpec | ClusterPlan, path: str) -> str:
    return of.where.place(tuple(path.split(".")))
