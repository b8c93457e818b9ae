"""Which managed policies IAM attaches to the roles of a stack."""

from collections.abc import Iterator


def policy_problems(policy: str, account: str | None) -> Iterator[str]:
    """Say why a role cannot carry a policy.

    Args:
        policy: ARN of a managed policy.
        account: the role's AWS account, if it is known.
    """
    partition, owner = policy.split(":")[1], policy.split(":")[4]
    if partition != "aws":
        yield f"{policy} is of the partition {partition}; give one of aws"
    if account and owner not in ("aws", account):
        yield (
            f"{policy} is of account {owner}: IAM takes policies of the role's own account, "
            f"{account}, and of AWS only; make one there"
        )
