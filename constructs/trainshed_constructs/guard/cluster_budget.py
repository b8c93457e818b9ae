"""A budget for what a cluster costs in a month."""

import json
from collections.abc import Sequence
from hashlib import sha256

from aws_cdk import Token
from aws_cdk import aws_budgets as budgets
from constructs import Construct

from trainshed.account.tags import CLUSTER_TAG

_Budget = budgets.CfnBudget
# AWS Budgets API reference, Budget: the longest name.
_NAME, _DIGEST = 100, 8


class ClusterBudget(Construct):
    """Monthly cost budget of what has a cluster's tag, which tells people how much is spent.

    It stops nothing. AWS counts a tag only after somebody has activated it for cost allocation, in
    the account that pays, and looks at what was spent up to three times a day.

    CloudFormation cannot change the notifications of a budget, nor replace it under the same name,
    and names are an account's, not a region's. So the name has a digest of the notifications and of
    the cluster, whose own name may be too long for it.

    Follows the Cost Management user guide, "Creating a cost budget" and "Budget filters".

    Attributes:
        budget: the resource.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import ClusterBudget

        stack = Stack(App(), "Compute")
        ClusterBudget(
            stack,
            "Budget",
            cluster="TrainCluster",
            region="us-west-2",
            monthly_usd=20_000,
            at_percent=[50, 80, 100],
            topic_arn="arn:aws:sns:us-west-2:123456789012:ml-platform",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str,
        region: str,
        monthly_usd: int,
        at_percent: Sequence[int],
        topic_arn: str,
    ) -> None:
        """Declare the budget.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: value of the tag `trainshed:cluster` on what is counted.
            region: in which it is counted.
            monthly_usd: the budget of a calendar month, in USD.
            at_percent: of the budget, at which people are told; up to ten.
            topic_arn: of the SNS topic for people, to which AWS Budgets may publish.
        """
        super().__init__(scope, construct_id)
        # A topic of the same stack has no name yet.
        topic = "own" if Token.is_unresolved(topic_arn) else topic_arn
        told = json.dumps([cluster, region, *at_percent, topic])
        digest = sha256(told.encode()).hexdigest()[:_DIGEST]
        self.budget = _Budget(
            self,
            "Month",
            budget=_Budget.BudgetDataProperty(
                budget_name=f"{cluster}-{region}-"[: _NAME - _DIGEST] + digest,
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=_Budget.SpendProperty(amount=monthly_usd, unit="USD"),
                # AWS Budgets API reference, Budget, CostFilters.
                cost_filters={
                    "TagKeyValue": [f"user:{CLUSTER_TAG}${cluster}"],
                    "Region": [region],
                },
            ),
            notifications_with_subscribers=[
                _Budget.NotificationWithSubscribersProperty(
                    notification=_Budget.NotificationProperty(
                        notification_type="ACTUAL",
                        comparison_operator="GREATER_THAN",
                        threshold=each,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[
                        _Budget.SubscriberProperty(subscription_type="SNS", address=topic_arn)
                    ],
                )
                for each in at_percent
            ],
        )
