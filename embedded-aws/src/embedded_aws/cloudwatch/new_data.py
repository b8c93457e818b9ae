"""Alarms are judged when data arrive; once for all that are sent together."""

from collections.abc import Iterator
from contextlib import contextmanager

from embedded_aws.cloudwatch.alarms import judge

# Accounts and regions to which data are sent that belong together.
_receiving: set[tuple[str, str]] = set()


def judge_new_data(account: str, region: str) -> None:
    """Judge every alarm of an account and region as data have arrived, unless more follow."""
    if (account, region) not in _receiving:
        judge(account, region)


@contextmanager
def more_follows(account: str, region: str) -> Iterator[None]:
    """Judge nothing by data that arrive within the block; one block at a time, then judge."""
    _receiving.add((account, region))
    try:
        yield
    finally:
        _receiving.discard((account, region))
