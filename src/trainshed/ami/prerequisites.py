"""What a build needs on this machine besides Packer; checked before an instance is paid for."""

import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec

from trainshed.ami.packer import RIGHT_PACKER, Packer
from trainshed.errors import TrainshedError

PLUGIN = "session-manager-plugin"
PLUGIN_PAGE = (
    "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
    "session-manager-working-with-install-plugin.html"
)


def check_prerequisites(packer: Packer, variables: Sequence[str], *, has_files: bool) -> None:
    """Refuse a build that could not succeed on this machine, or whose AMI would be unsafe.

    Args:
        packer: what bakes.
        variables: `NAME=VALUE` of the template.
        has_files: whether files give it further variables, which may choose another way in.

    Raises:
        TrainshedError: what is missing, and where to get it.
    """
    if find_spec("distro2sbom") is None:
        raise TrainshedError(
            "the software report needs distro2sbom; install it: pip install 'trainshed[ami]'"
        )
    on_aws = not os.environ.get("AWS_ENDPOINT_URL")
    if on_aws and not packer.has_plugins:
        version = ".".join(map(str, packer.version))
        raise TrainshedError(
            f"{packer.program} is Packer {version}, which cannot require IMDSv2: instances of its "
            f"AMIs would accept IMDSv1; get {RIGHT_PACKER}"
        )
    # As in locals.pkr.hcl: the template uses Session Manager, but for endpoints other than AWS.
    chosen = has_files or any(one.startswith("ssh_interface=") for one in variables)
    by_session = "ssh_interface=session_manager" in variables or not chosen
    if by_session and on_aws and not shutil.which(PLUGIN):
        raise TrainshedError(
            f"{PLUGIN} is not on PATH, and the build reaches its instance through Session "
            f"Manager; get it from {PLUGIN_PAGE}, or choose another way: set the variable "
            "ssh_interface=private_ip"
        )
