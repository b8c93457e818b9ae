"""What `trainshed lint` reads of ParallelCluster's configurations, and finds in them."""

import re
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainshed.documents.problems import Where
from trainshed.documents.yaml import parse_document
from trainshed.findings import Finding
from trainshed.lint.judging import lint_documents
from trainshed.lint.model import Given, Known, LintedFile, Unknown
from trainshed.lint.parallelcluster import (
    ParallelCluster,
    QueueNodes,
    is_parallelcluster,
    read_parallelcluster,
)
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import Content, UnreadableFile, parse_content

_HEAD = """\
Region: us-west-2
Image: {Os: alinux2023}
HeadNode:
  InstanceType: m5.large
  Networking: {SubnetId: subnet-1}
"""


def configuration(rest: str) -> ParallelCluster:
    """Read a configuration that has these sections besides image and head node."""
    document = parse_document(_HEAD + dedent(rest))
    assert isinstance(document.value, dict)
    assert is_parallelcluster(document.value)
    where = Where(file="cluster.yaml", positions=document.positions)
    (read,) = read_parallelcluster(Content(value=document.value, where=where))
    return read


def nodes(resource: str, queue: str = "CapacityType: ONDEMAND") -> QueueNodes:
    """Read one compute resource and its queue, each given as the inside of a flow mapping."""
    read = configuration(
        f"Scheduling: {{Scheduler: slurm, SlurmQueues: [{{Name: gpu, {queue}, "
        f"ComputeResources: [{{Name: nodes, {resource}}}]}}]}}"
    )
    (found,) = (group for group in read.groups if isinstance(group, QueueNodes))
    return found


def storage(settings: str) -> ParallelCluster:
    """Read one Lustre file system, whose settings are given as the inside of a flow mapping."""
    return configuration(
        "Scheduling: {Scheduler: slurm, SlurmQueues: []}\n"
        "SharedStorage: [{Name: data, StorageType: FsxLustre, MountDir: /fsx, "
        f"FsxLustreSettings: {{{settings}}}}}]"
    )


def value(given: Given[Any]) -> object:
    """Return what a file says; the reason where it says nothing certain."""
    return given.why if isinstance(given, Unknown) else given and given.value


def test_region_scheduler_and_head_node() -> None:
    read = configuration("Scheduling: {Scheduler: slurm, SlurmQueues: []}")

    (head,) = read.groups
    assert (value(read.region), value(read.scheduler)) == ("us-west-2", "slurm")
    assert (head.name, value(head.instance_types), value(head.nodes)) == (
        "head node",
        ("m5.large",),
        1,
    )
    assert value(head.subnets) == ("subnet-1",)
    assert value(head.image_type) == "alinux2023"


def test_login_nodes_are_read() -> None:
    read = configuration(
        """\
        Scheduling: {Scheduler: slurm}
        LoginNodes:
          Pools:
            - {Name: in, InstanceType: p3.2xlarge, Count: 2, Networking: {SubnetIds: [subnet-2]}}
        """
    )

    login = read.groups[-1]
    assert login.name == "login nodes in"
    assert [value(given) for given in (login.instance_types, login.nodes, login.subnets)] == [
        ("p3.2xlarge",),
        2,
        ("subnet-2",),
    ]


def test_the_type_of_a_compute_resource_has_its_place() -> None:
    read = configuration(
        """\
        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              ComputeResources:
                - Name: nodes
                  InstanceType: p5.48xlarge
        """
    )

    types = read.groups[-1].instance_types
    assert types == Known(
        value=("p5.48xlarge",),
        path=("Scheduling", "SlurmQueues", 0, "ComputeResources", 0, "InstanceType"),
    )
    assert read.where.place(types.path) == "cluster.yaml:12"


@pytest.mark.parametrize(
    ("resource", "types"),
    [
        pytest.param("InstanceType: p5.48xlarge", ("p5.48xlarge",), id="one"),
        pytest.param(
            "Instances: [{InstanceType: p4d.24xlarge}, {InstanceType: p4de.24xlarge}]",
            ("p4d.24xlarge", "p4de.24xlarge"),
            id="several",
        ),
        pytest.param(
            'Instances: [{InstanceType: p4d.24xlarge}, {InstanceType: "{{ type }}"}]',
            "the placeholder {{ type }}",
            id="one-of-several-open",
        ),
        pytest.param(
            "CapacityReservationTarget: {CapacityReservationId: cr-1}",
            "the capacity reservation",
            id="reservation-decides",
        ),
        pytest.param('InstanceType: "${TYPE}"', "the placeholder ${TYPE}", id="placeholder"),
    ],
)
def test_instance_types(resource: str, types: object) -> None:
    assert value(nodes(resource).instance_types) == types


def test_counts_and_efa_have_parallelcluster_s_defaults() -> None:
    read = nodes("InstanceType: p5.48xlarge")

    assert [value(given) for given in (read.nodes, read.nodes_min, read.efa)] == [10, 0, False]


def test_counts_and_efa_of_the_file() -> None:
    read = nodes("MinCount: 2, MaxCount: 4, Efa: {Enabled: true}")

    assert [value(given) for given in (read.nodes, read.nodes_min, read.efa)] == [4, 2, True]


@pytest.mark.parametrize(
    ("resource", "queue", "placement", "group"),
    [
        pytest.param("MinCount: 0", "Networking: {}", None, None, id="nothing"),
        pytest.param(
            "MinCount: 0",
            "Networking: {PlacementGroup: {Enabled: true}}",
            True,
            "cluster",
            id="queue",
        ),
        pytest.param(
            "Networking: {PlacementGroup: {Name: mine}}",
            "Networking: {PlacementGroup: {Enabled: true}}",
            True,
            "mine",
            id="resource-first",
        ),
        pytest.param(
            "Networking: {PlacementGroup: {Enabled: false}}",
            "Networking: {PlacementGroup: {Id: mine}}",
            False,
            None,
            id="resource-off",
        ),
        pytest.param(
            "MinCount: 0",
            "Networking: {PlacementGroup: {Enabled: $GROUP}}",
            "the placeholder $GROUP",
            "the placeholder $GROUP",
            id="placeholder",
        ),
    ],
)
def test_placement_group(resource: str, queue: str, placement: object, group: object) -> None:
    read = nodes(resource, queue)

    assert (value(read.placement), value(read.placement_group)) == (placement, group)


@pytest.mark.parametrize(
    ("given", "purchase"),
    [
        ("ONDEMAND", "on-demand"),
        ("SPOT", "spot"),
        ("CAPACITY_BLOCK", "capacity-block"),
        ("Spot", "'Spot' is none of ONDEMAND, SPOT, CAPACITY_BLOCK"),
    ],
)
def test_purchase(given: str, purchase: str) -> None:
    assert value(nodes("MinCount: 0", f"CapacityType: {given}").purchase) == purchase


def test_a_compute_resource_has_its_queue_s_network_image_and_reservation() -> None:
    read = nodes(
        "InstanceType: p5.48xlarge",
        "Networking: {SubnetIds: [subnet-1, subnet-2], AssignPublicIp: true}, "
        "Image: {CustomAmi: ami-0123456789abcdef0}, "
        "CapacityReservationTarget: {CapacityReservationResourceGroupArn: 'arn:aws:x'}",
    )

    assert value(read.subnets) == ("subnet-1", "subnet-2")
    assert value(read.public_addresses) is True
    assert value(read.image) == "ami-0123456789abcdef0"
    assert value(read.reservation) == "arn:aws:x"


def test_queues_of_aws_batch_are_read() -> None:
    read = configuration(
        """\
        Scheduling:
          Scheduler: awsbatch
          AwsBatchQueues:
            - Name: batch
              CapacityType: SPOT
              ComputeResources:
                - {Name: nodes, InstanceTypes: [p4d.24xlarge, optimal], MaxvCpus: 96}
        """
    )

    found = read.groups[-1]
    assert value(read.scheduler) == "awsbatch"
    assert value(found.instance_types) == ("p4d.24xlarge", "optimal")
    assert (value(found.purchase), value(found.efa)) == ("spot", False)


def test_a_lustre_file_system_has_parallelcluster_s_defaults() -> None:
    (lustre,) = storage("StorageCapacity: 1200").file_systems

    assert (lustre.name, value(lustre.capacity_gib)) == ("data", 1200)
    assert (value(lustre.deployment), value(lustre.storage_type)) == ("SCRATCH_2", "SSD")


def test_a_lustre_file_system_of_the_file() -> None:
    (lustre,) = storage(
        "DeploymentType: PERSISTENT_1, StorageType: HDD, StorageCapacity: 6000, "
        "PerUnitStorageThroughput: 12"
    ).file_systems

    assert (value(lustre.deployment), value(lustre.storage_type)) == ("PERSISTENT_1", "HDD")
    assert (value(lustre.throughput), value(lustre.version)) == (12, "2.15")


def test_a_backup_decides_what_the_file_does_not() -> None:
    (lustre,) = storage("BackupId: backup-1").file_systems

    assert value(lustre.deployment) == value(lustre.capacity_gib) == "the backup"


def test_a_file_system_that_exists_is_mounted_and_not_made() -> None:
    read = storage("FileSystemId: fs-0123456789abcdef0")

    assert read.file_systems == ()
    assert read.lustre_mounts == (("SharedStorage", 0),)


def test_queues_that_are_no_list_are_an_error_with_its_line() -> None:
    with pytest.raises(UnreadableFile, match=r"cluster.yaml:6: .*SlurmQueues: a mapping is not"):
        configuration("Scheduling: {Scheduler: slurm, SlurmQueues: {Name: gpu}}")


def test_settings_that_are_no_mapping_are_an_error_with_their_line() -> None:
    with pytest.raises(UnreadableFile, match=r"cluster.yaml:7: .*FsxLustreSettings: a list is not"):
        configuration(
            "Scheduling: {Scheduler: slurm}\n"
            "SharedStorage: [{StorageType: FsxLustre, FsxLustreSettings: []}]"
        )


def test_a_placeholder_for_queues_is_an_error() -> None:
    with pytest.raises(UnreadableFile, match=r"SlurmQueues: '\$\{QUEUES\}' is not a list"):
        configuration('Scheduling: {Scheduler: slurm, SlurmQueues: "${QUEUES}"}')


_KEYS = [
    *("Region", "Image", "Os", "CustomAmi", "HeadNode", "Scheduling", "Scheduler", "SlurmQueues"),
    *("AwsBatchQueues", "ComputeResources", "InstanceType", "Instances", "InstanceTypes", "Name"),
    *("MinCount", "MaxCount", "Efa", "Enabled", "Networking", "SubnetIds", "PlacementGroup", "Id"),
    *("AssignPublicIp", "CapacityType", "CapacityReservationTarget", "CapacityReservationId"),
    *("SharedStorage", "StorageType", "FsxLustreSettings", "StorageCapacity", "DeploymentType"),
    *("PerUnitStorageThroughput", "FileSystemId", "LoginNodes", "Pools", "Count", "SubnetId"),
]
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(("p5.48xlarge", "dl1.24xlarge", "{{ x }}", "", "SPOT", "FsxLustre", "slurm"))
)
_INNER = st.dictionaries(st.sampled_from(_KEYS), _SCALARS, max_size=3)
_VALUES = (
    _SCALARS
    | st.lists(_SCALARS, max_size=2)
    | _INNER
    | st.dictionaries(st.sampled_from(_KEYS), _INNER, max_size=2)
)
_MAPPINGS = st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=6)
_QUEUES = st.lists(
    st.builds(
        lambda queue, resources: {**queue, "ComputeResources": resources},
        _MAPPINGS,
        st.lists(_MAPPINGS, max_size=2),
    ),
    max_size=2,
)


@settings(max_examples=40, deadline=None)
@given(_MAPPINGS, _QUEUES, st.lists(_MAPPINGS, max_size=2))
def test_any_shape_is_judged_or_refused(
    rest: dict[str, Any], queues: list[Any], mounts: list[Any]
) -> None:
    shape = {"Scheduling": {"SlurmQueues": queues}, "SharedStorage": mounts} | rest

    try:
        (read,) = read_parallelcluster(Content(value=shape, where=Where(file="x.yaml")))
    except UnreadableFile as error:
        assert str(error).startswith("x.yaml: ")
    else:
        assert all(finding.place for finding in lint_documents((read,)))


def of(rule: str, read: LintedFile) -> list[Finding]:
    """Return what a rule finds."""
    return [finding for finding in lint_documents((read,)) if finding.rule == rule]


def _named(finding: Finding) -> set[str]:
    """Return the rules of a finding: several may need a value that is not decided."""
    return {finding.rule, *re.findall(r"TS-[A-Z]+-[0-9]+", finding.message)}


def rules(read: ParallelCluster) -> set[str]:
    """Return the rules of these tools that find something, or say that they cannot decide."""
    found = {rule for each in lint_documents((read,)) for rule in _named(each)}
    return {each for each in found if each.startswith(("TS-GRP-", "TS-PCL-"))}


_ON = "PlacementGroup: {Enabled: true}"
_P5 = "InstanceType: p5.48xlarge, MinCount: 4, MaxCount: 4"
_RESERVED = "CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}"
_BLOCK = f"CapacityType: CAPACITY_BLOCK, {_RESERVED}, Networking: {{SubnetIds: [subnet-1]}}"


def network(extra: str = _ON, subnets: str = "subnet-1") -> str:
    """Return the network of a queue."""
    return f"Networking: {{SubnetIds: [{subnets}], {extra}}}"


@pytest.mark.parametrize(
    ("resource", "queue", "expected"),
    [
        pytest.param(f"{_P5}, Efa: {{Enabled: true}}", network(), set(), id="good"),
        pytest.param(
            "InstanceType: g5.xlarge, Efa: {Enabled: true}", network(), {"TS-GRP-001"}, id="no-efa"
        ),
        pytest.param(_P5, network(), {"TS-GRP-002"}, id="efa-off"),
        pytest.param("InstanceType: p5.48xlarge, MaxCount: 1", network(), set(), id="one-node"),
        pytest.param(
            "Instances: [{InstanceType: p5.48xlarge}, {InstanceType: p5e.48xlarge}], "
            "Efa: {Enabled: true}",
            network(),
            {"TS-GRP-003"},
            id="several-types",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            f"CapacityType: SPOT, {network()}",
            {"TS-GRP-004"},
            id="spot",
        ),
        pytest.param(f"{_P5}, Efa: {{Enabled: true}}", _BLOCK, set(), id="block"),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            "Networking: {SubnetIds: [subnet-1]}",
            {"TS-PCL-001"},
            id="group-not-said",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            network("PlacementGroup: {Enabled: false}"),
            {"TS-PCL-002"},
            id="group-off",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            network(subnets="subnet-1, subnet-2"),
            {"TS-PCL-003"},
            id="subnets",
        ),
        pytest.param(
            "InstanceType: g6.48xlarge",
            network(subnets="subnet-1, subnet-2"),
            set(),
            id="subnets-without-efa",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            network(f"{_ON}, AssignPublicIp: true"),
            {"TS-PCL-004"},
            id="public",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            network(f"{_ON}, SecurityGroups: [sg-1]"),
            {"TS-PCL-011"},
            id="security-groups",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            network(f"{_ON}, AdditionalSecurityGroups: [sg-1]"),
            set(),
            id="additional-security-groups",
        ),
        pytest.param(
            "InstanceType: g6.48xlarge, Efa: {Enabled: true}",
            network(f"{_ON}, AssignPublicIp: true"),
            {"TS-PCL-004"},
            id="public-with-efa-on-one-card",
        ),
        pytest.param(
            "InstanceType: g6.48xlarge", network("AssignPublicIp: true"), set(), id="public-alone"
        ),
        pytest.param(
            "InstanceType: p5.48xlarge, MaxCount: $COUNT, Efa: {Enabled: true}",
            network(subnets="$SUBNET"),
            set(),
            id="placeholders-that-do-not-matter",
        ),
        pytest.param(
            "InstanceType: p5.48xlarge, MaxCount: 4, Efa: {Enabled: true}",
            _BLOCK,
            {"TS-PCL-005"},
            id="counts-differ",
        ),
        pytest.param(
            "InstanceType: p5.48xlarge, MinCount: 0, MaxCount: 0, Efa: {Enabled: true}",
            _BLOCK,
            {"TS-PCL-005"},
            id="counts-are-zero",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            "CapacityType: CAPACITY_BLOCK",
            {"TS-PCL-006"},
            id="block-not-named",
        ),
        pytest.param(
            "InstanceType: p3dn.24xlarge, Efa: {Enabled: true}",
            network(),
            {"TS-PCL-009"},
            id="v100",
        ),
        pytest.param(
            "InstanceType: p3dn.24xlarge, Efa: {Enabled: true}",
            f"{network()}, Image: {{CustomAmi: ami-0123456789abcdef0}}",
            set(),
            id="v100-with-an-ami-of-its-own",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            f"{network()}, Image: {{CustomAmi: /aws/service/x}}",
            {"TS-GRP-005"},
            id="path-as-ami",
        ),
        pytest.param(
            f"{_P5}, Efa: {{Enabled: true}}",
            f'{network()}, Image: {{CustomAmi: "${{AMI}}"}}',
            {"TS-PCL-009", "TS-GRP-005"},
            id="placeholder-as-ami-is-said",
        ),
    ],
)
def test_rules_over_compute_resources(resource: str, queue: str, expected: set[str]) -> None:
    read = configuration(
        f"Scheduling: {{Scheduler: slurm, SlurmQueues: [{{Name: gpu, {queue}, "
        f"ComputeResources: [{{Name: nodes, {resource}}}]}}]}}"
    )

    assert rules(read) == expected


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("centos7", {"TS-PCL-010"}),
        ("ubuntu1804", {"TS-PCL-010"}),
        ("alinux2023", set()),
        ("ubuntu2204", set()),
    ],
)
def test_systems_without_updates(system: str, expected: set[str]) -> None:
    shape = parse_document(
        f"{{Image: {{Os: {system}}}, HeadNode: {{}}, Scheduling: {{Scheduler: slurm}}}}"
    ).value

    assert isinstance(shape, dict)
    (read,) = read_parallelcluster(Content(value=shape, where=Where(file="x.yaml")))
    assert rules(read) == expected


@pytest.mark.parametrize(
    ("instance_type", "expected"),
    [("p4d.24xlarge", {"TS-PCL-007"}), ("g5.xlarge", set()), ("optimal", set())],
)
def test_queues_of_aws_batch_have_no_efa(instance_type: str, expected: set[str]) -> None:
    read = configuration(
        "Scheduling: {Scheduler: awsbatch, AwsBatchQueues: [{Name: batch, ComputeResources: "
        f"[{{Name: nodes, InstanceTypes: [{instance_type}]}}]}}]}}"
    )

    assert rules(read) == expected


@pytest.mark.parametrize(
    ("scheduler", "storage_type", "expected"),
    [
        pytest.param("awsbatch", "FsxLustre", {"TS-PCL-008"}, id="lustre"),
        pytest.param("awsbatch", "Efs", set(), id="efs"),
        pytest.param("slurm", "FsxLustre", set(), id="slurm"),
        pytest.param("$SCHEDULER", "FsxLustre", {"TS-PCL-008"}, id="placeholder-is-said"),
    ],
)
def test_jobs_of_aws_batch_see_no_lustre(
    scheduler: str, storage_type: str, expected: set[str]
) -> None:
    read = configuration(
        f"Scheduling: {{Scheduler: {scheduler}}}\n"
        f"SharedStorage: [{{Name: data, StorageType: {storage_type}, "
        "FsxLustreSettings: {FileSystemId: fs-0123456789abcdef0}}]"
    )

    assert rules(read) == expected


def test_a_finding_names_nodes_type_and_place() -> None:
    read = configuration(
        """\
        Scheduling:
          Scheduler: slurm
          SlurmQueues:
            - Name: gpu
              Networking: {SubnetIds: [subnet-1], AssignPublicIp: true}
              ComputeResources:
                - {Name: nodes, InstanceType: p5.48xlarge}
        """
    )

    (found,) = of("TS-PCL-004", read)
    assert found.message == (
        "gpu/nodes asks for public addresses, and ParallelCluster gives p5.48xlarge 32 network "
        "interfaces or more"
    )
    assert str(found.place) == "cluster.yaml:10:43"


def test_shared_rules_judge_login_nodes() -> None:
    read = configuration(
        "Scheduling: {Scheduler: slurm}\n"
        "LoginNodes: {Pools: [{Name: in, InstanceType: p3.2xlarge}]}"
    )

    (found,) = of("TS-LIF-001", read)
    assert found.place
    assert found.place.field == "LoginNodes.Pools.0.InstanceType"


def test_an_own_ami_is_of_the_system_that_the_file_names() -> None:
    text = """
Region: us-east-2
Image: {Os: alinux2, CustomAmi: ami-0123456789abcdef0}
HeadNode: {InstanceType: m5.large, Networking: {SubnetId: subnet-1}}
Scheduling: {Scheduler: slurm, SlurmQueues: []}
"""

    found = lint_documents(read_documents(parse_content(text, "cluster.yaml")))

    assert [each.rule for each in found if each.fails] == ["TS-LIF-003"]
