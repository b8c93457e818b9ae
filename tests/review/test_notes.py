"""What a review notes of both sides, and what it leaves out without a base."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainshed.app.synthesis import SynthesisedStack
from trainshed.findings.tools import ToolRun
from trainshed.plan import Fleet
from trainshed.review.changes import compare_templates
from trainshed.review.model import BrokenSide, Side
from trainshed.review.reviewing import make_review

pytestmark = pytest.mark.usefixtures("one_engine")
ROOT = Path(__file__).parents[2]
QUEUE = {"Resources": {"It": {"Type": "AWS::SQS::Queue"}}}


def side(*stacks: str, template: Mapping[str, Any] = QUEUE) -> Side:
    return Side(
        name="a side",
        fleet=Fleet(clusters=()),
        stacks={
            name: SynthesisedStack(
                path=name, region="us-west-2", file=Path(f"{name}.json"), template=template
            )
            for name in stacks
        },
        findings=(),
        runs=(),
    )


def notes(before: Side | BrokenSide, after: Side) -> tuple[str, ...]:
    stacks = before.stacks if isinstance(before, Side) else {}
    comparison = compare_templates(stacks, after.stacks, ROOT)
    return make_review(before, after, comparison, ("a note",)).notes


def test_stacks_that_nobody_deletes_cost_on() -> None:
    assert notes(side("Train", "Eval", "Kept"), side("Kept")) == (
        "a note",
        "the costs and quotas after the change leave out the stacks that are no longer in the "
        "app: Eval, Train. No deployment deletes them, so they cost money until somebody does",
    )


def test_nothing_is_noted_where_every_stack_stays() -> None:
    assert notes(side("Kept"), side("Kept", "New")) == ("a note",)
    assert notes(BrokenSide(name="main", reason="it is broken"), side("New")) == ("a note",)


def test_a_tool_that_judged_one_side_only_is_noted() -> None:
    judged = replace(side("Kept"), runs=(ToolRun(tool="cfn-lint"),))

    [_, note] = notes(side("Kept"), judged)

    assert note.startswith("cfn-lint ran on a side only, where it finds 0")


def test_nothing_is_gained_or_lost_since_a_broken_base() -> None:
    rule = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "10.0.0.0/8"}
    group = {"GroupDescription": "g", "SecurityGroupIngress": [rule]}
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    policy = {"PolicyName": "p", "Roles": ["r"], "PolicyDocument": {"Statement": [statement]}}
    resources = {
        "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": group},
        "Policy": {"Type": "AWS::IAM::Policy", "Properties": policy},
    }
    head = side("Train", template={"Resources": resources})
    comparison = compare_templates({}, head.stacks, ROOT)
    assert comparison.permissions and comparison.security_rules

    found = make_review(BrokenSide(name="main", reason="it is broken"), head, comparison, ())

    assert (found.stacks, found.permissions, found.security_rules) == ((), (), ())
