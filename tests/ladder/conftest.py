"""The bench of the ladder: vendors, an embedded AWS with guests, and bakes that tests share."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bake_bench import Bakery, Oven
from guest_bench import Bench, make_bench
from vendors.bench import Vendors, serve_vendors
from vendors.layers import build_layers

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.guests import GuestSettings, guests_unavailable
from embedded_aws.guests.recipe import prepared
from embedded_aws.process import start
from embedded_aws.settings import DEFAULT_REGION, ServerSettings
from trainshed.ami.packer import find_packer
from trainshed.ami.packer_compat import needs_compatible_copy, write_compatible
from trainshed.pins.model import Pins
from trainshed.pins.reader import read_pins

ROOT = Path(__file__).parents[2]
# Two cores bake three images in the time of two: much of a bake is waiting.
_AT_ONCE = 3
_DURATIONS = pytest.StashKey[dict[str, float]]()


@pytest.fixture(scope="session")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vendors]:
    if reason := guests_unavailable():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("vendors")
    with serve_vendors(ROOT / "packer", folder, region=DEFAULT_REGION) as served:
        yield served


@pytest.fixture(scope="session")
def guests_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the guests' disks are, and nothing else."""
    return tmp_path_factory.mktemp("guests")


@pytest.fixture(scope="session")
def aws(
    vendors: Vendors, guests_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedAws]:
    folder = tmp_path_factory.mktemp("aws")
    layers = folder / "layers"
    build_layers(layers, prepared(GuestSettings().roots), vendors.site.keys)
    guests = GuestSettings(
        hosts=vendors.hosts, certificate_authority=vendors.authority, layers=layers
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(guests_folder))
        server = start(ServerSettings(machines=guests), log=folder / "server.log")
    yield EmbeddedAws(server)
    server.stop()


@pytest.fixture(scope="session")
def bench(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A network, a key pair, and a way into instances."""
    made = make_bench(aws, tmp_path_factory.mktemp("bench"))
    # Packer dials public addresses.
    made.ec2.modify_subnet_attribute(SubnetId=made.subnet_id, MapPublicIpOnLaunch={"Value": True})
    return made


@pytest.fixture(scope="session")
def pins(vendors: Vendors) -> Pins:
    """The pins of the template that is baked."""
    return read_pins(vendors.template / "pins.json")


@pytest.fixture(scope="session")
def oven(
    request: pytest.FixtureRequest,
    vendors: Vendors,
    bench: Bench,
    tmp_path_factory: pytest.TempPathFactory,
) -> Oven:
    folder = tmp_path_factory.mktemp("oven")
    template = vendors.template
    if needs_compatible_copy(find_packer().version):
        write_compatible(vendors.template, folder / "template")
        template = folder / "template"
    else:
        subprocess.run(["packer", "init", template], check=True)
    made = Oven(aws=bench.aws, template=template, subnet=bench.subnet_id, folder=folder / "bakes")
    request.config.stash[_DURATIONS] = made.durations
    return made


@pytest.fixture(scope="session")
def bakery(oven: Oven) -> Iterator[Bakery]:
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        yield Bakery(oven, pool)
        # Those that nobody waited for, because the tests were stopped.
        pool.shutdown(wait=False, cancel_futures=True)
        oven.interrupt()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Tell how long the bakes took: to be read, not asserted."""
    if durations := config.stash.get(_DURATIONS, None):
        terminalreporter.section("bakes")
        for name, seconds in durations.items():
            terminalreporter.line(f"{seconds:6.1f} s  {name}")
