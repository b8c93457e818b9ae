"""What a review says about a guard that begins to stop nodes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.app.synthesis import SynthesisedStack
from trainshed.plan import Fleet
from trainshed.review.changes import compare_templates
from trainshed.review.model import Level, RiskKind, Side
from trainshed.review.reviewing import make_review
from trainshed.review.risks.stopped_nodes import stopped_nodes

pytestmark = pytest.mark.usefixtures("one_engine")
ROOT = Path(__file__).parents[2]
BATCH = "name: TrainCluster\nregion: us-west-2\ninstance: {type: trn1.32xlarge, nodes: {max: 2}}\n"
PLAIN = BATCH + "orchestrator: ec2\n"
ENDS = "jobs that run end with their nodes"
HOURS = "guard: {{working_hours: {{days: {}, from: '{}', to: '{}', time_zone: {}}}}}\n"
DAY = HOURS.format("mon-fri", "08:00", "20:00", "UTC")
EXPIRES = "guard: {{expires: {}}}\n"
LATE = EXPIRES.format("2126-12-31T18:00Z")
IDLE = "guard: {{idle: {{minutes: {}, action: scale-down}}}}\n"
TELLS = "notify: [ml-platform@example.com]\nguard: {idle: {minutes: 30}}\n"
STOPS, OUTSIDE = "guard stops the nodes at ", "guard stops the nodes outside of "
WHEN_IDLE = "guard stops the nodes when no accelerator is busy for 60 minutes: "

CASES = {
    "an expiry": (PLAIN, PLAIN + LATE, [f"{STOPS}2126-12-31 18:00 UTC, for good: {ENDS}"]),
    "an expiry with AWS Batch": (
        BATCH,
        BATCH + LATE,
        [f"{STOPS}2126-12-31 18:00 UTC, for good: jobs that run are ended, and others"],
    ),
    "an earlier expiry": (
        PLAIN + LATE,
        PLAIN + EXPIRES.format("2126-11-30T18:00Z"),
        [f"{STOPS}2126-11-30 18:00 UTC"],
    ),
    "a later expiry": (PLAIN + EXPIRES.format("2126-11-30T18:00Z"), PLAIN + LATE, []),
    "the same expiry": (PLAIN + LATE, PLAIN + LATE, []),
    "no expiry any more": (PLAIN + LATE, PLAIN, []),
    "working hours": (
        PLAIN,
        PLAIN + DAY,
        [f"{OUTSIDE}mon,tue,wed,thu,fri 08:00-20:00 UTC: {ENDS}"],
    ),
    "fewer days": (PLAIN + DAY, PLAIN + DAY.replace("mon-fri", "mon-thu"), [OUTSIDE]),
    "a later morning": (PLAIN + DAY, PLAIN + DAY.replace("08:00", "09:00"), [OUTSIDE]),
    "an earlier evening": (PLAIN + DAY, PLAIN + DAY.replace("20:00", "19:00"), [OUTSIDE]),
    "another time zone": (PLAIN + DAY, PLAIN + DAY.replace("UTC", "Asia/Tokyo"), [OUTSIDE]),
    "more working hours": (
        PLAIN + DAY,
        PLAIN + HOURS.format("mon-sat", "07:00", "21:00", "UTC"),
        [],
    ),
    "no working hours any more": (PLAIN + DAY, PLAIN, []),
    "nodes that go when idle": (PLAIN, PLAIN + IDLE.format(60), [f"{WHEN_IDLE}{ENDS}"]),
    "nodes that go and were told of": (PLAIN + TELLS, PLAIN + IDLE.format(60), [WHEN_IDLE]),
    "nodes that go sooner": (PLAIN + IDLE.format(90), PLAIN + IDLE.format(60), [WHEN_IDLE]),
    "nodes that go later": (PLAIN + IDLE.format(60), PLAIN + IDLE.format(90), []),
    "people who are told of idle nodes": (PLAIN, PLAIN + TELLS, []),
    "nodes of AWS Batch that go when idle": (
        BATCH.replace("{max: 2}", "{min: 1, max: 2}"),
        BATCH.replace("{max: 2}", "{min: 1, max: 2}") + IDLE.format(60),
        [],
    ),
    "a new cluster": (None, PLAIN + LATE, []),
}


@pytest.mark.parametrize("case", CASES)
def test_a_guard_that_begins_to_stop_nodes_is_a_risk(
    fleet: Callable[..., Fleet], case: str
) -> None:
    before, after, expected = CASES[case]
    old = fleet(before) if before else Fleet(clusters=())

    found = [*stopped_nodes(old, fleet(after))]

    assert len(found) == len(expected)
    for risk, begins in zip(found, expected, strict=True):
        assert risk.message.startswith(begins)
        assert (risk.stack, risk.spared_minutes) == ("TrainCluster", None)
        assert (risk.kind, risk.level) == (RiskKind.JOBS_KILLED, Level.MEDIUM)


def test_it_is_among_the_risks_of_a_review_by_how_dangerous_it_is(
    fleet: Callable[..., Fleet],
) -> None:
    def side(text: str, description: str) -> Side:
        group = {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": description},
        }
        stack = SynthesisedStack(
            path="TrainCluster",
            region="us-west-2",
            file=Path("TrainCluster.json"),
            template={"Resources": {"Group": group}},
        )
        stacks = {"TrainCluster": stack}
        return Side(name="a side", fleet=fleet(text), stacks=stacks, findings=(), runs=())

    before, after = side(PLAIN, "old"), side(PLAIN + LATE, "new")

    review = make_review(before, after, compare_templates(before.stacks, after.stacks, ROOT), ())

    assert [each.kind for each in review.risks] == [RiskKind.JOBS_KILLED, RiskKind.REPLACED]
