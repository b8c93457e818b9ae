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
