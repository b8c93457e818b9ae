"""What the stacks of the shipped clusters promise to each other and to their owners."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from trainshed.plan import Fleet, load_fleet, make_plan, plan_fleet
from trainshed.spec import ClusterSpec, SpecError
from trainshed_stacks import TrainClusterStack

ROOT = Path(__file__).parents[2]
CLUSTERS = ("TrainCluster", "Dl1Cluster", "P4dCluster")
Synthesise = Callable[[Fleet], Path]


def resources(template: Mapping[str, Any], resource_type: str) -> list[dict[str, Any]]:
    return [each for each in template["Resources"].values() if each["Type"] == resource_type]


def strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, entry in value.items():
                yield key
                yield from strings(entry)
        case list():
            for entry in value:
                yield from strings(entry)


def spec(name: str, **changes: Any) -> ClusterSpec:
    fields = {"region": "us-west-2", "instance": {"type": "trn1.32xlarge"}, "name": name}
    return ClusterSpec.model_validate(fields | changes)


def dependencies(assembly: Path, name: str) -> set[str]:
    found = manifest(assembly)["artifacts"][name]["dependencies"]
    return {each for each in found if not each.endswith(".assets")}


def document(assembly: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((assembly / name).read_text())
    return found


def manifest(assembly: Path) -> dict[str, Any]:
    return document(assembly, "manifest.json")


def read(assembly: Path, name: str) -> dict[str, Any]:
    return document(assembly, f"{name}.template.json")


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_deploying_a_cluster_brings_its_prerequisites_network_storage_and_images(
    assembly: Path, cluster: str
) -> None:
    stem = cluster.removesuffix("Cluster")

    found = dependencies(assembly, cluster)

    assert found == {
        f"{stem}{part}" for part in ("Prerequisites", "Network", "Storage", "Containers")
    }


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_storage_and_images_wait_for_no_cluster_and_not_for_each_other(
    assembly: Path, cluster: str
) -> None:
    stem = cluster.removesuffix("Cluster")

    first = f"{stem}Prerequisites"
    assert dependencies(assembly, f"{stem}Storage") == {first, f"{stem}Network"}
    assert dependencies(assembly, f"{stem}Network") == {first}
    assert dependencies(assembly, f"{stem}Containers") == {first}
    assert dependencies(assembly, first) == set()


def test_what_clusters_share_waits_for_the_prerequisites_of_none(synthesise: Synthesise) -> None:
    fleet = plan_fleet(
        [
            spec("OneCluster", network={"name": "lab"}, image={"repository": "lab"}),
            spec("TwoCluster", network={"name": "lab"}, storage={"lustre": {}}),
        ]
    )

    assembly = synthesise(fleet)

    assert dependencies(assembly, "LabNetwork") == set()
    assert dependencies(assembly, "LabContainers") == {"OnePrerequisites"}
    assert dependencies(assembly, "TwoStorage") == {"TwoPrerequisites", "LabNetwork"}
    for cluster in ("One", "Two"):
        found = dependencies(assembly, f"{cluster}Cluster")
        assert {each for each in found if "Prerequisites" in each} == {f"{cluster}Prerequisites"}


def test_lustre_waits_for_the_bucket_of_the_cluster_that_it_is_linked_to(
    synthesise: Synthesise,
) -> None:
    def waits_for(bucket: str) -> set[str]:
        storage = {"bucket": {}, "lustre": {"s3": {"bucket": bucket}}}
        assembly = synthesise(plan_fleet([spec("OneCluster", storage=storage)]))
        assert dependencies(assembly, "OneBucket") == {"OnePrerequisites"}
        return dependencies(assembly, "OneStorage")

    others = {"OnePrerequisites", "OneNetwork"}
    assert waits_for("trainshed-one-123456789012-us-west-2") == {*others, "OneBucket"}
    assert waits_for("somebody-elses") == others


def test_prerequisites_make_nothing_that_bills_and_export_nothing(
    templates: Mapping[str, dict[str, Any]],
) -> None:
    template = templates["TrainPrerequisites"]

    kinds = {each["Type"] for each in template["Resources"].values()}

    free = {"AWS::IAM::Role", "AWS::Lambda::Function", "AWS::Logs::LogGroup"}
    assert kinds == {*free, "Custom::PinnedAmi"}
    assert "Outputs" not in template


@pytest.mark.parametrize("part", ["Prerequisites", "Cluster"])
def test_an_ami_id_is_checked_by_compute_too(synthesise: Synthesise, part: str) -> None:
    given = "ami-0123456789abcdef0"
    one = spec("OneCluster", instance={"type": "trn1.32xlarge", "ami": given})

    template = json.loads((synthesise(plan_fleet([one])) / f"One{part}.template.json").read_text())

    [pinned] = resources(template, "Custom::PinnedAmi")
    assert pinned["Properties"]["Ami"] == given
    # Nodes take what was checked, so that the check comes before them.
    assert given not in json.dumps(resources(template, "AWS::Batch::ComputeEnvironment"))


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_compute_imports_from_the_network_only(
    templates: Mapping[str, dict[str, Any]], cluster: str
) -> None:
    imports = json.dumps(templates[cluster]).split('{"Fn::ImportValue": "')[1:]
    stem = cluster.removesuffix("Cluster")

    assert imports
    assert all(each.startswith(f"{stem}Network:") for each in imports)
    for data in ("Storage", "Containers"):
        outputs = templates[f"{stem}{data}"].get("Outputs", {})
        assert not [each for each in outputs.values() if "Export" in each]


@pytest.mark.parametrize("orchestrator", ["batch", "ec2"])
def test_compute_says_what_starts_its_jobs(synthesise: Synthesise, orchestrator: str) -> None:
    fleet = plan_fleet([spec("OneCluster", orchestrator=orchestrator)])

    template = read(synthesise(fleet), "OneCluster")

    assert template["Outputs"]["Orchestrator"]["Value"] == orchestrator


def user_data(template: Mapping[str, Any]) -> str:
    [node] = resources(template, "AWS::EC2::LaunchTemplate")
    return "".join(strings(node["Properties"]["LaunchTemplateData"]["UserData"]))


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        pytest.param({}, False, id="no-lustre"),
        pytest.param({"capacity_gib": 1200}, False, id="tcp"),
        pytest.param({"capacity_gib": 19200, "efa": True}, True, id="efa"),
    ],
)
def test_every_node_is_reported_what_to_do_at_first_boot(
    synthesise: Synthesise, storage: dict[str, Any], expected: bool
) -> None:
    cluster = spec("OneCluster", **({"storage": {"lustre": storage}} if storage else {}))

    written = user_data(read(synthesise(plan_fleet([cluster])), "OneCluster"))

    assert "FailureAction=poweroff" in written
    assert ('"efa_interfaces": 2' in written.replace("\\", "")) is expected
    assert ("dns_name_parameter" in written) is bool(storage)
    plan = make_plan(cluster)
    expected_devices = json.dumps({"cluster": "OneCluster", "devices": dict(plan.devices)})
    assert expected_devices.strip("{}") in written.replace("\\", "")


@pytest.mark.parametrize(("nodes", "limit"), [(1, "3"), (15, "3"), (64, "16")])
def test_nodes_that_fail_to_boot_are_replaced_a_bounded_number_of_times(
    synthesise: Synthesise, nodes: int, limit: str
) -> None:
    instance = {"type": "trn1.32xlarge", "nodes": {"min": 1, "max": nodes}}
    cluster = spec("OneCluster", instance=instance)

    template = read(synthesise(plan_fleet([cluster])), "OneCluster")

    [function] = [
        each["Properties"]["Environment"]["Variables"]
        for each in resources(template, "AWS::Lambda::Function")
        if "Environment" in each["Properties"]
    ]
    [environment] = resources(template, "AWS::Batch::ComputeEnvironment")
    computes = environment["Properties"]["ComputeResources"]
    assert function["LIMIT"] == limit
    stop = json.dumps(function["STOP"])
    assert "update_compute_environment" in stop
    assert f"minvCpus={computes['MinvCpus']}" in json.dumps(function["UNDO"])
    # The tag by which it knows its nodes.
    assert function["CLUSTER"] == computes["Tags"]["trainshed:cluster"]
    [rule] = [
        each["Properties"]
        for each in resources(template, "AWS::Events::Rule")
        if "Function" in [target["Id"] for target in each["Properties"].get("Targets", [])]
    ]
    assert rule["EventPattern"]["source"] == ["aws.ec2"]


@pytest.mark.parametrize("suffix", ["Storage", "Containers"])
def test_data_is_protected_and_kept(assembly: Path, suffix: str) -> None:
    kinds = {"AWS::FSx::FileSystem", "AWS::ECR::Repository"}

    stack = manifest(assembly)["artifacts"][f"Train{suffix}"]["properties"]
    holding = [
        each
        for each in read(assembly, f"Train{suffix}")["Resources"].values()
        if each["Type"] in kinds
    ]

    assert stack["terminationProtection"] is True
    assert holding
    for resource in holding:
        # Except on a creation that failed, which leaves nothing worth keeping.
        assert resource["DeletionPolicy"] == "RetainExceptOnCreate"
        assert resource["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize(
    ("name", "device"), [("TrainCluster", "/dev/xvda"), ("Dl1Cluster", "/dev/sda1")]
)
def test_the_root_volume_of_nodes_is_that_of_their_image(
    templates: dict[str, Any], name: str, device: str
) -> None:
    [launch_template] = resources(templates[name], "AWS::EC2::LaunchTemplate")

    [mapping] = launch_template["Properties"]["LaunchTemplateData"]["BlockDeviceMappings"]

    assert mapping["DeviceName"] == device


def test_instances_and_volumes_of_a_cluster_carry_its_tags(
    templates: Mapping[str, dict[str, Any]],
) -> None:
    [launch_template] = resources(templates["TrainCluster"], "AWS::EC2::LaunchTemplate")

    specifications = launch_template["Properties"]["LaunchTemplateData"]["TagSpecifications"]
    tags = {
        each["ResourceType"]: {tag["Key"]: tag["Value"] for tag in each["Tags"]}
        for each in specifications
    }

    for kind in ("instance", "volume"):
        assert tags[kind]["trainshed:cluster"] == "TrainCluster"
        assert tags[kind]["owner"] == "ml-platform"


def test_the_users_own_tags_are_where_the_owner_is(synthesise: Synthesise) -> None:
    """An owner may change, and so may they: what cannot carry it must not carry them."""
    storage: dict[str, Any] = {"lustre": {}}
    tags = {"team": "speech", "Cost Center": "12"}

    assembly = synthesise(plan_fleet([spec("TaggedCluster", storage=storage, tags=tags)]))

    templates = [read(assembly, f"Tagged{kind}") for kind in ("Cluster", "Network", "Storage")]
    owned = [
        text
        for template in templates
        for resource in template["Resources"].values()
        for text in lists_of_tags(resource.get("Properties", {}))
    ]
    assert sum("owner" in each for each in owned) > 20
    for each in owned:
        assert ({"team", "Cost Center"} <= set(each)) == ("owner" in each)


def lists_of_tags(value: Any) -> Iterator[dict[str, str]]:
    """Every set of tags within a value, in CloudFormation's two forms."""
    match value:
        case {"Tags": [*pairs], **rest}:
            yield {pair["Key"]: pair["Value"] for pair in pairs}
            yield from lists_of_tags(rest)
        case {"Tags": dict(tags), **rest}:
            yield tags
            yield from lists_of_tags(rest)
        case dict():
            for each in value.values():
                yield from lists_of_tags(each)
        case list():
            for each in value:
                yield from lists_of_tags(each)


def test_synthesis_looks_nothing_up(assembly: Path) -> None:
    assert "missing" not in manifest(assembly)


def test_the_same_files_give_the_same_bytes(assembly: Path, synthesise_anew: Synthesise) -> None:
    again = synthesise_anew(load_fleet(sorted((ROOT / "clusters").glob("*.yaml"))))

    for path in assembly.glob("*.template.json"):
        assert path.read_bytes() == (again / path.name).read_bytes()


def test_cdk_nag_has_nothing_left_to_say_about_any_shipped_cluster(
    assembly: Path,
) -> None:
    report = document(assembly, "validation-report.json")

    findings = [
        violation["ruleName"]
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        # Our own warnings are annotations, and stand in the report beside cdk-nag's.
        if not violation["ruleName"].startswith("Annotation::TS-")
    ]

    assert not findings


def test_cdk_nag_is_listening(context: dict[str, Any], tmp_path: Path) -> None:
    """The counterpart: an app composed like ours fails on what the pack forbids."""
    app = cdk.App(context=context, outdir=str(tmp_path))
    from cdk_nag import AwsSolutionsChecks

    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    stack = TrainClusterStack(app, "Tiny", cluster=spec("Tiny"))
    cdk.aws_s3.CfnBucket(stack, "Open")

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()

    report = json.loads((tmp_path / "validation-report.json").read_text())
    assert "AwsSolutions-S" in json.dumps(report)


def test_nothing_is_open_to_the_world(templates: Mapping[str, dict[str, Any]]) -> None:
    for template in templates.values():
        rules = [
            rule["Properties"] for rule in resources(template, "AWS::EC2::SecurityGroupIngress")
        ]
        for group in resources(template, "AWS::EC2::SecurityGroup"):
            rules += group["Properties"].get("SecurityGroupIngress", [])
        assert not [rule for rule in rules if {"0.0.0.0/0", "::/0"} & set(strings(rule))]


def test_only_what_fails_a_check_is_reported_at_synthesis(assembly: Path) -> None:
    metadata = [document(assembly, f"{name}.metadata.json") for name in CLUSTERS]
    entries = [entry for stack in metadata for each in stack.values() for entry in each]
    warnings = [entry["data"] for entry in entries if entry["type"] == "aws:cdk:warning"]

    assert not [entry for entry in entries if entry["type"] in ("aws:cdk:info", "aws:cdk:error")]
    assert len(warnings) == 1
    assert "has not listed dl1.24xlarge since 2026-07-11" in warnings[0]
    assert "use trn1.32xlarge" in warnings[0]


def test_a_cluster_can_be_made_in_python_alone(context: dict[str, Any], tmp_path: Path) -> None:
    app = cdk.App(context=context, outdir=str(tmp_path))

    stack = TrainClusterStack(app, "X", cluster=spec("MineCluster"))
    assembly = app.synth()

    assert stack.stack_name == "X"
    assert {each.stack_name for each in assembly.stacks} == {
        "X",
        "MinePrerequisites",
        "MineNetwork",
        "MineContainers",
    }


def test_a_cluster_made_in_python_without_a_region_is_refused(context: dict[str, Any]) -> None:
    app = cdk.App(context=context)

    with pytest.raises(SpecError, match="region: is not given"):
        TrainClusterStack(app, "X", cluster=spec("MineCluster", region=None))


def test_clusters_that_name_the_same_things_share_them(synthesise: Synthesise) -> None:
    shared = {
        "instance": {"type": "trn1.32xlarge", "nodes": {"max": 29}},
        "network": {"name": "lab", "cidr": "10.20.0.0/22"},
        "storage": {"lustre": {"name": "lab"}},
        "image": {"repository": "lab"},
    }
    fleet = plan_fleet([spec("OneCluster", **shared), spec("TwoCluster", **shared)])

    assembly = synthesise(fleet)

    names = {path.name.split(".")[0] for path in assembly.glob("*.template.json")}
    shared_by_both = {"LabNetwork", "LabStorage", "LabContainers"}
    own = {f"{each}{part}" for each in ("One", "Two") for part in ("Cluster", "Prerequisites")}
    assert names == own | shared_by_both
    clients = resources(read(assembly, "LabNetwork"), "AWS::EC2::SecurityGroup")
    assert len(clients) == 1
    # Each alone leaves half of the subnet free.
    for name in ("OneCluster", "TwoCluster"):
        metadata = json.dumps(document(assembly, f"{name}.metadata.json"))
        assert "the largest jobs of OneCluster, TwoCluster take" in metadata


def test_clusters_in_two_zones_of_one_network_have_a_subnet_each(synthesise: Synthesise) -> None:
    shared = {"network": {"name": "lab"}}
    fleet = plan_fleet(
        [
            spec("OneCluster", zone="usw2-az1", **shared),
            spec("TwoCluster", zone="usw2-az4", **shared),
        ]
    )

    network = read(synthesise(fleet), "LabNetwork")

    zones = {
        each["Properties"]["AvailabilityZoneId"] for each in resources(network, "AWS::EC2::Subnet")
    }
    assert zones == {"usw2-az1", "usw2-az4"}
    assert len(resources(network, "AWS::EC2::NatGateway")) == 2


@pytest.mark.parametrize(
    ("capacity", "group"),
    [
        pytest.param("on-demand", True, id="on-demand"),
        pytest.param({"capacity_block": "cr-0123456789abcdef0"}, False, id="block"),
        pytest.param({"reservation": "cr-0123456789abcdef0"}, False, id="reservation"),
    ],
)
def test_a_placement_group_is_made_where_capacity_does_not_bring_its_own(
    synthesise: Synthesise, capacity: object, group: bool
) -> None:
    template = read(synthesise(plan_fleet([spec("OneCluster", capacity=capacity)])), "OneCluster")

    [environment] = resources(template, "AWS::Batch::ComputeEnvironment")

    assert bool(resources(template, "AWS::EC2::PlacementGroup")) is group
    assert ("PlacementGroup" in environment["Properties"]["ComputeResources"]) is group


def test_an_existing_vpc_gets_no_network_resources_but_the_groups(synthesise: Synthesise) -> None:
    network = {
        "vpc": "vpc-0123456789abcdef0",
        "subnet": "subnet-0123456789abcdef0",
        "default_security_group": "sg-0123456789abcdef0",
    }
    fleet = plan_fleet([spec("OneCluster", network=network, storage={"lustre": {}})])

    template = read(synthesise(fleet), "OneNetwork")

    kinds = {each["Type"] for each in template["Resources"].values()}
    assert not kinds & {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::NatGateway"}
    [rules] = resources(template, "AWS::CloudFormation::CustomResource")
    assert rules["Properties"]["GroupId"] == "sg-0123456789abcdef0"
    # Others may use the group.
    assert rules["Properties"]["CloseEgress"] is False


def test_an_existing_vpc_to_which_nothing_is_added_is_no_error(synthesise: Synthesise) -> None:
    network = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"}

    assembly = synthesise(plan_fleet([spec("OneCluster", network=network)]))

    assert "Resources" not in read(assembly, "OneNetwork")
    assert "OneNetwork" in dependencies(assembly, "OneCluster")
    [environment] = resources(read(assembly, "OneCluster"), "AWS::Batch::ComputeEnvironment")
    assert environment["Properties"]["ComputeResources"]["Subnets"] == [network["subnet"]]


def test_the_rules_of_an_existing_vpc_come_before_the_cluster(synthesise: Synthesise) -> None:
    """Nothing is exported, so only the order ties them; without it `cdk deploy` leaves them out."""
    fleet = load_fleet([ROOT / "examples/existing-network.yaml"])

    assembly = synthesise(fleet)

    [cluster] = fleet.clusters
    network = cluster.network.stack_name
    assert network in dependencies(assembly, cluster.name)
    assert "Outputs" not in read(assembly, network)
    assert "Fn::ImportValue" not in json.dumps(read(assembly, cluster.name))


def test_no_folder_is_called_constructs_as_a_package() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*constructs/__init__.py", "*constructs.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert not [path for path in tracked if Path(path).parent.name == "constructs"]


def network_guard(assembly: Path, network: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The properties of a network's guard, and what its function may do with CloudFormation."""
    template = read(assembly, network)
    [guard] = resources(template, "Custom::NetworkGuard")
    allowed = [
        statement
        for role in resources(template, "AWS::IAM::Role")
        for policy in role["Properties"]["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "cloudformation:" in json.dumps(statement)
    ]
    return guard["Properties"], allowed


def test_a_network_guard_knows_what_imports_from_its_network_and_reads_no_other_stack(
    assembly: Path,
) -> None:
    templates = {
        path.name.split(".")[0]: path.read_text() for path in assembly.glob("*.template.*")
    }
    networks = [name for name, text in templates.items() if "Custom::NetworkGuard" in text]

    for network in networks:
        importers = {
            name for name, text in templates.items() if f'"Fn::ImportValue": "{network}:' in text
        }
        guard, allowed = network_guard(assembly, network)
        read_stacks = [each for each in allowed if "GetTemplate" in json.dumps(each["Action"])]
        assert importers and importers <= set(guard["Users"])
        assert [json.dumps(each["Resource"]).count(":stack/") for each in read_stacks] == [
            len(guard["Users"])
        ]
        assert [each["Action"] for each in allowed if each["Resource"] == "*"] == [
            "cloudformation:ListImports"
        ]
    assert networks
