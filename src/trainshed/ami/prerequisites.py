"""What a build needs on this machine beside Packer; told before an instance is paid for."""

import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec

from trainshed.errors import TrainshedError

_PLUGIN = "session-manager-plugin"


def check_prerequisites(variables: Sequence[str], *, has_files: bool) -> None:
    """Refuse a build that could not end well on this machine.

    Args:
        variables: `NAME=VALUE` of the template.
        has_files: whether files give it further variables, which may choose another way in.

    Raises:
        TrainshedError: what is lacking, and where to get it.
    """
    if find_spec("distro2sbom") is None:
        raise TrainshedError(
            "the software report needs distro2sbom; install it: pip install 'trainshed[ami]'"
        )
    # As in locals.pkr.hcl: Session Manager is the template's way in, but on an endpoint of ours.
    chosen = has_files or any(one.startswith("ssh_interface=") for one in variables)
    by_session = "ssh_interface=session_manager" in variables or not chosen
    if by_session and not os.environ.get("AWS_ENDPOINT_URL") and not shutil.which(_PLUGIN):
        raise TrainshedError(
            f"{_PLUGIN} is not on PATH, and by Session Manager is how the build gets into its "
            "instance; get it from https://docs.aws.amazon.com/systems-manager/latest/userguide/"
            "session-manager-working-with-install-plugin.html, or go another way: "
            "--var ssh_interface=private_ip"
        )
