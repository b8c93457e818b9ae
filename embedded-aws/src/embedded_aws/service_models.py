"""One copy of the models of AWS's services in a process."""

from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
import botocore.loaders
import botocore.session
from botocore.client import ClientCreator

if TYPE_CHECKING:
    from moto.backends import SERVICE_NAMES

# Loaded before the first fork; each process loads the others when first used.
USUAL_SERVICES: tuple["SERVICE_NAMES", ...] = (
    *("autoscaling", "batch", "cloudformation", "cloudwatch", "ec2", "ecr", "events", "fsx"),
    *("iam", "kms", "lambda", "logs", "s3", "ssm", "sts"),
)
_create = cache(botocore.loaders.create_loader)
_create_methods = ClientCreator._create_methods
_methods: dict[tuple[str, str], dict[str, Any]] = {}


def share() -> None:
    """Let all of botocore's clients have one model of a service and one set of methods.

    Each session would read EC2's 2 MB for itself, and moto makes a session wherever it needs one;
    each client would make EC2's 800 methods for itself, three quarters of the time that it takes.
    """
    for module in (botocore.loaders, botocore.session):
        module.create_loader = lambda search_path=None: _create(search_path)
    ClientCreator._create_methods = _shared_methods


def _shared_methods(self: Any, service_model: Any) -> dict[str, Any]:
    """Return a copy: botocore adds to the methods of each client."""
    name = (service_model.service_name, service_model.api_version)
    if name not in _methods:
        _methods[name] = _create_methods(self, service_model)
    return dict(_methods[name])


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
    from moto.core import loaders, responses, serialize, utils

    utils.create_loader = cache(loaders.create_loader)  # type: ignore[attr-defined]  # imported there
    # For each request, moto lists its own folders and the methods of a service's class anew.
    folders = tuple(backends.list_of_moto_modules())
    backends.list_of_moto_modules = lambda: folders
    responses.method_names_from_class = cache(utils.method_names_from_class)  # type: ignore[attr-defined]  # imported there
    serialize.XFormedAttributePicker.get_possible_keys = _names_of(  # type: ignore[method-assign]
        serialize.XFormedAttributePicker.get_possible_keys
    )


def _names_of(find: Any) -> Any:
    """Return a method that finds once what moto may call a value in an answer.

    moto asks six classes for each value of each answer, a third of the time that a long one takes.
    They look at the value's shape and at the class of its owner.
    """

    def names(self: Any, context: Any) -> tuple[str, ...]:
        known = context.shape.__dict__.setdefault("embedded_aws_names", {})
        asked = (context.key, type(context.obj))
        if asked not in known:
            known[asked] = tuple(dict.fromkeys(find(self, context)))
        found: tuple[str, ...] = known[asked]
        return found

    return names
