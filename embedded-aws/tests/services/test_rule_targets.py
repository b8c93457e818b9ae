"""What the targets of rules get, and what of it fails."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto.awslambda.models import LambdaFunction

from embedded_aws.hooks import ServiceEvent, when_event_sent

WHY = 'he said "no"\nand left'
PATHS = {"why": "$.detail.why", "none": "$.detail.none", "all": "$.detail.all", "a": "$.resources"}


class Place:
    """A rule for the events of a source, a topic that lets it in with a queue, and a function."""

    def __init__(self, client: Callable[..., Any], name: str, role: str) -> None:
        self._client, self.name = client, name
        self.events, self._sqs = client("events"), client("sqs")
        self.topic = client("sns").create_topic(Name=name)["TopicArn"]
        self._permit("sns", "Publish", self.topic)
        self._url = self._sqs.create_queue(QueueName=name)["QueueUrl"]
        queue = f"arn:aws:sqs:us-west-2:123456789012:{name}"
        client("sns").subscribe(TopicArn=self.topic, Protocol="sqs", Endpoint=queue)
        code = io.BytesIO()
        with zipfile.ZipFile(code, "w") as archive:
            archive.writestr("index.py", "")
        self.function = client("lambda").create_function(
            FunctionName=name,
            Runtime="python3.13",
            Role=role,
            Handler="index.handler",
            Code={"ZipFile": code.getvalue()},
        )["FunctionArn"]
        self.events.put_rule(Name=name, EventPattern=json.dumps({"source": [name]}))

    def _permit(self, service: str, action: str, resource: str) -> None:
        statement = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}}
        document = {"Statement": [statement | {"Action": f"{service}:{action}", "Resource": "*"}]}
        self._client(service).set_topic_attributes(
            TopicArn=resource, AttributeName="Policy", AttributeValue=json.dumps(document)
        )

    def let_in(self) -> None:
        self._client("lambda").add_permission(
            FunctionName=self.name,
            StatementId="in",
            Action="lambda:InvokeFunction",
            Principal="events.amazonaws.com",
        )

    def send(self, arn: str, changes: Mapping[str, Any]) -> None:
        self.events.put_targets(Rule=self.name, Targets=[{"Id": "T", "Arn": arn, **changes}])
        when_event_sent.call(
            ServiceEvent(
                account="123456789012",
                region="us-west-2",
                source=self.name,
                detail_type="A test",
                resources=["arn:aws:ec2:::a", "arn:aws:ec2:::b"],
                detail={"why": WHY, "all": {"a": [1, "x"]}},
            )
        )

    def told(self) -> str:
        [message] = self._sqs.receive_message(QueueUrl=self._url)["Messages"]
        return str(json.loads(message["Body"])["Message"])

    def failed(self) -> int:
        end = datetime.now(UTC) + timedelta(minutes=1)
        found = self._client("cloudwatch").get_metric_statistics(
            Namespace="AWS/Events",
            MetricName="FailedInvocations",
            Dimensions=[{"Name": "RuleName", "Value": self.name}],
            StartTime=end - timedelta(minutes=10),
            EndTime=end,
            Period=600,
            Statistics=["Sum"],
        )["Datapoints"]
        return int(sum(each["Sum"] for each in found))


@pytest.fixture
def place(client: Callable[..., Any], name: str, role: str) -> Iterator[Place]:
    place = Place(client, name, role)
    yield place
    place.events.remove_targets(Rule=name, Ids=["T"])
    place.events.delete_rule(Name=name)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The events of functions, which are not run."""
    events: list[str] = []
    monkeypatch.setattr(LambdaFunction, "invoke", lambda _, event, *headers: events.append(event))
    return events


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param('"left: <why>"', f'"left: {WHY}"', id="in-quotes"),
        pytest.param('{"why": <why>}', json.dumps({"why": WHY}), id="text"),
        pytest.param('{"x": <all>, "y": <a>}', None, id="objects-and-lists"),
        pytest.param('"<all> [<none>]"', '"{a: [1, x]} []"', id="object-in-quotes"),
        pytest.param('{"x": "\\"<none>\\""}', '{"x": "\\"\\""}', id="escaped-quotes"),
        pytest.param('"<aws.events.rule-name>"', '"NAME"', id="of-the-rule"),
    ],
)
def test_a_template_is_filled_with_what_paths_lead_to(
    place: Place, template: str, expected: str | None
) -> None:
    transformer = {"InputPathsMap": PATHS, "InputTemplate": template}

    place.send(place.topic, {"InputTransformer": transformer})

    told = place.told()
    if expected:
        assert told == expected.replace("NAME", place.name)
    else:
        resources = ["arn:aws:ec2:::a", "arn:aws:ec2:::b"]
        assert json.loads(told) == {"x": {"a": [1, "x"]}, "y": resources}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"Input": '{"a": 1}'}, {"a": 1}),
        ({"InputPath": "$.detail.all"}, {"a": [1, "x"]}),
        ({"InputPath": "$.detail.all.a[1]"}, "x"),
        ({"InputPath": "$.resources[*]"}, ["arn:aws:ec2:::a", "arn:aws:ec2:::b"]),
        ({"InputPath": "$.detail.none"}, None),
    ],
    ids=str,
)
def test_topics_and_functions_get_the_input_of_the_target(
    place: Place, called: list[str], changes: dict[str, Any], expected: object
) -> None:
    place.let_in()

    place.send(place.topic, changes)
    place.send(place.function, changes)

    assert [json.loads(each) for each in (place.told(), *called)] == [expected, expected]


def test_calls_of_functions_that_fail_are_counted(place: Place) -> None:
    no_json = {"InputTransformer": {"InputPathsMap": PATHS, "InputTemplate": '"<why>"'}}

    place.send(place.function, {})
    place.send(f"{place.function}-gone", {})
    place.let_in()
    place.send(place.function, no_json)

    assert place.failed() == 3


def test_a_target_that_is_no_topic_fails(place: Place) -> None:
    for arn in ("arn:aws:sns:foo", "arn:aws:sns:mars-north-1:123456789012:topic"):
        place.send(arn, {})

    assert place.failed() == 2
