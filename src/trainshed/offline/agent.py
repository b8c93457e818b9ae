"""What stands in for the CloudWatch agent on nodes of the embedded AWS.

It goes by the agent's own configuration, as the first boot writes it, and sends what that names,
with the node's role: memory and disks of this machine by PutMetricData, what exporters answer as
events in the embedded metric format. The embedded AWS calls it by the clock. What it cannot send is
lost, and in the agent's log.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from trainshed.aws import Region
from trainshed.errors import TrainshedError
from trainshed.files import read_text
from trainshed.metrics.agent import agent_configuration, prometheus_configuration
from trainshed.offline.agent_configuration import check_configuration
from trainshed.offline.agent_events import send_events
from trainshed.offline.agent_metrics import send_metrics

_FOLDER = "opt/aws/amazon-cloudwatch-agent"
_AGENT = f"{_FOLDER}/etc/amazon-cloudwatch-agent.json"
_LOG = f"{_FOLDER}/logs/amazon-cloudwatch-agent.log"
_PROMETHEUS = "etc/trainshed/prometheus.yaml"
_INSTANCE = "var/lib/cloud/data/instance-id"
_SECONDS = 60


def write_configuration(root: Path, cluster: str, instance: str) -> None:
    """Write what the first boot does.

    Args:
        root: folder of the node's files.
        cluster: its name.
        instance: id of the node.
    """
    for path, document in (
        (_AGENT, agent_configuration()),
        (_PROMETHEUS, prometheus_configuration()),
    ):
        text = json.dumps(document).replace("{cluster}", cluster).replace("{instance}", instance)
        _write(root / path, text)
    _write(root / _INSTANCE, instance)
    (root / _LOG).parent.mkdir(parents=True, exist_ok=True)


def interval(root: Path) -> timedelta | None:
    """Return how often the agent sends; None where it has no configuration, or refuses it.

    CloudWatch user guide, "Manually create or edit the CloudWatch agent configuration file": 60
    seconds, if `metrics_collection_interval` does not say another number.

    Args:
        root: folder of the node's files.
    """
    if not (root / _AGENT).exists():
        return None
    try:
        configuration = _configuration(root)
    except TrainshedError as error:
        _log(root, f"the agent does not start: {error}")
        return None
    agent = configuration.get("agent", {})
    return timedelta(seconds=agent.get("metrics_collection_interval", _SECONDS))


def send(root: Path, times: Sequence[datetime], client: Callable[[str], Any]) -> None:
    """Send what there is to read now, once for each of some times.

    Args:
        root: folder of the node's files.
        times: the oldest first.
        client: gives a boto3 client of a service, with the node's role.
    """
    region = Region(client("logs").meta.region_name, client)
    try:
        configuration = _configuration(root)
        prometheus = json.loads(read_text(root / _PROMETHEUS))
        instance = read_text(root / _INSTANCE).strip()
    except TrainshedError as error:
        _log(root, str(error))
        return
    of_logs = configuration["logs"]["metrics_collected"]["prometheus"]
    parts = [
        partial(send_metrics, region, configuration["metrics"], instance, times),
        *(
            partial(send_events, root, region, of_logs, scraping, times)
            for scraping in prometheus["scrape_configs"]
        ),
    ]
    for part in parts:
        try:
            part()
        except TrainshedError as error:
            _log(root, str(error))


def _configuration(root: Path) -> Mapping[str, Any]:
    """Return the configuration of the agent, which somebody may have changed.

    Raises:
        TrainshedError: the agent would not start with it.
    """
    try:
        configuration: dict[str, Any] = json.loads(read_text(root / _AGENT))
        check_configuration(configuration)
    except ValueError as error:
        raise TrainshedError(f"{_AGENT} is no JSON: {error}") from error
    except KeyError as error:
        raise TrainshedError(f"{_AGENT} lacks {error}") from error
    return configuration


def _log(root: Path, message: str) -> None:
    # The files of a node go away with it.
    with suppress(FileNotFoundError), (root / _LOG).open("a", encoding="utf-8") as log:
        log.write(f"{message}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
