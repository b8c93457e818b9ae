"""AWS's managed policies of IAM, as AWS publishes them."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any


def document(name: str) -> Mapping[str, Any] | None:
    """Return what a managed policy of AWS says; None of one that is not known.

    Args:
        name: without its path, for instance `AdministratorAccess`.
    """
    found = _published().get(name)
    return None if found is None else found["Document"]


@cache
def _published() -> Mapping[str, Any]:
    # moto has them, and takes half a second to load.
    from moto.iam.aws_managed_policies import aws_managed_policies_data

    return dict(json.loads(aws_managed_policies_data))
