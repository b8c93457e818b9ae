"""What a resource that exists answers to `Ref` and `Fn::GetAtt`."""

from typing import Any

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.resource import HandlerError
from embedded_aws.cloudformation.stack import Stack
from embedded_aws.cloudformation.support import is_custom
from embedded_aws.cloudformation.template.schema import values_at


def value_of(stack: Stack, logical_id: str, attribute: str | None) -> Any:
    """Return a resource's physical id, or one of its attributes.

    Args:
        stack: the stack that has the resource.
        logical_id: the resource's name in the template.
        attribute: None for `Ref`.

    Raises:
        ValidationError: a custom resource's function did not return the attribute.
        HandlerError: the handler forgot an attribute that the type has.
    """
    resource = stack.resources[logical_id]
    if attribute is None:
        return resource.physical_id
    try:
        return resource.attributes[attribute]
    except KeyError:
        if is_custom(resource.resource_type):
            raise ValidationError(
                "CustomResource attribute error: Vendor response doesn't contain "
                f"{attribute} attribute in object {resource.physical_id}"
            ) from None
    # Older types let `Fn::GetAtt` read some of the properties back.
    for value in values_at(resource.sent, tuple(attribute.split("."))):
        return value
    raise HandlerError(
        f"internal error of the embedded AWS: the handler of {resource.resource_type} returned no "
        f"attribute {attribute}",
        "InternalFailure",
    )
