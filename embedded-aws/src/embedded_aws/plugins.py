"""What other packages add to the embedded AWS.

A package names an object of a subclass of `Plugin` in its entry points, in the group
`embedded_aws`:

    [project.entry-points.embedded_aws]
    mypackage = "mypackage.embedded:PLUGIN"
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from embedded_aws.errors import EmbeddedAwsError

GROUP = "embedded_aws"
# One row of an inventory: kind, name and facts.
Row = dict[str, str]
_Choice = TypeVar("_Choice")


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnType:
    """An instance type that EC2 no longer lists.

    Attributes:
        record: its last record of DescribeInstanceTypes.
        first_missing: the first day without it.
        zone_ids: ids of the zones that offered it last, by region.
    """

    record: Mapping[str, Any]
    first_missing: date
    zone_ids: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectNeeds:
    """What the project in a folder needs of an AWS that it is deployed to.

    Attributes:
        regions: where it deploys, the default one first; empty when it does not say.
        as_of: the last day on which EC2 listed all of its instance types; None when it still does.
    """

    regions: tuple[str, ...] = ()
    as_of: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotNotice:
    """What the metadata of a Spot Instance say of its end.

    Attributes:
        rebalance: when EC2 recommended to replace it; None if it did not.
        terminate: when EC2 terminates it; None if it has not announced it.
    """

    rebalance: datetime | None = None
    terminate: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAgent:
    """What stands in for an agent that sends metrics of its instance to CloudWatch.

    Both functions are called in the server's process, with the folder of the instance's files
    first, of which each is there by its path. They must not read metrics, and what goes wrong with
    a call is theirs to note.

    Attributes:
        interval: returns how often the agent sends; None while it does not run.
        send: sends what it reads now, once for each of some times, the oldest first; the client
            that it gets for a service has the role of the instance, and the instance's way to the
            service.
    """

    interval: Callable[[Path], timedelta | None]
    send: Callable[[Path, Sequence[datetime], Callable[[str], Any]], None]


class Plugin:
    """A plug-in that adds nothing; override the methods for what yours adds."""

    def withdrawn_types(self) -> Mapping[str, WithdrawnType]:
        """Return instance types that EC2 listed before a day, by name."""
        return {}

    def guest_flavours(self) -> Mapping[str, str]:
        """Return the guest's root (see `guests/flavours.py`) by a pattern of the AMI's name."""
        return {}

    def boot_commands(self) -> Mapping[str, Sequence[str]]:
        """Return what boots an instance that is no guest by a pattern of its AMI's name.

        Each is a program and its arguments, which run as a process on the instance.
        """
        return {}

    def metric_agents(self) -> Mapping[str, MetricAgent]:
        """Return the agent that sends metrics of an instance by a pattern of its AMI's name.

        It runs from when the command of `boot_commands` has ended with 0.
        """
        return {}

    def instance_store_mounts(self) -> Mapping[str, str]:
        """Return where an AMI mounts its scratch space by a pattern of the AMI's name.

        That is the instance store, or volumes of EBS beside the root where a type has none.

        Every user may write there.
        """
        return {}

    def shared_mounts(self) -> Mapping[str, Callable[[bytes], Mapping[str, Sequence[str]]]]:
        """Return how to read what an AMI mounts at its boot by a pattern of the AMI's name.

        A function returns from the user data of an instance, by where it is mounted, the names of
        the SSM parameters that say what: one has the id of a file system of EFS or FSx, or the
        first the name of a bucket and the second a prefix.
        """
        return {}

    def power_off_marks(self) -> Mapping[str, str]:
        """Return the file at which an AMI powers itself off by a pattern of the AMI's name.

        Every user may make it, in a folder of its own; it is looked for when a job or a step of a
        command has ended.
        """
        return {}

    def spot_prices(self, region: str) -> Mapping[str, tuple[float, float]]:
        """Return the lowest and the highest price of Spot Instances in a region, by their types.

        In USD an hour; types that are not there have invented ones.
        """
        return {}

    def price_list(self) -> Iterable[Mapping[str, Any]]:
        """Return products of the AWS price list with their terms, as GetProducts has them.

        Those that you return are all that there are.
        """
        return ()

    def savings_plan_rates(self) -> Iterable[Mapping[str, Any]]:
        """Return rates of Savings Plans, as DescribeSavingsPlansOfferingRates has them.

        Their offerings are all that there are.
        """
        return ()

    def spot_notice_files(self) -> Mapping[str, tuple[str, Callable[[SpotNotice], str]]]:
        """Return the file that an AMI writes at a notice of EC2, by a pattern of the AMI's name.

        Each is its path, and what gives its text.
        """
        return {}

    def huge_pages(self) -> Mapping[str, Mapping[str, int]]:
        """Return how many huge pages of 2 MiB an AMI reserves, by a pattern of the AMI's name.

        Of each, by the device that it finds: `efa`, or the maker of an accelerator in small
        letters, for instance `habana`. The largest number holds.
        """
        return {}

    def kubelets(self) -> Mapping[str, str]:
        """Return the minor version of the kubelet of an AMI by a pattern of the AMI's name."""
        return {}

    def joining_programs(self) -> Mapping[str, str]:
        """Return what joins nodes of an AMI to a cluster of EKS, by a pattern of the AMI's name.

        It is `nodeadm`, as on Amazon Linux 2023, or `bootstrap.sh`, as on Ubuntu.
        """
        return {}

    def seed(self, client: Callable[[str], Any], account: str, region: str) -> None:
        """Create what each new account has from the start, and after each reset.

        Called for each account and region, in the server's process, where a plug-in that needs
        more than AWS's API may also change moto's backends.

        Args:
            client: gives a boto3 client of a service, in this account and region.
            account: 12 digits.
            region: for instance `us-west-2`.
        """

    def project_needs(self, folder: Path) -> ProjectNeeds:
        """Return what your project in a folder needs, where no option says otherwise.

        What is wrong in its files is left to the tools that read them.
        """
        return ProjectNeeds()

    def inventory(self, client: Callable[[str], Any]) -> Iterable[Row]:
        """Yield rows about what your stacks make, with `kind`, `name` and `facts`.

        Args:
            client: gives a boto3 client of a service.
        """
        return ()


@cache
def plugins() -> tuple[Plugin, ...]:
    """Return the plug-ins of all packages that are installed, in the order of their names.

    Raises:
        EmbeddedAwsError: one cannot be loaded, or is not a Plugin.
    """
    return tuple(map(_load, sorted(entry_points(group=GROUP), key=lambda entry: entry.name)))


def project_needs(folder: Path) -> ProjectNeeds:
    """Return what all plug-ins together say that the project in a folder needs.

    Raises:
        EmbeddedAwsError: a plug-in cannot be loaded.
    """
    needs = [plugin.project_needs(folder) for plugin in plugins()]
    return ProjectNeeds(
        regions=tuple(dict.fromkeys(region for each in needs for region in each.regions)),
        as_of=min((each.as_of for each in needs if each.as_of), default=None),
    )


def find_for_ami(
    instance: Any, choices: Callable[[Plugin], Mapping[str, _Choice]]
) -> _Choice | None:
    """Return what a plug-in chooses for the AMI of an instance, or None.

    Args:
        instance: moto's.
        choices: of a plug-in, by patterns of the AMI's name.
    """
    ami = instance.ec2_backend.amis.get(instance.image_id)
    return find_by_name(getattr(ami, "name", None) or "", choices)


def find_by_name(name: str, choices: Callable[[Plugin], Mapping[str, _Choice]]) -> _Choice | None:
    """Return what a plug-in chooses for the name of an AMI, or None.

    Args:
        name: of the AMI.
        choices: of a plug-in, by patterns of the AMI's name.
    """
    for plugin in plugins():
        for pattern, found in choices(plugin).items():
            if re.fullmatch(pattern, name):
                return found
    return None


def _load(entry: EntryPoint) -> Plugin:
    package = entry.dist.name if entry.dist else "a package"
    named = f"the plug-in {entry.name} of {package} ({entry.value})"
    try:
        plugin = entry.load()
    # Another package may fail in any way while it is imported.
    except Exception as error:
        raise EmbeddedAwsError(
            f"{named} cannot be loaded: {type(error).__name__}: {error}; fix or uninstall it"
        ) from error
    if not isinstance(plugin, Plugin):
        raise EmbeddedAwsError(
            f"{named} is a {type(plugin).__name__}; it must be an instance of a subclass of "
            "embedded_aws.plugins.Plugin"
        )
    return plugin
