"""AWS Budgets: what instances cost as time passes, and who is told of it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws

ACCOUNT = "123456789012"
TOPIC = f"arn:aws:sns:us-west-2:{ACCOUNT}:spend"
TYPE = "trn1.32xlarge"


class Place:
    """A topic that Budgets may publish to, with a queue, and budgets."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.aws = aws
        self.budgets, self._sqs = aws.client("budgets"), aws.client("sqs")
        ec2, sns = aws.client("ec2"), aws.client("sns")
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = ec2.create_subnet(
            VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="us-west-2b"
        )["Subnet"]
        self._subnet = subnet["SubnetId"]
        sns.create_topic(Name="spend")
        publish = {
            "Effect": "Allow",
            "Principal": {"Service": "budgets.amazonaws.com"},
            "Action": "sns:Publish",
            "Resource": TOPIC,
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [publish]})
        sns.set_topic_attributes(TopicArn=TOPIC, AttributeName="Policy", AttributeValue=policy)
        self._url = self._sqs.create_queue(QueueName="mail")["QueueUrl"]
        arn = f"arn:aws:sqs:us-west-2:{ACCOUNT}:mail"
        sns.subscribe(TopicArn=TOPIC, Protocol="sqs", Endpoint=arn)

    def run_instance(self, cluster: str) -> str:
        tags = [{"Key": "cluster", "Value": cluster}]
        [made] = self.aws.client("ec2").run_instances(
            ImageId=self.aws.client("ec2").describe_images()["Images"][0]["ImageId"],
            InstanceType=TYPE,
            SubnetId=self._subnet,
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        )["Instances"]
        return str(made["InstanceId"])

    def create(self, usd: float, *percent: float, **more: Any) -> None:
        budget = {
            "BudgetName": "of-a",
            "BudgetLimit": {"Amount": str(usd), "Unit": "USD"},
            "BudgetType": "COST",
            "TimeUnit": "MONTHLY",
            "CostFilters": {"TagKeyValue": ["user:cluster$a"]},
        }
        notifications = [
            {
                "Notification": {
                    "NotificationType": "ACTUAL",
                    "ComparisonOperator": "GREATER_THAN",
                    "Threshold": each,
                },
                "Subscribers": [{"SubscriptionType": "SNS", "Address": TOPIC}],
            }
            for each in percent
        ]
        self.budgets.create_budget(
            AccountId=ACCOUNT, Budget={**budget, **more}, NotificationsWithSubscribers=notifications
        )

    def actual(self) -> float:
        found = self.budgets.describe_budget(AccountId=ACCOUNT, BudgetName="of-a")["Budget"]
        return float(found["CalculatedSpend"]["ActualSpend"]["Amount"])

    def told(self) -> list[str]:
        found = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10)
        for each in found.get("Messages", []):
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=each["ReceiptHandle"])
        return [json.loads(each["Body"])["Message"] for each in found.get("Messages", [])]


@pytest.fixture
def place(clean_aws: EmbeddedAws) -> Place:
    """A topic that Budgets may publish to, with a queue, and budgets."""
    # In the middle of a month.
    now = datetime.now(UTC)
    place = Place(clean_aws)
    place.aws.let_pass(hours=_hours_to_next_month(now) + 1)
    return place


def _hours_to_next_month(now: datetime) -> float:
    first = (now.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0, second=0)
    return (first - now) / timedelta(hours=1)


def test_instances_with_the_tag_cost_their_hours_on_demand(place: Place) -> None:
    place.create(1000)
    place.run_instance("a")
    ended = place.run_instance("a")
    place.run_instance("b")

    place.aws.let_pass(hours=10)
    after_ten = place.actual()
    place.aws.client("ec2").terminate_instances(InstanceIds=[ended])
    place.aws.let_pass(hours=10)

    # 21.50 USD an hour.
    assert after_ten == pytest.approx(430, abs=0.5)
    assert place.actual() == pytest.approx(645, abs=0.5)


@pytest.mark.parametrize(
    ("regions", "usd"), [(["us-east-1", "us-west-2"], 21.5), (["eu-central-1"], 0)]
)
def test_instances_of_other_regions_are_not_counted_where_regions_are_given(
    place: Place, regions: list[str], usd: float
) -> None:
    place.create(1000, CostFilters={"TagKeyValue": ["user:cluster$a"], "Region": regions})
    place.run_instance("a")

    place.aws.let_pass(hours=1)

    assert place.actual() == pytest.approx(usd, abs=0.5)


def test_an_instance_costs_the_hours_of_all_its_runs(place: Place) -> None:
    place.create(1000)
    name, ec2 = place.run_instance("a"), place.aws.client("ec2")

    place.aws.let_pass(hours=10)
    ec2.stop_instances(InstanceIds=[name])
    place.aws.let_pass(hours=10)
    ec2.start_instances(InstanceIds=[name])
    place.aws.let_pass(hours=10)
    ec2.reboot_instances(InstanceIds=[name])
    place.aws.let_pass(hours=10)

    # 21.50 USD an hour.
    assert place.actual() == pytest.approx(645, abs=0.5)


def test_each_threshold_is_told_once_a_month(place: Place) -> None:
    place.create(1600, 20, 60)
    place.run_instance("a")

    place.aws.let_pass(hours=10)
    before = place.told()
    place.aws.let_pass(hours=10)
    [first] = place.told()
    place.aws.let_pass(hours=10)
    again = place.told()
    place.aws.let_pass(hours=20)
    [second] = place.told()

    assert (before, again) == ([], [])
    assert "budget is greater than $320.00 for the current month" in first
    assert "budget is greater than $960.00 for the current month" in second
    place.aws.let_pass(days=31)
    assert len(place.told()) == 2


def test_a_budget_that_is_updated_keeps_its_notifications(place: Place) -> None:
    place.create(100, 20)
    place.run_instance("a")
    place.budgets.update_budget(
        AccountId=ACCOUNT,
        NewBudget={
            "BudgetName": "of-a",
            "BudgetLimit": {"Amount": "10", "Unit": "USD"},
            "BudgetType": "COST",
            "TimeUnit": "MONTHLY",
            "CostFilters": {"TagKeyValue": ["user:cluster$a"]},
        },
    )

    place.aws.let_pass(hours=2)

    [told] = place.told()
    assert "greater than $2.00" in told


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"CostFilters": {"TagKeyValue": ["cluster=a"]}}, "Invalid tag filter"),
        ({"CostFilters": {"Service": ["Amazon EC2"]}}, "does not support"),
        ({"BudgetType": "USAGE"}, "does not support"),
        ({"BudgetLimit": {"Amount": "3", "Unit": "EUR"}}, "must be USD"),
        ({"BudgetName": "a:b"}, "failed to satisfy constraint"),
        (
            {
                "TimePeriod": {
                    "Start": datetime(2026, 2, 1, tzinfo=UTC),
                    "End": datetime(2026, 1, 1, tzinfo=UTC),
                }
            },
            "InvalidParameterException.*before the end date",
        ),
    ],
)
def test_a_budget_is_refused(place: Place, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        place.create(100, 20, **wrong)


def test_a_budget_of_another_account_is_refused(place: Place) -> None:
    place.create(100, 20)

    for call in (place.budgets.describe_budgets, place.budgets.describe_budget):
        name = {} if call == place.budgets.describe_budgets else {"BudgetName": "of-a"}
        with pytest.raises(ClientError, match="AccessDeniedException"):
            call(AccountId="210987654321", **name)


def test_a_budget_without_a_limit_is_refused_in_an_update_too(place: Place) -> None:
    place.create(100, 20)
    budget = {"BudgetName": "of-a", "BudgetType": "COST", "TimeUnit": "MONTHLY"}

    with pytest.raises(ClientError, match="InvalidParameterException"):
        place.budgets.update_budget(AccountId=ACCOUNT, NewBudget=budget)


def test_a_notification_comes_once(place: Place) -> None:
    with pytest.raises(ClientError, match="DuplicateRecordException"):
        place.create(100, 20, 20)
    place.create(100, 20)
    again: dict[str, Any] = {
        "AccountId": ACCOUNT,
        "BudgetName": "of-a",
        "Notification": {
            "NotificationType": "ACTUAL",
            "ComparisonOperator": "GREATER_THAN",
            "Threshold": 20,
            "ThresholdType": "PERCENTAGE",
        },
        "Subscribers": [{"SubscriptionType": "SNS", "Address": TOPIC}],
    }

    with pytest.raises(ClientError, match="DuplicateRecordException"):
        place.budgets.create_notification(**again)
    again["Notification"]["ThresholdType"] = "ABSOLUTE_VALUE"
    place.budgets.create_notification(**again)

    found = place.budgets.describe_notifications_for_budget(AccountId=ACCOUNT, BudgetName="of-a")
    assert len(found["Notifications"]) == 2
    with pytest.raises(ClientError, match="NotFoundException"):
        place.budgets.describe_notifications_for_budget(AccountId=ACCOUNT, BudgetName="none")


@pytest.mark.parametrize(
    "other", [{"NotificationType": "FORECASTED"}, {"ComparisonOperator": "LESS_THAN"}]
)
def test_a_notification_of_another_kind_is_refused(place: Place, other: dict[str, str]) -> None:
    place.create(100)
    usual = {"NotificationType": "ACTUAL", "ComparisonOperator": "GREATER_THAN", "Threshold": 20}

    with pytest.raises(ClientError, match="does not support"):
        place.budgets.create_notification(
            AccountId=ACCOUNT,
            BudgetName="of-a",
            Notification=usual | other,
            Subscribers=[{"SubscriptionType": "SNS", "Address": TOPIC}],
        )


@pytest.mark.parametrize(
    ("subscribers", "code"),
    [
        ([("SNS", TOPIC), ("SNS", f"{TOPIC}-2")], "CreationLimitExceededException"),
        ([("EMAIL", f"{n}@example.com") for n in range(11)], "CreationLimitExceededException"),
        ([("SNS", "arn:aws:sqs:us-west-2:123456789012:mail")], "InvalidParameterException"),
    ],
)
def test_subscribers_are_refused(
    place: Place, subscribers: list[tuple[str, str]], code: str
) -> None:
    place.create(100)

    with pytest.raises(ClientError, match=code):
        place.budgets.create_notification(
            AccountId=ACCOUNT,
            BudgetName="of-a",
            Notification={
                "NotificationType": "ACTUAL",
                "ComparisonOperator": "GREATER_THAN",
                "Threshold": 20,
            },
            Subscribers=[
                {"SubscriptionType": kind, "Address": address} for kind, address in subscribers
            ],
        )


def test_a_budget_that_is_not_there_has_no_tags(place: Place) -> None:
    place.create(100)
    arn = f"arn:aws:budgets::{ACCOUNT}:budget/of-a"
    place.budgets.tag_resource(ResourceARN=arn, ResourceTags=[{"Key": "a", "Value": "b"}])

    assert place.budgets.list_tags_for_resource(ResourceARN=arn)["ResourceTags"] == [
        {"Key": "a", "Value": "b"}
    ]
    with pytest.raises(ClientError, match="NotFoundException"):
        place.budgets.list_tags_for_resource(ResourceARN=f"{arn}-other")
