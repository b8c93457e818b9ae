"""Budgets of AWS Budgets."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.tags import tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::Budgets::Budget")
class Budget(Handler):
    """A budget; its Ref is the budget's name.

    CloudFormation's schema of the type: another name, and other notifications, replace it.
    Inferred: a budget without a name gets a generated one.
    """

    service = "budgets"
    known = ("Budget", "NotificationsWithSubscribers", "ResourceTags")

    def _create(self, request: Request) -> str:
        name = request.properties["Budget"].get("BudgetName") or generated_name(request, limit=100)
        wanted = present(request.properties, "NotificationsWithSubscribers")
        self._call(
            request,
            "CreateBudget",
            {
                "Budget": self._budget(request, name),
                "ResourceTags": tag_list(_tags(request)),
                **wanted,
            },
            AccountId=request.account,
        )
        return str(name)

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        if changed(request, before, "Budget"):
            wanted = {"NewBudget": self._budget(request, physical_id)}
            self._call(request, "UpdateBudget", wanted, AccountId=request.account)

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        # The type calls its own tags ResourceTags.
        budgets, own = request.client("budgets"), _tags(request)
        named = {"ResourceARN": f"arn:aws:budgets::{request.account}:budget/{physical_id}"}
        budgets.tag_resource(**named, ResourceTags=tag_list(own))
        had = budgets.list_tags_for_resource(**named)["ResourceTags"]
        if gone := [each["Key"] for each in had if each["Key"] not in own]:
            budgets.untag_resource(**named, ResourceTagKeys=gone)

    def _budget(self, request: Request, name: str) -> dict[str, Any]:
        return {**request.properties["Budget"], "BudgetName": name}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("budgets").delete_budget(AccountId=request.account, BudgetName=physical_id)


def _tags(request: Request) -> dict[str, str]:
    own = request.properties.get("ResourceTags", [])
    return {**request.tags, **{each["Key"]: str(each.get("Value", "")) for each in own}}
