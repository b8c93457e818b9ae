"""What is made of the text that helm makes of a chart, and of a cache that others own."""

import platform
import sys
from pathlib import Path

import pytest

from trainshed.errors import Failure
from trainshed.kubernetes import chart_objects as module
from trainshed.kubernetes.chart_objects import chart_objects
from trainshed.kubernetes.charts import JOBSET, rendered
from trainshed.kubernetes.helm import render
from trainshed.plan.kube_lock import LockedChart

LOCKED = LockedChart(
    oci=JOBSET.oci, version="9.9.9", digest=f"sha256:{'0' * 64}", archive=f"sha256:{'0' * 64}"
)
UNKNOWN = "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: one}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(UNKNOWN, "chart jobset has ServiceMonitor, which", id="an unknown kind"),
        pytest.param(
            "apiVersion: v1\nkind: Pod\n", "chart jobset has Pod, which", id="a kind we never apply"
        ),
        pytest.param("- a\n", "chart jobset has something without a kind", id="no object"),
        pytest.param("metadata: {name: one}\n", "something without a kind", id="no kind"),
        pytest.param("a: [", "helm makes of chart jobset is no YAML", id="no YAML"),
    ],
)
def test_what_helm_makes_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.setattr(module, "rendered", lambda *_: text)

    with pytest.raises(Failure, match=said):
        chart_objects(JOBSET, LOCKED, "1.35")


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A cache of another user, for instance root's by `sudo --user` with root's environment."""
    (tmp_path / "closed").mkdir(mode=0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "closed/cache"))
    request.getfixturevalue("ordinary_user")


@pytest.mark.usefixtures("closed")
def test_a_cache_of_another_user_keeps_no_charts() -> None:
    with pytest.raises(Failure, match=r"charts cannot be kept in .*: Permission denied"):
        rendered(JOBSET, LOCKED, "1.35")


@pytest.mark.usefixtures("closed")
@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="helm is that of PATH"
)
def test_a_cache_of_another_user_keeps_no_helm() -> None:
    with pytest.raises(Failure, match=r"helm cannot be unpacked into .*: Permission denied"):
        render(Path("one.tgz"), name="one", namespace="one", kubernetes="1.35", values="")
