"""What stands in for the first boot of our AMIs on the embedded AWS, where instances do not boot.

It reads the settings in the user data, as /opt/trainshed/first-boot does, and makes that program's
calls to AWS, with the role of the node: it reads the parameters of the mounts, tags the instance
and signals CloudFormation. Where the cluster has monitoring, it configures the agent, whose
stand-in then sends the node's metrics. There are no devices to check, no disks and no mount.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trainshed.aws import Region
from trainshed.errors import Failure, TrainshedError
from trainshed.files import read_bytes
from trainshed.offline.agent import write_configuration
from trainshed.offline.boot_settings import mounts, read_settings
from trainshed.offline.exporters import write_answers

_BOOT_TAG = "trainshed:boot"


def main() -> None:
    """Boot the instance that the environment names."""
    instance = os.environ["EMBEDDED_AWS_INSTANCE_ID"]
    settings = read_settings(read_bytes(Path(os.environ["EMBEDDED_AWS_USER_DATA"])))
    if settings is None:
        return
    try:
        _boot(Region(os.environ["AWS_REGION"]), instance, settings)
    except TrainshedError as error:
        sys.exit(f"trainshed: ERROR: {error}")


def _boot(region: Region, instance: str, settings: dict[str, Any]) -> None:
    for mount in mounts(settings):
        names = list(mount.parameters)
        if missing := region.call("ssm", "get_parameters", Names=names)["InvalidParameters"]:
            raise Failure(f"{mount.path}: not mounted: SSM has no {', '.join(missing)}")
    if settings.get("monitoring"):
        root = Path(os.environ["EMBEDDED_AWS_NODE"])
        write_configuration(root, settings["cluster"], instance)
        write_answers(root, settings.get("devices", {}), _agent(settings))
    # As there: what cannot be sent is said, and holds up nothing. A stack that is there takes no
    # signal of a node that is replaced.
    if settings.get("cluster"):
        tag = {"Key": _BOOT_TAG, "Value": "ok"}
        with _saying_what_failed():
            region.call("ec2", "create_tags", Resources=[instance], Tags=[tag])
    if signals := settings.get("signals"):
        with _saying_what_failed():
            region.call(
                "cloudformation",
                "signal_resource",
                StackName=signals["stack"],
                LogicalResourceId=signals["resource"],
                UniqueId=instance,
                Status="SUCCESS",
            )
    sys.stdout.write(f"trainshed: {instance} has booted, in the place of a real node\n")


def _agent(settings: dict[str, Any]) -> str:
    """Return the agent of the node's AMI: only nodes of EKS have a version of Kubernetes."""
    version = settings.get("kubernetes")
    return f"eks-{version}" if version else "ecs"


@contextmanager
def _saying_what_failed() -> Iterator[None]:
    try:
        yield
    except TrainshedError as error:
        sys.stdout.write(f"trainshed: WARNING: the boot's signal failed ({error})\n")


if __name__ == "__main__":
    main()
