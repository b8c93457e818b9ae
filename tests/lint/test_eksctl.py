"""What `trainshed lint` reads of eksctl cluster files."""

from typing import Any

import pytest
from eksctl_files import SUBNETS, cluster, group, value
from hypothesis import given, settings
from hypothesis import strategies as st

from trainshed.documents.problems import Where
from trainshed.lint.eksctl import is_eksctl, read_eksctl
from trainshed.lint.judging import lint_documents
from trainshed.lint.model import Known
from trainshed.lint.reading import Content, UnreadableFile

_GROUP_RESERVED = (
    "{capacityReservationTarget: {capacityReservationResourceGroupARN: 'arn:aws:resource-groups:"
    "us-west-2:123456789012:group/blocks'}}"
)
_NODE_CONFIG = '"apiVersion: node.eks.aws/v1alpha1\\nkind: NodeConfig"'
_RESERVED = "{capacityReservationTarget: {capacityReservationID: cr-0123456789abcdef0}}"


def test_a_file_says_region_and_version() -> None:
    read = cluster("nodeGroups: []")

    (control_plane,) = read.control_planes
    assert (value(read.region), value(control_plane.version)) == ("us-west-2", "1.35")
    assert (value(read.name), read.groups) == ("example", ())


def test_another_kind_of_kubernetes_file_is_none() -> None:
    assert not is_eksctl({"apiVersion": "v1", "kind": "Pod"})


def test_both_lists_of_groups_are_read_with_their_places() -> None:
    read = cluster(
        """\
        nodeGroups:
          - name: own
            instanceType: p4d.24xlarge
        managedNodeGroups:
          - name: managed
            instanceTypes: [trn1.32xlarge]
        """
    )

    own, managed = read.groups
    assert [own.name, managed.name] == ["own", "managed"]
    assert own.instance_types == Known(
        value=("p4d.24xlarge",), path=("nodeGroups", 0, "instanceType")
    )
    assert isinstance(managed.instance_types, Known)
    assert read.where.place(managed.instance_types.path) == "cluster.yaml:9"


@pytest.mark.parametrize(
    ("fields", "managed", "types"),
    [
        pytest.param("instanceType: p5.48xlarge", True, ("p5.48xlarge",), id="one"),
        pytest.param(
            "instancesDistribution: {instanceTypes: [p4d.24xlarge, p4de.24xlarge]}",
            False,
            ("p4d.24xlarge", "p4de.24xlarge"),
            id="distribution",
        ),
        pytest.param("instanceSelector: {gpus: 8}", True, "instanceSelector", id="selector"),
        pytest.param('instanceType: "${TYPE}"', True, "placeholder ${TYPE}", id="placeholder"),
        pytest.param("instanceType: [p5.48xlarge]", True, "a list is not text", id="no-text"),
        pytest.param("minSize: 1", True, None, id="eksctl's-default"),
    ],
)
def test_instance_types(fields: str, managed: bool, types: object) -> None:
    read = value(group(fields, managed=managed).instance_types)

    assert types in read if isinstance(types, str) and isinstance(read, str) else read == types


@pytest.mark.parametrize(
    ("fields", "nodes"),
    [
        pytest.param("minSize: 1, desiredCapacity: 2, maxSize: 8", 8, id="largest"),
        pytest.param("minSize: 1, desiredCapacity: 4", 4, id="desired"),
        pytest.param("minSize: 3", 3, id="smallest"),
        pytest.param("spot: false", 2, id="eksctl's-default"),
        pytest.param("maxSize: many", "'many' is not a whole number", id="no-number"),
    ],
)
def test_nodes(fields: str, nodes: object) -> None:
    assert value(group(fields).nodes) == nodes


@pytest.mark.parametrize(
    ("fields", "managed", "made"),
    [
        pytest.param("efaEnabled: true", True, True, id="made-by-eksctl"),
        pytest.param("efaEnabled: true, placement: {groupName: mine}", True, None, id="named"),
        pytest.param("minSize: 1", True, False, id="without-efa"),
        pytest.param(
            f"efaEnabled: true, capacityReservation: {_RESERVED}",
            True,
            None,
            id="managed-with-reservation",
        ),
        pytest.param(
            f"efaEnabled: true, capacityReservation: {_RESERVED}",
            False,
            True,
            id="own-with-reservation",
        ),
        pytest.param("efaEnabled: $EFA", True, "the placeholder $EFA", id="placeholder"),
    ],
)
def test_placement_groups_that_eksctl_makes(fields: str, managed: bool, made: object) -> None:
    assert value(group(fields, managed=managed).made_group) == made


def test_a_placement_group_of_the_file() -> None:
    assert value(group("placement: {groupName: mine}").placement_group) == "mine"


@pytest.mark.parametrize(
    ("fields", "managed", "purchase"),
    [
        pytest.param("minSize: 1", True, "on-demand", id="default"),
        pytest.param("spot: true", True, "spot", id="spot"),
        pytest.param(
            "spot: false, instanceMarketOptions: {marketType: capacity-block}",
            True,
            "capacity-block",
            id="block",
        ),
        pytest.param(
            "instancesDistribution: {onDemandPercentageAboveBaseCapacity: 50}",
            False,
            "spot",
            id="some-spot",
        ),
        pytest.param(
            "instancesDistribution: {onDemandPercentageAboveBaseCapacity: 100}",
            False,
            "on-demand",
            id="no-spot",
        ),
        pytest.param("launchTemplate: {id: lt-1}", True, None, id="template-decides"),
    ],
)
def test_purchase(fields: str, managed: bool, purchase: str | None) -> None:
    assert value(group(fields, managed=managed).purchase) == purchase


@pytest.mark.parametrize(
    ("fields", "public"),
    [
        pytest.param("minSize: 1", True, id="default"),
        pytest.param("privateNetworking: true", False, id="private"),
        pytest.param("subnets: [subnet-1]", "the subnets", id="subnets-decide"),
    ],
)
def test_public_subnets(fields: str, public: object) -> None:
    assert value(group(fields).in_public_subnets) == public


def test_a_private_cluster_has_no_public_subnets() -> None:
    (own,) = cluster("privateCluster: {enabled: true}\nnodeGroups: [{name: a}]").groups

    assert value(own.in_public_subnets) is False


# As https://docs.aws.amazon.com/eks/latest/eksctl/vpc-subnet-settings.html has them.


@pytest.mark.parametrize(
    ("subnets", "private", "public"),
    [
        pytest.param("[train]", False, True, id="public-by-name"),
        pytest.param("[us-west-2b]", False, True, id="public-by-zone"),
        pytest.param("[subnet-1]", False, True, id="public-by-id"),
        pytest.param("[train]", True, True, id="public-though-private-is-asked"),
        pytest.param("[inner]", True, False, id="private-by-name"),
        pytest.param("[subnet-2]", True, False, id="private-by-id"),
        pytest.param("[inner]", False, False, id="private-which-eksctl-refuses"),
        pytest.param("[inner, train]", True, True, id="one-is-public"),
        pytest.param("[subnet-9]", False, "the subnets", id="not-listed"),
        pytest.param("[inner, subnet-9]", False, "the subnets", id="one-not-listed"),
    ],
)
def test_subnets_are_those_that_the_file_lists(subnets: str, private: bool, public: object) -> None:
    words = f"{{name: a, subnets: {subnets}, privateNetworking: {str(private).lower()}}}"

    (own,) = cluster(f"{SUBNETS}nodeGroups: [{words}]").groups

    assert value(own.in_public_subnets) == public


@pytest.mark.parametrize("listed", ['"${SUBNETS}"', "[subnet-1]", "{public: }", "{public: [a]}"])
def test_lists_of_subnets_that_cannot_be_read_leave_it_open(listed: str) -> None:
    (own,) = cluster(f"vpc: {{subnets: {listed}}}\nnodeGroups: [{{subnets: [a]}}]").groups

    assert value(own.in_public_subnets) == "the subnets"


def test_image_family_zones_subnets_and_template_version() -> None:
    read = group(
        "amiFamily: AmazonLinux2, ami: ami-0123456789abcdef0, availabilityZones: [us-west-2a], "
        "subnets: [subnet-1], launchTemplate: {id: lt-1, version: 3}"
    )

    assert value(read.image_type) == "AmazonLinux2"
    assert value(read.image) == "ami-0123456789abcdef0"
    assert value(read.zones) == ("us-west-2a",)
    assert value(read.subnets) == ("subnet-1",)
    assert value(read.template_version) == "3"


def test_a_launch_template_without_version_is_its_default_one() -> None:
    assert value(group("launchTemplate: {id: lt-1}").template_version) == "$Default"


def test_an_ami_that_eksctl_chooses_is_none_of_the_file() -> None:
    assert group("ami: auto").image is None


def test_groups_that_are_no_list_are_an_error_with_its_line() -> None:
    with pytest.raises(
        UnreadableFile, match=r"cluster.yaml:4: nodeGroups: a mapping is not a list"
    ):
        cluster("nodeGroups: {name: train}")


def test_a_group_that_is_no_mapping_is_an_error() -> None:
    with pytest.raises(UnreadableFile, match=r"nodeGroups.0: 'train' is not a mapping"):
        cluster("nodeGroups: [train]")


_KEYS = [
    "nodeGroups",
    "managedNodeGroups",
    "metadata",
    "region",
    "version",
    "privateCluster",
    "enabled",
    "name",
    "instanceType",
    "instanceTypes",
    "instancesDistribution",
    "onDemandPercentageAboveBaseCapacity",
    "instanceSelector",
    "efaEnabled",
    "placement",
    "groupName",
    "availabilityZones",
    "subnets",
    "privateNetworking",
    "ami",
    "amiFamily",
    "launchTemplate",
    "id",
    "capacityReservation",
    "capacityReservationTarget",
    "capacityReservationID",
    "instanceMarketOptions",
    "marketType",
    "spot",
    "minSize",
    "maxSize",
    "desiredCapacity",
    "addons",
    "autoModeConfig",
    "vpc",
    "clusterEndpoints",
    "publicAccess",
    "publicAccessCIDRs",
    "upgradePolicy",
    "supportType",
    "volumeSize",
    "securityGroups",
    "withShared",
    "attachIDs",
    "overrideBootstrapCommand",
]
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        ("p5.48xlarge", "dl1.24xlarge", "${X}", "", "capacity-block", "AmazonLinux2", "nonsense")
    )
)
_INNER = st.dictionaries(st.sampled_from(_KEYS), _SCALARS, max_size=3)
_VALUES = (
    _SCALARS
    | st.lists(_SCALARS, max_size=2)
    | _INNER
    | st.dictionaries(st.sampled_from(_KEYS), _INNER, max_size=2)
)
_MAPPINGS = st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=6)


@settings(max_examples=40, deadline=None)
@given(_MAPPINGS, st.lists(_MAPPINGS, max_size=3), st.lists(_MAPPINGS, max_size=3))
def test_any_shape_is_judged_or_refused(
    rest: dict[str, Any], own: list[Any], managed: list[Any]
) -> None:
    shape = {"nodeGroups": own, "managedNodeGroups": managed} | rest

    try:
        (read,) = read_eksctl(Content(value=shape, where=Where(file="x.yaml")))
    except UnreadableFile as error:
        assert str(error).startswith("x.yaml: ")
    else:
        assert all(finding.place for finding in lint_documents((read,)))


def test_what_a_launch_template_sets_is_not_judged() -> None:
    read = cluster("managedNodeGroups: [{name: train, launchTemplate: {id: lt-1}}]")

    (unknown,) = read.not_judged
    assert unknown.why == "what the launch template of train sets"
    assert read.groups[0].efa is None
