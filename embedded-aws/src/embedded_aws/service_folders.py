"""The folders of the services; each service is a folder of this package, and nothing else."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

import embedded_aws

# Modules of services that commands and pytest load, which servers do not.
CLIENT_MODULES = ("fixtures", "inventory", "options", "subcommands")
# The module of a service whose `start` is called before moto is loaded.
BEFORE_MOTO = "before_moto"
# Folders without a service.
_OTHERS = ("cli",)


def service_folders() -> Iterator[ModuleType]:
    """Yield the folder of each service, as a package."""
    for folder in iter_modules(embedded_aws.__path__):
        if folder.ispkg and folder.name not in _OTHERS:
            yield import_module(f"{embedded_aws.__name__}.{folder.name}")


def service_modules(name: str) -> Iterator[ModuleType]:
    """Yield the module of this name of each service that has one."""
    for folder in service_folders():
        if find_spec(f"{folder.__name__}.{name}"):
            yield import_module(f"{folder.__name__}.{name}")
