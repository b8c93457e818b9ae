"""What AWS Budgets does beside answering calls: it tells of budgets that reach a threshold.

Cost Management user guide, "Best practices for AWS Budgets": a notification is sent once in a
period. AWS looks up to three times a day; here, when time passes. From memory: the subject and the
beginning of the message. Subscribers by e-mail get nothing.
"""

from typing import Any

from moto.budgets.models import Budget, Notification, budgets_backends

from embedded_aws.budgets.budgets import actual_usd, month_start
from embedded_aws.clock import now
from embedded_aws.hooks import when_time_passed
from embedded_aws.sns.service_messages import publish_from

_TOLD = "embedded_aws_told"


@when_time_passed
def _look() -> None:
    for backend in _backends():
        for account, budgets in backend.budgets.items():
            for budget in list(budgets.values()):
                actual = actual_usd(account, budget)
                for notification in budget.notifications:
                    _tell(account, budget, notification, actual)


def _backends() -> list[Any]:
    return [backend for regions in budgets_backends.values() for backend in regions.values()]


def _tell(account: str, budget: Budget, notification: Notification, actual: float) -> None:
    """Tell the subscribers of a notification, if its threshold is reached for the first time."""
    details, period = notification.details, month_start(now())
    limit, threshold = float(budget.budget["BudgetLimit"]["Amount"]), float(details["Threshold"])
    if details.get("ThresholdType", "PERCENTAGE") == "PERCENTAGE":
        threshold *= limit / 100
    if actual <= threshold or vars(notification).get(_TOLD) == period:
        return
    vars(notification)[_TOLD] = period
    name = budget.budget["BudgetName"]
    message = (
        f"AWS Budget Notification {now():%B %d, %Y}\nAWS Account {account}\n\nDear AWS Customer,\n"
        "You requested that we alert you when the ACTUAL Cost associated with your "
        f"{name} budget is greater than ${threshold:,.2f} for the current month. The ACTUAL Cost "
        f"associated with this budget is ${actual:,.2f}.\n\nBudget Name: {name}\nBudget Type: "
        f"Cost\nBudgeted Amount: ${limit:,.2f}\nAlert Type: ACTUAL\nAlert Threshold: > "
        f"${threshold:,.2f}\nACTUAL Amount: ${actual:,.2f}\n"
    )
    # A list, though moto calls it something else.
    subscribers: Any = notification.subscribers
    for subscriber in subscribers:
        if subscriber["SubscriptionType"] == "SNS":
            publish_from(
                "budgets.amazonaws.com",
                subscriber["Address"],
                message,
                subject=f"AWS Budgets: {name} has exceeded your alert threshold",
            )
