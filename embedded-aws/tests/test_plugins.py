"""Plug-ins of other packages, good and broken."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin_package import write_plugin

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.plugins import plugins


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `theirs` on the path, whose entry point leads to `theirs:PLUGIN`."""
    write_plugin(tmp_path, "theirs")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "theirs", raising=False)
    plugins.cache_clear()
    yield tmp_path
    plugins.cache_clear()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param("import no_such_thing", "ModuleNotFoundError", id="import"),
        pytest.param("", "AttributeError", id="attribute"),
        pytest.param("PLUGIN = 1", "is a int; it must be an instance of a subclass", id="type"),
    ],
)
def test_a_broken_plug_in_is_named(package: Path, source: str, message: str) -> None:
    (package / "theirs.py").write_text(source)

    with pytest.raises(
        EmbeddedAwsError, match=r"the plug-in theirs of theirs \(theirs:PLUGIN\)"
    ) as refused:
        plugins()

    assert message in str(refused.value)


def test_a_plug_in_seeds_each_account_and_region(package: Path) -> None:
    (package / "theirs.py").write_text(
        "from embedded_aws.plugins import Plugin\n"
        "class Theirs(Plugin):\n"
        "    def seed(self, client, account, region):\n"
        "        value = f'{account} {region}'\n"
        "        client('ssm').put_parameter(Name='/seeded', Value=value, Type='String')\n"
        "PLUGIN = Theirs()\n"
    )
    (package / "look.py").write_text(
        "import boto3, os\n"
        "from embedded_aws.controls import RESET_PATH, Controls\n"
        "names = 'AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'\n"
        "endpoint, key, secret = (os.environ[name] for name in names)\n"
        "Controls(endpoint=endpoint, key=key, secret=secret).post(RESET_PATH, {})\n"
        "for region in ('us-west-2', 'eu-north-1'):\n"
        "    ssm = boto3.client('ssm', region_name=region)\n"
        "    print(ssm.get_parameter(Name='/seeded')['Parameter']['Value'])\n"
    )

    done = subprocess.run(
        [
            *(Path(sys.executable).parent / "embedded-aws", "run"),
            *("--region", "us-west-2", "--region", "eu-north-1", "--", sys.executable, "look.py"),
        ],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )

    assert done.stdout.splitlines() == ["123456789012 us-west-2", "123456789012 eu-north-1"]


def test_no_server_starts_with_a_broken_plug_in(package: Path) -> None:
    (package / "theirs.py").write_text("import no_such_thing")

    done = subprocess.run(
        [Path(sys.executable).parent / "embedded-aws", "run", "--", "true"],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 2
    assert done.stderr.startswith("error: the plug-in theirs of theirs (theirs:PLUGIN) cannot")
    assert done.stderr.count("\n") == 1
