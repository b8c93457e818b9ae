"""What AWS Budgets refuses.

AWS Budgets API reference, CreateBudget, TimePeriod and Subscriber. Cost Management user guide,
"Budget filters": a tag is written as `user:KEY$VALUE`. A notification has one subscriber of SNS and
ten by e-mail. Inferred: the exact words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from embedded_aws.actions import Call, Refusal

TAG_FILTER, REGION_FILTER = "TagKeyValue", "Region"
_TOPIC = re.compile(r"arn:aws:sns:[a-z0-9-]+:\d{12}:[\w-]+")
_MOST_BY_MAIL = 10


def check_account(call: Call) -> None:
    """Refuse a call for the budgets of another account than the caller's."""
    if (account := call.params["AccountId"]) != call.account:
        raise Refusal("AccessDeniedException", f"Account {account} is not the caller's account")


def check_subscribers(subscribers: Sequence[Mapping[str, str]]) -> None:
    """Refuse more subscribers than a notification has, and topics that are none."""
    topics = [each["Address"] for each in subscribers if each["SubscriptionType"] == "SNS"]
    if len(topics) > 1 or len(subscribers) - len(topics) > _MOST_BY_MAIL:
        raise Refusal(
            "CreationLimitExceededException",
            f"A notification has at most 1 SNS and {_MOST_BY_MAIL} EMAIL subscribers",
        )
    for each in topics:
        if not _TOPIC.fullmatch(each):
            raise Refusal("InvalidParameterException", f"Invalid SNS topic ARN: {each}")


def check_new(wanted: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> None:
    """Refuse a notification that a budget has already, or that the embedded AWS does not tell."""
    for name, only in (("NotificationType", "ACTUAL"), ("ComparisonOperator", "GREATER_THAN")):
        if wanted[name] != only:
            raise NotImplementedError(f"a notification of {name} {wanted[name]}; {only} alone")
    if _meaning(wanted) in map(_meaning, others):
        raise Refusal("DuplicateRecordException", "The notification already exists")


def _meaning(notification: Mapping[str, Any]) -> tuple[Any, ...]:
    kind = notification.get("ThresholdType", "PERCENTAGE")
    names = ("NotificationType", "ComparisonOperator", "Threshold")
    return (kind, *(notification[name] for name in names))


def check_budget(wanted: Mapping[str, Any]) -> None:
    """Refuse a budget that AWS refuses, or that the embedded AWS does not have."""
    for name, only in (("BudgetType", "COST"), ("TimeUnit", "MONTHLY")):
        if wanted[name] != only:
            raise NotImplementedError(f"a budget of {name} {wanted[name]}; {only} alone")
    for name in ("AutoAdjustData", "FilterExpression", "PlannedBudgetLimits", "BillingViewArn"):
        if name in wanted:
            raise NotImplementedError(f"a budget with {name}")
    if other := sorted(set(wanted.get("CostFilters", {})) - {TAG_FILTER, REGION_FILTER}):
        raise NotImplementedError(
            f"a budget filtered by {', '.join(other)}; by tags and regions alone"
        )
    for text in wanted.get("CostFilters", {}).get(TAG_FILTER, []):
        if not text.startswith("user:") or "$" not in text:
            raise Refusal("InvalidParameterException", f"Invalid tag filter: {text}")
    period = wanted.get("TimePeriod", {})
    if {"Start", "End"} <= period.keys() and period["Start"] >= period["End"]:
        raise Refusal("InvalidParameterException", "The start date must be before the end date")
    if wanted.get("BudgetLimit", {}).get("Unit", "USD") != "USD":
        raise Refusal("InvalidParameterException", "The unit of a cost budget must be USD")
