"""What a review says about a deployment that AWS or `NetworkGuard` refuses."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.changes import compare_templates
from trainshed.review.model import Level, RiskKind
from trainshed.review.risks import risks

pytestmark = pytest.mark.usefixtures("one_engine")
ROOT = Path(__file__).parents[2]
Template = Mapping[str, Any]


def exporting(
    source: str | None = "Clients", *, stack: str = "Network", description: str = "a group"
) -> Template:
    """A stack with two security groups, and an export of the id of one of them, or of none."""
    groups = {
        name: {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": description},
            "Metadata": {"aws:cdk:path": f"{stack}/{name}/Resource"},
        }
        for name in ("Clients", "Others")
    }
    value = {"Fn::GetAtt": [source, "GroupId"]}
    output = {"Value": value, "Export": {"Name": f"{stack}:GroupId"}}
    return {"Resources": groups, "Outputs": {"GroupId": output} if source else {}}


def importing(stack: str | None = "Network") -> Template:
    """A stack that imports from another, or from none."""
    given = {"GroupSet": [{"Fn::ImportValue": f"{stack}:GroupId"}]} if stack else {}
    return {"Resources": {"Nodes": {"Type": "AWS::EC2::NetworkInterface", "Properties": given}}}


def guarding(network: Template, *users: str) -> Template:
    guard = {
        "Type": "Custom::NetworkGuard",
        "Properties": {"Users": list(users)},
        "Metadata": {"aws:cdk:path": "New/Guard/Resource"},
    }
    return {**network, "Resources": {**network["Resources"], "Guard": guard}}


def found(
    before: Mapping[str, Template],
    after: Mapping[str, Template],
    regions: Mapping[str, str] = {},
) -> list[tuple[str, str, str, str]]:
    """Return the stack, the resource, the message and the remedy of each refused deployment."""
    old, new = (
        {
            name: SynthesisedStack(
                path=name,
                region=regions.get(name, "us-west-2"),
                file=Path(f"{name}.json"),
                template=template,
            )
            for name, template in side.items()
        }
        for side in (before, after)
    )
    refused = [
        risk
        for risk in risks(old, new, compare_templates(old, new, ROOT))
        if risk.kind is RiskKind.DEPLOYMENT_FAILS
    ]
    assert all(risk.level is Level.MEDIUM for risk in refused)
    return [(risk.stack, risk.resource, risk.message, risk.remedy) for risk in refused]


@pytest.mark.parametrize(
    "users, users_after, remedy",
    [
        (
            {"Train": importing(), "Eval": importing()},
            {"Train": importing(None), "Eval": importing(None)},
            "run npx cdk deploy --exclusively Train Eval",
        ),
        ({"Storage": importing()}, {}, "tear down Storage"),
        # In the app a stack comes after what it uses; a teardown refuses what is in use.
        ({"Storage": importing(), "Train": importing()}, {}, "tear down Train, Storage"),
        # Both would fail by themselves: what they import is not there, or about to go.
        ({"Train": importing()}, {"Train": importing("New")}, "tear down Train"),
        ({"Train": importing()}, {"Train": importing()}, "tear down Train"),
        (
            {"Train": importing(), "Storage": importing()},
            {"Train": importing(None)},
            "run npx cdk deploy --exclusively Train, then tear down Storage",
        ),
    ],
    ids=[
        "freed",
        "left-behind",
        "both-left-behind",
        "moved",
        "still-importing",
        "freed-and-left-behind",
    ],
)
def test_an_export_that_goes_while_it_is_in_use_fails_the_deployment(
    users: Mapping[str, Template], users_after: Mapping[str, Template], remedy: str
) -> None:
    before, after = {"Network": exporting()}, {"Network": exporting(None)}

    assert found({**before, **users}, {**after, **users_after}) == [
        (
            "Network",
            "Outputs",
            "AWS refuses to change what deployed stacks import: Clients goes (imported by "
            f"{', '.join(users)})",
            f"before it, {remedy} (docs/operate.md)",
        )
    ]


@pytest.mark.parametrize(
    "after",
    [exporting("Others"), exporting(description="other words")],
    ids=["of-another-resource", "of-a-replaced-resource"],
)
def test_an_export_cannot_get_another_value_while_it_is_in_use(after: Template) -> None:
    users = {"Train": importing()}

    [(_, _, said, remedy)] = found({"Network": exporting(), **users}, {"Network": after, **users})

    assert said.endswith("import: Clients gets another value (imported by Train)")
    assert remedy == "before it, tear down Train (docs/operate.md)"


@pytest.mark.parametrize(
    "before, after, regions",
    [
        ({"Train": importing(None)}, {"Network": exporting(None), "Train": importing()}, {}),
        (
            {"Train": importing()},
            {"Network": exporting(None), "Train": importing(None)},
            {"Train": "us-east-1"},
        ),
        ({"Train": importing()}, {"Network": exporting(), "Train": importing(None)}, {}),
        ({"Train": importing()}, {"Train": importing(None)}, {}),
    ],
    ids=["not-in-use", "in-use-in-another-region", "the-same", "its-stack-left-the-app"],
)
def test_other_exports_are_no_obstacle(
    before: Mapping[str, Template], after: Mapping[str, Template], regions: Mapping[str, str]
) -> None:
    assert found({"Network": exporting(), **before}, after, regions) == []


def test_a_stack_cannot_move_to_another_network() -> None:
    new = guarding(exporting(stack="New"), "Train", "Storage", "Eval")
    before = {"Old": exporting(stack="Old"), "Train": importing("Old"), "Storage": importing("Old")}
    after = {"New": new, "Train": importing("New"), "Eval": importing("New")}

    assert found(before, after) == [
        (
            "New",
            "Guard",
            "NetworkGuard stops it: Train, Storage cannot move from Old to New",
            "undo the change; or before it, tear down Train, Storage; or describe a second "
            "cluster (docs/operate.md says what stays)",
        )
    ]


def test_a_stack_may_stay_in_its_network_or_be_new() -> None:
    network = guarding(exporting(), "Train", "Eval")
    before = {"Network": network, "Train": importing()}

    assert found(before, {**before, "Eval": importing()}) == []


@pytest.mark.parametrize("control_planes", [["ControlPlane"], ["Other"]])
def test_what_a_cluster_imports_from_its_control_plane_is_no_move(
    control_planes: list[str],
) -> None:
    before = {
        "Network": guarding(exporting(), "Train", "ControlPlane"),
        "ControlPlane": {**importing(), "Outputs": exporting(stack="ControlPlane")["Outputs"]},
        "Train": importing("ControlPlane"),
    }

    after = {**before, "Network": guarding(exporting(), "Train", *control_planes)}

    assert found(before, after) == []


def test_a_resource_cannot_be_of_another_type() -> None:
    before = {"Network": exporting(None), "Gone": exporting(None), "Same": exporting(None)}
    other = {"Clients": {"Type": "AWS::EC2::PrefixList"}, "New": {"Type": "AWS::EC2::VPC"}}

    [(stack, resource, said, remedy)] = found(
        before, {"Network": {"Resources": other}, "Same": exporting(None)}
    )

    assert (stack, resource) == ("Network", "Clients")
    assert said == (
        "AWS refuses to change the type of a resource, from AWS::EC2::SecurityGroup to "
        "AWS::EC2::PrefixList"
    )
    assert remedy.startswith("give the new resource another logical id")


def test_a_file_system_is_adopted_in_the_place_of_a_new_one_after_a_teardown() -> None:
    before = {"Home": one("AWS::EFS::MountTarget")}

    [(_, _, _, remedy)] = found(before, {"Home": one("Custom::ExistingEfs")})

    assert remedy.startswith("before it, tear down the clusters that use Home, and Home;")


def one(kind: str, **properties: Any) -> Template:
    return {"Resources": {"It": {"Type": kind, "Properties": properties}}}


def lustre(capacity: Any, metadata: Any = None) -> Template:
    given = {"DeploymentType": "PERSISTENT_2", "MetadataConfiguration": metadata}
    return one(
        "AWS::FSx::FileSystem",
        FileSystemType="LUSTRE",
        StorageCapacity=capacity,
        LustreConfiguration=given if metadata else {},
    )


def iops(number: int) -> Mapping[str, Any]:
    return {"Mode": "USER_PROVISIONED", "Iops": number}


def link(bucket: str, folder: str = "/", **others: Any) -> Template:
    return one(
        "AWS::FSx::DataRepositoryAssociation",
        FileSystemId="fs-1",
        FileSystemPath=folder,
        DataRepositoryPath=f"s3://{bucket}",
        **others,
    )


AUTOMATIC = {"Mode": "AUTOMATIC"}
DATABASE = "AWS::RDS::DBInstance"


REFUSED = {
    "capacity-shrinks": (
        lustre(4800),
        lustre(2400),
        "take storage away: StorageCapacity goes from 4800 to 2400",
    ),
    "iops-shrink": (
        lustre(4800, iops(6000)),
        lustre(4800, iops(3000)),
        "they go from 6000 to 3000",
    ),
    "iops-shrink-to-automatic": (
        lustre(4800, iops(12000)),
        lustre(4800, AUTOMATIC),
        "they go from 12000 to 6000",
    ),
    "iops-shrink-from-automatic": (
        lustre(4800, AUTOMATIC),
        lustre(4800, iops(1500)),
        "they go from 6000 to 1500",
    ),
    "second-link": (
        link("a"),
        link("b"),
        "one link for each folder, and the new one (because of DataRepo",
    ),
    "older-version": (
        one(DATABASE, EngineVersion="16.10"),
        one(DATABASE, EngineVersion="16.9"),
        "RDS does not go back to an older version: EngineVersion goes from 16.10 to 16.9",
    ),
    "replaced-with-its-name": (
        one(DATABASE, DBInstanceIdentifier="db", DBSubnetGroupName="a"),
        one(DATABASE, DBInstanceIdentifier="db", DBSubnetGroupName="b"),
        "refuses to replace what has a name of its own (because of DBSubnetGroupName)",
    ),
}
MADE = {
    "capacity-grows": (lustre(2400), lustre(4800)),
    "capacity-unknown": (lustre(4800), lustre({"Ref": "Capacity"})),
    "iops-grow": (lustre(4800, iops(6000)), lustre(4800, iops(12000))),
    "iops-stay": (lustre(4800, iops(6000)), lustre(4800, AUTOMATIC)),
    "link-of-another-folder": (link("a"), link("b", "/other")),
    "link-changes": (link("a"), link("a", ImportedFileChunkSize=2048)),
    "newer-version": (one(DATABASE, EngineVersion="16.9"), one(DATABASE, EngineVersion="16.10")),
    "replaced-with-another-name": (
        one(DATABASE, DBInstanceIdentifier="db", DBSubnetGroupName="a"),
        one(DATABASE, DBInstanceIdentifier="db2", DBSubnetGroupName="b"),
    ),
    "no-lustre": (
        one("AWS::FSx::FileSystem", FileSystemType="ONTAP", StorageCapacity=2048),
        one("AWS::FSx::FileSystem", FileSystemType="ONTAP", StorageCapacity=1024),
    ),
}


@pytest.fixture(scope="module")
def updates() -> list[tuple[str, str, str, str]]:
    """What is said of all updates, each in a stack of its own: one run of Node for all."""
    pairs = {case: (before, after) for case, (before, after, _) in REFUSED.items()} | MADE
    before = {case: template for case, (template, _) in pairs.items()}
    return found(before, {case: template for case, (_, template) in pairs.items()})


@pytest.mark.parametrize("case", REFUSED)
def test_an_update_that_aws_does_not_make_fails_the_deployment(
    updates: list[tuple[str, str, str, str]], case: str
) -> None:
    [(resource, said, remedy)] = [said for stack, *said in updates if stack == case]

    assert resource == "It"
    assert REFUSED[case][2] in said
    assert remedy


def test_an_update_that_aws_makes_is_no_obstacle(
    updates: list[tuple[str, str, str, str]],
) -> None:
    assert {stack for stack, *_ in updates} == set(REFUSED)
