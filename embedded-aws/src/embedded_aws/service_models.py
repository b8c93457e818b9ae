"""One copy of the models of AWS's services in a process."""

from functools import cache
from typing import TYPE_CHECKING

import boto3
import botocore.loaders
import botocore.session

if TYPE_CHECKING:
    from moto.backends import SERVICE_NAMES

# Loaded before the first fork; each process loads the others when first used.
USUAL_SERVICES: tuple["SERVICE_NAMES", ...] = (
    *("autoscaling", "batch", "cloudformation", "cloudwatch", "ec2", "ecr", "events", "fsx"),
    *("iam", "kms", "lambda", "logs", "s3", "ssm", "sts"),
)
_create = cache(botocore.loaders.create_loader)


def share() -> None:
    """Let all of botocore's sessions read a service's model once, as the clients of one session do.

    Each would read EC2's 2 MB for itself, and moto makes a session wherever it needs one.
    """
    for module in (botocore.loaders, botocore.session):
        module.create_loader = lambda search_path=None: _create(search_path)


def load_usual() -> None:
    """Read the models of the usual services, which forks of this process have then."""
    session = boto3.Session("nobody", "nothing", region_name="us-east-1")
    for service in USUAL_SERVICES:
        session.client(service)


def share_within_moto() -> None:
    """Let moto, too, look through botocore's 400 services once, not once for each that it serves.

    Its models are others than botocore's: moto adds to them.
    """
    # Here, because loading moto takes a second, which callers of `share` alone do not need.
    from moto import backends
    from moto.core import loaders, responses, utils

    utils.create_loader = cache(loaders.create_loader)  # type: ignore[attr-defined]  # imported there
    # For each request, moto lists its own folders and the methods of a service's class anew.
    folders = tuple(backends.list_of_moto_modules())
    backends.list_of_moto_modules = lambda: folders
    responses.method_names_from_class = cache(utils.method_names_from_class)  # type: ignore[attr-defined]  # imported there
