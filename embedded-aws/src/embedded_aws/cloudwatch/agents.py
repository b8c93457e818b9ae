"""Agents that send metrics of their instances by the clock, where a plug-in knows them.

An agent runs from the end of its instance's boot until the instance stops or ends. It sends at
once, and then at each interval of the clock, as the process of CloudWatch's agent does: what is due
is sent when a minute of this machine begins, and before metrics are read or alarms are judged. Of a
jump of the clock it sends the last hours only, of each time what it reads after the jump.

Agents make their calls to this process, so nothing that answers those may wait for `_sending`.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from embedded_aws.clock import now
from embedded_aws.cloudwatch.alarms import judge
from embedded_aws.cloudwatch.new_data import more_follows
from embedded_aws.ec2.instance_clients import InstanceClients
from embedded_aws.ec2.instance_files import instance_files
from embedded_aws.hooks import (
    ServingProcess,
    when_instance_booted,
    when_instance_ended,
    when_metrics_read,
    when_serving,
    when_stopping,
)
from embedded_aws.hosts.service import hosts
from embedded_aws.plugins import MetricAgent, find_for_ami

_AT_MOST, _MINUTE = timedelta(hours=3), 60


@dataclass(slots=True, kw_only=True)
class _Running:
    """The agent of an instance that runs.

    Attributes:
        instance: moto's.
        agent: the plug-in's.
        root: folder of the instance's files.
        clients: of the instance.
        due: when it sends next.
    """

    instance: Any
    agent: MetricAgent
    root: Path
    clients: InstanceClients
    due: datetime

    @property
    def place(self) -> tuple[str, str]:
        """Its account and region."""
        ec2 = self.instance.ec2_backend
        return ec2.account_id, ec2.region_name

    def take_due(self) -> Sequence[datetime]:
        """Return the times of which it has to send, the oldest first, each once."""
        time = now()
        interval = self.agent.interval(self.root) if self.instance.state == "running" else None
        if interval is None or not self.clients.has_role():
            self.due = time
            return ()
        # What is older is never sent.
        missed = max(-((self.due - (time - _AT_MOST)) // interval), 0)
        times = [self.due + interval * missed]
        while times[-1] + interval <= time:
            times.append(times[-1] + interval)
        if times[0] > time:
            return ()
        self.due = times[-1] + interval
        return times


# By the id of the instance.
_running: dict[str, _Running] = {}
_sending = threading.Lock()
_stopping = threading.Event()


@when_instance_booted
def _start(instance: Any) -> None:
    agent = find_for_ami(instance, lambda plugin: plugin.metric_agents())
    found = hosts()
    if agent is None or found is None:
        return
    started = _running[instance.id] = _Running(
        instance=instance,
        agent=agent,
        root=instance_files(instance, found.disk(instance)),
        clients=InstanceClients(instance, found),
        due=now(),
    )
    send_due(*started.place)


@when_instance_ended
def _end(instance: Any) -> None:
    _running.pop(instance.id, None)


@when_metrics_read
def send_due(account: str, region: str) -> None:
    """Send what agents of an account and region have not sent yet, and judge alarms by it."""
    with _sending:
        here = [each for each in list(_running.values()) if each.place == (account, region)]
        due = [(each, times) for each in here if (times := each.take_due())]
        if due:
            with more_follows(account, region):
                for each, times in due:
                    each.agent.send(each.root, times, each.clients.of)
    if due:
        judge(account, region)


@when_serving
def _begin(_: ServingProcess) -> None:
    threading.Thread(target=_send_each_minute, daemon=True).start()


@when_stopping
def _stop() -> None:
    _stopping.set()


def _send_each_minute() -> None:
    while not _stopping.wait(_MINUTE - now().second):
        for account, region in {each.place for each in list(_running.values())}:
            send_due(account, region)
