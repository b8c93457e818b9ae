"""The control plane of a cluster: its version, its ranges, who may use it."""

from ipaddress import IPv4Network
from pathlib import Path

from trainshed.catalogue.kubernetes import (
    KubernetesVersion,
    default_kubernetes,
    kubernetes_versions,
)
from trainshed.day import today
from trainshed.errors import TrainshedError, did_you_mean
from trainshed.orchestrators.eks.access_groups import access_group
from trainshed.orchestrators.eks.traits import AccessPolicy, KubernetesSpec
from trainshed.plan.control_plane import ADD_ONS, AccessEntry, ControlPlanePlan
from trainshed.plan.kube_lock import KubeLock, lock_file, read_lock
from trainshed.plan.network import NetworkPlan
from trainshed.plan.notes import Notes
from trainshed.plan.stack_names import stack_name

# EKS API reference, KubernetesNetworkConfigRequest: the two ranges that EKS itself chooses from,
# and what it takes of others.
_SERVICE_CIDRS = (IPv4Network("10.100.0.0/16"), IPv4Network("172.20.0.0/16"))
_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_PREFIXES = range(12, 25)
_DEFAULT = "the version that EKS takes by default"
_NO_CHARTS = ("charts of JobSet and Kueue", "not installed by trainshed")


def plan_control_plane(notes: Notes, network: NetworkPlan) -> ControlPlanePlan:
    """Resolve the section `kubernetes`.

    Args:
        notes: for decisions and problems.
        network: that the cluster is in.
    """
    asked = notes.spec.section(KubernetesSpec)
    name = asked.name or notes.spec.short_name
    if network.vpc_id and not asked.subnet:
        notes.problem(
            "kubernetes.subnet",
            f"is missing: EKS's control plane needs subnets in two zones; name a private subnet of "
            f"{network.vpc_id} in another zone than {network.subnet_id}",
        )
    if asked.subnet and asked.subnet == network.subnet_id:
        notes.problem(
            "kubernetes.subnet",
            f"{asked.subnet} is the subnet of the nodes, and EKS's control plane needs subnets in "
            "two zones; name one in another zone",
        )
    if asked.subnet and not network.vpc_id:
        notes.problem(
            "kubernetes.subnet", "is for an existing VPC; leave it out, or give network.vpc"
        )
    _check_public(notes, asked)
    version = _version(notes, asked)
    plan = ControlPlanePlan(
        name=name,
        stack_name=stack_name(name, "ControlPlane"),
        network=network.name,
        version=version,
        service_cidr=_service_cidr(notes, asked, network),
        public_cidrs=asked.public_cidrs,
        access=tuple(
            AccessEntry(
                role=each.role,
                policy=policy_name(each.policy),
                namespace=each.namespace,
                group=access_group(each.policy, each.namespace),
            )
            for each in asked.access
        ),
        subnet_id=asked.subnet,
        lock=_lock(notes, name, version),
    )
    _check_access(notes, asked)
    notes.decide(
        "API server",
        f"reached from {', '.join(map(str, plan.public_cidrs)) or 'its VPC alone'}",
        "as asked, and from its VPC" if plan.public_cidrs else "kubernetes.public_cidrs names none",
    )
    notes.decide(
        "access to Kubernetes",
        ", ".join(_shown(each) for each in plan.access) or "nobody",
        "as asked; who deploys the cluster has none by that",
    )
    return plan


def _lock(notes: Notes, name: str, version: KubernetesVersion) -> KubeLock | None:
    """Read the lock beside the cluster file, if there is one."""
    file = lock_file(Path(notes.spec.where.file), name)
    try:
        lock = read_lock(file)
    except TrainshedError as error:
        notes.problem(
            "kubernetes",
            f"{error}; take the file from version control, or delete it and run: trainshed kube "
            f"lock {notes.spec.name}",
        )
        return None
    if lock and lock.kubernetes != version.name:
        notes.problem(
            "kubernetes.version",
            f"is {version.name}, and {file} is for {lock.kubernetes}, whose add-ons may not run "
            f"there; delete that file and run: trainshed kube lock {notes.spec.name}",
        )
        return None
    if lock is None:
        why = f"there is no {file}, as trainshed kube lock writes it"
        notes.decide("add-ons", _DEFAULT, why)
        notes.decide(*_NO_CHARTS, why)
        return None
    for each in ADD_ONS:
        locked = lock.add_ons.get(each)
        notes.decide(
            f"add-on {each}", locked or _DEFAULT, f"{file} {'has' if locked else 'lacks'} it"
        )
    for each, chart in sorted(lock.charts.items()):
        notes.decide(f"chart {each}", chart.version, f"{file} has it, with digest {chart.digest}")
    if not lock.charts:
        notes.decide(*_NO_CHARTS, f"{file} has none; trainshed kube lock adds them")
    return lock


def _version(notes: Notes, asked: KubernetesSpec) -> KubernetesVersion:
    default = default_kubernetes()
    if asked.version is None:
        notes.decide("Kubernetes", default.name, "the default")
        return default
    sold = {each.name: each for each in kubernetes_versions() if each.standard_until >= today()}
    if found := sold.get(asked.version):
        notes.decide("Kubernetes", found.name, "as asked")
        return found
    known = {each.name: each for each in kubernetes_versions()}
    if old := known.get(asked.version):
        ended = f"had standard support until {old.standard_until}"
        if old.extended_until < today():
            ended += f" and extended support until {old.extended_until}"
        problem = f"{asked.version} {ended}, and EKS upgrades it by itself"
    else:
        problem = f"{asked.version!r} is not a version that EKS has" + did_you_mean(
            asked.version, tuple(sold)
        )
    notes.problem("kubernetes.version", f"{problem} (allowed: {', '.join(sold)})")
    return default


def _service_cidr(notes: Notes, asked: KubernetesSpec, network: NetworkPlan) -> IPv4Network:
    own = network.cidr
    if (cidr := asked.service_cidr) is None:
        chosen = next(each for each in _SERVICE_CIDRS if not (own and each.overlaps(own)))
        notes.decide("range of services", chosen, f"the default beside {own or network.vpc_id}")
        return chosen
    if not any(cidr.subnet_of(private) for private in _PRIVATE) or cidr.prefixlen not in _PREFIXES:
        notes.problem(
            "kubernetes.service_cidr",
            f"{cidr} is not allowed (allowed: a part of "
            f"{', '.join(map(str, _PRIVATE))}, /{_PREFIXES[0]} to /{_PREFIXES[-1]})",
        )
    if own and cidr.overlaps(own):
        notes.problem(
            "kubernetes.service_cidr",
            f"{cidr} overlaps the VPC's range {own}, so that nodes would reach services and not "
            "addresses of the VPC; take another one, or leave it out",
        )
    notes.decide("range of services", cidr, "as asked")
    return cidr


def _check_public(notes: Notes, asked: KubernetesSpec) -> None:
    """Refuse what EKS refuses: EKS user guide, "Cluster API server endpoint", no reserved ones."""
    for index, cidr in enumerate(asked.public_cidrs):
        if cidr.is_private:
            notes.problem(
                ("kubernetes", "public_cidrs", str(index)),
                f"{cidr} is private or reserved, and nothing on the internet has such an address; "
                "name the addresses by which your network reaches the internet, or leave it out",
            )


def _check_access(notes: Notes, asked: KubernetesSpec) -> None:
    first: dict[str, int] = {}
    for index, grant in enumerate(asked.access):
        if (known := first.setdefault(grant.role, index)) != index:
            notes.problem(
                ("kubernetes", "access", str(index), "role"),
                f"{grant.role!r} has an entry already, number {known + 1}, and EKS takes one for "
                "each role; leave one of them out",
            )


def policy_name(policy: AccessPolicy) -> str:
    """Return AWS's name of a policy: EKS user guide, "Review access policy permissions"."""
    words = "".join(word.capitalize() for word in policy.split("-"))
    return f"AmazonEKS{words}Policy"


def _shown(entry: AccessEntry) -> str:
    where = f" in {entry.namespace}" if entry.namespace else ""
    return f"{entry.role}: {entry.policy}{where}"
