"""CreateImage and CopyImage: AMIs with the mappings, snapshots and disks of their sources.

EC2 API reference: an AMI name is unique in account and region; CreateImage snapshots every attached
volume and reboots a running instance unless NoReboot; CopyImage may encrypt; a snapshot is
encrypted like its volume; a deregistered AMI leaves its snapshots. Documented: deregistration
protection answers OperationNotPermitted. Inferred: its words. moto always makes one snapshot of 15
GiB.
"""

from collections.abc import Mapping
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.ec2.utils import random_ami_id

from embedded_aws.actions import Call, Refusal, action, correction
from embedded_aws.ec2.ami_attributes import check_available, find_ami, own_ami
from embedded_aws.ec2.machines import machines
from embedded_aws.ec2.tags import by_key, check_tags

_Mapping = dict[str, Any]


@correction
def show_mappings() -> None:
    """Have moto's AMIs return the mappings that we set."""
    original: Any = Ami.block_device_mappings

    def block_device_mappings(ami: Any) -> list[_Mapping]:
        ours: list[_Mapping] | None = getattr(ami, "embedded_aws_mappings", None)
        return original.fget(ami) if ours is None else ours

    # mypy refuses replacing methods; moto offers no other way.
    Ami.block_device_mappings = property(  # type: ignore[assignment,method-assign]
        block_device_mappings
    )


@action("ec2", "CreateImage")
def create_image(call: Call) -> dict[str, Any]:
    """Create an AMI of an instance; it is pending until its disk is stored."""
    params, ec2 = call.params, call.backend("ec2")
    instance = ec2.get_instance(params["InstanceId"])
    _check_name(call, params["Name"])
    if instance.state not in ("running", "stopped", "pending", "stopping"):
        raise Refusal(
            "IncorrectInstanceState",
            f"Instance '{instance.id}' is {instance.state}: it cannot be imaged.",
        )
    call.dry_run()
    source = ec2.amis.get(instance.image_id)
    ami: Any = Ami(
        ec2,
        random_ami_id(),
        instance=instance,
        name=params["Name"],
        description=params.get("Description", ""),
        root_device_name=instance.root_device_name,
        root_device_type="ebs",
        hypervisor="xen",
        image_location=f"{call.account}/{params['Name']}",
        boot_mode=source.boot_mode if source else "uefi",
    )
    ami.source_image_id, ami.source_image_region = instance.image_id, call.region
    description = f"Created by CreateImage({instance.id}) for {ami.id}"
    attached: Any = instance.get_block_device_mapping
    volumes = {name: ec2.get_volume(block.volume_id) for name, block in attached}
    asked = {each["DeviceName"]: each for each in params.get("BlockDeviceMappings", [])}
    _give_mappings(
        ami,
        [
            _snapshot_mapping(call, ami, name, volume, description, asked.get(name, {}))
            for name, volume in volumes.items()
            if "NoDevice" not in asked.get(name, {})
        ],
    )
    _tag(call, ami)
    ec2.amis[ami.id] = ami
    machines().store(instance, ami, reboot=not params.get("NoReboot"))
    return {"ImageId": ami.id}


@action("ec2", "CopyImage")
def copy_image(call: Call) -> dict[str, Any]:
    """Copy an AMI from any region of the account, encrypted if requested."""
    params, ec2 = call.params, call.backend("ec2")
    source = find_ami(ec2_backends[call.account][params["SourceRegion"]], params["SourceImageId"])
    _check_name(call, params["Name"])
    check_available(source)
    call.dry_run()
    ami: Any = Ami(
        ec2,
        random_ami_id(),
        source_ami=source,
        name=params["Name"],
        description=params.get("Description") or source.description,
        root_device_name=source.root_device_name,
        root_device_type=source.root_device_type,
        hypervisor=source.hypervisor,
        image_location=f"{call.account}/{params['Name']}",
        boot_mode=source.boot_mode,
    )
    ami.source_image_id, ami.source_image_region = source.id, params["SourceRegion"]
    description = f"Copied for DestinationAmi {ami.id} from SourceAmi {source.id}"
    encrypted, key = params.get("Encrypted"), params.get("KmsKeyId")
    mappings = []
    for mapping in source.block_device_mappings:
        ebs = mapping["Ebs"]
        volume = ec2.create_volume(
            size=ebs["VolumeSize"],
            zone_name=f"{call.region}a",
            encrypted=bool(encrypted or ebs.get("Encrypted")),
            kms_key_id=key or ebs.get("KmsKeyId"),
            volume_type=ebs["VolumeType"],
        )
        mappings.append(
            _snapshot_mapping(call, ami, mapping["DeviceName"], volume, description, mapping)
        )
        ec2.delete_volume(volume.id)
    _give_mappings(ami, mappings)
    _tag(call, ami)
    if params.get("CopyImageTags"):
        ami.add_tags({tag["key"]: tag["value"] for tag in source.get_tags()})
    ec2.amis[ami.id] = ami
    machines().copy(source.id, ami.id)
    return {"ImageId": ami.id}


@action("ec2", "DeregisterImage")
def deregister_image(call: Call) -> Any:
    """Deregister an AMI that is not protected, and remove its disk."""
    ami = own_ami(call)
    if getattr(ami, "deregistration_protection", "disabled") != "disabled":
        raise Refusal(
            "OperationNotPermitted",
            f"The image '{ami.id}' has deregistration protection; disable it first",
        )
    snapshots = [each["Ebs"]["SnapshotId"] for each in ami.block_device_mappings]
    answer = call.moto()
    if call.params.get("DeleteAssociatedSnapshots"):
        for snapshot in snapshots:
            call.backend("ec2").delete_snapshot(snapshot)
    machines().forget(ami.id)
    return answer


def _check_name(call: Call, name: str) -> None:
    for ami in call.backend("ec2").amis.values():
        if ami.name == name and ami.owner_id == call.account:
            raise Refusal(
                "InvalidAMIName.Duplicate", f"AMI name {name} is already in use by AMI {ami.id}"
            )


def _snapshot_mapping(
    call: Call,
    ami: Any,
    device: str,
    volume: Any,
    description: str,
    asked: Mapping[str, Any],
) -> _Mapping:
    """Snapshot a volume, and return a mapping with the snapshot."""
    snapshot = call.backend("ec2").create_snapshot(
        volume.id, description, call.account, from_ami=ami.id
    )
    snapshot.kms_key_id = volume.kms_key_id
    ebs = {
        "SnapshotId": snapshot.id,
        "VolumeSize": volume.size,
        "VolumeType": volume.volume_type,
        "DeleteOnTermination": True,
        "Encrypted": bool(volume.encrypted),
    }
    wanted = {
        name: value
        for name, value in asked.get("Ebs", {}).items()
        if name in ("DeleteOnTermination", "VolumeType", "VolumeSize", "Iops", "Throughput")
    }
    return {"DeviceName": device, "Ebs": ebs | wanted}


def _give_mappings(ami: Any, mappings: list[_Mapping]) -> None:
    """Replace moto's snapshot by ours."""
    ec2 = ami.ec2_backend
    ec2.snapshots.pop(ami.ebs_snapshot.id)
    ami.embedded_aws_mappings = mappings
    roots = [each for each in mappings if each["DeviceName"] == ami.root_device_name]
    if roots or mappings:
        ami.ebs_snapshot = ec2.snapshots[(roots or mappings)[0]["Ebs"]["SnapshotId"]]


def _tag(call: Call, ami: Any) -> None:
    """Put the tags of the request on the AMI and its snapshots."""
    check_tags(call, "image", "snapshot")
    for specification in call.params.get("TagSpecifications", []):
        tags = by_key(specification.get("Tags", []))
        if specification["ResourceType"] == "image":
            ami.add_tags(tags)
        else:
            for mapping in ami.block_device_mappings:
                ami.ec2_backend.create_tags([mapping["Ebs"]["SnapshotId"]], tags)
