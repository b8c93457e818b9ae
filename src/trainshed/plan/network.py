"""The VPC: its subnets, and whether the nodes' addresses fit."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from trainshed.catalogue.kubernetes import WITHOUT_CONTROL_PLANE
from trainshed.orchestrators import traits
from trainshed.plan.notes import Notes, origin
from trainshed.plan.stack_names import stack_name
from trainshed.plan.zone import Zone, other_zones
from trainshed.spec import Endpoint, NetworkSpec

_DEFAULT_CIDR = IPv4Network("10.20.0.0/16")
_PREFIXES = range(16, 23)
# RFC 1918 and RFC 6598, the ranges that the VPC guide recommends.
_PRIVATE = tuple(
    IPv4Network(cidr) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
# Each zone has an eighth of the VPC.
_ZONE_BITS = 3
# Amazon VPC user guide, "Subnet CIDR blocks": a subnet has 16 addresses at least, which is what the
# EKS user guide, "Amazon EKS networking requirements", recommends for a control plane.
_SMALLEST_PREFIX = 28
# AWS keeps the first four addresses of a subnet and the last one.
_AWS_RESERVED = 5
# What containers of a multi-node job need of the VPC's default security group.
JOB_RULES = "all traffic between its members, TCP 443 to anywhere"
# An interface endpoint takes one address for each service name behind it.
_ENDPOINT_SERVICES = {
    Endpoint.BATCH: ("batch",),
    Endpoint.CLOUDFORMATION: ("cloudformation",),
    Endpoint.EC2: ("ec2",),
    Endpoint.ECR: ("ecr.api", "ecr.dkr"),
    Endpoint.ECS: ("ecs", "ecs-agent", "ecs-telemetry"),
    Endpoint.LOGS: ("logs",),
    Endpoint.SSM: ("ssm", "ssmmessages", "ec2messages"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetPlan:
    """The subnets of one zone.

    Attributes:
        zone: the zone.
        private_cidr: for nodes, storage and endpoints.
        public_cidr: for the NAT gateway.
    """

    zone: Zone
    private_cidr: IPv4Network
    public_cidr: IPv4Network

    @property
    def usable_addresses(self) -> int:
        """Private addresses that AWS does not keep for itself."""
        return self.private_cidr.num_addresses - _AWS_RESERVED


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneSubnet:
    """A small subnet in a zone without nodes, for a control plane that needs two zones.

    Attributes:
        zone: the zone.
        cidr: its 16 addresses.
    """

    zone: Zone
    cidr: IPv4Network


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPlan:
    """A VPC, new or existing.

    Attributes:
        name: what clusters share it by.
        stack_name: stack that owns it.
        cidr: address range of a new VPC; None for an existing one.
        subnets: of a new VPC, one for each zone in use.
        control_plane_subnets: of a new VPC, those of the control planes in it.
        endpoint_services: service names of the interface endpoints, for instance `ecr.api`.
        vpc_id: id of an existing VPC; None for a new one.
        subnet_id: id of its private subnet.
        zone: zone of the existing subnet.
        default_security_group_id: id of an existing VPC's default group, if rules are
            to be added to it.
    """

    name: str
    stack_name: str
    cidr: IPv4Network | None = None
    subnets: tuple[SubnetPlan, ...] = ()
    control_plane_subnets: tuple[ControlPlaneSubnet, ...] = ()
    endpoint_services: tuple[str, ...] = ()
    vpc_id: str | None = None
    subnet_id: str | None = None
    zone: Zone | None = None
    default_security_group_id: str | None = None


def plan_network(notes: Notes, region: str | None, zone: Zone | None) -> NetworkPlan:
    """Lay out the VPC for one cluster; clusters that share it add their zones later."""
    asked: NetworkSpec = notes.spec.network
    name = asked.name or notes.spec.short_name
    stack = stack_name(name, "Network")
    if asked.vpc:
        notes.decide("network", f"{asked.vpc}, {asked.subnet}", "an existing one, as asked")
        if traits(notes.spec.orchestrator, spot=notes.spec.on_spot).uses_default_group:
            if asked.default_security_group:
                _decide_default_group(notes, asked.vpc, asked.default_security_group)
        elif asked.default_security_group:
            notes.problem(
                "network.default_security_group",
                "only multi-node jobs of AWS Batch use it, and "
                + (
                    "on Spot it runs none"
                    if traits(notes.spec.orchestrator).uses_default_group
                    else f"orchestrator is {notes.spec.orchestrator}"
                )
                + "; leave it out",
            )
        return NetworkPlan(
            name=name,
            stack_name=stack,
            vpc_id=asked.vpc,
            subnet_id=asked.subnet,
            zone=zone,
            default_security_group_id=asked.default_security_group,
        )
    cidr = asked.cidr or _DEFAULT_CIDR
    if (near := _nearest_range(cidr)) != cidr:
        notes.problem(
            "network.cidr",
            f"{cidr} is not allowed; did you mean {near}? (allowed: a private range from "
            f"/{_PREFIXES[0]} to /{_PREFIXES[-1]})",
        )
        zone = None
    control_plane = (
        tuple(_control_plane_subnets(notes, region, zone, cidr))
        if region and zone and traits(notes.spec.orchestrator).control_plane
        else ()
    )
    services = (service for endpoint in asked.endpoints for service in _ENDPOINT_SERVICES[endpoint])
    network = NetworkPlan(
        name=name,
        stack_name=stack,
        cidr=cidr,
        subnets=(_subnet(cidr, zone),) if zone else (),
        control_plane_subnets=control_plane,
        endpoint_services=tuple(dict.fromkeys(services)),
    )
    _decide_new(notes, network)
    return network


def _decide_new(notes: Notes, network: NetworkPlan) -> None:
    """Note a new VPC's ranges, and how its nodes reach what is outside."""
    for subnet in network.subnets:
        notes.decide(
            "network",
            f"new VPC {network.cidr}, nodes in {subnet.private_cidr}",
            f"{origin(notes.spec.network, 'cidr')}; each zone has an eighth of the VPC",
        )
    for second in network.control_plane_subnets:
        notes.decide(
            "subnet of the control plane",
            f"{second.cidr} in {second.zone.name}",
            "EKS asks for two zones; the nodes are in one",
        )
    endpoints = ", ".join(("S3", *network.endpoint_services))
    notes.decide(
        "way out",
        f"NAT gateway; endpoints: {endpoints}",
        "nodes have no public address; traffic to an endpoint's service stays in the VPC",
    )


def _decide_default_group(notes: Notes, vpc_id: str, group_id: str) -> None:
    """Note what is added to the default group of an existing VPC."""
    notes.decide(
        "default security group",
        f"{group_id}: {JOB_RULES}",
        f"multi-node jobs use the default group of {vpc_id}; what it allows already stays as it "
        "is, and what is added goes with the last stack that needs it",
    )


def _nearest_range(cidr: IPv4Network) -> IPv4Network:
    """Return the range itself when it can be a VPC's, else the most similar one that can."""
    if not any(cidr.subnet_of(private) for private in _PRIVATE):
        return _DEFAULT_CIDR
    prefix = min(max(cidr.prefixlen, _PREFIXES[0]), _PREFIXES[-1])
    return IPv4Network((cidr.network_address, prefix), strict=False)


def _subnet(cidr: IPv4Network, zone: Zone) -> SubnetPlan:
    """Give the zone an eighth of the VPC, and an eighth of the last eighth as its public side."""
    eighths = list(cidr.subnets(prefixlen_diff=_ZONE_BITS))
    return SubnetPlan(
        zone=zone,
        private_cidr=eighths[zone.index],
        public_cidr=list(eighths[-1].subnets(prefixlen_diff=_ZONE_BITS))[zone.index],
    )


def _control_plane_subnets(
    notes: Notes, region: str, zone: Zone, cidr: IPv4Network
) -> Iterator[ControlPlaneSubnet]:
    """Give a control plane its second zone; both, where it cannot be in the nodes' zone.

    They are in the part of the VPC that no zone's public side takes, the last 64th.
    """
    last = list(cidr.subnets(prefixlen_diff=2 * _ZONE_BITS))[-1]
    blocks = list(last.subnets(new_prefix=_SMALLEST_PREFIX))
    needed = 2 if zone.name in WITHOUT_CONTROL_PLANE else 1
    if len(blocks) < needed:
        notes.problem(
            "network.cidr",
            f"{cidr} has room for one subnet of the control plane, which needs {needed}, because "
            f"EKS has none in {zone.name}; take a larger range",
        )
    for other in other_zones(zone, region, without=WITHOUT_CONTROL_PLANE)[:needed]:
        yield ControlPlaneSubnet(zone=other, cidr=blocks[other.index % len(blocks)])


def check_addresses(
    notes: Notes, network: NetworkPlan, *, of_node: int, of_job: int, of_storage: int
) -> None:
    """Refuse a subnet that cannot hold the largest cluster.

    Args:
        notes: where problems go.
        network: the cluster's network.
        of_node: addresses of a node's own interfaces.
        of_job: addresses that a job takes on each node.
        of_storage: addresses that the file system takes.
    """
    nodes = notes.spec.instance.nodes.max
    others = len(network.endpoint_services) + of_storage
    needed = nodes * (of_node + of_job) + others
    which = "interfaces with an address" + (", and the job's own" if of_job else "")
    for subnet in network.subnets:
        usable = subnet.usable_addresses
        if needed > usable:
            notes.problem(
                "network.cidr",
                f"{network.cidr} gives the subnet {subnet.private_cidr} with {usable} usable "
                f"addresses, but {nodes} nodes x {of_node + of_job} ({which}) + {others} for "
                f"endpoints and storage are {needed}; "
                f"{larger_range(network.cidr, needed)}",
            )


def larger_range(cidr: IPv4Network | None, needed: int) -> str:
    """Say which range gives a zone the addresses needed, or that none does."""
    for prefix in reversed(_PREFIXES):
        if cidr and needed <= 2 ** (32 - prefix - _ZONE_BITS) - _AWS_RESERVED:
            return f"take {IPv4Network((cidr.network_address, prefix), strict=False)}"
    return "take fewer nodes, or a profile with efa-only interfaces: no VPC is large enough"
