"""The cluster file of trainshed for a node group of an eksctl file: `lint --cluster-file`."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainshed.documents.problems import Where
from trainshed.documents.yaml import parse_document
from trainshed.errors import TrainshedError
from trainshed.lint.cluster_files.writing import cluster_file
from trainshed.lint.eksctl import EksctlCluster, read_eksctl
from trainshed.lint.reading import Content
from trainshed.plan import ClusterPlan, load_fleet

HEAD = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: training, region: us-west-2, version: "1.36"}
"""
GROUP = "managedNodeGroups: [{name: train, instanceType: p5.48xlarge, maxSize: 4, MORE}]"
VPC = """\
vpc:
  id: vpc-11111111
  subnets:
    private:
      us-west-2a: {id: subnet-aaaaaaaa}
      inner: {id: subnet-bbbbbbbb, az: us-west-2b}
"""
RESERVED = "capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-12345678}}"


def eksctl(sections: str, head: str = HEAD) -> EksctlCluster:
    value = parse_document(head + dedent(sections)).value
    assert isinstance(value, dict)
    (cluster,) = read_eksctl(Content(value=value, where=Where(file="eksctl.yaml")))
    return cluster


def group(more: str = "efaEnabled: true") -> str:
    return GROUP.replace("MORE", more) + "\n"


def fields(text: str) -> dict[str, Any]:
    value = parse_document(text).value
    assert isinstance(value, dict)
    return value


def planned(text: str, folder: Path) -> ClusterPlan:
    path = folder / "cluster.yaml"
    path.write_text(text, encoding="utf-8")
    (plan,) = load_fleet([path]).clusters
    return plan


def test_a_node_group_is_a_cluster_that_can_be_planned(tmp_path: Path) -> None:
    read = eksctl(group("efaEnabled: true, availabilityZones: [us-west-2a], volumeSize: 500"))

    text = cluster_file(read, "train")

    assert fields(text) == {
        "name": "training-train",
        "region": "us-west-2",
        "zone": "us-west-2a",
        "orchestrator": "eks",
        "instance": {"type": "p5.48xlarge", "nodes": {"max": 4}, "root_gib": 500},
        "network": {"name": "training"},
        "kubernetes": {"name": "training", "version": "1.36"},
    }
    plan = planned(text, tmp_path)
    assert (plan.instance.name, plan.nodes.max) == ("p5.48xlarge", 4)


@pytest.mark.parametrize(
    ("more", "capacity"),
    [
        pytest.param("efaEnabled: true", None, id="on-demand"),
        pytest.param("spot: true", {"spot": {}}, id="spot"),
        pytest.param(RESERVED, {"reservation": "cr-12345678"}, id="reservation"),
        pytest.param(
            f"{RESERVED}, placement: {{groupName: mine}}",
            {"reservation": "cr-12345678", "placement_group": "mine"},
            id="reservation-in-a-group",
        ),
        pytest.param(
            f"{RESERVED}, instanceMarketOptions: {{marketType: capacity-block}}",
            {"capacity_block": "cr-12345678"},
            id="block",
        ),
        pytest.param(
            "capacityReservation: {capacityReservationTarget: {capacityReservationID: '${ID}'}}",
            None,
            id="placeholder",
        ),
    ],
)
def test_capacity(more: str, capacity: object, tmp_path: Path) -> None:
    text = cluster_file(eksctl(group(more)), "train")

    assert fields(text).get("capacity") == capacity
    planned(text, tmp_path)


def test_other_types_are_said() -> None:
    several = group().replace(
        "instanceType: p5.48xlarge", "instanceTypes: [p5.48xlarge, p5e.48xlarge]"
    )

    text = cluster_file(eksctl(several), "train")

    assert fields(text)["instance"]["type"] == "p5.48xlarge"
    said = "those that are alike may be in capacity.instance_types, too"
    assert f"# instance.type: one of p5.48xlarge, p5e.48xlarge; {said}\n" in text


def test_what_is_bought_otherwise_is_said() -> None:
    block = "instanceMarketOptions: {marketType: capacity-block}"

    assert "# capacity: on demand, in place of capacity-block\n" in cluster_file(
        eksctl(group(block)), "train"
    )


@pytest.mark.parametrize(
    ("more", "subnets"),
    [
        pytest.param("subnets: [subnet-aaaaaaaa]", ("aaaaaaaa", "bbbbbbbb"), id="id"),
        pytest.param("subnets: [inner]", ("bbbbbbbb", "aaaaaaaa"), id="name"),
        pytest.param("availabilityZones: [us-west-2b]", ("bbbbbbbb", "aaaaaaaa"), id="zone"),
        pytest.param("availabilityZones: [us-west-2c]", None, id="zone-without-subnet"),
        pytest.param("efaEnabled: true", None, id="none"),
    ],
)
def test_an_existing_network(more: str, subnets: tuple[str, str] | None, tmp_path: Path) -> None:
    text = cluster_file(eksctl(VPC + group(f"privateNetworking: true, {more}")), "train")

    found = fields(text)
    planned(text, tmp_path)
    if subnets:
        own, other = subnets
        assert found["network"] == {"vpc": "vpc-11111111", "subnet": f"subnet-{own}"}
        assert found["kubernetes"]["subnet"] == f"subnet-{other}"
    else:
        assert found.get("network") is None
        assert "# network: a new VPC in place of vpc-11111111" in text


def test_addresses_are_taken_over_where_they_are_allowed(tmp_path: Path) -> None:
    sections = """\
        vpc: {cidr: 10.30.0.0/16, publicAccessCIDRs: [52.94.76.0/24]}
        kubernetesNetworkConfig: {serviceIPv4CIDR: 10.100.0.0/16}
    """

    text = cluster_file(eksctl(dedent(sections) + group()), "train")

    found = fields(text)
    assert found["network"] == {"name": "training", "cidr": "10.30.0.0/16"}
    assert found["kubernetes"]["public_cidrs"] == ["52.94.76.0/24"]
    assert found["kubernetes"]["service_cidr"] == "10.100.0.0/16"
    planned(text, tmp_path)


@pytest.mark.parametrize(
    ("cidr", "written"),
    [("10.100.0.0/24", "10.100.0.0/24"), ("10.100.0.0/25", None), ("10.0.0.0/11", None)],
)
def test_ranges_of_services_have_the_sizes_that_eks_takes(cidr: str, written: str | None) -> None:
    read = eksctl(f"kubernetesNetworkConfig: {{serviceIPv4CIDR: {cidr}}}\n" + group())

    assert fields(cluster_file(read, "train"))["kubernetes"].get("service_cidr") == written


@pytest.mark.parametrize("cidr", ["0.0.0.0/0", "192.0.2.0/24"], ids=["all", "reserved"])
def test_an_api_server_is_closed_whose_ranges_will_not_do_and_that_is_said(cidr: str) -> None:
    text = cluster_file(eksctl(f"vpc: {{publicAccessCIDRs: [{cidr}]}}\n" + group()), "train")

    assert "public_cidrs" not in fields(text)["kubernetes"]
    assert "# kubernetes.public_cidrs: the API server is reached from its VPC alone" in text


def test_access_entries_and_mappings_of_roles(tmp_path: Path) -> None:
    sections = """\
        accessConfig:
          accessEntries:
            - principalARN: arn:aws:iam::111122223333:role/research
              accessPolicies:
                - policyARN: arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy
                  accessScope: {type: namespace, namespaces: [training]}
            - principalARN: arn:aws:iam::111122223333:role/several
              accessPolicies:
                - policyARN: arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy
                  accessScope: {type: namespace, namespaces: [a, b]}
            - principalARN: arn:aws:iam::111122223333:user/me
              accessPolicies:
                - policyARN: arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy
                  accessScope: {type: cluster}
            - {principalARN: "arn:aws:iam::111122223333:role/nodes", type: EC2_LINUX}
        iamIdentityMappings:
          - {arn: "arn:aws:iam::111122223333:role/admins", groups: ["system:masters"]}
          - {arn: "arn:aws:iam::111122223333:role/readers", groups: [readers]}
    """

    text = cluster_file(eksctl(dedent(sections) + group()), "train")

    assert fields(text)["kubernetes"]["access"] == [
        {
            "role": "arn:aws:iam::111122223333:role/research",
            "policy": "edit",
            "namespace": "training",
        },
        {"role": "arn:aws:iam::111122223333:role/admins", "policy": "cluster-admin"},
    ]
    left_out = [line for line in text.splitlines() if "is left out" in line]
    assert [name for name in ("several", "me", "readers") if any(name in x for x in left_out)] == [
        "several",
        "me",
        "readers",
    ]
    assert len(left_out) == 3
    planned(text, tmp_path)


def test_nobody_is_let_in_who_is_not_named() -> None:
    text = cluster_file(eksctl(group()), "train")

    assert "access" not in fields(text)["kubernetes"]
    assert "# kubernetes.access: nobody may use this cluster" in text


@pytest.mark.parametrize(
    ("version", "written"), [("1.35", "1.35"), ("1.29", None), ("${VERSION}", None)]
)
def test_a_version_that_is_not_sold_is_the_default(version: str, written: str | None) -> None:
    read = eksctl(group(), head=HEAD.replace("1.36", version))

    assert fields(cluster_file(read, "train"))["kubernetes"].get("version") == written


@pytest.mark.parametrize(
    ("instance_type", "family", "taken_over"),
    [
        ("p5.48xlarge", "AmazonLinux2023", True),
        ("p5.48xlarge", "Ubuntu2404", False),
        ("dl1.24xlarge", "AmazonLinux2023", False),
        ("dl1.24xlarge", "Ubuntu2404", True),
    ],
)
def test_an_ami_is_taken_over_where_nodes_of_it_join_as_ours_do(
    instance_type: str, family: str, taken_over: bool
) -> None:
    ami = "ami-0123456789abcdef0"
    text = group(f"ami: {ami}, amiFamily: {family}").replace("p5.48xlarge", instance_type)

    written = fields(cluster_file(eksctl(text), "train"))["instance"].get("ami")

    assert written == (ami if taken_over else None)


def test_what_is_not_taken_over_is_named() -> None:
    sections = "iam: {withOIDC: true}\nnodeGroups: [{name: system}]\n" + group("labels: {a: b}")

    text = cluster_file(eksctl(sections), "train")

    assert "# not taken over: labels, iam\n" in text
    assert "# not in it: system;" in text


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        pytest.param(group(), "has no node group 'rain'; did you mean train?", id="no-such-group"),
        pytest.param("nodeGroups: [{name: rain}]", "has no accelerators", id="default-type"),
        pytest.param(
            "nodeGroups: [{name: rain, instanceType: m5.large}]", "has no accelerators", id="type"
        ),
        pytest.param(
            'nodeGroups: [{name: rain, instanceType: "${TYPE}"}]',
            "not decided is the placeholder ${TYPE}",
            id="placeholder",
        ),
    ],
)
def test_there_is_none_for_what_is_no_cluster_of_ours(groups: str, words: str) -> None:
    with pytest.raises(TrainshedError) as caught:
        cluster_file(eksctl(groups), "rain")

    assert words in str(caught.value)


def test_what_makes_it_impossible_is_said() -> None:
    read = eksctl(group(), head=HEAD.replace("us-west-2", "eu-west-3"))

    text = cluster_file(read, "train")

    assert "# refused as it is: " in text
    assert "p5.48xlarge" in text.partition("# refused as it is: ")[2].partition("\n")[0]
    assert "# refused as it is: " not in cluster_file(eksctl(group()), "train")


def test_texts_of_others_stay_on_their_line(tmp_path: Path) -> None:
    sections = 'vpc: {cidr: "10.0.0.0/8\\nname: other"}\n' + group(
        'placement: {groupName: "a\\nregion: eu-west-1"}'
    )

    text = cluster_file(eksctl(sections), "train")

    assert fields(text)["region"] == "us-west-2"
    assert planned(text, tmp_path).name == "training-train"


_TEXTS = st.sampled_from(
    (
        "",
        "${X}",
        "a b",
        "training",
        "-x-",
        "1",
        "x" * 120,
        "Über",
        "10.1.0.0/16",
        "1.35",
        "subnet-1",
    )
)
_ODD = (
    st.none()
    | st.booleans()
    | st.integers(-1, 400)
    | _TEXTS
    | st.lists(_TEXTS, max_size=2)
    | st.dictionaries(st.sampled_from(("id", "private", "cidr", "subnets")), _TEXTS, max_size=2)
)
_GROUP_KEYS = st.sampled_from(
    (
        *("maxSize", "minSize", "volumeSize", "ami", "amiFamily", "placement", "spot", "subnets"),
        *("availabilityZones", "capacityReservation", "instanceMarketOptions", "labels"),
    )
)
_FILE_KEYS = st.sampled_from(
    ("vpc", "accessConfig", "iamIdentityMappings", "kubernetesNetworkConfig", "addons")
)


@settings(deadline=None)
@given(st.dictionaries(_GROUP_KEYS, _ODD), st.dictionaries(_FILE_KEYS, _ODD), _TEXTS, _ODD)
def test_whatever_stands_in_the_file_the_cluster_file_is_valid(
    tmp_path_factory: pytest.TempPathFactory,
    more: dict[str, Any],
    rest: dict[str, Any],
    name: str,
    version: Any,
) -> None:
    train: dict[str, Any] = {"name": "train", "instanceType": "trn1.32xlarge"} | more
    shape: dict[str, Any] = {
        "metadata": {"name": name, "region": "us-west-2", "version": version}
    } | rest
    shape["managedNodeGroups"] = [train]
    (read,) = read_eksctl(Content(value=shape, where=Where(file="x.yaml")))

    text = cluster_file(read, "train")

    plan = planned(text, tmp_path_factory.mktemp("planned"))
    assert "refused as it is" not in text
    assert plan.instance.name == "trn1.32xlarge"
