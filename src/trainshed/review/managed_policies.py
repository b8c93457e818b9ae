"""What AWS's managed policies say."""

from embedded_aws.managed_policies import document
from trainshed.review.differences import Statement, Targets


def statements_of(name: str) -> tuple[Statement, ...]:
    """Return the statements of AWS's managed policy of a name; none of one that is not known.

    Args:
        name: without its path, for instance `AdministratorAccess`.
    """
    found = document(name)
    return tuple(
        Statement(
            gained=True,
            effect=each["Effect"],
            principals=Targets(names=()),
            actions=Targets.of(each, "Action"),
            resources=Targets.of(each, "Resource"),
            condition=each.get("Condition"),
        )
        for each in (found["Statement"] if found else ())
    )
