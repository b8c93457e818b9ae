"""What a review notes of the stacks that a change leaves behind."""

from pathlib import Path

from trainshed.plan import Fleet
from trainshed.review.changes import compare_templates
from trainshed.review.model import BrokenSide, Side
from trainshed.review.reviewing import make_review
from trainshed.synthesis import SynthesisedStack

ROOT = Path(__file__).parents[2]


def side(*stacks: str) -> Side:
    template = {"Resources": {"It": {"Type": "AWS::SQS::Queue"}}}
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
        "the costs and quotas after the change leave out the stacks that are no longer in the app: "
        "Eval, Train. No deployment deletes them, so they cost on until somebody does",
    )


def test_nothing_is_noted_where_every_stack_stays() -> None:
    assert notes(side("Kept"), side("Kept", "New")) == ("a note",)
    assert notes(BrokenSide(name="main", reason="it is broken"), side("New")) == ("a note",)
