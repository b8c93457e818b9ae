"""The objects that a chart makes, as trainshed applies them."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import get_args

import yaml
from lightkube.codecs import from_dict
from lightkube.core.exceptions import LoadResourceError
from lightkube.core.resource import GlobalResource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Namespace, Secret

from trainshed.errors import Failure, one_line
from trainshed.kubernetes.charts import Chart, rendered
from trainshed.kubernetes.objects import OWNER, KubernetesObject
from trainshed.plan.kube_lock import LockedChart

# On each object of a chart, so that it is found when a later version lacks it.
CHART_LABEL = "trainshed/chart"
VERSION_KEY, DIGEST_KEY = "version", "digest"


def chart_objects(
    chart: Chart, locked: LockedChart, kubernetes: str
) -> tuple[KubernetesObject, ...]:
    """Return the objects of a chart, in the order in which they are applied.

    Its namespace comes first, and in it a ConfigMap that says that trainshed installed it, and
    which version; then what helm makes, in its order.

    Args:
        chart: which.
        locked: its entry in the lock.
        kubernetes: minor version of the control plane.

    Raises:
        Failure: it cannot be pulled, it is not what was locked, helm refuses or makes no objects,
            or it has a kind that trainshed does not know.
    """
    labels = {CHART_LABEL: chart.name}
    made = [_typed(chart, each) for each in _documents(chart, rendered(chart, locked, kubernetes))]
    for each in made:
        assert each.metadata
        each.metadata.labels = {**(each.metadata.labels or {}), **labels}
    return (
        Namespace(metadata=ObjectMeta(name=chart.namespace, labels=labels)),
        ConfigMap(
            metadata=ObjectMeta(name=OWNER, namespace=chart.namespace, labels=labels),
            data={VERSION_KEY: locked.version, DIGEST_KEY: locked.digest},
        ),
        *made,
    )


def _documents(chart: Chart, text: str) -> Iterator[object]:
    try:
        # Kueue has 26,000 lines: in Python alone, they take 4 s.
        yield from filter(None, yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise Failure(
            f"what helm makes of chart {chart.name} is no YAML: {one_line(str(error))}; see that "
            "helm is helm 4: helm version"
        ) from error


def _typed(chart: Chart, document: object) -> KubernetesObject:
    """Return an object of a known kind."""
    kind, made = "something without a kind", None
    if isinstance(document, Mapping):
        kind = document.get("kind", kind)
        with suppress(LoadResourceError):
            made = from_dict(dict(document))
    if not isinstance(made, get_args(KubernetesObject)):
        raise Failure(
            f"chart {chart.name} has {kind}, which this trainshed does not know; take "
            "a newer one, or lock the version of the chart that this one is tried with: trainshed "
            "kube lock"
        )
    if isinstance(made, GlobalResource) and made.metadata:
        # Some templates name one.
        made.metadata.namespace = None
    if isinstance(made, Secret) and not any((made.data or {}).values()):
        # The program fills it itself. Fields that are ours would be emptied by the next apply.
        made.data = None
    return made
