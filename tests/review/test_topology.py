"""The picture of a cluster in a review: its parts, and which of them are marked."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from planned_types import TAKEN

from trainshed.plan import ClusterPlan
from trainshed.review.model import Effect, Mark, Part, ResourceChange, StackChange, Topology
from trainshed.review.topology import topology
from trainshed.spec import Orchestrator

TRAIN = """
name: TrainCluster
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 16}}
storage: {lustre: {capacity_gib: 4800, s3: {bucket: our-data}}}
"""
BARE = "name: TrainCluster\nregion: us-west-2\nzone: usw2-az4\ninstance: {type: trn1.32xlarge}\n"


def parts(picture: Topology) -> dict[str, Part]:
    return {part.kind: part for part in picture.all_parts}


def marks(picture: Topology) -> dict[str, Mark]:
    return {kind: part.mark for kind, part in parts(picture).items() if part.mark is not Mark.SAME}


def stack(name: str, effect: Effect, *resources: tuple[str, str, Effect]) -> StackChange:
    return StackChange(
        name=name,
        effect=effect,
        resources=tuple(
            ResourceChange(
                stack=name, logical_id="Id", name=path, resource_type=resource_type, effect=what
            )
            for resource_type, path, what in resources
        ),
    )


def test_a_picture_shows_what_a_cluster_has(planned: Callable[[str], ClusterPlan]) -> None:
    plan = planned(TRAIN)

    picture = topology(plan, plan, ())

    assert picture.title == "TrainCluster in us-west-2"
    lines = {kind: part.lines for kind, part in parts(picture).items()}
    assert lines == {
        "job": ("job definition", "container image: train:v1"),
        "queue": ("job queue",),
        "environment": ("compute environment",),
        "zone": ("zone: usw2-az4",),
        "network": ("VPC: new, 10.20.0.0/16",),
        "public": ("public subnet: 10.20.236.0/22", "NAT gateway: 1, with an Elastic IP"),
        "private": ("private subnet: 10.20.96.0/19",),
        "nodes": (
            "nodes: 0 to 16",
            "instance type: trn1.32xlarge",
            "capacity: on-demand",
            "placement group: cluster",
            "AMI: /trainshed/ami/neuron/ecs/stable",
        ),
        "cards": (
            "network cards: 8",
            "interfaces: 1 x efa + 7 x efa-only",
            "interface layout: batch-mnp",
            "EFA: 800 of 800 Gbps",
        ),
        "accelerators": ("accelerators: 16 x Trainium (neuron), 32 GiB, 2 NeuronCores each",),
        "storage": (
            "file system: Lustre persistent-2",
            "storage: 4800 GiB",
            "storage throughput: 250 MB/s per TiB",
            "storage network: TCP",
            "storage mount: /fsx",
        ),
        "bucket": ("linked bucket: s3://our-data/",),
        "repository": ("ECR repository: train",),
    }
    (zone,) = (part for part in picture.parts if part.kind == "zone")
    (network,) = zone.parts
    public, private = network.parts
    nodes, storage = private.parts
    assert [part.kind for part in nodes.parts] == ["cards", "accelerators"]
    assert (public.kind, storage.kind) == ("public", "storage")
    assert [(link.start, link.end) for link in picture.links] == [
        ("job", "queue"),
        ("queue", "environment"),
        ("environment", "nodes"),
        ("nodes", "repository"),
        ("nodes", "storage"),
        ("storage", "bucket"),
    ]


def test_plain_nodes_have_a_document_and_a_group(planned: Callable[[str], ClusterPlan]) -> None:
    plan = planned(BARE + "orchestrator: ec2\n")

    picture = topology(plan, plan, ())

    assert {"document", "group"} <= set(parts(picture))
    assert not {"job", "queue", "environment", "repository"} & set(parts(picture))
    assert {(link.start, link.end) for link in picture.links} == {
        ("document", "nodes"),
        ("group", "nodes"),
    }


def test_an_image_of_somebody_else_is_pulled_from_there(
    planned: Callable[[str], ClusterPlan],
) -> None:
    plan = planned(BARE + "image: {uri: 'public.ecr.aws/ours/train:7'}\n")

    picture = topology(plan, plan, ())

    assert "container image: public.ecr.aws/ours/train:7" in parts(picture)["job"].lines
    assert ("nodes", "registry") in {(link.start, link.end) for link in picture.links}


def test_an_existing_network_has_no_public_subnet(planned: Callable[[str], ClusterPlan]) -> None:
    plan = planned(BARE + "network: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}")

    shown = parts(topology(plan, plan, ()))

    assert shown["network"].lines == ("VPC: vpc-0123456789abcdef0, existing",)
    assert shown["private"].lines == ("private subnet: subnet-0123456789abcdef0, existing",)
    assert "public" not in shown


@pytest.mark.parametrize(
    ("text", "expected", "lines"),
    [
        pytest.param(
            TRAIN.replace("max: 16", "min: 2, max: 8"),
            {"nodes": Mark.CHANGED},
            ["nodes: 0 to 16 → 2 to 8"],
            id="nodes",
        ),
        pytest.param(
            TRAIN.replace("nodes: {", "interfaces: combined, nodes: {"),
            {"cards": Mark.CHANGED},
            [
                "interfaces: 1 x efa + 7 x efa-only → 8 x efa",
                "interface layout: batch-mnp → combined",
            ],
            id="interfaces",
        ),
        pytest.param(
            TRAIN.replace("nodes: {", "root_gib: 512, nodes: {"),
            {"nodes": Mark.CHANGED},
            ["root volume: 200 GiB, 1000 MiB/s → 512 GiB, 1000 MiB/s"],
            id="a minor fact",
        ),
        pytest.param(
            TRAIN.replace("4800,", "4800, deployment: scratch-2,"),
            {"storage": Mark.CHANGED},
            [
                "file system: Lustre persistent-2 → Lustre scratch-2",
                "storage throughput: 250 MB/s per TiB → none",
            ],
            id="storage",
        ),
        pytest.param(
            TRAIN.replace("usw2-az4", "usw2-az1"),
            {"zone": Mark.CHANGED, "public": Mark.CHANGED, "private": Mark.CHANGED},
            ["zone: usw2-az4 → usw2-az1", "private subnet: 10.20.96.0/19 → 10.20.0.0/19"],
            id="zone",
        ),
        pytest.param(
            TRAIN.replace("storage: {", "network: {endpoints: [ecr]}\nstorage: {"),
            {"network": Mark.CHANGED},
            ["endpoints: S3 → S3, ecr.api, ecr.dkr"],
            id="endpoints",
        ),
        pytest.param(
            TRAIN + "job: {environment: {TOKEN: hunter2}, attempts: 1}\n",
            {"job": Mark.CHANGED},
            ["attempts of a job: 3 → 1", "variables of a job: none → TOKEN"],
            id="job",
        ),
    ],
)
def test_what_differs_is_marked_and_shown_before_and_after(
    planned: Callable[[str], ClusterPlan],
    text: str,
    expected: dict[str, Mark],
    lines: list[str],
) -> None:
    before, after = planned(TRAIN), planned(text)

    picture = topology(before, after, ())

    assert marks(picture) == expected
    shown = [line for part in parts(picture).values() for line in part.lines]
    assert [line for line in lines if line in shown] == lines
    assert "hunter2" not in str(picture)


def test_what_goes_is_still_drawn_with_its_arrows(planned: Callable[[str], ClusterPlan]) -> None:
    after = planned(TRAIN.partition("storage")[0])

    picture = topology(planned(TRAIN), after, ())

    assert marks(picture) == {"storage": Mark.REMOVED, "bucket": Mark.REMOVED}
    assert parts(picture)["storage"].lines[1] == "storage: 4800 GiB"
    assert ("nodes", "storage") in {(link.start, link.end) for link in picture.links}


def test_what_comes_is_marked(planned: Callable[[str], ClusterPlan]) -> None:
    before = planned(TRAIN.partition("storage")[0])

    picture = topology(before, planned(TRAIN), ())

    assert marks(picture) == {"storage": Mark.ADDED, "bucket": Mark.ADDED}


FILE_SYSTEM, SUBNET = "AWS::FSx::FileSystem", "AWS::EC2::Subnet"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            stack(
                "TrainStorage", Effect.CHANGED, (FILE_SYSTEM, "Lustre/FileSystem", Effect.REPLACED)
            ),
            {"storage": Mark.REPLACED},
            id="replaced",
        ),
        pytest.param(
            stack(
                "TrainStorage",
                Effect.CHANGED,
                (FILE_SYSTEM, "Lustre/PersistentFileSystem", Effect.REMOVED),
                (FILE_SYSTEM, "Lustre/ScratchFileSystem", Effect.ADDED),
            ),
            {"storage": Mark.REPLACED},
            id="another in its place",
        ),
        pytest.param(
            stack(
                "TrainCluster",
                Effect.CHANGED,
                ("AWS::Batch::ComputeEnvironment", "Batch/Environment", Effect.MAY_BE_REPLACED),
                ("AWS::EC2::LaunchTemplate", "Nodes/Template", Effect.CHANGED),
                ("AWS::IAM::Role", "Batch/JobRole", Effect.REPLACED),
            ),
            {"environment": Mark.MAY_BE_REPLACED, "nodes": Mark.CHANGED},
            id="the worst of several",
        ),
        pytest.param(
            stack(
                "TrainCluster",
                Effect.CHANGED,
                ("AWS::EC2::PlacementGroup", "Placement/Group", Effect.REMOVED),
            ),
            {"nodes": Mark.CHANGED},
            id="a part of it is removed",
        ),
        pytest.param(
            stack(
                "TrainNetwork",
                Effect.CHANGED,
                (SUBNET, "Network/usw2-az1/Private", Effect.REMOVED),
                ("AWS::EC2::NatGateway", "Network/usw2-az4/Nat", Effect.REPLACED),
            ),
            {"public": Mark.REPLACED},
            id="subnets of other zones are not its own",
        ),
        pytest.param(
            stack("OtherStorage", Effect.CHANGED, (FILE_SYSTEM, "Lustre", Effect.REPLACED)),
            {},
            id="another stack",
        ),
    ],
)
def test_what_happens_to_its_resources_marks_a_part(
    planned: Callable[[str], ClusterPlan], change: StackChange, expected: dict[str, Mark]
) -> None:
    plan = planned(TRAIN)

    assert marks(topology(plan, plan, [change])) == expected


def test_the_worst_of_plan_and_resources_wins(planned: Callable[[str], ClusterPlan]) -> None:
    after = planned(TRAIN.replace("4800", "7200"))
    grown = stack("TrainStorage", Effect.CHANGED, (FILE_SYSTEM, "Lustre", Effect.REPLACED))

    picture = topology(planned(TRAIN), after, [grown])

    assert marks(picture) == {"storage": Mark.REPLACED}
    assert "storage: 4800 GiB → 7200 GiB" in parts(picture)["storage"].lines


@pytest.mark.parametrize(
    ("effect", "mark"), [(Effect.ADDED, Mark.ADDED), (Effect.REMOVED, Mark.REMOVED)]
)
def test_of_a_whole_cluster_only_its_own_stacks_come_or_go(
    planned: Callable[[str], ClusterPlan], effect: Effect, mark: Mark
) -> None:
    plan = planned(TRAIN)
    before, after = (None, plan) if effect is Effect.ADDED else (plan, None)
    changes = [
        stack("TrainCluster", effect),
        stack("TrainNetwork", Effect.CHANGED, (SUBNET, "Network/usw2-az4/Private", effect)),
    ]

    picture = topology(before, after, changes)

    own = ("job", "queue", "environment", "nodes", "cards", "accelerators")
    assert marks(picture) == {kind: mark for kind in (*own, "private")}


def test_nothing_is_marked_where_nothing_is_known_of_before(
    planned: Callable[[str], ClusterPlan],
) -> None:
    assert marks(topology(None, planned(TRAIN), ())) == {}


@pytest.mark.parametrize(("name", "orchestrator"), TAKEN)
def test_every_type_has_a_picture_in_which_nothing_is_marked(
    plan_of: Callable[[str, Orchestrator], ClusterPlan], name: str, orchestrator: Orchestrator
) -> None:
    plan = plan_of(name, orchestrator)

    picture = topology(plan, replace(plan), ())

    assert marks(picture) == {}
    assert {link.start for link in picture.links} | {link.end for link in picture.links} <= set(
        parts(picture)
    )
    counts = [line for line in parts(picture)["cards"].lines if line.startswith("interfaces: ")]
    numbers = [int(word) for word in counts[0].split() if word.isdigit()]
    assert sum(numbers) == len(plan.interfaces)
