"""How long periods are, and how much may be asked for or sent at once.

CloudWatch API reference: PutMetricAlarm, MetricDataQuery, GetMetricStatistics, GetMetricData and
PutMetricData. Users' comments in public code quote the words about a day and a week, and
github.com/cloud-custodian/cloud-custodian/pull/7103 those about 1440 data points, and
github.com/aknostic/elasticsearch-cloudwatch/issues/3 those about data, when there were 20 at most.
Inferred: the other words.
"""

from datetime import datetime, timedelta

from embedded_aws.actions import Refusal
from embedded_aws.constraints import checks_arguments

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_OF_ALARMS, _OF_QUERIES = (10, 20, 30), (1, 5, 10, 20, 30)
_TREATMENTS = ("breaching", "ignore", "missing", "notBreaching")
_POINTS_OF_STATISTICS, _PERIODS, _QUERIES, _DATA = 1440, 100_800, 500, 1000
# Data that are older than this have so many seconds between them.
_KEPT = ((timedelta(days=63), _HOUR), (timedelta(days=15), 5 * _MINUTE))
checks_arguments("cloudwatch", "ValidationError")


def check_alarm(seconds: int, periods: int, treatment: str) -> None:
    """Refuse an alarm for its periods, or for what it makes of missing data.

    Args:
        seconds: its longest period.
        periods: how many it looks at.
        treatment: of missing data.

    Raises:
        Refusal: CloudWatch takes no such alarm.
    """
    if treatment not in _TREATMENTS:
        raise _invalid(f"TreatMissingData must be one of {', '.join(_TREATMENTS)}")
    if seconds not in _OF_ALARMS and seconds % _MINUTE:
        raise _invalid("Period must be 10, 20, 30 or a multiple of 60")
    for most, span, of in (
        (_DAY, "day", "< 3600" if seconds < _HOUR else ""),
        (7 * _DAY, "week", ">= 3600"),
    ):
        if of and seconds * periods > most:
            raise _invalid(
                f"Metrics cannot be checked across more than a {span} (EvaluationPeriods * Period "
                f"must be <= {most}) for alarms using period {of}"
            )


def check_period(seconds: int) -> None:
    """Refuse a period of data that are asked for.

    Raises:
        Refusal: there is no such period.
    """
    if seconds not in _OF_QUERIES and seconds % _MINUTE:
        raise Refusal(
            "InvalidParameterValue",
            "The parameter Period must be 1, 5, 10, 20, 30 or a multiple of 60.",
        )


def check_statistics(points: int) -> None:
    """Refuse a question of GetMetricStatistics that may have too many data points.

    Raises:
        Refusal: there may be more than 1440.
    """
    if points > _POINTS_OF_STATISTICS:
        raise Refusal(
            "InvalidParameterCombination",
            f"You have requested up to {points} datapoints, which exceeds the limit of "
            f"{_POINTS_OF_STATISTICS}. You may reduce the datapoints requested by increasing "
            "Period, or decreasing the time range.",
        )


def check_periods(number: int) -> None:
    """Refuse a question of GetMetricData that has too many periods.

    CloudWatch pages by so many data points, of those that there are.

    Raises:
        Refusal: there are more than 100,800.
    """
    if number > _PERIODS:
        raise _invalid(
            f"The embedded AWS looks at no more than {_PERIODS} periods of a query, not at {number}"
        )


def check_queries(number: int) -> None:
    """Refuse a question of GetMetricData that has too many queries.

    Raises:
        Refusal: there are more than 500.
    """
    if number > _QUERIES:
        raise _invalid(f"The collection MetricDataQueries must not have a size over {_QUERIES}.")


def check_data(number: int) -> None:
    """Refuse data of PutMetricData that are too many.

    Raises:
        Refusal: there are more than 1000.
    """
    if number > _DATA:
        raise Refusal(
            "InvalidParameterValue",
            f"The collection MetricData must not have a size greater than {_DATA}.",
        )


def rounded_down(start: datetime, now: datetime) -> datetime:
    """Return the start of what is asked for, to the granularity that data of its age have.

    Args:
        start: in UTC.
        now: the present; both with a zone, or both without.
    """
    seconds = next((each for age, each in _KEPT if now - start > age), _MINUTE)
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + (start - midnight) // timedelta(seconds=seconds) * timedelta(seconds=seconds)


def _invalid(message: str) -> Refusal:
    return Refusal("ValidationError", message)
