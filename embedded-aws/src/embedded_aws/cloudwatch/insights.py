"""Queries of Metrics Insights, as far as they make one series of several metrics.

CloudWatch user guide, "Query components and syntax in CloudWatch Metrics Insights": keywords in
any case; SCHEMA means the metrics that have exactly these dimensions; a function is of all values
that match. Refused here: a namespace without SCHEMA, other operators than =, GROUP BY, ORDER BY and
LIMIT. Inferred: the words of refusals.
"""

import re

from embedded_aws.actions import Refusal
from embedded_aws.cloudwatch.datapoints import Metric

_STATISTICS = {
    "AVG": "Average",
    "COUNT": "SampleCount",
    "MAX": "Maximum",
    "MIN": "Minimum",
    "SUM": "Sum",
}
_NAME = r'(?:"[^"]+"|[\w]+)'
_QUERY = re.compile(
    rf"\s*SELECT\s+(?P<function>{'|'.join(_STATISTICS)})\s*\(\s*(?P<name>{_NAME})\s*\)"
    rf"\s+FROM\s+SCHEMA\s*\((?P<schema>\s*{_NAME}\s*(?:,\s*{_NAME}\s*)*)\)"
    rf"(?:\s+WHERE\s+(?P<where>{_NAME}\s*=\s*'[^']*'(?:\s+AND\s+{_NAME}\s*=\s*'[^']*')*))?\s*",
    re.IGNORECASE,
)
_CONDITION = re.compile(rf"({_NAME})\s*=\s*'([^']*)'")


def is_insights(expression: str) -> bool:
    """Say whether an expression is a query of Metrics Insights, and not metric math."""
    return re.match(r"\s*SELECT\s", expression, re.IGNORECASE) is not None


def metric_of(expression: str) -> Metric:
    """Return the metrics that a query asks for, and the statistic of them all.

    Raises:
        Refusal: it is wrong, or has something that is not known here.
    """
    found = _QUERY.fullmatch(expression)
    if found is None:
        raise Refusal(
            "ValidationError",
            f"The embedded AWS does not know all of the query '{expression}', only SELECT "
            "FUNCTION(metric) FROM SCHEMA(namespace, dimensions) WHERE dimension = 'value' AND ...",
        )
    namespace, *names = (each.strip().strip('"') for each in found["schema"].split(","))
    where = {key.strip('"'): value for key, value in _CONDITION.findall(found["where"] or "")}
    if unknown := sorted(where.keys() - set(names)):
        raise Refusal(
            "ValidationError", f"Error in query '{expression}': SCHEMA has no {unknown[0]}"
        )
    return Metric(
        namespace=namespace,
        name=found["name"].strip('"'),
        dimensions=frozenset(where.items()),
        others=frozenset(names) - where.keys(),
        statistic=_STATISTICS[found["function"].upper()],
        unit=None,
    )
