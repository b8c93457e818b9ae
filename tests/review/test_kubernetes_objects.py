"""What a review says of the objects of a cluster in Kubernetes."""

from dataclasses import replace
from pathlib import Path

import pytest

from trainshed.kubernetes.job_template import JobPodPlan
from trainshed.kubernetes.objects import ObjectsPlan, cluster_objects, manifest
from trainshed.review.kubernetes_objects import Objects, object_changes, read_objects
from trainshed.review.model import Effect

PLAN = ObjectsPlan(
    cluster="OneCluster",
    region="us-west-2",
    namespace="one",
    service_account="jobs",
    accelerator="aws.amazon.com/neuron",
    efa=True,
    shared={},
    editors=("trainshed:edit",),
    viewers=(),
    nodes=4,
    job=JobPodPlan(
        image="one:v1",
        resources={"cpu": "126", "aws.amazon.com/neuron": "16"},
        shared_memory_mib=1024,
        environment={},
        folders={},
        attempts=3,
        timeout_seconds=3600,
    ),
)


def side(folder: Path, *plans: ObjectsPlan) -> Objects:
    (folder / "kube").mkdir(parents=True)
    for plan in plans:
        text = manifest(cluster_objects(plan))
        (folder / "kube" / f"{plan.cluster}.yaml").write_text(text)
    return read_objects(folder)


def test_the_same_objects_differ_in_nothing(tmp_path: Path) -> None:
    before, after = side(tmp_path / "before", PLAN), side(tmp_path / "after", PLAN)

    assert len(before["kube/OneCluster.yaml"]) == 17
    assert object_changes(before, after) == ()


def test_what_is_added_removed_and_changed_is_told(tmp_path: Path) -> None:
    before = side(tmp_path / "before", PLAN)
    after = side(
        tmp_path / "after",
        replace(PLAN, efa=False, shared={"lustre": "/fsx"}, editors=("trainshed:admin",)),
    )

    [file] = object_changes(before, after)

    assert (file.name, file.effect) == ("kube/OneCluster.yaml", Effect.CHANGED)
    assert [(each.effect.value, each.resource_type, each.name) for each in file.resources] == [
        ("removed", "DaemonSet", "kube-system/trainshed-one-efa"),
        ("changed", "RoleBinding", "one/edit-jobs"),
        ("changed", "ClusterRoleBinding", "trainshed-one-view-nodes"),
        ("added", "PersistentVolume", "trainshed-one-lustre"),
        ("added", "PersistentVolumeClaim", "one/lustre"),
    ]
    [change] = file.resources[1].properties
    assert (change.path, change.before, change.after) == (
        "subjects[0].name",
        "trainshed:edit",
        "trainshed:admin",
    )


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        pytest.param((), (PLAN,), Effect.ADDED, id="added"),
        pytest.param((PLAN,), (), Effect.REMOVED, id="removed"),
    ],
)
def test_a_cluster_comes_and_goes_with_all_its_objects(
    tmp_path: Path,
    before: tuple[ObjectsPlan, ...],
    after: tuple[ObjectsPlan, ...],
    effect: Effect,
) -> None:
    [file] = object_changes(side(tmp_path / "a", *before), side(tmp_path / "b", *after))

    assert file.effect is effect
    assert {each.effect for each in file.resources} == {effect}
    assert len(file.resources) == 17


def test_an_assembly_without_kubernetes_has_none(tmp_path: Path) -> None:
    assert read_objects(tmp_path) == {}
