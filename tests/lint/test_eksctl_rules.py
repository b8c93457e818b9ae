"""What `trainshed lint` finds in eksctl cluster files."""

import re
from datetime import UTC, datetime

import pytest
from eksctl_files import SUBNETS, cluster

from trainshed.documents.problems import Where
from trainshed.documents.yaml import parse_document
from trainshed.findings import Finding, Severity
from trainshed.lint.eksctl import EksctlCluster, read_eksctl
from trainshed.lint.judging import lint_documents
from trainshed.lint.model import LintedFile
from trainshed.lint.reading import Content

_GROUP_RESERVED = (
    "{capacityReservationTarget: {capacityReservationResourceGroupARN: 'arn:aws:resource-groups:"
    "us-west-2:123456789012:group/blocks'}}"
)
_NODE_CONFIG = '"apiVersion: node.eks.aws/v1alpha1\\nkind: NodeConfig"'
_RESERVED = "{capacityReservationTarget: {capacityReservationID: cr-0123456789abcdef0}}"


def of(rule: str, read: LintedFile) -> list[Finding]:
    """Return what a rule finds."""
    return [finding for finding in lint_documents((read,)) if finding.rule == rule]


def _named(finding: Finding) -> set[str]:
    """Return the rules of a finding: several may need a value that is not decided."""
    return {finding.rule, *re.findall(r"TS-[A-Z]+-[0-9]+", finding.message)}


# What every file has that says nothing of it: TS-EKS-010, TS-EKS-021; every group with several EFA
# cards: TS-EKS-016; and those that are self-managed: TS-EKS-040.
_BY_DEFAULT = {"TS-EKS-010", "TS-EKS-016", "TS-EKS-021", "TS-EKS-040"}


def rules(read: EksctlCluster) -> set[str]:
    """Return the rules of these tools that find something, or say that they cannot decide."""
    found = {rule for each in lint_documents((read,)) for rule in _named(each)}
    return {each for each in found if each.startswith(("TS-GRP-", "TS-EKS-"))} - _BY_DEFAULT


# A group in which no rule finds anything.
_GOOD = {
    "instanceType": "p5.48xlarge",
    "maxSize": "4",
    "efaEnabled": "true",
    "privateNetworking": "true",
    "availabilityZones": "[us-west-2a]",
}


@pytest.mark.parametrize(
    ("changes", "managed", "expected"),
    [
        pytest.param({}, True, set(), id="good"),
        pytest.param({}, False, set(), id="good-self-managed"),
        pytest.param({"instanceType": "g5.xlarge"}, True, {"TS-GRP-001"}, id="no-efa"),
        pytest.param({"instanceType": "m5.large"}, True, set(), id="not-in-the-catalogue"),
        pytest.param({"efaEnabled": "false"}, True, {"TS-GRP-002"}, id="efa-off"),
        pytest.param({"efaEnabled": "false", "maxSize": "1"}, True, set(), id="one-node"),
        pytest.param(
            {"efaEnabled": "false", "instanceType": "g6.48xlarge"}, True, set(), id="one-card"
        ),
        pytest.param(
            {"instanceType": "null", "instanceTypes": "[p5.48xlarge, p5e.48xlarge]"},
            True,
            {"TS-GRP-003"},
            id="several-types",
        ),
        pytest.param({"spot": "true"}, True, {"TS-GRP-004"}, id="spot"),
        pytest.param({"spot": "true", "maxSize": "1"}, True, set(), id="spot-of-one"),
        pytest.param(
            {
                "instanceMarketOptions": "{marketType: capacity-block}",
                "capacityReservation": _RESERVED,
            },
            True,
            set(),
            id="block",
        ),
        pytest.param(
            {
                "instanceMarketOptions": "{marketType: capacity-block}",
                "capacityReservation": _RESERVED,
            },
            False,
            {"TS-EKS-005"},
            id="block-of-a-self-managed-group",
        ),
        pytest.param({"instanceType": "p6-b300.48xlarge"}, True, {"TS-EKS-001"}, id="b300"),
        pytest.param(
            {"availabilityZones": "[us-west-2a, us-west-2b]"}, True, {"TS-EKS-002"}, id="zones"
        ),
        pytest.param(
            {"subnets": "[subnet-1, subnet-2]", "availabilityZones": "null"},
            True,
            {"TS-EKS-002"},
            id="subnets",
        ),
        pytest.param({"capacityReservation": _RESERVED}, True, set(), id="reservation"),
        pytest.param(
            {"capacityReservation": _RESERVED, "availabilityZones": "null"},
            True,
            {"TS-EKS-003"},
            id="reservation-without-zone",
        ),
        pytest.param(
            {
                "capacityReservation": _RESERVED,
                "availabilityZones": "[us-west-2a, us-west-2b]",
                "efaEnabled": "false",
                "maxSize": "1",
            },
            True,
            {"TS-EKS-003"},
            id="reservation-in-two-zones",
        ),
        pytest.param({"privateNetworking": "false"}, True, {"TS-EKS-004"}, id="public"),
        pytest.param(
            {"privateNetworking": "false", "instanceType": "g6.48xlarge"},
            True,
            set(),
            id="public-with-one-card",
        ),
        # eksctl makes as many interfaces as the type with the fewest cards has.
        pytest.param(
            {
                "privateNetworking": "false",
                "instanceType": "null",
                "instanceTypes": "[g6.48xlarge, p5.48xlarge]",
            },
            True,
            {"TS-GRP-003"},
            id="public-with-one-card-of-several-types",
        ),
        pytest.param(
            {"privateNetworking": "null", "subnets": "[subnet-1]"},
            True,
            {"TS-EKS-004"},
            id="subnets-decide-whether-public",
        ),
        pytest.param(
            {"capacityReservation": _RESERVED},
            False,
            {"TS-EKS-005"},
            id="group-beside-reservation",
        ),
        pytest.param(
            {
                "capacityReservation": _RESERVED,
                "placement": "{groupName: mine}",
            },
            False,
            set(),
            id="named-group-beside-reservation",
        ),
        pytest.param({"amiFamily": "AmazonLinux2023"}, True, set(), id="amazon-linux-2023"),
        pytest.param({"amiFamily": "Ubuntu2204"}, True, {"TS-EKS-008"}, id="no-driver"),
        pytest.param(
            {
                "amiFamily": "Ubuntu2204",
                "ami": "ami-0123456789abcdef0",
                "overrideBootstrapCommand": "'/etc/eks/bootstrap.sh ${NAME}'",
            },
            True,
            set(),
            id="own-ami",
        ),
        pytest.param(
            {"instanceType": "dl1.24xlarge"},
            True,
            {"TS-EKS-008"},
            id="gaudi",
        ),
        pytest.param(
            {"ami": "/my/ami", "amiFamily": "AmazonLinux2023"},
            True,
            {"TS-GRP-005"},
            id="path-as-ami",
        ),
        pytest.param({"ami": "auto-ssm"}, True, set(), id="ami-of-eksctl"),
        pytest.param({"amiFamily": "Bottlerocket"}, True, set(), id="bottlerocket"),
        pytest.param(
            {"instanceType": "null", "instanceSelector": "{gpus: 8}", "efaEnabled": "false"},
            True,
            {"TS-GRP-002"},
            id="selector-without-family",
        ),
        pytest.param({"availabilityZones": "null"}, True, {"TS-EKS-009"}, id="no-zone"),
        pytest.param(
            {"availabilityZones": "null", "efaEnabled": "false", "maxSize": "1"},
            True,
            set(),
            id="no-zone-without-efa",
        ),
        pytest.param(
            {"instanceMarketOptions": "{marketType: capacity-block}"},
            True,
            {"TS-EKS-013"},
            id="block-without-reservation",
        ),
        pytest.param(
            {
                "instanceMarketOptions": "{marketType: block}",
                "capacityReservation": _RESERVED,
            },
            True,
            {"TS-EKS-013"},
            id="another-market",
        ),
        pytest.param(
            {
                "instanceMarketOptions": "{marketType: capacity-block}",
                "capacityReservation": _GROUP_RESERVED,
            },
            True,
            {"TS-EKS-013"},
            id="group-of-blocks",
        ),
        pytest.param(
            {
                "instanceType": "null",
                "instanceTypes": "[p5.48xlarge, p5e.48xlarge]",
                "instanceMarketOptions": "{marketType: capacity-block}",
                "capacityReservation": _RESERVED,
            },
            True,
            {"TS-EKS-013", "TS-GRP-003"},
            id="block-of-several-types",
        ),
        pytest.param(
            {
                "instanceType": "null",
                "efaEnabled": "null",
                "instanceTypes": "[p5.48xlarge]",
                "launchTemplate": '{id: lt-1, version: "3"}',
                "instanceMarketOptions": "{marketType: capacity-block}",
                "capacityReservation": _RESERVED,
            },
            True,
            {"TS-EKS-013"},
            id="block-with-a-template-and-its-type-in-the-file",
        ),
        pytest.param(
            {"ami": "ami-0123456789abcdef0"}, True, {"TS-EKS-014"}, id="ami-without-family"
        ),
        pytest.param(
            {"ami": "ami-0123456789abcdef0", "amiFamily": "AmazonLinux2023"},
            True,
            set(),
            id="ami-of-amazon-linux-2023",
        ),
        pytest.param(
            {"ami": "ami-0123456789abcdef0", "amiFamily": "Ubuntu2404"},
            False,
            {"TS-EKS-014"},
            id="ami-without-command",
        ),
        pytest.param(
            {"amiFamily": "AmazonLinux2023", "overrideBootstrapCommand": _NODE_CONFIG},
            True,
            set(),
            id="node-config",
        ),
        pytest.param(
            {"amiFamily": "AmazonLinux2023", "overrideBootstrapCommand": '"#!/bin/bash\\nls"'},
            True,
            {"TS-EKS-014"},
            id="script-as-node-config",
        ),
        pytest.param(
            {"overrideBootstrapCommand": '"kind: ClusterConfig"'},
            True,
            {"TS-EKS-014"},
            id="another-kind-as-node-config",
        ),
        pytest.param(
            {"ami": "ami-0123456789abcdef0", "overrideBootstrapCommand": "ls"},
            True,
            {"TS-EKS-014"},
            id="command-of-an-ami-without-family",
        ),
        pytest.param(
            {"amiFamily": "Bottlerocket", "overrideBootstrapCommand": "ls"},
            True,
            {"TS-EKS-014"},
            id="command-of-bottlerocket",
        ),
        pytest.param(
            {"amiFamily": "Ubuntu2404", "overrideBootstrapCommand": "ls"},
            True,
            {"TS-EKS-008", "TS-EKS-014"},
            id="command-without-ami",
        ),
        pytest.param(
            {
                "ami": "ami-0123456789abcdef0",
                "amiFamily": "AmazonLinux2023",
                "maxPodsPerNode": "50",
            },
            True,
            {"TS-EKS-014"},
            id="most-pods-with-own-ami",
        ),
        pytest.param(
            {
                "ami": "ami-0123456789abcdef0",
                "amiFamily": "AmazonLinux2023",
                "maxPodsPerNode": "50",
            },
            False,
            set(),
            id="most-pods-of-a-self-managed-group",
        ),
        pytest.param(
            {"securityGroups": "{withShared: false}"}, False, {"TS-EKS-015"}, id="not-shared"
        ),
        pytest.param(
            {"securityGroups": "{withShared: true, attachIDs: [sg-1]}"},
            False,
            set(),
            id="attached-beside-the-shared-one",
        ),
        pytest.param({"securityGroups": "{attachIDs: [sg-1]}"}, True, set(), id="attached"),
        pytest.param({"volumeSize": "49"}, True, {"TS-EKS-017"}, id="small-volume"),
        pytest.param({"volumeSize": "50"}, True, set(), id="volume"),
        pytest.param(
            {"volumeSize": "20", "instanceType": "m5.large", "efaEnabled": "false"},
            True,
            set(),
            id="small-volume-of-another-type",
        ),
    ],
)
def test_rules_over_groups(changes: dict[str, str], managed: bool, expected: set[str]) -> None:
    fields = ", ".join(f"{key}: {field}" for key, field in (_GOOD | changes).items())
    kind = "managedNodeGroups" if managed else "nodeGroups"

    found = rules(cluster(f"{kind}: [{{name: train, {fields}}}]"))

    assert found == expected


def test_rules_say_that_a_selector_leaves_the_types_open() -> None:
    read = cluster(
        "managedNodeGroups: [{name: train, instanceSelector: {gpus: 8}, efaEnabled: true, "
        "privateNetworking: true, availabilityZones: [us-west-2a]}]"
    )

    (found,) = (each for each in lint_documents((read,)) if "not decided" in each.message)
    assert {"TS-GRP-001", "TS-EKS-001"} <= _named(found)
    assert "not decided: instanceSelector, which eksctl resolves when it runs" in found.message


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        pytest.param('"1.29"', {"TS-EKS-007"}, id="ended"),
        pytest.param('"1.31"', {"TS-EKS-007"}, id="ends"),
        pytest.param('"1.34"', {"TS-EKS-007"}, id="standard-ends"),
        pytest.param("1.35", set(), id="supported-number"),
        pytest.param('"1.40"', set(), id="newer"),
        pytest.param("v1.35.2", set(), id="patch"),
        pytest.param("auto", set(), id="no-version"),
        pytest.param('"${VERSION}"', {"TS-EKS-007"}, id="placeholder-is-said"),
    ],
)
def test_versions_of_kubernetes(
    version: str, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", _epoch(2026, 11, 26))
    assert _rules_of_version(version) == expected


@pytest.mark.parametrize(
    ("month", "day", "expected"),
    [
        pytest.param(9, 2, set(), id="91-days-before"),
        pytest.param(9, 3, {"TS-EKS-007"}, id="90-days-before"),
    ],
)
def test_a_version_is_found_from_90_days_before_the_end_of_its_support(
    month: int, day: int, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", _epoch(2026, month, day))

    assert _rules_of_version('"1.34"') == expected


@pytest.mark.parametrize(
    ("version", "day", "severity", "words"),
    [
        pytest.param("1.33", 26, Severity.WARNING, "until 2027-07-29", id="extended"),
        pytest.param("1.31", 26, Severity.WARNING, "until 2026-11-26", id="last-day"),
        pytest.param("1.31", 27, Severity.ERROR, "ended on 2026-11-26", id="ended"),
        pytest.param("1.29", 27, Severity.ERROR, "that EKS has no more", id="long-ago"),
    ],
)
def test_a_version_that_eks_has_no_more_is_an_error(
    version: str, day: int, severity: Severity, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", _epoch(2026, 11, day))

    (found,) = of("TS-EKS-007", _with(f'metadata: {{version: "{version}"}}'))

    assert found.severity is severity
    assert words in found.message


def _with(sections: str) -> EksctlCluster:
    """Read a cluster file of these sections."""
    document = parse_document(sections)
    assert isinstance(document.value, dict)
    where = Where(file="cluster.yaml", positions=document.positions)
    (read,) = read_eksctl(Content(value=document.value, where=where))
    return read


@pytest.mark.parametrize(
    ("sections", "count"),
    [
        pytest.param("vpc: {id: vpc-1}", 1, id="by-default"),
        pytest.param("vpc: {clusterEndpoints: {privateAccess: true}}", 1, id="both"),
        pytest.param("vpc: {clusterEndpoints: {publicAccess: false}}", 0, id="private"),
        pytest.param("vpc: {publicAccessCIDRs: [192.0.2.0/24]}", 0, id="ranges"),
        pytest.param("vpc: {publicAccessCIDRs: [192.0.2.0/24, 0.0.0.0/0]}", 1, id="all-ranges"),
        pytest.param("privateCluster: {enabled: true}", 0, id="private-cluster"),
    ],
)
def test_who_reaches_the_api_server(sections: str, count: int) -> None:
    assert len(of("TS-EKS-021", _with(sections))) == count


@pytest.mark.parametrize(
    ("policy", "count"), [("STANDARD", 0), ("standard", 0), ("EXTENDED", 1), (None, 1)]
)
def test_support_is_extended_unless_the_file_says_otherwise(policy: str | None, count: int) -> None:
    sections = f"upgradePolicy: {{supportType: {policy}}}" if policy else "metadata: {}"

    found = of("TS-EKS-010", _with(sections))

    assert [each.severity for each in found] == [Severity.INFO] * count


def test_what_the_addresses_of_a_group_are() -> None:
    (found,) = of(
        "TS-EKS-016",
        cluster("nodeGroups: [{name: a, instanceType: p5.48xlarge, efaEnabled: true, maxSize: 4}]"),
    )

    assert "32 interfaces of kind efa: 128 addresses of the subnet for 4 nodes" in found.message


@pytest.mark.parametrize(
    ("subnets", "count"),
    [("{only: {id: subnet-1}}", 0), ("{one: {id: subnet-1}, two: {id: subnet-2}}", 1)],
)
def test_one_listed_subnet_is_one_zone(subnets: str, count: int) -> None:
    read = cluster(
        f"vpc: {{subnets: {{private: {subnets}}}}}\nmanagedNodeGroups: [{{name: a, "
        "instanceType: p5.48xlarge, efaEnabled: true, privateNetworking: true}]"
    )

    assert len(of("TS-EKS-009", read)) == count


@pytest.mark.parametrize(
    ("sections", "count"),
    [
        pytest.param("autoModeConfig: {enabled: true}", 1, id="auto-mode"),
        pytest.param("autoModeConfig: {enabled: false}", 0, id="no-auto-mode"),
        pytest.param("addonsConfig: {disableDefaultAddons: true}", 1, id="no-default-addons"),
        pytest.param(
            "autoModeConfig: {enabled: true}\naddons: [{name: VPC-CNI}]", 0, id="listed-addon"
        ),
        pytest.param(
            "autoModeConfig: {enabled: true}\naddons: [{name: coredns}]", 1, id="another-addon"
        ),
    ],
)
def test_nodes_need_a_network_for_pods(sections: str, count: int) -> None:
    with_nodes = f"{sections}\nnodeGroups: [{{name: train}}]"

    assert len(of("TS-EKS-012", _with(with_nodes))) == count
    assert of("TS-EKS-012", _with(sections)) == []


def test_addons_that_cannot_be_read_leave_it_open() -> None:
    read = _with('autoModeConfig: {enabled: true}\nnodeGroups: [{name: a}]\naddons: "${ADDONS}"')

    (found,) = of("TS-EKS-012", read)

    assert found.message == "not decided: the add-ons"


@pytest.mark.parametrize(
    ("cluster_name", "group_names", "words"),
    [
        pytest.param("a" * 100, ["b"], None, id="longest"),
        pytest.param("a" * 101, ["b"], "the cluster has 101 characters", id="cluster"),
        pytest.param("a", ["b" * 63], None, id="longest-group"),
        pytest.param("a", ["b" * 64], "node group has 64 characters", id="group"),
        pytest.param("a" * 60, ["b" * 50], None, id="longest-stack"),
        pytest.param("a" * 60, ["b" * 51], "has a name of 129 characters", id="stack"),
        pytest.param("a", ["b", "b"], "two node groups are called b", id="twice"),
    ],
)
def test_names_have_room(cluster_name: str, group_names: list[str], words: str | None) -> None:
    groups = ", ".join(f"{{name: {name}}}" for name in group_names)

    found = of(
        "TS-EKS-011", _with(f"metadata: {{name: {cluster_name}}}\nmanagedNodeGroups: [{groups}]")
    )

    assert [each.severity for each in found] == [Severity.ERROR] * (words is not None)
    assert all(words in each.message for each in found if words)


@pytest.mark.parametrize(
    ("version", "kind", "more", "count"),
    [
        pytest.param("1.33", "nodeGroups", "efaEnabled: true", 1, id="self-managed"),
        pytest.param("1.32", "nodeGroups", "efaEnabled: true", 0, id="older-kubernetes"),
        pytest.param("1.33", "managedNodeGroups", "efaEnabled: true", 0, id="managed"),
        pytest.param("1.33", "nodeGroups", "efaEnabled: false", 0, id="without-efa"),
        pytest.param(
            "1.33",
            "nodeGroups",
            "efaEnabled: true, securityGroups: {attachIDs: [sg-1]}",
            0,
            id="attached",
        ),
        pytest.param("auto", "nodeGroups", "efaEnabled: true", 0, id="no-version"),
    ],
)
def test_self_managed_nodes_may_have_no_group_for_efa(
    version: str, kind: str, more: str, count: int
) -> None:
    read = _with(f'metadata: {{version: "{version}"}}\n{kind}: [{{name: a, {more}}}]')

    assert [each.severity for each in of("TS-EKS-040", read)] == [Severity.INFO] * count


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("withShared: false, withLocal: false", "and do not join"),
        ("withShared: false", "they reach neither DNS nor"),
        ("withShared: false, attachIDs: [sg-1]", "not decided: the rules of security group sg-1"),
    ],
)
def test_nodes_that_are_outside_of_the_groups_of_eksctl(groups: str, words: str) -> None:
    (found,) = of(
        "TS-EKS-015", cluster(f"nodeGroups: [{{name: train, securityGroups: {{{groups}}}}}]")
    )

    assert words in found.message


def _epoch(year: int, month: int, day: int) -> str:
    return str(int(datetime(year, month, day, tzinfo=UTC).timestamp()))


def _rules_of_version(version: str) -> set[str]:
    shape = parse_document(f"metadata: {{version: {version}}}").value

    assert isinstance(shape, dict)
    (read,) = read_eksctl(Content(value=shape, where=Where(file="x.yaml")))
    return rules(read)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param("{id: lt-1}", {"TS-EKS-006"}, id="default"),
        pytest.param("{id: lt-1, version: $Latest}", {"TS-EKS-006"}, id="latest"),
        pytest.param('{id: lt-1, version: "3"}', set(), id="number"),
    ],
)
def test_versions_of_launch_templates(template: str, expected: set[str]) -> None:
    found = rules(cluster(f"managedNodeGroups: [{{name: train, launchTemplate: {template}}}]"))

    assert found == expected


def test_a_finding_names_group_type_and_place() -> None:
    read = cluster(
        """\
        managedNodeGroups:
          - name: train
            instanceType: p6-b300.48xlarge
            efaEnabled: true
        """
    )

    (found,) = of("TS-EKS-001", read)
    assert found.message == (
        "eksctl gives train 17 interfaces with EFA, and of the cards of p6-b300.48xlarge only 16 "
        "have EFA"
    )
    assert str(found.place) == "cluster.yaml:7:5"


def test_shared_rules_judge_the_groups() -> None:
    (found,) = of(
        "TS-LIF-001", cluster("managedNodeGroups: [{name: train, instanceType: p3.2xlarge}]")
    )

    assert found.place
    assert found.place.field == "managedNodeGroups.0.instanceType"


def test_what_to_do_about_named_public_subnets_of_dl1() -> None:
    read = cluster(
        f"{SUBNETS}managedNodeGroups: [{{name: dl1, instanceType: dl1.24xlarge, efaEnabled: true, "
        "maxSize: 4, subnets: [us-west-2b]}]"
    )

    [found] = of("TS-EKS-004", read)

    assert found.remedy == "set privateNetworking: true, and name private subnets"
