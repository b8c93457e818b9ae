"""What `trainshed explain CLUSTER --deploy` shows: what a deployment waits for, and how long."""

import sys
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trainshed import __version__
from trainshed.cli.output import print_json, print_records, say
from trainshed.cli.progress import progress
from trainshed.deployment import (
    Deployment,
    ObservedTime,
    Span,
    deployment,
    resource_graph,
    storage_and_compute,
)
from trainshed.plan import ClusterPlan
from trainshed.synthesis import read_app, synthesise


def show_deployment(plan: ClusterPlan, clusters: str, as_json: bool) -> None:
    """Synthesise the project's app, and show the longest chain of a cluster's deployment.

    Args:
        plan: the cluster.
        clusters: the cluster files that the app is to read.
        as_json: print JSON.
    """
    app = read_app(Path())
    app = replace(app, context={**app.context, "clusters": clusters})
    with TemporaryDirectory(prefix="trainshed-explain-") as temporary, progress() as step:
        step("synthesising the app")
        folder = Path(temporary).resolve()
        graph = resource_graph(synthesise(app, Path(sys.executable), folder, __version__))
    name = plan.name
    found = deployment(graph, name)
    apart = storage_and_compute(graph, plan.lustre.stack_name, name) if plan.lustre else ()
    if as_json:
        print_json(_json(found) | {"storage_and_compute": apart})
        return
    _print(found, name)
    for line in apart:
        say(line)


def _print(found: Deployment, name: str) -> None:
    print_records(
        [
            {
                "stack": link.resource.stack,
                "resource": link.resource.name,
                "type": link.resource.type,
                "time": _time(link.resource.time),
                "waits_for": link.waits_for,
            }
            for link in found.chain
        ],
        columns=("stack", "resource", "type", "time", "waits_for"),
        title=f"The longest chain of cdk deploy {name}",
    )
    print_records(
        [
            {
                "stack": stack.name,
                "time": _span(stack.span),
                "after": stack.after,
                "beside": stack.beside,
            }
            for stack in found.stacks
        ],
        columns=("stack", "time", "after", "beside"),
        headings={"after": "comes after", "beside": "can be deployed beside"},
        title="Stacks",
    )
    known = [link.resource for link in found.chain if link.resource.time]
    for time in {resource.type: resource.time for resource in known}.values():
        if time:
            say(f"{time.type}: {time.source} ({time.confidence}; read on {time.date})")
    if known:
        slowest = max(
            known, key=lambda resource: resource.time.high_seconds if resource.time else 0
        )
        say(f"it waits longest for {slowest.name} of {slowest.stack}: {_time(slowest.time)}")
    say(f"the longest chain: {_span(found.longest)}")
    say(f"the stacks one by one, as without --concurrency: {_span(found.one_by_one)}")


def _time(time: ObservedTime | None) -> str:
    if time is None:
        return "unknown"
    return _range(time.low_seconds, time.high_seconds)


def _span(span: Span) -> str:
    count = f"{span.unknown} resource{'' if span.unknown == 1 else 's'}"
    if not span.high_seconds:
        return f"unknown ({count})" if span.unknown else "nothing"
    known = _range(span.low_seconds, span.high_seconds)
    return f"at least {known}, and {count} of unknown time" if span.unknown else known


def _range(low: int, high: int) -> str:
    return _clock(low) if low == high else f"{_clock(low)} to {_clock(high)}"


def _clock(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return (
        f"{minutes} min {rest} s"
        if minutes and rest
        else f"{minutes} min"
        if minutes
        else f"{rest} s"
    )


def _json(found: Deployment) -> dict[str, Any]:
    chain = [
        {
            "stack": link.resource.stack,
            "resource": link.resource.name,
            "logical_id": link.resource.logical_id,
            "type": link.resource.type,
            "time": link.resource.time and asdict(link.resource.time),
            "waits_for": link.waits_for,
        }
        for link in found.chain
    ]
    return asdict(replace(found, chain=())) | {"chain": chain}
