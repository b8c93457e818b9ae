"""The parts of a cluster: what holds of every tree, whatever starts the jobs."""

from collections import Counter
from collections.abc import Callable

import pytest

from trainshed.parts.cluster import part_order, planned_cluster, planned_facts, planned_links
from trainshed.parts.model import all_parts
from trainshed.plan import ClusterPlan
from trainshed.prices import unit_of

CLUSTERS = {
    "batch": "storage: {lustre: {capacity_gib: 4800, s3: {bucket: our-data}}}",
    "batch, much of others": "network: {vpc: vpc-01234567, subnet: subnet-01234567}\n"
    "image: {uri: 'public.ecr.aws/ours/train:v1'}",
    "ec2": "orchestrator: ec2\nstorage: {lustre: {capacity_gib: 4800, metadata_iops: 12000}}\n"
    "network: {endpoints: [logs]}",
}
every_cluster = pytest.mark.parametrize("more", CLUSTERS.values(), ids=CLUSTERS)


@pytest.fixture
def plan(planned: Callable[[str], ClusterPlan], more: str) -> ClusterPlan:
    return planned(
        "name: TrainCluster\nregion: us-west-2\nzone: usw2-az4\n"
        f"instance: {{type: trn1.32xlarge, nodes: {{max: 4}}}}\n{more}\n"
    )


@every_cluster
def test_a_fact_is_named_once(plan: ClusterPlan) -> None:
    told = Counter(fact.name for part in all_parts(planned_cluster(plan)) for fact in part.facts)

    assert set(told.values()) == {1}
    assert told.keys() == planned_facts(plan).keys()


@every_cluster
def test_arrows_lead_to_parts_that_come_later(plan: ClusterPlan) -> None:
    kinds = [part.kind for part in all_parts(planned_cluster(plan))]

    assert len(kinds) == len(set(kinds))
    order = [kind for kind in part_order() if kind in kinds]
    links = list(planned_links(plan))
    assert links
    assert all(order.index(each.start) < order.index(each.end) for each in links)


@every_cluster
def test_what_is_paid_for_has_a_price(plan: ClusterPlan) -> None:
    charges = [each for part in all_parts(planned_cluster(plan)) for each in part.charges]

    assert charges
    assert all(unit_of(charge.item) for charge in charges)


NFS = "{mount: /home, existing: fs-0123456789abcdef0}"
# By kind and settings of shared storage: its facts, and what is paid for with the units of each.
STORAGES = {
    "efs: {mount: /home, archive_days: 90, backup: false}": (
        {
            "EFS": "elastic throughput",
            "EFS backup": "none",
            "EFS Infrequent Access": "after 30 days",
            "EFS Archive": "after 90 days",
            "EFS mount": "/home",
            "name of the EFS": "train",
        },
        {"files in EFS": 1, "writes to EFS": 1},
    ),
    f"efs: {NFS}": (
        {
            "EFS": "fs-0123456789abcdef0, existing",
            "EFS mount": "/home",
            "name of the EFS": "train",
        },
        {},
    ),
    "openzfs: {mount: /home}": (
        {
            "OpenZFS": "64 GiB, 160 MB/s",
            "OpenZFS compression": "zstd",
            "OpenZFS mount": "/home",
            "name of the OpenZFS": "train",
        },
        {"OpenZFS, 64 GiB": 64, "OpenZFS throughput, 160 MB/s": 160, "backups of OpenZFS": 1},
    ),
    f"openzfs: {NFS}": (
        {
            "OpenZFS": "fs-0123456789abcdef0, existing",
            "OpenZFS mount": "/home",
            "name of the OpenZFS": "train",
        },
        {},
    ),
    "bucket: {mount: /data, mount_prefix: sets/, lifecycle: [{prefix: old/, glacier_days: 30}]}": (
        {
            "S3 bucket": "new",
            "S3 lifecycle": "objects under old/ to Glacier after 30 days",
            "S3 mount": "/data",
            "part of S3 that is mounted": "sets/",
            "access of jobs to S3": "read-write",
            "name of the S3 bucket": "train",
        },
        {"objects in S3 Standard": 1, "objects in S3 Glacier": 1, "moves to S3 Glacier": 1},
    ),
    "bucket: {existing: our-data}": (
        {
            "S3 bucket": "our-data, existing",
            "S3 mount": "",
            "part of S3 that is mounted": "",
            "access of jobs to S3": "read-write",
            "name of the S3 bucket": "train",
        },
        {},
    ),
}


@pytest.mark.parametrize("storage", STORAGES)
def test_shared_storage_tells_what_it_is_and_what_is_paid_for(
    planned: Callable[[str], ClusterPlan], storage: str
) -> None:
    kind = storage.partition(":")[0].replace("bucket", "s3")
    plan = planned(
        "name: TrainCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
        f"storage: {{{storage}}}\n"
    )

    (part,) = (each for each in all_parts(planned_cluster(plan)) if each.kind == kind)

    facts = {fact.name: fact.value for fact in part.facts}
    assert (facts, {each.component: each.units for each in part.charges}) == STORAGES[storage]
