"""Budgets, and what was spent; moto keeps them.

AWS Budgets API reference, CreateBudget and UpdateBudget. Cost Management user guide, "Budget
filters": a tag is written as `user:KEY$VALUE`; several values of one key are alternatives.
Inferred: several regions are, too; the exact words. Tags count here without being activated for
cost allocation.
"""

from datetime import datetime
from typing import Any

from moto.budgets.exceptions import BudgetMissingLimit
from moto.budgets.models import Budget

from embedded_aws.actions import Call, Refusal, action, table
from embedded_aws.budgets.checks import (
    REGION_FILTER,
    TAG_FILTER,
    check_account,
    check_budget,
    check_new,
    check_subscribers,
)
from embedded_aws.budgets.instance_costs import spent
from embedded_aws.clock import now
from embedded_aws.constraints import checks_arguments

checks_arguments("budgets", "InvalidParameterException")

_tags = table("budgets", "tags")


@action("budgets", "CreateBudget")
def create_budget(call: Call) -> Any:
    """Create a budget with its notifications."""
    wanted = call.params["Budget"]
    check_account(call)
    check_budget(wanted)
    given = call.params.get("NotificationsWithSubscribers", [])
    for each in given:
        check_subscribers(each["Subscribers"])
    notifications = [each["Notification"] for each in given]
    for each in notifications:
        check_new(each, [other for other in notifications if other is not each])
    answer = call.moto()
    _tags(call)[_arn(call, wanted["BudgetName"])] = {
        each["Key"]: each.get("Value", "") for each in call.params.get("ResourceTags", [])
    }
    return answer


@action("budgets", "UpdateBudget")
def update_budget(call: Call) -> dict[str, Any]:
    """Change a budget; its notifications stay."""
    wanted = dict(call.params["NewBudget"])
    check_account(call)
    check_budget(wanted)
    if "BudgetLimit" not in wanted:
        raise BudgetMissingLimit
    found = _found(call, wanted["BudgetName"])
    found.budget = {**wanted, "TimePeriod": wanted.get("TimePeriod", found.budget["TimePeriod"])}
    return {}


@action("budgets", "CreateNotification")
def create_notification(call: Call) -> Any:
    """Add a notification to a budget."""
    check_account(call)
    check_subscribers(call.params["Subscribers"])
    found = _found(call, call.params["BudgetName"])
    check_new(call.params["Notification"], found.get_notifications())
    return call.moto()


@action("budgets", "DescribeNotificationsForBudget")
def describe_notifications(call: Call) -> Any:
    """Describe the notifications of a budget, on one page."""
    check_account(call)
    _found(call, call.params["BudgetName"])
    return call.moto()


@action("budgets", "DescribeBudget")
def describe_budget(call: Call) -> dict[str, Any]:
    """Describe a budget, with what was spent in this month."""
    check_account(call)
    return {"Budget": _described(call.account, _found(call, call.params["BudgetName"]))}


@action("budgets", "DescribeBudgets")
def describe_budgets(call: Call) -> dict[str, Any]:
    """Describe all budgets, on one page."""
    check_account(call)
    found = call.backend("budgets").budgets[call.params["AccountId"]].values()
    return {"Budgets": [_described(call.account, each) for each in found]}


@action("budgets", "TagResource")
def tag_resource(call: Call) -> dict[str, Any]:
    """Tag a budget."""
    tags = {each["Key"]: each.get("Value", "") for each in call.params["ResourceTags"]}
    _tags_of(call).update(tags)
    return {}


@action("budgets", "UntagResource")
def untag_resource(call: Call) -> dict[str, Any]:
    """Remove tags of a budget."""
    tags = _tags_of(call)
    for key in call.params["ResourceTagKeys"]:
        tags.pop(key, None)
    return {}


@action("budgets", "ListTagsForResource")
def list_tags_for_resource(call: Call) -> dict[str, Any]:
    """List the tags of a budget."""
    tags = _tags_of(call)
    return {"ResourceTags": [{"Key": key, "Value": value} for key, value in tags.items()]}


def month_start(moment: datetime) -> datetime:
    """Return when the period of a monthly budget begins."""
    return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def actual_usd(account: str, budget: Budget) -> float:
    """Return what was spent of a budget in this month."""
    filters, tags = budget.budget.get("CostFilters", {}), dict[str, frozenset[str]]()
    for text in filters.get(TAG_FILTER, []):
        key, _, value = text.removeprefix("user:").partition("$")
        tags[key] = tags.get(key, frozenset()) | {value}
    return spent(account, month_start(now()), tags, filters.get(REGION_FILTER))


def _described(account: str, budget: Budget) -> dict[str, Any]:
    actual = {"Amount": f"{actual_usd(account, budget):.2f}", "Unit": "USD"}
    # Inferred: without a forecast there is none in the answer.
    return {**budget.to_dict(), "CalculatedSpend": {"ActualSpend": actual}}


def _found(call: Call, name: str) -> Budget:
    found: Budget | None = call.backend("budgets").budgets[call.params["AccountId"]].get(name)
    if found is None:
        raise Refusal(
            "NotFoundException", f"Unable to get budget: {name} - the budget doesn't exist."
        )
    return found


def _tags_of(call: Call) -> dict[str, Any]:
    """Return the tags of the budget whose ARN a call has."""
    arn = call.params["ResourceARN"]
    name = arn.removeprefix(_arn(call, ""))
    if name not in call.backend("budgets").budgets[call.account]:
        raise Refusal("NotFoundException", f"Unable to find resource: {arn}")
    return _tags(call).setdefault(arn, {})


def _arn(call: Call, name: str) -> str:
    return f"arn:aws:budgets::{call.account}:budget/{name}"
