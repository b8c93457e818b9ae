"""Custom resources: what the function is sent, and what becomes of its answer."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from moto.awslambda.models import LambdaBackend

_TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:maker"

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


class Function:
    """Stands in for a Lambda function: answers over HTTP, from another thread."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.answer: Answer = lambda event: {"Status": "SUCCESS"}

    def invoke(
        self, name: str, qualifier: str | None, body: str, _: Any, headers: dict[str, str]
    ) -> str:
        event = json.loads(body)
        self.events.append(event)
        try:
            answer = self.answer(event)
        except ZeroDivisionError as error:
            headers["x-amz-function-error"] = "Unhandled"
            return json.dumps({"errorMessage": str(error)})
        if answer is not None:
            threading.Thread(target=_put, args=(event, answer)).start()
        return ""


def _put(event: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    common = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    urllib.request.urlopen(
        urllib.request.Request(
            event["ResponseURL"],
            data=json.dumps({**common, **answer}).encode(),
            headers={"Content-Type": ""},
            method="PUT",
        )
    )


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> Iterator[Function]:
    function = Function()
    monkeypatch.setattr(LambdaBackend, "invoke", function.invoke)
    yield function


def _custom(**properties: Any) -> dict[str, Any]:
    return {"Type": "Custom::Made", "Properties": {"ServiceToken": _TOKEN, **properties}}


def test_the_function_gets_everything(stack: Any, function: Function) -> None:
    function.answer = lambda event: {
        "Status": "SUCCESS",
        "PhysicalResourceId": "made-1",
        "Data": {"Colour": "blue"},
    }

    status = stack.create(
        {"C": _custom(Count=3, On=True, Nested={"A": [1]})},
        sections={"Outputs": {"O": {"Value": {"Fn::GetAtt": ["C", "Colour"]}}}},
    )

    assert status == "CREATE_COMPLETE"
    assert stack.outputs == {"O": "blue"}
    assert stack.physical_id("C") == "made-1"
    (event,) = function.events
    assert event.pop("ResponseURL").startswith(stack.cloud.url)
    assert event.pop("RequestId")
    assert event == {
        "RequestType": "Create",
        "ServiceToken": _TOKEN,
        "StackId": stack.described["StackId"],
        "LogicalResourceId": "C",
        "ResourceType": "Custom::Made",
        "ResourceProperties": {
            "ServiceToken": _TOKEN,
            "Count": "3",
            "On": "true",
            "Nested": {"A": ["1"]},
        },
    }


def test_an_update_has_the_old_properties(stack: Any, function: Function) -> None:
    stack.create({"C": _custom(Size="1")})
    made = stack.physical_id("C")

    stack.update({"C": _custom(Size="2")})

    event = function.events[-1]
    assert event["RequestType"] == "Update"
    assert event["PhysicalResourceId"] == made
    assert event["OldResourceProperties"] == {"ServiceToken": _TOKEN, "Size": "1"}
    assert stack.physical_id("C") == made


def test_another_physical_id_means_a_replacement(stack: Any, function: Function) -> None:
    function.answer = lambda event: {
        "Status": "SUCCESS",
        "PhysicalResourceId": event["ResourceProperties"]["Name"],
    }
    stack.create({"C": _custom(Name="first")})

    stack.update({"C": _custom(Name="second")})

    kinds = [(event["RequestType"], event.get("PhysicalResourceId")) for event in function.events]
    assert kinds == [("Create", None), ("Update", "first"), ("Delete", "first")]
    assert function.events[-1]["ResourceProperties"]["Name"] == "first"
    assert stack.physical_id("C") == "second"


def test_a_failed_answer_is_the_reason_and_is_deleted(stack: Any, function: Function) -> None:
    def answer(event: Mapping[str, Any]) -> Mapping[str, Any]:
        if event["RequestType"] == "Create":
            return {"Status": "FAILED", "Reason": "no more blue", "PhysicalResourceId": "half"}
        return {"Status": "SUCCESS"}

    function.answer = answer

    assert stack.create({"C": _custom()}) == "ROLLBACK_COMPLETE"

    assert stack.reason("C", "CREATE_FAILED").startswith(
        "Received response status [FAILED] from custom resource. Message returned: no more blue"
    )
    deleted = function.events[-1]
    assert (deleted["RequestType"], deleted["PhysicalResourceId"]) == ("Delete", "half")


def test_silence_fails_after_the_service_timeout(stack: Any, function: Function) -> None:
    function.answer = lambda event: (
        None if event["RequestType"] == "Create" else {"Status": "SUCCESS"}
    )

    assert stack.create({"C": _custom(ServiceTimeout=1)}) == "ROLLBACK_COMPLETE"

    reason = stack.reason("C", "CREATE_FAILED")
    assert "did not receive a response from your Custom Resource within 1 seconds" in reason


def test_a_function_that_breaks_fails_at_once(stack: Any, function: Function) -> None:
    def answer(event: Mapping[str, Any]) -> Mapping[str, Any]:
        if event["RequestType"] == "Create":
            raise ZeroDivisionError("of course")
        return {"Status": "SUCCESS"}

    function.answer = answer

    assert stack.create({"C": _custom()}) == "ROLLBACK_COMPLETE"

    assert "the function failed" in stack.reason("C", "CREATE_FAILED")
    assert "of course" in stack.reason("C", "CREATE_FAILED")


@pytest.mark.parametrize("body", [b"{", b"[]", b"[" * 100_000], ids=["cut-off", "list", "deep"])
def test_an_answer_that_is_no_object_fails_at_once(
    stack: Any, function: Function, body: bytes
) -> None:
    def answer(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
        if event["RequestType"] != "Create":
            return {"Status": "SUCCESS"}
        urllib.request.urlopen(
            urllib.request.Request(event["ResponseURL"], data=body, method="PUT")
        ).close()
        return None

    function.answer = answer

    assert stack.create({"C": _custom()}) == "ROLLBACK_COMPLETE"

    assert "is not a JSON object" in stack.reason("C", "CREATE_FAILED")


def test_a_function_that_is_not_there_is_named(stack: Any) -> None:
    assert stack.create({"C": _custom()}) == "ROLLBACK_COMPLETE"

    assert "Function not found" in stack.reason("C", "CREATE_FAILED")


def test_an_attribute_that_was_not_returned_is_missed(stack: Any, function: Function) -> None:
    stack.create({"C": _custom(), "T": stack.thing(Colour={"Fn::GetAtt": ["C", "Colour"]})})

    assert "Vendor response doesn't contain Colour" in stack.reason("T", "CREATE_FAILED")


def test_the_service_token_stays(stack: Any, function: Function) -> None:
    stack.create({"C": _custom()})

    stack.update({"C": _custom(ServiceToken=f"{_TOKEN}2")})

    assert stack.status == "UPDATE_ROLLBACK_COMPLETE"
    assert "Modifying service token is not allowed." in stack.reason("C", "UPDATE_FAILED")
    assert [event["RequestType"] for event in function.events] == ["Create"]


def test_a_topic_as_service_token_is_refused(stack: Any) -> None:
    topic = "arn:aws:sns:us-west-2:123456789012:maker"

    assert stack.create({"C": _custom(ServiceToken=topic)}) == "ROLLBACK_COMPLETE"

    assert "is not a Lambda function" in stack.reason("C", "CREATE_FAILED")


def test_an_answer_that_nobody_waits_for_is_not_found(cloud: Any) -> None:
    url = f"{cloud.url}/cloudformation_us-west-2/cfnresponse?token=old"

    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(urllib.request.Request(url, data=b"{}", method="PUT"))
