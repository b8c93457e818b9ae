"""Which metrics a cluster sends, and what is common to all of them."""

from dataclasses import replace
from itertools import product

import pytest

from trainshed.metrics import (
    CLUSTER,
    EFA_METRICS,
    NAMESPACE,
    Metric,
    accelerator_metrics,
    sent_metrics,
)
from trainshed.metrics.exporters import OURS
from trainshed.nodes.cells import ACCELERATORS, AGENTS

_SENT = [sent_metrics(*each, efa=True) for each in product(ACCELERATORS, AGENTS)]


@pytest.mark.parametrize("sent", _SENT)
def test_a_node_sends_each_metric_once_with_the_clusters_name(sent: tuple[Metric, ...]) -> None:
    assert len({each.name for each in sent}) == len(sent)
    assert {(each.namespace, each.dimensions) for each in sent} == {(NAMESPACE, (CLUSTER,))}


@pytest.mark.parametrize("accelerator", ACCELERATORS)
def test_each_maker_has_the_use_and_the_faults_of_its_devices(accelerator: str) -> None:
    metrics = accelerator_metrics(accelerator, "ecs")

    assert metrics.faults
    assert metrics.full_utilization in (1, 100)
    assert len(set(metrics.all)) == len(metrics.all)


def test_nodes_of_nvidia_for_eks_send_all_but_the_last_xid_by_the_exporter_of_the_ami() -> None:
    by_agent = {
        agent: {each.name: each for each in accelerator_metrics("nvidia", agent).all}
        for agent in ("ecs", "eks-1.35")
    }

    assert set(by_agent["ecs"]) - set(by_agent["eks-1.35"]) == {"DCGM_FI_DEV_XID_ERRORS"}
    for name, metric in by_agent["eks-1.35"].items():
        assert metric == replace(by_agent["ecs"][name], source=OURS.name)
    assert set(by_agent["eks-1.35"].values()) <= set(sent_metrics("nvidia", "eks-1.35", efa=False))


def test_nodes_without_efa_send_nothing_of_it() -> None:
    assert not set(EFA_METRICS.all) & set(sent_metrics("nvidia", "ec2", efa=False))
