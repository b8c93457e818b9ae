"""SSM parameters that hold an AMI.

[S] SSM user guide: a parameter of data type `aws:ec2:image` holds an AMI id of the form
ami-12345abcdeEXAMPLE.
[I] AWS checks it after PutParameter has answered and then drops the parameter; here the call is
refused. Whether the AMI exists is not checked: the embedded AWS has parameters of images it lacks.
"""

from typing import Any

from trainshed.offline.services.actions import Call, Refusal, action
from trainshed.offline.services.image_ids import is_image_id


@action("ssm", "PutParameter")
def put_parameter(call: Call) -> Any:
    """Put a parameter; one of data type aws:ec2:image must hold an AMI id."""
    value = call.params["Value"]
    if call.params.get("DataType") == "aws:ec2:image" and not is_image_id(value):
        raise Refusal(
            "ValidationException",
            f"The parameter value '{value}' is not a valid AMI ID for data type aws:ec2:image.",
        )
    return call.moto()
