"""Which resource types the embedded AWS can make, and their handlers."""

from collections.abc import Iterable

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.execution.moto_resource import moto_handler
from embedded_aws.cloudformation.resource import ResourceHandler, handler_of
from embedded_aws.cloudformation.schema import is_custom, schema_of


def supporting_handler(resource_type: str) -> ResourceHandler | None:
    """Return the handler of a type: our own, else one of moto's model, else None."""
    if is_custom(resource_type):
        resource_type = "AWS::CloudFormation::CustomResource"
    return handler_of(resource_type) or moto_handler(resource_type)


def check_types(types: Iterable[str], region: str) -> None:
    """Refuse resource types that AWS does not know, or that the embedded AWS cannot make.

    Raises:
        ValidationError: names them, and says which of the two it is.
    """
    unsupported = sorted(each for each in set(types) if not supporting_handler(each))
    if unknown := [each for each in unsupported if schema_of(each, region) is None]:
        raise ValidationError(
            f"Template format error: Unrecognized resource types: [{', '.join(unknown)}]"
        )
    if unsupported:
        raise ValidationError(
            f"the embedded AWS cannot make resources of type {', '.join(unsupported)}, which AWS "
            "can; `embedded-aws types` lists those that it makes"
        )
