"""SSM parameters that hold an AMI.

SSM user guide: a parameter of data type `aws:ec2:image` holds an AMI id of the form
ami-12345abcdeEXAMPLE; no parameter is changed to or from that data type. Inferred: the words of
that refusal. AWS checks the value after PutParameter has answered and then drops it; here the call
is refused. Whether the AMI exists is not checked: the embedded AWS has parameters of AMIs that it
lacks.
"""

from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ec2.ami_ids import is_ami_id

_IMAGE = "aws:ec2:image"


@action("ssm", "PutParameter")
def put_parameter(call: Call) -> Any:
    """Put a parameter; one of data type aws:ec2:image must hold an AMI id."""
    value = call.params["Value"]
    _check_data_type(call)
    if call.params.get("DataType") == _IMAGE and not is_ami_id(value):
        raise Refusal(
            "ValidationException",
            f"The parameter value '{value}' is not a valid AMI ID for data type aws:ec2:image.",
        )
    return call.moto()


def _check_data_type(call: Call) -> None:
    """Refuse to change a parameter to or from this data type."""
    versions = call.backend("ssm")._parameters.get(call.params["Name"])
    new = call.params.get("DataType")
    if not versions or new is None:
        return
    old = versions[-1].data_type
    if old != new and _IMAGE in (old, new):
        raise Refusal(
            "ValidationException",
            f"The data type of parameter {call.params['Name']} can't be changed from {old} to "
            f"{new}.",
        )
