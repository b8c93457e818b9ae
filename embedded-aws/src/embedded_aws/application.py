"""The WSGI application: moto with all services extended, and seeded accounts."""

import os
from collections.abc import Mapping
from datetime import date
from functools import partial
from itertools import product

from moto.backends import SERVICE_NAMES
from moto.core.utils import get_service_model
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from embedded_aws import cloudformation, services
from embedded_aws.cloudformation.clients import client
from embedded_aws.ecr.registry import Registry
from embedded_aws.faults import Faults
from embedded_aws.gateway import Gateway, StartOver
from embedded_aws.guests.engine import Engine
from embedded_aws.plugins import plugins
from embedded_aws.seed import NewAccount
from embedded_aws.service_settings import ServiceSettings
from embedded_aws.settings import ServerSettings

# Loaded before the first fork; each serving process loads the others when first used.
_USUAL_SERVICES: tuple[SERVICE_NAMES, ...] = (
    *("batch", "cloudformation", "ec2", "ecr", "fsx", "iam", "kms", "logs", "s3"),
    *("ssm", "sts"),
)
# Of RunInstances and CreateFleet, as they are sent.
_SUBNET_PARAMETERS = (
    "SubnetId",
    "NetworkInterface.1.SubnetId",
    "LaunchTemplateConfigs.1.Overrides.1.SubnetId",
)


def build_application(settings: ServerSettings) -> DomainDispatcherApplication:
    """Return moto's application with all services extended and every account seeded."""
    cloudformation.install()
    services.install()
    for account, region in product(settings.accounts, settings.regions):
        for plugin in (NewAccount(), *plugins()):
            plugin.seed(partial(client, account=account, region=region), account, region)
    moto = DomainDispatcherApplication(create_backend_app)
    for service in _USUAL_SERVICES:
        moto.app_instances[service] = create_backend_app(service)
        get_service_model(service)
        # What it reads and builds is there for every serving process, and for functions.
        client(service, account=settings.accounts[0], region=settings.regions[0])
    return moto


def application(
    moto: DomainDispatcherApplication,
    settings: ServerSettings,
    as_of: date | None,
    start_over: StartOver,
    guests: Engine | None,
) -> Gateway:
    """Return the WSGI application of an embedded AWS.

    Args:
        moto: as `build_application` returns it.
        settings: its accounts and regions.
        as_of: the day that it shows.
        start_over: what a reset does.
        guests: boots instances, or None.
    """
    faults = Faults()
    services.install(
        ServiceSettings(
            as_of=as_of,
            registry=settings.registry,
            guests=guests,
            faults=faults,
            endpoint=os.environ["AWS_ENDPOINT_URL"],
        )
    )
    return Gateway(
        moto,
        settings,
        as_of=as_of,
        start_over=start_over,
        issuer=_issuer,
        registry=Registry(settings.registry) if settings.registry else None,
        faults=faults,
        zone=_zone,
    )


def _zone(account: str, region: str, parameters: Mapping[str, str]) -> str | None:
    """Return the zone of a launch, named by itself or by its subnet, or None."""
    ec2 = ec2_backends[account][region]
    named = {parameters.get(name) for name in _SUBNET_PARAMETERS}
    template = "LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplate"
    for found in ec2.launch_templates.values():
        if found.id == parameters.get(f"{template}Id") or found.name == parameters.get(
            f"{template}Name"
        ):
            data = found.latest_version().data
            named |= {each.get("SubnetId") for each in data.get("NetworkInterfaces", [])}
    for subnet in ec2.describe_subnets():
        if subnet.id in named - {None}:
            return str(subnet.availability_zone)
    return parameters.get("Placement.AvailabilityZone")


def _issuer(key: str) -> str | None:
    """Return the account whose user or role has this access key id, or None."""
    for account, partitions in list(iam_backends.items()):
        if any(key in iam.access_keys for iam in list(partitions.values())):
            return account
    return None
