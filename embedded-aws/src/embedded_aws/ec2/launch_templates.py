"""What EC2 refuses in a launch template, and reading a template's data.

At CreateLaunchTemplate and CreateLaunchTemplateVersion: what is wrong for every launch, that is
malformed values, contradictions between fields, and the interface limits of the instance type if
the template names one. The rest is checked at the launch (`launches`), which may add the type, the
subnet or the primary interface. Documented: the formats and limits (16 KB of user data before
base64; `resolve:ssm:` AMIs) and the messages of InvalidAMIID.Malformed, InvalidUserData.Malformed
and of groups beside interfaces. Documented: if there are contradictions, EC2 creates the template
and lists them in the `Warning` of its answer, which CloudFormation does not show; every launch then
fails. Here the creation is refused, so that the deployment fails. Nothing that EC2 would launch is
refused.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from moto.ec2.utils import parse_user_data

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.ec2.ami_ids import is_ami_id
from embedded_aws.ec2.instance_types import require
from embedded_aws.ec2.network_interfaces import check_interfaces
from embedded_aws.ec2.refusals import invalid_combination, invalid_value

# LaunchTemplateData, as the API takes it.
TemplateData = Mapping[str, Any]

_USER_DATA_BYTES = 16384


def check_template(data: TemplateData) -> None:
    """Refuse template data that no launch could use.

    Raises:
        Refusal: as EC2 does.
    """
    ami = data.get("ImageId")
    if ami is not None and not ami.startswith("resolve:ssm:") and not is_ami_id(ami):
        expected = 'expecting "ami-..."' if not ami.startswith("ami-") else "malformed"
        raise Refusal("InvalidAMIID.Malformed", f'Invalid id: "{ami}" ({expected})')
    _check_user_data(data.get("UserData"))
    interfaces = data.get("NetworkInterfaces", [])
    if interfaces and (data.get("SecurityGroupIds") or data.get("SecurityGroups")):
        raise invalid_combination(
            "Network interfaces and an instance-level security groups may not be specified on "
            "the same request"
        )
    reservation = data.get("CapacityReservationSpecification", {})
    preference = reservation.get("CapacityReservationPreference")
    target = reservation.get("CapacityReservationTarget", {})
    # EC2 user guide, "Launch instances into Capacity Reservations in a group".
    only_group = (
        preference == "capacity-reservations-only"
        and "CapacityReservationResourceGroupArn" in target
    )
    if preference and target and not only_group:
        raise invalid_combination(
            "CapacityReservationPreference and CapacityReservationTarget cannot both be "
            "specified. You can specify only one option at a time."
        )
    instance_type = data.get("InstanceType")
    check_interfaces(interfaces, require(instance_type) if instance_type else None)


def _check_user_data(user_data: str | None) -> None:
    if user_data is None:
        return
    try:
        decoded = base64.b64decode(user_data, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(
            "InvalidUserData.Malformed", "Invalid BASE64 encoding of user data."
        ) from None
    if len(decoded) > _USER_DATA_BYTES:
        raise invalid_value(f"User data is limited to {_USER_DATA_BYTES} bytes")


@action("ec2", "CreateLaunchTemplate")
def create_launch_template(call: Call) -> Any:
    """Create a launch template, after checking its data."""
    check_template(call.params.get("LaunchTemplateData", {}))
    answer = call.moto()
    ec2 = call.backend("ec2")
    data = (
        ec2.launch_templates[answer.result["LaunchTemplate"]["LaunchTemplateId"]].versions[0].data
    )
    # moto copies the template's own tags into the launch data of instances.
    data["TagSpecifications"] = call.params.get("LaunchTemplateData", {}).get(
        "TagSpecifications", []
    )
    return answer


@action("ec2", "CreateLaunchTemplateVersion")
def create_launch_template_version(call: Call) -> Any:
    """Create a version, based on the source version if one is named."""
    data = dict(call.params.get("LaunchTemplateData", {}))
    if source := call.params.get("SourceVersion"):
        data = {**template_data(call, {**call.params, "Version": source}), **data}
    check_template({**data, "UserData": str(data["UserData"])} if data.get("UserData") else data)
    if data.get("UserData"):
        data["UserData"] = parse_user_data(str(data["UserData"]))
    call.response.params["LaunchTemplateData"] = data
    return call.moto()


def template_data(call: Call, specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of the version that a LaunchTemplateSpecification names.

    Args:
        call: any call of the same account and region.
        specification: LaunchTemplateId or LaunchTemplateName, and Version (a number, `$Latest`
            or `$Default`, which is also the default).

    Raises:
        Refusal: no such template or version.
    """
    ec2 = call.backend("ec2")
    template_id, name = (
        specification.get("LaunchTemplateId"),
        specification.get("LaunchTemplateName"),
    )
    if template_id and name:
        raise invalid_combination(
            "Specify either the launch template ID or the launch template name, not both."
        )
    template_id = template_id or ec2.launch_template_name_to_ids.get(name)
    template = ec2.launch_templates.get(template_id)
    if template is None:
        raise Refusal(
            "InvalidLaunchTemplateId.NotFound",
            f"The specified launch template, with template ID {template_id or name}, "
            "does not exist.",
        )
    version = specification.get("Version") or "$Default"
    numbers = {"$Latest": len(template.versions), "$Default": template.default_version_number}
    number = numbers.get(version, int(version) if str(version).isdigit() else 0)
    if not 1 <= number <= len(template.versions):
        raise Refusal(
            "InvalidLaunchTemplateId.VersionNotFound",
            f"Could not find the specified version {version} for the launch template with "
            f"ID {template_id}.",
        )
    found: dict[str, Any] = template.versions[number - 1].data
    return found
