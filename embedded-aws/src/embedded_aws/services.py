"""The extended AWS services: the folders of this package."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules, walk_packages

import embedded_aws
from embedded_aws.actions import attach
from embedded_aws.service_settings import ServiceSettings, follow

# Folders without actions or resource types.
_OTHERS = ("cli", "guests")


def load() -> None:
    """Import every module of every service's folder, which registers actions and resource types."""
    for folder in iter_modules(embedded_aws.__path__):
        if folder.ispkg and folder.name not in _OTHERS:
            name = f"{embedded_aws.__name__}.{folder.name}"
            for module in walk_packages(import_module(name).__path__, f"{name}."):
                import_module(module.name)


@cache
def _extend() -> None:
    """Extend moto in this process, once."""
    load()
    attach()


def install(settings: ServiceSettings | None = None) -> None:
    """Extend moto, in this process, with every service.

    May be called again to change the settings.

    Args:
        settings: by default those of today.
    """
    follow(settings or ServiceSettings())
    _extend()
