"""Dictionaries that change while something iterates over them."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from moto.core.base_backend import BackendDict
from moto.sqs.models import SQSBackend

from embedded_aws.steady_dicts import keep_steady_dicts, steady

WAYS: dict[str, Callable[[Mapping[str, int]], Iterable[Any]]] = {
    "itself": lambda found: found,
    "keys": lambda found: found.keys(),
    "values": lambda found: found.values(),
    "items": lambda found: found.items(),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("plain", [dict, OrderedDict, lambda: defaultdict(int)])
def test_what_changes_meanwhile_is_not_seen(
    plain: Callable[[], dict[str, int]], way: Callable[[Mapping[str, int]], Iterable[Any]]
) -> None:
    found = steady(plain())
    found.update(a=1, b=2)
    expected, seen = list(way({"a": 1, "b": 2})), []

    for each in way(found):
        seen.append(each)
        found.pop("b", None)
        found[f"later-{len(found)}"] = 3

    assert seen == expected


def test_dictionaries_that_are_made_for_keys_are_steady_too() -> None:
    found: defaultdict[str, dict[str, int]] = steady(defaultdict(dict))
    found["vpc"]["a"] = 1

    for key in found["vpc"]:
        found["vpc"][f"{key}-later"] = 2

    assert found == {"vpc": {"a": 1, "a-later": 2}}


@pytest.mark.parametrize("other", [None, "text", [1], {2}])
def test_other_things_stay_what_they_are(other: object) -> None:
    assert steady(other) is other


def test_backends_that_are_there_already_keep_them_too() -> None:
    backend: Any = BackendDict(SQSBackend, "sqs")["210987654321"]["us-west-2"]
    vars(backend)["queues"] = {"a": 1}

    keep_steady_dicts()

    for name in backend.queues:
        backend.queues[f"{name}-later"] = 2
    assert backend.queues == {"a": 1, "a-later": 2}
