"""Draining, rebooting and replacing a node: in which order, and what is waited for."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.model import JobState
from trainshed.jobs.nodes import Node
from trainshed.repair import repair as steps
from trainshed.repair.repair import Repair


class _Client:
    """EC2, as far as nodes are looked at; each look may find others.

    Args:
        looks: the tags of the nodes at each look before tags are deleted, and after a reboot; the
            last one stays. In between they have none.
        stale_looks: how many looks still find a tag that is deleted.
    """

    def __init__(self, *looks: dict[str, str], stale_looks: int = 0) -> None:
        self._looks = list(looks)
        self._stale_looks = stale_looks
        self.calls: list[str] = []

    def __getattr__(self, operation: str) -> Any:
        return lambda **params: self.calls.append(operation)

    def get_paginator(self, operation: str) -> Any:
        return self

    def paginate(self, **params: Any) -> list[dict[str, Any]]:
        if self.calls[-1:] == ["delete_tags"]:
            self._stale_looks -= 1
            boots = self._looks[0] if self._stale_looks >= 0 else dict.fromkeys(self._looks[0], "")
        else:
            boots = self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]
        return [{"Reservations": [{"Instances": [_instance(*each) for each in boots.items()]}]}]


def _instance(name: str, boot: str) -> dict[str, Any]:
    return {
        "InstanceId": name,
        "PrivateIpAddress": "10.0.0.9",
        "NetworkInterfaces": [],
        "LaunchTime": datetime(2026, 1, 1, tzinfo=UTC),
        "Tags": [{"Key": "trainshed:boot", "Value": boot}],
    }


class _Scheduler:
    """Has jobs; each time that it is asked for them, others.

    Args:
        looks: the jobs at each time; none when they are used up.
    """

    cluster = "PlainCluster"

    def __init__(self, *looks: tuple[Any, ...]) -> None:
        self._looks = list(looks)
        self._jobs: dict[str, Any] = {}

    def jobs(self, *, unfinished: bool) -> list[Any]:
        assert unfinished
        self._jobs = {each.job_id: each for each in (self._looks.pop(0) if self._looks else ())}
        return [*self._jobs.values(), SimpleNamespace(job_id="over by now")]

    def job(self, job_id: str) -> Any:
        return self._jobs.get(job_id)


class _Control:
    """Takes nodes out of service, and notes how."""

    lost_job = "it fails"

    def __init__(self) -> None:
        self.done: list[str] = []
        self.drained = False
        self.can_wait = False
        self.no_launch: str | None = None
        self.joined = {"i-1", "i-2", "i-3"}

    def __getattr__(self, name: str) -> Any:
        return lambda *node: self.done.append(name)

    def host(self, node: Node) -> str:
        return node.instance_id if node.instance_id in self.joined else ""

    def is_drained(self, node: Node) -> bool:
        return self.drained

    def is_joined(self, node: Node) -> bool:
        return node.instance_id in self.joined

    def evict(self, node: Node) -> bool:
        self.done.append("evict")
        return self.can_wait

    def why_no_launch(self) -> str | None:
        return self.no_launch


@pytest.fixture
def control() -> _Control:
    return _Control()


@pytest.fixture(autouse=True)
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits are over at once, and end after the second look."""
    monkeypatch.setattr(steps, "_PAUSE_SECONDS", 0)
    monkeypatch.setattr(steps, "_BOOT_SECONDS", 0)


def repair(
    client: _Client, control: Any, *jobs: tuple[Any, ...], keeps_nodes: bool = True
) -> Repair:
    scheduler: Any = _Scheduler(*jobs)
    return Repair(
        region=Region("us-west-2", lambda _: client),
        scheduler=scheduler,
        control=control,
        keeps_nodes=keeps_nodes,
    )


def job(job_id: str, **nodes: JobState) -> Any:
    """A job, and how far it has come on each of its nodes, whose names lack the dash."""
    found = [
        SimpleNamespace(host=name.replace("_", "-"), state=state) for name, state in nodes.items()
    ]
    return SimpleNamespace(job_id=job_id, nodes=found)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"i-1": "failed: 15 of 16 neuron devices"}, "the reboot: 15 of 16 neuron devices; it"),
        ({}, "i-1 has not passed its checks after the reboot; it powers off"),
        ({"i-1": ""}, "i-1 has not come back within 0 minutes"),
    ],
)
def test_a_node_that_does_not_come_back_stays_drained(
    control: _Control, after: dict[str, str], said: str
) -> None:
    client = _Client({"i-1": "ok"}, after)
    steps_taken = repair(client, control)

    with pytest.raises(Failure, match=said):
        steps_taken.reboot(steps_taken.find("i-1"), force=True, show=lambda _: None)

    assert client.calls == ["delete_tags", "reboot_instances"]
    assert control.done == ["drain", "evict"]


def test_a_node_that_never_says_how_it_booted_is_left_alone(control: _Control) -> None:
    client = _Client({"i-1": ""})
    steps_taken = repair(client, control)

    with pytest.raises(Failure, match="i-1 is not rebooted: it has no tag trainshed:boot"):
        steps_taken.reboot(steps_taken.find("i-1"), force=True, show=lambda _: None)

    assert (client.calls, control.done) == ([], [])


def test_a_node_is_not_replaced_where_no_node_says_how_it_booted(control: _Control) -> None:
    steps_taken = repair(_Client({"i-1": "", "i-2": ""}), control)

    with pytest.raises(Failure, match="i-1 is not replaced: no node of the cluster has the tag"):
        steps_taken.replace(steps_taken.find("i-1"), force=True, show=lambda _: None)

    assert control.done == []


def test_a_node_that_boots_is_replaced_where_others_say_how_they_booted(
    control: _Control,
) -> None:
    both = {"i-1": "", "i-2": "ok"}
    steps_taken = repair(_Client(both, both, both, {**both, "i-3": "ok"}), control)

    another = steps_taken.replace(steps_taken.find("i-1"), force=True, show=lambda _: None)

    assert another
    assert another.instance_id == "i-3"


def test_another_node_that_does_not_come_is_reported(control: _Control) -> None:
    before = {"i-1": "ok"}
    steps_taken = repair(_Client(before, before, before, {"i-2": ""}), control)

    with pytest.raises(Failure, match="no other node has booted in the place of i-1 within"):
        steps_taken.replace(steps_taken.find("i-1"), force=True, show=lambda _: None)

    assert control.done == ["drain", "evict", "terminate"]


def test_only_jobs_that_are_on_a_node_now_are_its_jobs(control: _Control) -> None:
    jobs = (
        job("starts", i_2=JobState.RUNNING, i_1=JobState.STARTING),
        job("runs", i_1=JobState.RUNNING),
        job("waits", i_1=JobState.QUEUED),
        job("elsewhere", i_2=JobState.RUNNING),
        job("left", i_1=JobState.SUCCEEDED, i_2=JobState.RUNNING),
    )
    steps_taken = repair(_Client({"i-1": "ok"}), control, jobs)

    found = steps_taken.jobs_on(steps_taken.find("i-1"))

    assert [each.job_id for each in found] == ["starts", "runs"]


def test_a_node_that_has_not_joined_yet_has_no_jobs(control: _Control) -> None:
    control.joined = set()
    # One of which it is not known yet where it starts.
    starting = SimpleNamespace(
        job_id="starts", nodes=[SimpleNamespace(host="", state=JobState.STARTING)]
    )
    steps_taken = repair(_Client({"i-1": ""}), control, (starting,))

    assert steps_taken.jobs_on(steps_taken.find("i-1")) == ()


@pytest.mark.parametrize(
    ("force", "can_wait", "waits"),
    [
        pytest.param(False, False, True, id="until its jobs are over"),
        pytest.param(True, True, True, id="until its jobs have left"),
        pytest.param(True, False, False, id="for nothing"),
    ],
)
def test_a_node_is_emptied_before_it_is_rebooted_and_gets_jobs_again_when_it_is_back(
    control: _Control, force: bool, can_wait: bool, waits: bool
) -> None:
    control.can_wait = can_wait
    client = _Client({"i-1": "ok"})
    runs = (job("one", i_1=JobState.RUNNING), job("two", i_1=JobState.RUNNING))
    steps_taken = repair(client, control, runs, runs[1:])
    shown: list[str] = []

    steps_taken.reboot(steps_taken.find("i-1"), force=force, show=shown.append)

    waited = ["waiting for one, two", "", "waiting for two", ""] if waits else []
    assert shown == [
        "i-1: takes no more jobs",
        *waited,
        "i-1: rebooting",
        "i-1: has passed its checks, and takes jobs",
    ]
    assert client.calls == ["delete_tags", "reboot_instances"]
    assert control.done == ["drain", *(["evict"] if force else []), "undrain"]


def test_a_node_is_rebooted_when_its_tag_of_the_last_boot_is_gone(
    control: _Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_BOOT_SECONDS", 60)
    steps_taken = repair(_Client({"i-1": "ok"}, stale_looks=2), control)
    shown: list[str] = []

    steps_taken.reboot(steps_taken.find("i-1"), force=False, show=shown.append)

    assert shown == [
        "i-1: takes no more jobs",
        "",
        "",
        "i-1: rebooting",
        "i-1: has passed its checks, and takes jobs",
    ]


def test_a_node_that_is_back_gets_no_jobs_before_it_has_joined(control: _Control) -> None:
    control.joined = {"i-2"}
    steps_taken = repair(_Client({"i-1": "ok", "i-2": "ok"}), control)

    with pytest.raises(Failure, match="i-1 has not come back within"):
        steps_taken.reboot(steps_taken.find("i-1"), force=False, show=lambda _: None)

    assert control.done == ["drain"]


def test_a_drained_node_is_not_drained_again(control: _Control) -> None:
    control.drained = True
    steps_taken = repair(_Client({"i-1": "ok"}), control)

    steps_taken.drain(steps_taken.find("i-1"))

    assert control.done == []


def test_a_node_in_whose_place_none_would_be_launched_stays(control: _Control) -> None:
    control.no_launch = "its group is full; raise it"
    steps_taken = repair(_Client({"i-1": "ok"}), control)

    with pytest.raises(Failure, match="i-1 is not replaced: its group is full; raise it"):
        steps_taken.replace(steps_taken.find("i-1"), force=True, show=lambda _: None)

    assert control.done == []


def test_a_new_node_takes_the_place_when_it_has_passed_its_checks_and_joined(
    control: _Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_BOOT_SECONDS", 60)
    control.joined = {"i-1", "i-2", "i-4"}
    # i-1 goes on for a while, i-2 was there before, i-3 has not joined, i-4 boots.
    before = {"i-1": "ok", "i-2": "ok"}
    looks = [{**before, "i-3": "ok", "i-4": ""}, {"i-2": "ok", "i-3": "ok", "i-4": "ok"}]
    steps_taken = repair(_Client(before, before, before, *looks), control)
    shown: list[str] = []

    another = steps_taken.replace(steps_taken.find("i-1"), force=False, show=shown.append)

    assert another
    assert another.instance_id == "i-4"
    assert control.done == ["drain", "terminate"]
    assert shown == [
        "i-1: takes no more jobs",
        "i-1: terminating",
        "waiting for another node",
        "",
        "i-4: has booted, and takes jobs",
    ]


def test_no_other_node_is_waited_for_where_jobs_launch_them(control: _Control) -> None:
    steps_taken = repair(_Client({"i-1": "ok"}), control, keeps_nodes=False)

    assert steps_taken.replace(steps_taken.find("i-1"), force=False, show=lambda _: None) is None
    assert control.done == ["drain", "terminate"]
