"""Extending moto with the services."""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from embedded_aws.actions import attach
from embedded_aws.operation_models import keep_apart
from embedded_aws.service_folders import CLIENT_MODULES, service_folders
from embedded_aws.service_settings import follow
from embedded_aws.settings import ServerSettings
from embedded_aws.steady_dicts import keep_steady_dicts


def load() -> None:
    """Import every module of every service, which registers what the service does in a server."""
    for folder in service_folders():
        for module in walk_packages(folder.__path__, f"{folder.__name__}."):
            if module.name.rpartition(".")[2] not in CLIENT_MODULES:
                import_module(module.name)


@cache
def _extend() -> None:
    """Extend moto in this process, once."""
    keep_steady_dicts()
    keep_apart()
    load()
    attach()


def install(settings: ServerSettings | None = None) -> None:
    """Extend moto, in this process, with every service.

    May be called again to change the settings.

    Args:
        settings: by default those of today.
    """
    follow(settings or ServerSettings())
    _extend()
