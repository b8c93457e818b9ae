"""The plug-in of the embedded AWS; an entry point in `pyproject.toml` names it."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from embedded_aws.plugins import MetricAgent, Plugin, ProjectNeeds, Row, SpotNotice, WithdrawnType
from trainshed.catalogue import all_regions, all_types, lookup, zones_offering
from trainshed.catalogue.lookup import withdrawn_records
from trainshed.errors import TrainshedError
from trainshed.nodes.cells import AGENTS
from trainshed.nodes.folders import SCRATCH, SPOT_NOTICE, UNFIT_MARK
from trainshed.offline.agent import interval, send
from trainshed.offline.boot_settings import mounts, read_settings
from trainshed.offline.example_prices import example_products
from trainshed.offline.huge_pages import huge_pages
from trainshed.prices import Purchase, instance_item, load_prices
from trainshed.region import environment_region

_NOTICE, _TIME = timedelta(minutes=2), "%Y-%m-%dT%H:%M:%SZ"
# By base: its root, and the agents that Amazon's or Canonical's AMIs add something for.
_ROOTS = {
    "amazon-linux-2023": ("amazon", "ecs", "eks"),
    "ubuntu-22.04": ("ubuntu", "eks"),
    "ubuntu-24.04": ("noble", "eks"),
    "ubuntu-24.04_6.8": ("noble", "eks"),
}


class TrainshedPlugin(Plugin):
    """Instance types of the catalogue that EC2 withdrew, and what is worth seeing of a cluster."""

    def withdrawn_types(self) -> dict[str, WithdrawnType]:
        """Return the catalogue's withdrawn types, by name."""
        return {
            name: WithdrawnType(
                record=record,
                first_missing=first_missing,
                zone_ids={region: zones_offering(name, region) for region in all_regions()},
            )
            for name, record in withdrawn_records().items()
            if (first_missing := lookup(name).lifecycle.first_missing)
        }

    def guest_flavours(self) -> dict[str, str]:
        """Return the root that stands for an AMI of ours, baked or `add_stand_in`'s."""
        return {
            rf"trainshed-\w+-{re.escape(agent)}-{re.escape(base)}-.+": (
                f"{root}-{agent}" if agent.partition("-")[0] in agents else root
            )
            for base, (root, *agents) in _ROOTS.items()
            for agent in AGENTS
        }

    def boot_commands(self) -> dict[str, list[str]]:
        """Return what boots nodes; jobs of AWS Batch do not wait for that."""
        boot = [sys.executable, "-m", "trainshed.offline.boot"]
        return {r"trainshed-\w+-(ec2|ecs|eks-[0-9.]+)-.+": boot}

    def metric_agents(self) -> dict[str, MetricAgent]:
        """Return the CloudWatch agent's stand-in, which runs where a boot has configured it."""
        return {r"trainshed-.+": MetricAgent(interval=interval, send=send)}

    def project_needs(self, folder: Path) -> ProjectNeeds:
        """Return the regions of the clusters in `clusters/`, and the last day with their types."""
        # Planning loads much that other calls of the plug-in do not need.
        from trainshed.plan import ClusterPlan, load_fleet

        plans: list[ClusterPlan] = []
        for file in sorted(folder.glob("clusters/*.yaml")):
            with suppress(TrainshedError):
                plans += load_fleet([file], region=environment_region(os.environ)).clusters
        last_seen = [plan.instance.lifecycle.last_seen for plan in plans]
        return ProjectNeeds(
            regions=tuple(dict.fromkeys(plan.region for plan in plans)),
            as_of=min((day for day in last_seen if day), default=None),
        )

    def instance_store_mounts(self) -> dict[str, str]:
        """Return where the first boot of an AMI of ours mounts the instance store."""
        return {r"trainshed-.+": SCRATCH}

    def shared_mounts(self) -> dict[str, Callable[[bytes], Mapping[str, Sequence[str]]]]:
        """Return how the settings of the first boot of our AMIs are read."""
        return {r"trainshed-.+": _shared_mounts}

    def power_off_marks(self) -> dict[str, str]:
        """Return the mark at which nodes of an AMI of ours power off."""
        return {r"trainshed-.+": UNFIT_MARK}

    def spot_prices(self, region: str) -> dict[str, tuple[float, float]]:
        """Return the ranges that `trainshed cost` has for a region."""
        prices = load_prices(region)
        found = {
            name: prices.price(instance_item(Purchase.SPOT, name))
            for name in all_types()
            if "spot" in lookup(name).usage_classes
        }
        return {
            name: (price.usd, price.usd_to or price.usd) for name, price in found.items() if price
        }

    def spot_notice_files(self) -> dict[str, tuple[str, Callable[[SpotNotice], str]]]:
        """Return the file that spot-watch of our AMIs writes."""
        return {r"trainshed-.+": (SPOT_NOTICE, _spot_notice)}

    def price_list(self) -> Sequence[Mapping[str, Any]]:
        """Return the prices that trainshed ships, as examples."""
        return example_products()

    def huge_pages(self) -> dict[str, Mapping[str, int]]:
        """Return what the rule of udev of our AMIs reserves."""
        return {r"trainshed-.+": huge_pages()}

    def kubelets(self) -> dict[str, str]:
        """Return the version in the cell of our AMIs for EKS."""
        return {
            rf"trainshed-\w+-{re.escape(agent)}-.+": kubernetes
            for agent in AGENTS
            if (kubernetes := agent.partition("eks-")[2])
        }

    def joining_programs(self) -> dict[str, str]:
        """Return what the base of our AMIs for EKS has."""
        return {
            rf"trainshed-\w+-eks-[\d.]+-{re.escape(base)}-.+": "nodeadm"
            if base.startswith("amazon")
            else "bootstrap.sh"
            for base in _ROOTS
        }

    def inventory(self, client: Callable[[str], Any]) -> Iterator[Row]:
        """Yield the parameters from which nodes learn what to mount."""
        from trainshed.plan import StorageKind

        prefixes = [f"/trainshed/{kind}/" for kind in StorageKind]
        pages = (
            client("ssm")
            .get_paginator("describe_parameters")
            .paginate(
                ParameterFilters=[{"Key": "Name", "Option": "BeginsWith", "Values": prefixes}]
            )
        )
        for page in pages:
            for parameter in page["Parameters"]:
                facts = parameter.get("Description", "")
                yield {"kind": "parameter", "name": parameter["Name"], "facts": facts}


def _spot_notice(notice: SpotNotice) -> str:
    """Return what spot-watch would write, see `read_notice` of trainshed_node.spot."""
    if notice.terminate:
        return f"{notice.terminate:{_TIME}} interruption\n"
    return f"{notice.rebalance + _NOTICE:{_TIME}} rebalance\n" if notice.rebalance else ""


def _shared_mounts(user_data: bytes) -> Mapping[str, Sequence[str]]:
    """Return the parameters of each mount of a node, by where it is."""
    return {each.path: each.parameters for each in mounts(read_settings(user_data) or {})}


PLUGIN = TrainshedPlugin()
