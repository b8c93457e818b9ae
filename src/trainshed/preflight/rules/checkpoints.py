"""What writing checkpoints to file systems that are there already takes from training."""

from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.catalogue.efs import BURST_MIBPS_PER_TIB, CLIENT_MIBPS, LEAST_BURST_MIBPS, SLOW_MIBPS
from trainshed.catalogue.lustre import SCRATCH_THROUGHPUT, sustained_throughput
from trainshed.checkpoints import (
    MBPS_PER_MIBPS,
    Clients,
    checkpoint_of,
    clients_of,
    elastic_efs_mbps,
    own_offers,
    reached_lustre,
)
from trainshed.checks.slow_checkpoints import slow_checkpoints
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import StorageKind, StoragePlan
from trainshed.preflight.rules.efs import efs_file_system
from trainshed.preflight.rules.storage import fsx_file_system
from trainshed.preflight.subject import Subject, accounts


@rule(
    "TS-ACC-068",
    over=accounts,
    title="Accelerators wait for checkpoints on an existing file system",
    when="training is given, and storage.lustre, efs or openzfs names an existing file system",
    why="""
While a checkpoint is written, to the fastest file system of the cluster and as fast as the nodes
reach that, the accelerators wait, and are paid for: here for more than a tenth of the time. The
account knows how fast its file systems are: Lustre by its storage and throughput, OpenZFS by its
throughput, EFS by its throughput mode: with Elastic throughput it writes what its quota is by
default in the region, and with bursting throughput this is what it writes while it has burst
credits.
""",
    actions=("fsx:DescribeFileSystems", "elasticfilesystem:DescribeFileSystems"),
    basis=Basis.INFERRED,
    sources=(
        "https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html",
        "https://docs.aws.amazon.com/efs/latest/ug/performance.html",
    ),
    severity=Severity.WARNING,
)
def waiting_for_existing_storage(subject: Subject) -> Iterator[Violation]:
    """The fastest file system writes a checkpoint in a ninth of the time between two."""
    plan, clients = subject.plan, clients_of(subject.plan)
    existing = [each for each in plan.storages if each.existing and each is not plan.bucket]
    if not plan.training or not existing:
        return
    checkpoint = checkpoint_of(plan.training)
    speeds = {each.kind: _mbps(subject, each, clients) for each in existing}
    own = max((offer.mbps for offer in own_offers(plan, checkpoint)), default=0)
    known = {kind: mbps for kind, mbps in speeds.items() if mbps is not None}
    # One that is not there, or of an unknown kind, may be faster.
    if len(known) < len(speeds):
        return
    fastest = max(known, key=known.__getitem__)
    yield from slow_checkpoints(
        plan, checkpoint, max(own, known[fastest]), ("storage", fastest, "existing")
    )


def _mbps(subject: Subject, storage: StoragePlan, clients: Clients) -> float | None:
    """Return the MB/s that the nodes write to an existing file system; None if nobody knows."""
    named = storage.existing or ""
    if storage.kind is StorageKind.EFS:
        efs = efs_file_system(subject, named)
        return None if efs is None else _of_efs(efs, clients)
    found = fsx_file_system(subject, named)
    if found is None or found["FileSystemType"] != storage.kind.upper():
        return None
    if storage.kind is StorageKind.OPENZFS:
        return min(float(found["OpenZFSConfiguration"]["ThroughputCapacity"]), clients.mbps)
    over_efa = clients.lustre_efa and found["LustreConfiguration"].get("EfaEnabled", False)
    return reached_lustre(clients, _of_lustre(found), over_efa=over_efa)


def _of_lustre(found: Mapping[str, Any]) -> float:
    """Return the MB/s of a Lustre file system: with Intelligent-Tiering they are given whole."""
    lustre = found["LustreConfiguration"]
    if "ThroughputCapacity" in lustre:
        return float(lustre["ThroughputCapacity"])
    scratch = lustre["DeploymentType"].startswith("SCRATCH")
    per_tib = SCRATCH_THROUGHPUT if scratch else lustre["PerUnitStorageThroughput"]
    return sustained_throughput(found["StorageCapacity"], per_tib)


def _of_efs(efs: Mapping[str, Any], clients: Clients) -> float:
    elastic, one_zone = efs["ThroughputMode"] == "elastic", "AvailabilityZoneName" in efs
    if elastic and not one_zone:
        return elastic_efs_mbps(clients)
    mibps = float(SLOW_MIBPS if elastic else efs.get("ProvisionedThroughputInMibps", 0))
    if not mibps:
        tib = efs["SizeInBytes"]["Value"] / 2**40
        mibps = max(LEAST_BURST_MIBPS, BURST_MIBPS_PER_TIB * tib)
    return min(mibps, clients.nodes * CLIENT_MIBPS) * MBPS_PER_MIBPS
