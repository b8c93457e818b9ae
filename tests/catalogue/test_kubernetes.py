"""The table of the versions of Kubernetes on EKS is in order, and says where it is from."""

from datetime import timedelta
from itertools import pairwise

from trainshed.catalogue.kubernetes import default_kubernetes, kubernetes_versions


def test_versions_follow_each_other_the_newest_first() -> None:
    versions = kubernetes_versions()

    assert versions
    for newer, older in pairwise(versions):
        assert newer.number == (1, older.number[1] + 1)
        assert newer.standard_until > older.standard_until


def test_each_has_a_year_of_extended_support_and_says_where_its_days_are_from() -> None:
    for each in kubernetes_versions():
        assert timedelta(days=365) <= each.extended_until - each.standard_until
        assert each.extended_until - each.standard_until <= timedelta(days=366)
        assert each.basis


def test_the_default_is_in_standard_support_for_longer_than_its_warning() -> None:
    versions = kubernetes_versions()
    default = default_kubernetes()

    assert default in versions
    assert not default.ends_soon(default.standard_until - timedelta(days=91))
    assert default.ends_soon(default.standard_until - timedelta(days=90))
