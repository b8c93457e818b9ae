"""The resource types that the embedded AWS's CloudFormation can make."""

from dataclasses import dataclass

from moto.cloudformation import parsing

from embedded_aws import services
from embedded_aws.cloudformation.execution.support import is_supported
from embedded_aws.cloudformation.resource import supported_types


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedType:
    """One resource type.

    Attributes:
        name: for instance `AWS::EC2::PlacementGroup`.
        made_by: `embedded-aws`, by the service's own API as on AWS; or `moto`, by moto's model
            of the type, checked against AWS's schema but often without an update.
    """

    name: str
    made_by: str


def all_supported() -> tuple[SupportedType, ...]:
    """Return every type that a template may use, sorted by name.

    Custom resources (`Custom::Anything`) run the function that they name, and are not listed.
    """
    services.load()
    own = set(supported_types())
    models = {name for name in parsing.get_model_map() if name.startswith("AWS::")} - own
    made_by = dict.fromkeys(own, "embedded-aws") | dict.fromkeys(
        filter(is_supported, models), "moto"
    )
    return tuple(SupportedType(name=name, made_by=made_by[name]) for name in sorted(made_by))
