"""Templates that are right, of forms that look like a mistake."""

import pytest

from trainshed.findings import Finding
from trainshed.lint.judging import lint_documents
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import parse_content


def of(rule: str, text: str) -> list[Finding]:
    """Return what a rule says of a template."""
    found = lint_documents(read_documents(parse_content(text, "template.yaml")))
    return [each for each in found if each.rule == rule]


PLACED = """
Parameters:
  UsePlacementGroup: {Type: String, Default: "true", AllowedValues: ["true", "false"]}
  Purchase: {Type: String, Default: on-demand, AllowedValues: [on-demand, capacity-block]}
Conditions:
  Block: !Equals [!Ref Purchase, capacity-block]
  Wanted: !Equals [!Ref UsePlacementGroup, "true"]
  Grouped: !And [!Condition Wanted, !Not [!Condition Block]]
Resources:
  Together:
    Type: AWS::EC2::PlacementGroup
    Properties: {Strategy: cluster}
  Others:
    Type: AWS::EC2::LaunchTemplate
    Condition: Wanted
    Properties:
      LaunchTemplateData: {InstanceType: p4d.24xlarge}
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p4d.24xlarge
        Placement: VALUE
"""


@pytest.mark.parametrize(
    "value",
    [
        "!If [Grouped, {GroupName: !Ref Together}, !Ref AWS::NoValue]",
        "!If [Block, !Ref AWS::NoValue, {GroupName: !Ref Together}]",
    ],
)
def test_a_switch_may_depend_on_more_than_itself(value: str) -> None:
    inverted = "!If [Wanted, !Ref AWS::NoValue, {GroupName: !Ref Together}]"

    assert of("TS-CAP-012", PLACED.replace("VALUE", value)) == []
    assert len(of("TS-CAP-012", PLACED.replace("VALUE", inverted))) == 1
