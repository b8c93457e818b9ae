"""The resource types that the embedded AWS's CloudFormation can make."""

from moto.cloudformation import parsing

from embedded_aws import services
from embedded_aws.cloudformation.execution.support import supporting_handler
from embedded_aws.cloudformation.resource import supported_types


def all_supported() -> dict[str, str]:
    """Return what makes each type that a template may use, by the type's name, sorted.

    It is `embedded-aws`, by the service's own API as on AWS, or `moto`, by moto's model of the
    type, checked against AWS's schema but often without an update. Custom resources
    (`Custom::Anything`) run the function that they name, and are not listed.
    """
    services.load()
    own = set(supported_types())
    models = {name for name in parsing.get_model_map() if name.startswith("AWS::")} - own
    made_by = dict.fromkeys(own, "embedded-aws") | dict.fromkeys(
        filter(supporting_handler, models), "moto"
    )
    return dict(sorted(made_by.items()))
