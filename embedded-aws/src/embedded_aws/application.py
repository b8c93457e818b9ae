"""moto's WSGI application, with all services extended and every account seeded."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product

from moto.core.routing import get_service_router
from moto.core.utils import get_service_model
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from embedded_aws import service_models, services
from embedded_aws.cloudformation.clients import client
from embedded_aws.hooks import when_account_made
from embedded_aws.plugins import plugins
from embedded_aws.settings import ServerSettings


def build_application(settings: ServerSettings) -> DomainDispatcherApplication:
    """Return moto's application with all services extended and every account seeded."""
    service_models.share_within_moto()
    services.install()
    for account, region in product(settings.accounts, settings.regions):
        when_account_made.call(account, region)
        for plugin in plugins():
            plugin.seed(partial(client, account=account, region=region), account, region)
    moto = DomainDispatcherApplication(create_backend_app)
    for service in service_models.USUAL_SERVICES:
        with _no_public_amis():
            moto.app_instances[service] = create_backend_app(service)
        model = get_service_model(service)
        get_service_router(service)._get_router(model.resolved_protocol)
        # What it reads and builds is there for every serving process.
        client(service, account=settings.accounts[0], region=settings.regions[0])
    return moto


@contextmanager
def _no_public_amis() -> Iterator[None]:
    """Leave out those of regions that come into being meanwhile.

    moto makes its applications from us-east-1. Where that is enabled, it was seeded and has them;
    elsewhere nobody can ask for them, and loading them takes a tenth of the start.
    """
    name = "MOTO_EC2_LOAD_DEFAULT_AMIS"
    before = os.environ.get(name)
    os.environ[name] = "false"
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before
