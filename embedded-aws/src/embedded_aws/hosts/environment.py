"""The variables of processes on an instance, in place of what its metadata service tells.

Nothing of the environment of the embedded AWS is passed on but PATH.
"""

import os

# By which a process on loopback learns its own address.
_OWN_ADDRESS = "EMBEDDED_AWS_ADDRESS"


def own_path() -> str:
    """Return PATH for processes on the machine's own files."""
    return os.environ.get("PATH", os.defpath)


def host_variables(endpoint: str, address: str | None) -> dict[str, str]:
    """Return the variables of a process.

    Args:
        endpoint: URL of the embedded AWS.
        address: its own, when it is one of loopback.
    """
    variables = {
        "PATH": own_path(),
        "AWS_ENDPOINT_URL": endpoint,
        # The metadata of the machine, if it is an instance itself, are not for these processes.
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    return variables | ({_OWN_ADDRESS: address} if address else {})
