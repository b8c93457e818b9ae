"""Agents of Systems Manager that answer."""

from trainshed.aws import Region


def answering(region: Region) -> frozenset[str]:
    """Return the ids of the instances whose agents Systems Manager reaches."""
    return frozenset(
        each["InstanceId"]
        for each in region.pages("ssm", "describe_instance_information", "InstanceInformationList")
        if each["PingStatus"] == "Online"
    )
