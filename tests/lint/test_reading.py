"""Reading files that are not ours: every place is found, and no content ends in a traceback."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from trainshed.documents.yaml import DocumentError, parse_document
from trainshed.lint.judging import lint_documents, lint_files
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import UnreadableFile, parse_content, read_content

TEMPLATE = {
    "Resources": {
        "Nodes": {"Type": "AWS::EC2::Instance", "Properties": {"InstanceType": "dl1.24xlarge"}}
    }
}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"# nothing\n", "is empty", id="comment"),
        pytest.param(b"\xff\xfe\x00", "not UTF-8 text", id="binary"),
        pytest.param(b"a: [1", "invalid YAML", id="yaml"),
        pytest.param(b'{"a": 1,,}', "invalid YAML", id="json"),
        pytest.param(b"a: 1\na: 2\n", ":2: the key 'a' is on line 1 too", id="twice"),
        pytest.param(b"a: !Other x\n", ":1: the tag !Other is not known", id="tag"),
        pytest.param(b"- a\n", "is not a mapping", id="list"),
        pytest.param(b"a: &b [*b]\n", "an anchor holds itself", id="endless"),
        pytest.param(b"name: One\ninstance: {type: p5}\n", "use trainshed check", id="ours"),
        pytest.param(b'{"resource": {"aws_instance": {}}}', "Terraform", id="terraform"),
        pytest.param(b"apiVersion: v1\nkind: Pod\n", "kind 'Pod'", id="kubernetes"),
        pytest.param(b"a: b\n", "it is no CloudFormation template", id="other"),
        pytest.param(b"Resources: [x]\n", "it is no CloudFormation template", id="resources"),
        pytest.param(
            b"AWSTemplateFormatVersion: 2010-09-09\nResources:\n",
            "file.yaml: a CloudFormation template needs Resources",
            id="no-resources",
        ),
        pytest.param(b"a:\n" + b"  - " * 3000 + b"x\n", "nested too deeply", id="deep"),
    ],
)
def test_what_cannot_be_judged_is_reported_with_the_file(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.yaml"
    path.write_bytes(content)

    (error,) = lint_files([path]).unreadable

    assert str(error).startswith(str(path))
    assert message in str(error)


def test_what_is_not_there_or_a_folder_or_huge_is_reported(tmp_path: Path) -> None:
    huge = tmp_path / "huge.json"
    huge.write_bytes(b" " * (1024 * 1024 + 1))

    with pytest.raises(UnreadableFile, match="no such file"):
        read_content(tmp_path / "none.yaml")
    with pytest.raises(UnreadableFile, match="is a directory"):
        read_content(tmp_path)
    with pytest.raises(UnreadableFile, match="larger than 1 MB"):
        read_content(huge)
    with pytest.raises(UnreadableFile, match="null"):
        read_content(Path("a\0b"))


def test_anchors_cannot_stand_for_billions_of_values() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(UnreadableFile, match="stands for more than"):
        parse_content("\n".join(lines), "bomb.yaml")


def test_cluster_files_still_take_no_tags() -> None:
    with pytest.raises(DocumentError, match="the tag !Ref is not known"):
        parse_document("a: !Ref B")


@pytest.mark.parametrize("indent", [None, 1])
def test_a_value_is_found_in_json_and_yaml(indent: int | None) -> None:
    text = json.dumps(TEMPLATE, indent=indent)

    (first, *_) = lint_documents(read_documents(parse_content(text, "t.json")))

    assert first.rule == "TS-LIF-001"
    assert first.place
    line = text.splitlines()[(first.place.line or 0) - 1]
    assert line[(first.place.column or 0) - 1 :].startswith('"InstanceType"')


def test_short_forms_are_the_long_ones() -> None:
    short = parse_content(
        "a: !Sub ['${X}', {X: !GetAtt B.C}]\nb: !Equals [!Ref A, !Condition C]\n", "t.yaml"
    )

    assert short.value == {
        "a": {"Fn::Sub": ["${X}", {"X": {"Fn::GetAtt": "B.C"}}]},
        "b": {"Fn::Equals": [{"Ref": "A"}, {"Condition": "C"}]},
    }
    assert short.where.place(("a", "Fn::Sub", 1, "X", "Fn::GetAtt")) == "t.yaml:1"


KEYS = st.sampled_from(
    [
        "Ref", "Fn::If", "Fn::Sub", "Fn::Join", "Fn::Select", "Fn::Split", "Fn::FindInMap",
        "Fn::GetAtt", "Fn::Equals", "Condition", "Properties", "LaunchTemplateData", "Type",
        "NetworkInterfaces", "DeviceIndex", "InterfaceType", "Groups", "InstanceType", "Default",
        "ComputeResources", "LaunchTemplate", "LaunchTemplateId", "Version", "InstanceTypes",
        "LustreConfiguration", "StorageCapacity", "NodeProperties", "NodeRangeProperties",
        "Container", "LinuxParameters", "Devices", "Placement", "GroupName", "Fn::Transform",
    ]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 40),
    st.sampled_from(["A", "B", "efa", "p5.48xlarge", "${A}", "${A.B}", "LUSTRE", "multinode", ""]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=12,
)
TYPES = st.sampled_from(
    [
        "AWS::EC2::LaunchTemplate",
        "AWS::Batch::ComputeEnvironment",
        "AWS::Batch::JobDefinition",
        "AWS::Batch::JobQueue",
        "AWS::EKS::Nodegroup",
        "AWS::FSx::FileSystem",
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::Instance",
        "AWS::EC2::EC2Fleet",
    ]
)
RESOURCES = st.dictionaries(
    st.sampled_from(["A", "B", "C"]),
    st.fixed_dictionaries({"Type": TYPES}, optional={"Properties": VALUES, "Condition": SCALARS}),
    min_size=1,
)
TEMPLATES = st.fixed_dictionaries(
    {"Resources": RESOURCES},
    optional={
        name: st.dictionaries(st.sampled_from(["A", "D"]), VALUES, max_size=2) | SCALARS
        for name in ("Parameters", "Conditions", "Mappings", "Transform")
    },
)


@given(TEMPLATES)
def test_every_finding_of_any_template_stands_in_the_file(value: dict[str, object]) -> None:
    text = json.dumps(value, indent=1)

    for finding in lint_documents(read_documents(parse_content(text, "t.json"))):
        assert finding.place
        assert finding.place.line
        lines = text.splitlines()
        assert 1 <= finding.place.line <= len(lines)
        assert 1 <= (finding.place.column or 0) <= len(lines[finding.place.line - 1])


@given(st.text(max_size=80) | VALUES.map(json.dumps))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        content = parse_content(text, "t.yaml")
        lint_documents(read_documents(content))
    except UnreadableFile as error:
        assert str(error).startswith("t.yaml")
    else:
        assert YAML(typ="safe", pure=True).compose(text) is not None
