"""The VPC of an eksctl cluster, and who reaches its API server."""

from ipaddress import IPv4Network
from typing import Any

from trainshed.lint.cluster_files.draft import Draft, fits, mapping
from trainshed.lint.eksctl_groups import EksctlGroup
from trainshed.lint.model import Known
from trainshed.spec import forms

_EVERYWHERE = "0.0.0.0/0"
_PREFIXES, _SERVICE_PREFIXES = range(16, 23), range(12, 25)


def write_network(
    draft: Draft, file: dict[str, Any], group: EksctlGroup, *, shared_name: str
) -> None:
    """Write `network`, `zone` and the addresses in `kubernetes`.

    Args:
        draft: to write into.
        file: the whole eksctl file.
        group: the node group.
        shared_name: of what the clusters of the file share.
    """
    vpc = mapping(file.get("vpc"))
    private = mapping(mapping(vpc.get("subnets")).get("private"))
    zone, own = _place(group, private)
    if zone:
        draft.set("zone", zone)
    if vpc.get("id") is not None:
        _existing(draft, vpc["id"], private, own)
    else:
        draft.set("network", "name", shared_name)
        if cidr := _range(vpc.get("cidr"), _PREFIXES):
            draft.set("network", "cidr", cidr)
        elif vpc.get("cidr") is not None:
            draft.note(f"network.cidr: {vpc['cidr']} is left out; here a VPC has /16 to /22")
    _write_addresses(draft, file, vpc)


def _write_addresses(draft: Draft, file: dict[str, Any], vpc: Any) -> None:
    ranges = vpc.get("publicAccessCIDRs")
    ranges = ranges if isinstance(ranges, list) else []
    given = [_range(each, range(33)) for each in ranges]
    # EKS takes no reserved ranges, such as those of documents.
    sound = [each for each in given if each and not IPv4Network(each).is_private]
    if given and sound == given and _EVERYWHERE not in given:
        draft.set("kubernetes", "public_cidrs", given)
    else:
        draft.note(
            "kubernetes.public_cidrs: the API server is reached from its VPC alone; name the ranges"
            " of your offices if it must be reached over the internet"
        )
    services = mapping(file.get("kubernetesNetworkConfig")).get("serviceIPv4CIDR")
    if found := _range(services, _SERVICE_PREFIXES):
        draft.set("kubernetes", "service_cidr", found)


def _place(group: EksctlGroup, private: Any) -> tuple[str | None, str | None]:
    """Return the zone of a group, and the private subnet that the file lists for it."""
    zones, subnets = group.zones, group.subnets
    zone = zones.value[0] if isinstance(zones, Known) and len(zones.value) == 1 else None
    named = subnets.value[0] if isinstance(subnets, Known) and len(subnets.value) == 1 else None
    for key, entry in private.items():
        its_zone, its_id = _zone_of(key, entry), mapping(entry).get("id")
        if named in (key, its_id) if named else zone and its_zone == zone:
            return its_zone if fits(_ZONE, its_zone) else zone, its_id
    return zone if fits(_ZONE, zone) else None, named


_ZONE = "[a-z]{2}(-[a-z]+)+-[0-9][a-z]"


def _zone_of(key: str, entry: object) -> str:
    return str(mapping(entry).get("az", key))


def _existing(draft: Draft, vpc: object, private: Any, own: str | None) -> None:
    """Write an existing VPC, where the file says enough of it."""
    zones = {
        mapping(entry).get("id"): _zone_of(key, entry)
        for key, entry in private.items()
        if fits(forms.SUBNET.pattern, mapping(entry).get("id"))
    }
    others = [each for each in zones if zones[each] != zones.get(own)]
    if fits(forms.VPC.pattern, vpc) and own in zones and others:
        draft.set("network", "vpc", vpc)
        draft.set("network", "subnet", own)
        draft.set("kubernetes", "subnet", others[0])
        return
    draft.note(
        f"network: a new VPC in place of {vpc}; to use that, give vpc, the private subnet of the "
        "nodes, and in kubernetes.subnet one in another zone"
    )


def _range(value: object, prefixes: range) -> str | None:
    """Return a range of addresses, if a cluster file takes it."""
    try:
        found = IPv4Network(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return str(found) if found and found.prefixlen in prefixes else None
