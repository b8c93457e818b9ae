"""Templates as text."""

import pytest

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.document import parse

_RESOURCES = "Resources: {A: {Type: AWS::SNS::Topic}}\n"


def _properties(text: str) -> dict[str, object]:
    found: dict[str, object] = parse(
        f"Resources: {{A: {{Type: AWS::SNS::Topic, Properties: {text}}}}}"
    ).resources["A"]["Properties"]
    return found


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("{X: !Ref B}", {"Ref": "B"}),
        ("{X: !GetAtt B.Outputs.C}", {"Fn::GetAtt": ["B", "Outputs.C"]}),
        ("{X: !GetAtt [B, C]}", {"Fn::GetAtt": ["B", "C"]}),
        ("{X: {Fn::GetAtt: B.C}}", {"Fn::GetAtt": ["B", "C"]}),
        ("{X: !Join [',', [a, !Ref B]]}", {"Fn::Join": [",", ["a", {"Ref": "B"}]]}),
        ("{X: !If [C, 1, 2]}", {"Fn::If": ["C", 1, 2]}),
        ("{X: !And [!Condition C]}", {"Fn::And": [{"Condition": "C"}]}),
        ("{X: !Select [0, !GetAZs '']}", {"Fn::Select": [0, {"Fn::GetAZs": ""}]}),
        ("{X: !Base64 {Fn::Sub: a}}", {"Fn::Base64": {"Fn::Sub": "a"}}),
        ("{X: 2012-10-17}", "2012-10-17"),
        ("{X: yes}", True),
    ],
)
def test_yaml_means(short: str, long: object) -> None:
    assert _properties(short)["X"] == long


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"Resources": ', "JSON not well-formed. (line 1, column 15)"),
        ("Resources: [", "YAML not well-formed"),
        (_RESOURCES + "Outputs: {}\nOutputs: {}", "duplicate key Outputs"),
        ("just text", "unsupported structure"),
        (_RESOURCES + "Outputs: {O: {}}", "Output O is malformed"),
        (_RESOURCES + "Outputs: []", "[/Outputs] must be an object"),
        ("Resources: {a-b: {Type: T}}", "Resource name a-b is non alphanumeric"),
        ("Resources: {A: {}}", "Every Resources object must contain a Type member"),
        ("Resources: {A: []}", "resource definition is malformed"),
        ("Resources: {A: {Type: T, Properties: []}}", "Properties must be an object"),
    ],
)
def test_a_malformed_template_is_refused(body: str, message: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        parse(body)

    assert message in refusal.value.message


def test_the_text_is_kept() -> None:
    assert parse(_RESOURCES).body == _RESOURCES
