"""Alarms go by the data that are there, and tell SNS."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.config import Config

from embedded_aws import clock
from embedded_aws.cloudwatch import alarms, metric_data
from embedded_aws.cloudwatch.limits import rounded_down
from embedded_aws.cloudwatch.queries import answers

Client = Callable[..., Any]
Put = Callable[..., None]
MINUTE = timedelta(minutes=1)


@pytest.fixture
def cloudwatch(client: Client) -> Any:
    return client("cloudwatch")


@pytest.fixture
def send(cloudwatch: Any, name: str, moment: datetime) -> Put:
    """Send values of the test's metric: those of past minutes, the last one of the last minute."""

    def put(
        *values: float | None, metric: str = "Load", step: timedelta = MINUTE, **dimensions: str
    ) -> None:
        of = dimensions or {"Cluster": name}
        last = moment - MINUTE
        cloudwatch.put_metric_data(
            Namespace=name,
            MetricData=[
                {
                    "MetricName": metric,
                    "Dimensions": [{"Name": key, "Value": each} for key, each in of.items()],
                    "Timestamp": last - step * number,
                    "Value": value,
                }
                for number, value in enumerate(reversed(values))
                if value is not None
            ],
        )

    return put


@pytest.fixture
def alarm(cloudwatch: Any, name: str) -> Iterator[Callable[..., None]]:
    """Put an alarm of the test's metric, which goes off above 5."""

    def put(**changes: Any) -> None:
        settings: dict[str, Any] = {
            "Namespace": name,
            "MetricName": "Load",
            "Dimensions": [{"Name": "Cluster", "Value": name}],
            "Statistic": "Average",
            "Period": 60,
            "EvaluationPeriods": 3,
            "Threshold": 5,
            "ComparisonOperator": "GreaterThanThreshold",
        }
        cloudwatch.put_metric_alarm(AlarmName=name, **(settings | changes))

    yield put
    cloudwatch.delete_alarms(AlarmNames=[name])


def state(cloudwatch: Any, name: str) -> str:
    [found] = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return str(found["StateValue"])


# CloudWatch user guide, "How alarm state is evaluated when data is missing", both tables: `-` is
# missing, X breaching, 0 not; then the states when missing points are missing, ignored (here from
# INSUFFICIENT_DATA), breaching and not breaching.
NO, OK, AL = "INSUFFICIENT_DATA", "OK", "ALARM"
TABLES = {
    3: {
        "0-X-X": (OK, OK, OK, OK),
        "----0": (OK, OK, OK, OK),
        "-----": (NO, NO, AL, OK),
        "0XX-X": (AL, AL, AL, AL),
        "--X--": (AL, NO, AL, OK),
    },
    2: {
        "0-X-X": (AL, AL, AL, AL),
        "00X0X": (AL, AL, AL, AL),
        "0-X--": (OK, OK, AL, OK),
        "----0": (OK, OK, AL, OK),
        "---X-": (AL, NO, AL, OK),
    },
}
CASES = [
    pytest.param(needed, points, treatment, states[column], id=f"{needed}-{points}-{treatment}")
    for needed, rows in TABLES.items()
    for points, states in rows.items()
    for column, treatment in enumerate(("missing", "ignore", "breaching", "notBreaching"))
]


@pytest.mark.parametrize(("needed", "points", "treatment", "expected"), CASES)
def test_missing_data_are_treated_as_in_the_user_guide(
    cloudwatch: Any,
    send: Put,
    alarm: Put,
    name: str,
    needed: int,
    points: str,
    treatment: str,
    expected: str,
) -> None:
    values = {"-": None, "0": 0.0, "X": 9.0}
    send(*(values[each] for each in points))

    alarm(DatapointsToAlarm=needed, TreatMissingData=treatment)

    assert state(cloudwatch, name) == expected


def test_an_alarm_goes_off_when_data_arrive_and_ends(
    cloudwatch: Any, send: Put, alarm: Put, name: str
) -> None:
    alarm(EvaluationPeriods=1)
    states = [state(cloudwatch, name)]

    for value in (9, -9, 90):
        send(value)
        states.append(state(cloudwatch, name))

    assert states == [NO, AL, OK, AL]


def test_data_with_further_dimensions_are_of_another_metric(
    cloudwatch: Any, send: Put, alarm: Put, name: str
) -> None:
    alarm(EvaluationPeriods=1)

    send(9, Cluster=name, InstanceId="i-0123456789abcdef0")

    assert state(cloudwatch, name) == NO


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("busy - idle", AL),
        ("IF(busy > 50 AND idle < 2, 1, 0)", OK),
        ("IF(busy > 50 AND idle < 2, 6, 0)", AL),
        ("SUM([busy, idle, gone]) / 20", OK),
        ("busy + gone", NO),
        ("busy / (idle - 1)", NO),
        ("busy ^ 100000", NO),
        ("(0 - busy) ^ 0.5", NO),
        ("-ABS(0 - busy) ^ 1 + 99", AL),
    ],
)
def test_an_alarm_goes_by_metric_math(
    cloudwatch: Any, send: Put, name: str, alarm: Put, expression: str, expected: str
) -> None:
    send(90, metric="busy")
    send(1, metric="idle")
    dimensions = [{"Name": "Cluster", "Value": name}]
    metrics = [
        {
            "Id": each,
            "MetricStat": {
                "Metric": {"Namespace": name, "MetricName": each, "Dimensions": dimensions},
                "Period": 60,
                "Stat": "Maximum",
            },
            "ReturnData": False,
        }
        for each in ("busy", "idle", "gone")
    ]

    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Metrics=[*metrics, {"Id": "e1", "Expression": expression}],
        EvaluationPeriods=1,
        Threshold=5,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )

    assert state(cloudwatch, name) == expected
    cloudwatch.delete_alarms(AlarmNames=[name])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"DatapointsToAlarm": 4}, "DatapointsToAlarm must be less", id="points"),
        pytest.param(
            {"ComparisonOperator": "GreaterThanUpperThreshold"}, "anomalies", id="anomalies"
        ),
    ],
)
def test_what_is_not_judged_is_refused(
    cloudwatch: Any, refusal: Any, alarm: Put, changes: dict[str, Any], said: str
) -> None:
    assert said in refusal(alarm, **changes).message


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("m1 +", "syntax error"),
        ("RATE(m1)", "all of the expression"),
        ("m2 + 1", "m2 is not defined"),
        ("IF(m1)", "other arguments"),
        ("IF(m1 > 9, MAX(m1, 2), 0)", "other arguments"),
        ("SUM([m1, [m1]])", "an array is not"),
        ("1 < m1 < 2", "all of the expression"),
        ("m1 + 1e999", "all of the expression"),
        ("m1 + e1", "made of each other"),
        pytest.param("m1" + " + m1" * 400, "too deep", id="sum"),
        pytest.param("-" * 1500 + "m1", "too deep", id="signs"),
    ],
)
def test_an_expression_that_is_wrong_is_refused(
    cloudwatch: Any,
    refusal: Any,
    send: Put,
    name: str,
    moment: datetime,
    expression: str,
    said: str,
) -> None:
    send(1)
    metric = {"Namespace": name, "MetricName": "Load"}
    queries = [
        {"Id": "m1", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}},
        {"Id": "e1", "Expression": expression},
    ]

    refused = refusal(
        cloudwatch.get_metric_data,
        MetricDataQueries=queries,
        StartTime=moment - MINUTE,
        EndTime=moment,
    )

    assert said in refused.message


METRIC = {"Namespace": "N", "MetricName": "Load", "Period": 60, "Statistic": "Sum", "Threshold": 5}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        *(
            pytest.param({**METRIC, each: None}, f"parameter {each} is required", id=each)
            for each in METRIC
        ),
        pytest.param(
            {"Threshold": 5, "Metrics": [{"Id": "e1", "Expression": "1 + 1"}]}, "Period", id="math"
        ),
    ],
)
def test_an_alarm_that_cannot_be_judged_is_not_made(
    cloudwatch: Any, refusal: Any, name: str, asked: dict[str, Any], said: str
) -> None:
    refused = refusal(
        cloudwatch.put_metric_alarm,
        AlarmName=name,
        EvaluationPeriods=1,
        ComparisonOperator="GreaterThanThreshold",
        **{key: value for key, value in asked.items() if value is not None},
    )

    assert (refused.code, said in refused.message) == ("ValidationError", True), refused.message
    assert not cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(
            {"MetricName": "Load", "Namespace": "N", "Period": 60, "ExtendedStatistic": "p99"},
            id="extended",
        ),
        pytest.param(
            {
                "Metrics": [
                    {
                        "Id": "m1",
                        "MetricStat": {
                            "Metric": {"Namespace": "N", "MetricName": "Load"},
                            "Period": 60,
                            "Stat": "p99",
                        },
                    }
                ]
            },
            id="query",
        ),
    ],
)
def test_a_percentile_is_refused(
    cloudwatch: Any, refusal: Any, name: str, asked: dict[str, Any]
) -> None:
    refused = refusal(
        cloudwatch.put_metric_alarm,
        AlarmName=name,
        EvaluationPeriods=1,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
        **asked,
    )

    assert "does not know the statistic p99" in refused.message
    assert not cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"Period": 90}, "a multiple of 60", id="period"),
        pytest.param({"Period": 30, "EvaluationPeriods": 2881}, "a day", id="day-of-seconds"),
        pytest.param({"Period": 1800, "EvaluationPeriods": 49}, "86400) for alarms", id="day"),
        pytest.param({"Period": 3600, "EvaluationPeriods": 169}, "604800) for alarms", id="week"),
        pytest.param({"TreatMissingData": "breach"}, "must be one of breaching,", id="treatment"),
        pytest.param({"Statistic": "Median"}, "at 'Statistic'", id="statistic"),
        pytest.param({"AlarmActions": ["arn:aws:sns:::a"] * 6}, "at 'AlarmActions'", id="actions"),
    ],
)
def test_an_alarm_beyond_the_limits_is_refused(
    cloudwatch: Any, refusal: Any, alarm: Put, changes: dict[str, Any], said: str
) -> None:
    refused = refusal(alarm, **changes)

    assert (refused.code, said in refused.message) == ("ValidationError", True), refused.message


@pytest.mark.parametrize(("period", "count"), [(20, 4320), (1800, 48), (3600, 168)])
def test_an_alarm_at_the_limits_is_taken(
    cloudwatch: Any, alarm: Put, name: str, period: int, count: int
) -> None:
    alarm(Period=period, EvaluationPeriods=count)

    assert state(cloudwatch, name) == NO


def test_an_alarm_of_an_expression_is_held_to_the_periods_of_its_metrics(
    cloudwatch: Any, refusal: Any, name: str
) -> None:
    metric = {"Namespace": name, "MetricName": "Load"}

    refused = refusal(
        cloudwatch.put_metric_alarm,
        AlarmName=name,
        EvaluationPeriods=1441,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
        Metrics=[
            {
                "Id": "m1",
                "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"},
                "ReturnData": False,
            },
            {"Id": "e1", "Expression": "m1 * 2"},
        ],
    )

    assert "across more than a day" in refused.message


def test_a_question_beyond_the_limits_is_refused(cloudwatch: Any, refusal: Any, name: str) -> None:
    end = datetime.now(UTC).replace(second=0, microsecond=0)

    def statistics(*, period: int, minutes: int) -> Any:
        return cloudwatch.get_metric_statistics(
            Namespace=name,
            MetricName="Load",
            StartTime=end - minutes * MINUTE,
            EndTime=end,
            Period=period,
            Statistics=["Sum"],
        )

    assert statistics(period=60, minutes=1440)["Datapoints"] == []
    assert "requested up to 1441 datapoints" in refusal(statistics, period=60, minutes=1441).message
    assert "a multiple of 60" in refusal(statistics, period=90, minutes=10).message
    stat = {"Metric": {"Namespace": name, "MetricName": "Load"}, "Period": 60, "Stat": "Sum"}
    refused = refusal(
        cloudwatch.get_metric_data,
        MetricDataQueries=[{"Id": f"m{number}", "MetricStat": stat} for number in range(501)],
        StartTime=end - MINUTE,
        EndTime=end,
    )
    assert "MetricDataQueries must not have a size over 500" in refused.message
    for period, minutes in ((1, 1681), (60, 30_000_000)):
        refused = refusal(
            cloudwatch.get_metric_data,
            MetricDataQueries=[{"Id": "m1", "MetricStat": {**stat, "Period": period}}],
            StartTime=end - minutes * MINUTE,
            EndTime=end,
        )
        assert "no more than 100800 periods" in refused.message


def test_more_data_than_a_call_takes_are_refused(cloudwatch: Any, refusal: Any, name: str) -> None:
    data = [{"MetricName": "Load", "Value": 1}] * 1000
    cloudwatch.put_metric_data(Namespace=name, MetricData=data)

    refused = refusal(cloudwatch.put_metric_data, Namespace=name, MetricData=[*data, data[0]])

    assert "MetricData must not have a size greater than 1000" in refused.message


@pytest.mark.parametrize(
    ("days", "first"), [(1, "12:32:00"), (16, "12:30:00"), (64, "12:00:00")], ids=str
)
def test_the_start_of_old_data_is_rounded_down_as_they_are_kept(days: int, first: str) -> None:
    start = datetime(2026, 6, 1, 12, 32, 34, tzinfo=UTC)

    assert f"{rounded_down(start, start + timedelta(days=days)):%H:%M:%S}" == first


def test_data_and_what_expressions_make_of_them_are_returned_newest_first(
    cloudwatch: Any, send: Put, name: str, moment: datetime
) -> None:
    send(1, None, 3)
    metric = {
        "Namespace": name,
        "MetricName": "Load",
        "Dimensions": [{"Name": "Cluster", "Value": name}],
    }
    end = moment

    found = cloudwatch.get_metric_data(
        MetricDataQueries=[
            {"Id": "m1", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}},
            {"Id": "e1", "Expression": "10 * m1", "Label": "tenfold"},
        ],
        StartTime=end - 5 * MINUTE,
        EndTime=end,
    )["MetricDataResults"]

    assert {each["Id"]: each["Values"] for each in found} == {"m1": [3, 1], "e1": [30, 10]}
    assert [each["Label"] for each in found] == ["Load", "tenfold"]


def test_queries_of_one_period_read_the_data_once(
    cloudwatch: Any, monkeypatch: pytest.MonkeyPatch, send: Put, name: str, moment: datetime
) -> None:
    send(1, 2)
    metric = {
        "Namespace": name,
        "MetricName": "Load",
        "Dimensions": [{"Name": "Cluster", "Value": name}],
    }
    stats = [{"Metric": metric, "Period": period, "Stat": "Sum"} for period in (60, 60, 60, 120)]
    reads: list[timedelta] = []

    def read(backend: Any, queries: Any, starts: Any, period: timedelta) -> Any:
        reads.append(period)
        return answers(backend, queries, starts, period)

    monkeypatch.setattr(metric_data, "answers", read)

    found = cloudwatch.get_metric_data(
        MetricDataQueries=[
            {"Id": f"m{number}", "MetricStat": stat} for number, stat in enumerate(stats)
        ],
        StartTime=moment - 2 * MINUTE,
        EndTime=moment,
    )["MetricDataResults"]

    assert reads == [MINUTE, 2 * MINUTE]
    assert [sum(each["Values"]) for each in found] == [3, 3, 3, 3]


def test_statistics_have_a_point_for_each_period_with_data(
    cloudwatch: Any, send: Put, name: str, moment: datetime
) -> None:
    send(1, None, 3)
    end = moment

    found = cloudwatch.get_metric_statistics(
        Namespace=name,
        MetricName="Load",
        Dimensions=[{"Name": "Cluster", "Value": name}],
        StartTime=end - 5 * MINUTE,
        EndTime=end,
        Period=300,
        Statistics=["Sum", "Maximum", "Minimum", "SampleCount", "Average"],
    )["Datapoints"]

    assert [
        [each[key] for key in ("Sum", "Maximum", "Minimum", "SampleCount", "Average")]
        for each in found
    ] == [[4, 3, 1, 2, 2]]


def test_data_of_another_time_than_cloudwatch_takes_are_refused(
    cloudwatch: Any, refusal: Any, name: str
) -> None:
    for offset in (timedelta(hours=3), timedelta(days=-15)):
        refused = refusal(
            cloudwatch.put_metric_data,
            Namespace=name,
            MetricData=[
                {"MetricName": "Load", "Value": 1, "Timestamp": datetime.now(UTC) + offset}
            ],
        )
        assert "MetricData.member.1.Timestamp" in refused.message


@pytest.fixture
def queue(client: Client, name: str) -> Iterator[Callable[[], Sequence[Any]]]:
    """A queue that the test's topic sends to; returns the messages."""
    sqs, topics = client("sqs"), client("sns")
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    topic = topics.create_topic(Name=name)["TopicArn"]
    topics.subscribe(
        TopicArn=topic, Protocol="sqs", Endpoint=f"arn:aws:sqs:us-west-2:123456789012:{name}"
    )

    def receive() -> Sequence[Any]:
        found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(each["Body"]) for each in found]

    yield receive
    sqs.delete_queue(QueueUrl=url)
    topics.delete_topic(TopicArn=topic)


def topic_arn(name: str) -> str:
    return f"arn:aws:sns:us-west-2:123456789012:{name}"


def test_an_alarm_tells_its_topic_when_it_goes_off_and_ends(
    send: Put, alarm: Put, name: str, queue: Callable[[], Sequence[Any]]
) -> None:
    topic = topic_arn(name)
    alarm(EvaluationPeriods=1, AlarmActions=[topic], OKActions=[topic], AlarmDescription="too much")

    send(9)
    send(9)
    send(-90)

    first, second = queue()
    told = json.loads(first["Message"])
    assert first["Subject"] == f'ALARM: "{name}" in us-west-2'
    assert (told["OldStateValue"], told["NewStateValue"]) == (NO, AL)
    assert told["AlarmDescription"] == "too much"
    assert told["Trigger"]["MetricName"] == "Load"
    assert json.loads(second["Message"])["NewStateValue"] == OK


@pytest.mark.parametrize("own_policy", [False, True])
def test_a_topic_with_another_policy_or_with_the_key_of_sns_gets_nothing(
    client: Client,
    send: Put,
    alarm: Put,
    name: str,
    queue: Callable[[], Sequence[Any]],
    own_policy: bool,
) -> None:
    attribute = ("KmsMasterKeyId", "alias/aws/sns")
    if own_policy:
        statement = {"Effect": "Allow", "Principal": {"Service": "budgets.amazonaws.com"}}
        document = {"Statement": [statement | {"Action": "sns:Publish", "Resource": "*"}]}
        attribute = ("Policy", json.dumps(document))
    client("sns").set_topic_attributes(
        TopicArn=topic_arn(name), AttributeName=attribute[0], AttributeValue=attribute[1]
    )
    alarm(EvaluationPeriods=1, AlarmActions=[topic_arn(name)])

    send(9)

    assert queue() == []


def test_a_state_that_is_set_is_told(
    cloudwatch: Any, alarm: Put, name: str, queue: Callable[[], Sequence[Any]]
) -> None:
    alarm(AlarmActions=[topic_arn(name)])

    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a test")

    [told] = queue()
    assert json.loads(told["Message"])["NewStateReason"] == "a test"


def test_a_function_that_an_alarm_calls_may_send_data(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, send: Put, alarm: Put, name: str
) -> None:
    own = boto3.client(
        "cloudwatch",
        region_name="us-west-2",
        endpoint_url=endpoint,
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        config=Config(read_timeout=10, retries={"total_max_attempts": 1}),
    )
    called: list[str] = []

    def call(told: Any, before: str, *place: str) -> None:
        own.put_metric_data(Namespace=name, MetricData=[{"MetricName": "Calls", "Value": 1}])
        called.append(f"{before} {told.state_value}")

    monkeypatch.setattr(alarms, "tell", call)
    alarm(EvaluationPeriods=1)

    send(9)

    assert called == [f"{NO} {AL}"]


def test_a_state_is_as_old_as_the_clock_says_also_once_the_alarm_changes(
    cloudwatch: Any, monkeypatch: pytest.MonkeyPatch, moment: datetime, alarm: Put, name: str
) -> None:
    def days(key: str) -> int:
        [found] = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
        age: timedelta = found[key] - moment
        return round(age / timedelta(days=1))

    monkeypatch.setattr(clock, "_passed", timedelta(days=1))
    alarm(TreatMissingData="breaching")
    made = days("StateUpdatedTimestamp")
    monkeypatch.setattr(clock, "_passed", timedelta(days=2))
    alarm(TreatMissingData="ignore")
    changed = days("StateUpdatedTimestamp"), days("AlarmConfigurationUpdatedTimestamp")
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="a test")
    alarm(TreatMissingData="ignore", AlarmDescription="another")
    [found] = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]

    assert (made, changed, days("StateUpdatedTimestamp")) == (1, (1, 2), 2)
    assert found["StateReason"] == "a test"


def test_alarms_are_described_by_all_filters(
    cloudwatch: Any, alarm: Callable[..., None], name: str
) -> None:
    alarm()
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="as it should be")

    def described(**filters: Any) -> list[str]:
        answer = cloudwatch.describe_alarms(**filters)
        return [each["AlarmName"] for each in answer["MetricAlarms"]]

    assert described(AlarmNames=[name], StateValue="OK") == [name]
    assert described(AlarmNames=[name], StateValue="ALARM") == []
    assert described(AlarmNamePrefix=name[:5], StateValue="OK") == [name]
    assert described(AlarmNames=[name], ActionPrefix="arn:aws:lambda:") == []
    assert described(AlarmNames=[name], AlarmTypes=["CompositeAlarm"]) == []
