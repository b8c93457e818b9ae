"""Budgets through their handler."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

ACCOUNT = "210987654321"
BUDGET = {
    "BudgetName": "of-cluster",
    "BudgetLimit": {"Amount": 100, "Unit": "USD"},
    "BudgetType": "COST",
    "TimeUnit": "MONTHLY",
    "CostFilters": {"TagKeyValue": ["user:cluster$a"]},
}


def test_a_budget_is_made_changed_and_deleted(client: Any, deploy: Any) -> None:
    budgets = client("budgets")
    made = deploy(
        "AWS::Budgets::Budget", Budget=BUDGET, ResourceTags=[{"Key": "team", "Value": "speech"}]
    )

    made.update("ResourceTags", Budget={**BUDGET, "BudgetLimit": {"Amount": 200, "Unit": "USD"}})

    found = budgets.describe_budget(AccountId=ACCOUNT, BudgetName=made.ref)["Budget"]
    arn = f"arn:aws:budgets::{ACCOUNT}:budget/of-cluster"
    tags = budgets.list_tags_for_resource(ResourceARN=arn)["ResourceTags"]
    made.delete()
    made.delete()
    assert made.ref == "of-cluster"
    assert found["BudgetLimit"] == {"Amount": "200", "Unit": "USD"}
    assert {each["Key"] for each in tags} == {"aws:cloudformation:stack-name", "Owner"}
    with pytest.raises(ClientError, match="doesn't exist"):
        budgets.describe_budget(AccountId=ACCOUNT, BudgetName=made.ref)
