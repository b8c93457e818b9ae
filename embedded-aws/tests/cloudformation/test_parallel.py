"""Stacks that deploy at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from embedded_aws.cloudformation.resource import Made, Properties, Request, resource

_entered = threading.Event()
_leave = threading.Event()


@resource("Custom::Slow", "Test::Engine::Slow")
class Slow:
    """Takes as long as the test wants."""

    def create(self, request: Request) -> Made:
        _entered.set()
        assert _leave.wait(30)
        return Made(physical_id="slow")

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        return Made(physical_id=physical_id)

    def delete(self, request: Request, physical_id: str) -> None:
        """Nothing to delete."""


@pytest.fixture
def slow() -> None:
    _entered.clear()
    _leave.clear()


def test_many_stacks_at_once_are_all_complete(cloud: Any, stack: Any) -> None:
    def deploy(number: int) -> str:
        name = f"{stack.name}-{number}"
        parameters = {
            f"P{index}": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {"Name": f"/{name}/{index}", "Type": "String", "Value": "x"},
            }
            for index in range(5)
        }
        cloud.cloudformation.create_stack(StackName=name, TemplateBody=stack.template(parameters))
        stacks = cloud.cloudformation.describe_stacks(StackName=name)["Stacks"]
        return str(stacks[0]["StackStatus"])

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(deploy, range(8)))

    assert statuses == ["CREATE_COMPLETE"] * 8


def test_a_stack_in_progress_can_be_watched_but_not_changed(
    cloud: Any, stack: Any, slow: None
) -> None:
    with ThreadPoolExecutor(1) as pool:
        created = pool.submit(stack.create, {"S": {"Type": "Test::Engine::Slow"}})
        assert _entered.wait(10)

        try:
            assert stack.status == "CREATE_IN_PROGRESS"
            assert stack.resources["S"]["ResourceStatus"] == "CREATE_IN_PROGRESS"
            with pytest.raises(cloud.cloudformation.exceptions.ClientError, match="IN_PROGRESS"):
                stack.delete()
        finally:
            _leave.set()

        assert created.result() == "CREATE_COMPLETE"


def test_one_name_is_created_by_one_of_two(cloud: Any, stack: Any) -> None:
    def create(_: int) -> bool:
        try:
            stack.create({"A": stack.thing()})
        except cloud.cloudformation.exceptions.AlreadyExistsException:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(create, range(4))) == [False, False, False, True]
    assert stack.calls == [("create", "A")]
