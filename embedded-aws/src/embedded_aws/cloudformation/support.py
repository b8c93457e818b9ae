"""Which resource types the embedded AWS can make, and who makes them."""

from embedded_aws.cloudformation.execution.moto_resource import moto_handler
from embedded_aws.cloudformation.resource import ResourceHandler, handler_of


def is_custom(resource_type: str) -> bool:
    """Tell whether the type is a custom resource, made by a function of the user's."""
    return resource_type.startswith("Custom::") or (
        resource_type == "AWS::CloudFormation::CustomResource"
    )


def supporting_handler(resource_type: str) -> ResourceHandler | None:
    """Return who makes resources of a type: our own handler, else moto's model, else None."""
    if is_custom(resource_type):
        resource_type = "AWS::CloudFormation::CustomResource"
    return handler_of(resource_type) or moto_handler(resource_type)


def is_supported(resource_type: str) -> bool:
    """Tell whether resources of a type can be made."""
    return supporting_handler(resource_type) is not None
