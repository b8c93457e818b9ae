"""Stacks in the inventory."""

from collections.abc import Callable, Iterator
from typing import Any

from embedded_aws.inventory import Part, lists, row
from embedded_aws.plugins import Row


@lists(Part.STACKS)
def _stacks(client: Callable[[str], Any]) -> Iterator[Row]:
    cloudformation = client("cloudformation")
    for stack in cloudformation.get_paginator("describe_stacks").paginate().search("Stacks[]"):
        pages = cloudformation.get_paginator("list_stack_resources").paginate(
            StackName=stack["StackName"]
        )
        count = sum(len(page["StackResourceSummaries"]) for page in pages)
        yield row("stack", stack["StackName"], f"{stack['StackStatus']}, resources: {count}")
