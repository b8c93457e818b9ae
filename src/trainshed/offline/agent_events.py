"""What exporters answer, which the stand-in of the CloudWatch agent writes into a log group.

Each event is in the embedded metric format. CloudWatch Logs API reference, PutLogEvents: up to
10,000 events and 1,048,576 bytes in a call, where each event has 26 bytes more than its text, in
the order of their times.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from trainshed.aws import Region, accepting
from trainshed.files import read_text
from trainshed.offline.exporters import FOLDER
from trainshed.offline.exposition import Sample, read_samples

_BEFORE = f"{FOLDER}/before.json"
_MOST_EVENTS, _MOST_BYTES, _MORE_BYTES = 10_000, 1_048_576, 26


def send_events(
    root: Path,
    region: Region,
    prometheus: Mapping[str, Any],
    scraping: Mapping[str, Any],
    times: Sequence[datetime],
) -> None:
    """Write what an exporter answers, once for each of some times.

    What a counter grew by since it was read before is of the first time.

    Args:
        root: folder of the node's files.
        region: where to.
        prometheus: the section of the agent's configuration.
        scraping: the job of the configuration of Prometheus by which the exporter is read.
        times: the oldest first.

    Raises:
        TrainshedError: AWS refuses a call, or a file is gone.
    """
    group, stream = prometheus["log_group_name"], scraping["job_name"]
    first, later = (
        _documents(prometheus["emf_processor"], samples) for samples in _read(root, scraping)
    )
    events = [
        _event(document, time)
        for time in times
        for document in (first if time == times[0] else later)
    ]
    if not events:
        return
    with accepting("ResourceAlreadyExistsException"):
        region.call("logs", "create_log_stream", logGroupName=group, logStreamName=stream)
    for some in _batches(events):
        region.call(
            "logs", "put_log_events", logGroupName=group, logStreamName=stream, logEvents=some
        )


def _read(root: Path, scraping: Mapping[str, Any]) -> tuple[list[Sample], list[Sample]]:
    """Return the samples of a first reading now, and those of each one that follows at once.

    Gauges are as they are. Counters are what they grew by: of a new one nothing is known at first.
    """
    job, file = scraping["job_name"], root / _BEFORE
    everything = json.loads(read_text(file)) if file.exists() else {}
    before = everything.get(job, {})
    samples = list(read_samples(read_text(root / FOLDER / job), scraping))
    gauges = [each for each in samples if not each.is_counter]
    counters = [each for each in samples if each.is_counter]
    grown = [
        replace(each, value=each.value - before[each.series])
        for each in counters
        if each.series in before
    ]
    everything[job] = {each.series: each.value for each in counters}
    # The files of a node go away with it.
    with suppress(FileNotFoundError):
        file.write_text(json.dumps(everything), encoding="utf-8")
    return [*gauges, *grown], [*gauges, *(replace(each, value=0.0) for each in counters)]


def _documents(processor: Mapping[str, Any], samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Return a document for the samples that have the same labels, without its time."""
    by_labels: dict[str, list[Sample]] = {}
    for each in samples:
        by_labels.setdefault(str(sorted(each.labels.items())), []).append(each)
    return [_document(processor, alike) for alike in by_labels.values()]


def _event(document: Mapping[str, Any], time: datetime) -> dict[str, Any]:
    milliseconds = int(time.timestamp() * 1000)
    of_time = {**document, "_aws": {"Timestamp": milliseconds, **document["_aws"]}}
    return {"timestamp": milliseconds, "message": json.dumps(of_time)}


def _batches(events: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield as many events at once as a call takes."""
    some: list[Mapping[str, Any]] = []
    size = 0
    for each in events:
        more = len(each["message"].encode()) + _MORE_BYTES
        if some and (len(some) == _MOST_EVENTS or size + more > _MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(each)
        size += more
    yield some


def _document(processor: Mapping[str, Any], samples: Sequence[Sample]) -> dict[str, Any]:
    labels = samples[0].labels
    directives = [
        {
            "Namespace": processor["metric_namespace"],
            "Dimensions": declaration["dimensions"],
            "Metrics": [
                {"Name": each.name, "Unit": processor["metric_unit"][each.name]}
                for each in samples
                if any(re.search(it, each.name) for it in declaration["metric_selectors"])
            ],
        }
        for declaration in processor["metric_declaration"]
        if re.search(
            declaration["label_matcher"],
            ";".join(labels.get(name, "") for name in declaration["source_labels"]),
        )
    ]
    return {
        "_aws": {"CloudWatchMetrics": directives},
        **labels,
        **{each.name: each.value for each in samples},
    }
