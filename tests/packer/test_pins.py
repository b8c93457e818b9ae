"""The pins: what the reader takes, what it refuses, and what it calls outdated."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trainshed.errors import TrainshedError, UnknownName
from trainshed.nodes.cells import ACCELERATORS
from trainshed.pins.model import Pins
from trainshed.pins.outdated import Outdated, is_older, outdated, pinned_versions
from trainshed.pins.reader import PinError, parse_pins, read_pins
from trainshed.pins.recipe import ami_recipe, component_pin, recipe_names
from trainshed.pins.storage_clients import STORAGE_CLIENTS, bases_that_mount
from trainshed_node.mounts import CLIENTS

FILE = Path(__file__).parents[2] / "packer" / "pins.json"
DOCUMENT: dict[str, Any] = json.loads(FILE.read_text())

RECIPES = list(recipe_names(read_pins(FILE)))
# What a base does not have yet; docs/amis.md says why.
MISSING = {
    "ubuntu-22.04": {"efs-utils"},
    "ubuntu-24.04": {"efs-utils", "gdrcopy"},
    "ubuntu-24.04_6.8": {"efs-utils"},
}
SOURCES = [
    (component, base)
    for component, entry in DOCUMENT["components"].items()
    for base in entry["sources"]
]
ARCHIVES = [
    (component, base)
    for component, base in SOURCES
    if DOCUMENT["components"][component]["sources"][base].get("kind") == "archive"
]
REPOSITORIES = sorted(DOCUMENT["repositories"])
VERSIONS = st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,4}){1,3}([-~_][a-z0-9]{1,4})?", fullmatch=True)


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return document


def source(document: dict[str, Any], component: str, base: str) -> dict[str, Any]:
    found: dict[str, Any] = document["components"][component]["sources"][base]
    return found


def newer_nvidia(document: dict[str, Any], *, proprietary: bool) -> None:
    """Pin a driver of a branch after 580, with or without its proprietary modules."""
    for name in ("nvidia-driver", "nvidia-fabric-manager"):
        document["components"][name]["version"] = "595.91.07"
    packages = source(document, "nvidia-driver", "amazon-linux-2023")["packages"]
    for name in packages:
        packages[name] = "595.91.07-1.amzn2023"
    if not proprietary:
        del packages["kmod-nvidia-latest-dkms"]


@pytest.fixture(scope="module")
def pins() -> Pins:
    return read_pins(FILE)


# What the file that is shipped says.


@pytest.mark.parametrize(("accelerator", "orchestrator", "base"), RECIPES)
def test_every_recipe_has_what_every_ami_needs(
    pins: Pins, accelerator: str, orchestrator: str, base: str
) -> None:
    components = ami_recipe(pins, accelerator, orchestrator, base).components

    assert {"kernel", "efa-installer", "lustre-client", "ssm-agent", "aws-cli"} <= components.keys()
    assert ("docker" in components) == (not orchestrator.startswith("eks-"))
    assert ("ecs-init" in components) == (orchestrator == "ecs")
    families = {name.partition("-")[0] for name in components} & set(ACCELERATORS)
    assert families == {accelerator}


@pytest.mark.parametrize(("accelerator", "orchestrator", "base"), RECIPES)
def test_every_component_of_a_recipe_is_pinned_on_its_base(
    pins: Pins, accelerator: str, orchestrator: str, base: str
) -> None:
    asked = {
        name
        for name, component in pins.components.items()
        if accelerator in component.accelerators and orchestrator in component.orchestrators
    }

    recipe = ami_recipe(pins, accelerator, orchestrator, base)
    assert recipe.components.keys() == asked - MISSING.get(base, set())


def test_every_ami_mounts_all_storage_but_efs_on_ubuntu(pins: Pins) -> None:
    mounted = {kind: set(bases_that_mount(pins, kind, "nvidia", "ec2")) for kind in STORAGE_CLIENTS}

    both = {"amazon-linux-2023", "ubuntu-24.04"}
    assert mounted == {
        "lustre": both,
        "efs": {"amazon-linux-2023"},
        "openzfs": both,
        "bucket": both,
    }
    assert bases_that_mount(pins, "efs", "habana", "ecs") == ()


def test_node_programs_mount_with_the_clients_that_the_pins_name() -> None:
    assert {kind: client.component for kind, client in CLIENTS.items()} == STORAGE_CLIENTS


def test_the_first_base_is_the_one_that_nobody_names(pins: Pins) -> None:
    assert ami_recipe(pins, "nvidia", "ec2").base == "amazon-linux-2023"
    assert ami_recipe(pins, "nvidia", "ec2") == ami_recipe(
        pins, "nvidia", "ec2", "amazon-linux-2023"
    )


def test_the_version_of_a_source_counts_before_the_components(pins: Pins) -> None:
    docker = DOCUMENT["components"]["docker"]

    versions = pins.components["docker"].versions()

    assert versions["ubuntu-22.04"] == docker["version"]
    assert versions["amazon-linux-2023"] == docker["sources"]["amazon-linux-2023"]["version"]


def test_addresses_have_their_version_in_them(pins: Pins) -> None:
    efa = ami_recipe(pins, "neuron", "ecs").components["efa-installer"]

    assert efa.url and efa.url.endswith(f"aws-efa-installer-{efa.version}.tar.gz")
    assert efa.signature == f"{efa.url}.sig"


def test_an_unknown_accelerator_agent_or_base_is_refused(pins: Pins) -> None:
    with pytest.raises(UnknownName, match="did you mean habana"):
        ami_recipe(pins, "habanna", "ecs")
    with pytest.raises(UnknownName, match="did you mean ecs"):
        ami_recipe(pins, "habana", "ec")
    with pytest.raises(UnknownName, match=r"base of nvidia AMIs 'ubuntu-26.04'.*ubuntu-24.04"):
        ami_recipe(pins, "nvidia", "ec2", "ubuntu-26.04")


# Nothing unsigned, nothing latest.


@given(st.sampled_from(ARCHIVES), st.data())
def test_an_archive_without_its_proof_is_refused(
    where: tuple[str, str], data: st.DataObject
) -> None:
    proof = ("sha256", "signature", "key", "fingerprint")
    taken = data.draw(st.sets(st.sampled_from(proof), min_size=1))
    document = copy.deepcopy(DOCUMENT)
    entry = source(document, *where)
    left = {name for name in proof if entry.get(name) and name not in taken}
    assume(any(entry.get(name) for name in taken))
    for name in taken:
        entry.pop(name, None)

    signed = {"signature", "key", "fingerprint"}
    if left in ({"sha256"}, signed, signed | {"sha256"}):
        parse_pins(document)
    else:
        with pytest.raises(PinError, match=f"components.{where[0]}.sources.{where[1]}"):
            parse_pins(document)


@given(st.sampled_from(REPOSITORIES), st.sampled_from(["kind", "url", "key", "fingerprint"]))
def test_a_repository_without_its_proof_is_refused(name: str, field: str) -> None:
    document = changed(lambda d: d["repositories"][name].pop(field))

    with pytest.raises(PinError, match=f"repositories.{name}.{field}: is required"):
        parse_pins(document)


@given(
    st.sampled_from(SOURCES),
    st.one_of(
        st.sampled_from(["latest", "Latest", "stable", "*", "1.*", "2.1 ", "1.0 || 2.0", "", "-1"]),
        VERSIONS.map(lambda version: version + "*"),
        VERSIONS.map(lambda version: f">={version}"),
    ),
)
def test_what_is_no_exact_version_is_refused(where: tuple[str, str], version: str) -> None:
    document = copy.deepcopy(DOCUMENT)
    source(document, *where)["version"] = version

    with pytest.raises(PinError, match=r"version: .* is not allowed; .*an exact version"):
        parse_pins(document)


@given(st.sampled_from([s for s in SOURCES if "packages" in source(DOCUMENT, *s)]), st.data())
def test_no_package_is_taken_at_any_version(where: tuple[str, str], data: st.DataObject) -> None:
    document = copy.deepcopy(DOCUMENT)
    packages = source(document, *where)["packages"]
    name = data.draw(st.sampled_from(sorted(packages)))
    packages[name] = data.draw(st.sampled_from(["latest", "*", "2.*", "", None]))

    with pytest.raises(PinError, match=f"packages.{re.escape(name)}: "):
        parse_pins(document)


@given(
    st.sampled_from(
        [("components", *where, name) for where in ARCHIVES for name in ("url", "signature", "key")]
        + [("repositories", name, "", field) for name in REPOSITORIES for field in ("url", "key")]
    )
)
def test_addresses_are_https_and_lead_to_no_latest(where: tuple[str, str, str, str]) -> None:
    kind, owner, base, name = where
    for url in ("http://example.com/{version}", "https://example.com/latest/{version}", "ftp://x"):
        document = copy.deepcopy(DOCUMENT)
        entry = document[kind][owner]
        (entry["sources"][base] if base else entry)[name] = url

        with pytest.raises(PinError, match=rf"{name}: .* is not allowed; .*an https address"):
            parse_pins(document)


@given(st.text(alphabet="0123456789ABCDEFabcdef ", max_size=50))
def test_a_fingerprint_is_40_hexadecimal_digits(text: str) -> None:
    assume(not (len(text) == 40 and set(text) <= set("0123456789ABCDEF")))
    document = changed(lambda d: d["repositories"]["docker"].update(fingerprint=text))

    with pytest.raises(PinError, match=r"repositories.docker.fingerprint: .*40 upper-case"):
        parse_pins(document)


def test_every_shipped_source_is_confirmed_by_something(pins: Pins) -> None:
    for name, component in pins.components.items():
        for place in component.sources:
            found = component_pin(pins, component, place, place)
            if found.kind == "archive":
                assert found.sha256 or found.fingerprint, name
            elif found.kind in ("apt", "dnf"):
                assert found.fingerprint and found.packages, name


# Messages that say where.


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        pytest.param(
            lambda d: d["components"]["docker"].update(verison="1"),
            "components.docker.verison: unknown key; did you mean version",
            id="misspelt-field",
        ),
        pytest.param(
            lambda d: d["components"]["docker"].pop("version"),
            "components.docker.version: is required",
            id="missing-field",
        ),
        pytest.param(
            lambda d: d["components"]["docker"].update(orchestrators=["ec2", "esc"]),
            "components.docker.orchestrators.1: 'esc' is not allowed; did you mean",
            id="unknown-orchestrator",
        ),
        pytest.param(
            lambda d: d["components"]["docker"]["sources"].update(
                {"debian-11": source(d, "docker", "amazon-linux-2023")}
            ),
            "components.docker.sources.debian-11: 'debian-11' is not a base",
            id="unknown-base",
        ),
        pytest.param(
            lambda d: d["repositories"]["docker"].pop("suite"),
            "repositories.docker: suite is missing; an apt repository needs it",
            id="apt-without-suite",
        ),
        pytest.param(
            lambda d: source(d, "docker", "ubuntu-22.04").update(repository="dockr"),
            "docker.sources.ubuntu-22.04.repository: 'dockr' is not in repositories; did you mean",
            id="unknown-repository",
        ),
        pytest.param(
            lambda d: source(d, "docker", "ubuntu-22.04").pop("packages"),
            "components.docker.sources.ubuntu-22.04.packages: is required",
            id="repository-without-packages",
        ),
        pytest.param(
            lambda d: source(d, "docker", "ubuntu-22.04").update(kind="apt"),
            r"ubuntu-22.04.kind: unknown key .*\(allowed: version, repository, packages\)",
            id="facts-of-the-repository-again",
        ),
        pytest.param(
            lambda d: d["repositories"].update(docker2=d["repositories"]["docker"]),
            "repositories.docker2: is the same as docker; remove it",
            id="repository-twice",
        ),
        pytest.param(
            lambda d: d["repositories"].update(
                unused=d["repositories"]["docker"] | {"suite": "noble"}
            ),
            "repositories.unused: no component comes from it; remove it",
            id="unused-repository",
        ),
        pytest.param(
            lambda d: source(d, "docker", "amazon-linux-2023").update(key="https://example.com/k"),
            "components.docker.sources.amazon-linux-2023.key: unknown key",
            id="key-of-distribution",
        ),
        pytest.param(
            lambda d: source(d, "efa-installer", "any").update(url="https://example.com/efa.tgz"),
            r"efa-installer.sources.any.url: has no \{version\} in it",
            id="address-that-stays-behind",
        ),
        pytest.param(
            lambda d: d["components"]["docker"].update(basis="somebody said so"),
            "components.docker.basis: does not say how sure it is",
            id="no-basis",
        ),
        pytest.param(
            lambda d: d["bases"]["ubuntu-22.04"]["source_amis"]["ecs"].update(name="ubuntu-*"),
            r"bases.ubuntu-22.04.source_amis.ecs.name: .*the exact name of an AMI",
            id="ami-pattern",
        ),
        pytest.param(
            lambda d: d["bases"]["ubuntu-22.04"]["source_amis"].pop("ecs"),
            "bases.ubuntu-22.04: name an AMI for each",
            id="no-ami",
        ),
        pytest.param(
            lambda d: d["tools"]["packer"].pop("sha256"),
            "tools.packer.sha256: is required",
            id="tool-unconfirmed",
        ),
        pytest.param(
            lambda d: source(d, "hccl-demo", "any").update(version="main"),
            "hccl-demo.sources.any.version: 'main' is not a commit",
            id="branch",
        ),
        pytest.param(
            lambda d: d["containers"]["cpu"].update(tag="latest"),
            r"containers.cpu.tag: .*an exact version",
            id="latest-tag",
        ),
        pytest.param(
            lambda d: d["containers"]["cpu"].update(digest="sha256:abc"),
            r"containers.cpu.digest: .*sha256: and 64",
            id="digest",
        ),
        pytest.param(
            lambda d: d["containers"]["habana"]["drivers"].update({"habana-driver": "==1.21"}),
            r"containers.habana.drivers.habana-driver: .*a range of versions",
            id="no-range",
        ),
        pytest.param(lambda d: d.pop("bases"), "bases: is required", id="no-bases"),
        pytest.param(
            lambda d: d["components"].update(docker=["1"]),
            "components.docker: a list is not a mapping",
            id="no-object",
        ),
        # What has to agree.
        pytest.param(
            lambda d: d["bases"]["ubuntu-22.04"].update(kernel="6.8.0-1064-aws"),
            "bases.ubuntu-22.04.kernel: is 6.8.0-1064-aws, and no package",
            id="kernel-of-ubuntu",
        ),
        pytest.param(
            lambda d: d["bases"]["amazon-linux-2023"].update(kernel="6.18.52-1.amzn2023.x86_64"),
            "bases.amazon-linux-2023.kernel: is 6.18.52",
            id="kernel-of-amazon",
        ),
        pytest.param(
            lambda d: source(d, "lustre-client", "ubuntu-22.04").update(
                packages={"lustre-client-modules-6.8.0-1057-aws": "2.15.6-1fsx34"}
            ),
            "lustre-client-modules-6.8.0-1057-aws is for another kernel",
            id="lustre-of-another-kernel",
        ),
        pytest.param(
            lambda d: d["components"]["habana-driver"].update(version="1.22.0-740"),
            "habana-driver.version: 1.22.0-740 does not drive first-generation Gaudi.*pin a 1.21",
            id="gaudi-1-ended",
        ),
        pytest.param(
            lambda d: newer_nvidia(d, proprietary=True),
            "kmod-nvidia-latest-dkms 595.91.07-1.amzn2023 has no modules for V100.*pin a 580",
            id="volta-ended",
        ),
        pytest.param(
            lambda d: d["components"]["nvidia-fabric-manager"].update(version="580.159.03"),
            "nvidia-fabric-manager: is 580.159.03, and must be 580.178.04",
            id="manager-of-another-driver",
        ),
        pytest.param(
            lambda d: d["bases"]["ubuntu-24.04"]["refused"].update({"eks-1.34": "nobody tried"}),
            "bases.ubuntu-24.04: name an AMI for each of ec2, ecs, eks-1.34, .* in source_amis, or",
            id="refused-and-given",
        ),
        pytest.param(
            lambda d: d["bases"]["ubuntu-24.04"].pop("suite"),
            "ubuntu-24.04: suite is missing, and repository lustre of component lustre-client",
            id="no-suite",
        ),
        pytest.param(
            lambda d: source(d, "nvidia-driver", "ubuntu-24.04")["packages"].update(
                {"nvidia-dkms-580": "595.91.07-1ubuntu1"}
            ),
            "nvidia-dkms-580 595.91.07-1ubuntu1 has no modules for V100.*pin a 580",
            id="volta-ended-on-ubuntu",
        ),
    ],
)
def test_a_mistake_is_shown_with_its_place(
    change: Callable[[dict[str, Any]], object], shown: str
) -> None:
    with pytest.raises(PinError, match=shown):
        parse_pins(changed(change))


def test_every_mistake_of_the_file_is_shown_with_its_line(tmp_path: Path) -> None:
    lines = FILE.read_text().splitlines()
    device, chrony = (
        next(number for number, line in enumerate(lines) if text in line)
        for text in ('"root_device": "/dev/sda1"', '"chrony": "4.2')
    )
    lines[device] = lines[device].replace("/dev/sda1", "sda1")
    lines[chrony] = lines[chrony].replace("4.2", "latest 4.2")
    (tmp_path / "pins.json").write_text("\n".join(lines))

    with pytest.raises(PinError) as raised:
        read_pins(tmp_path / "pins.json")

    assert [line.partition(": ")[0] for line in str(raised.value).splitlines()] == [
        f"{tmp_path}/pins.json:{device + 1}",
        f"{tmp_path}/pins.json:{chrony + 1}",
    ]


def test_open_modules_alone_may_be_of_a_later_branch() -> None:
    pins = parse_pins(changed(lambda d: newer_nvidia(d, proprietary=False)))

    assert ami_recipe(pins, "nvidia", "ecs").components["nvidia-driver"].version == "595.91.07"


def test_a_file_that_is_missing_or_not_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainshedError, match=r"pins.json cannot be read: no such file"):
        read_pins(tmp_path / "pins.json")
    (tmp_path / "pins.json").write_text('{\n  "bases": }')
    with pytest.raises(PinError, match=r"pins\.json:2: is not JSON from column 12 on"):
        read_pins(tmp_path / "pins.json")
    (tmp_path / "pins.json").write_text("[]")
    with pytest.raises(PinError, match=r"pins\.json:1: a list is not a mapping"):
        read_pins(tmp_path / "pins.json")
    (tmp_path / "pins.json").write_text("null")
    with pytest.raises(PinError, match=r"pins\.json:1: null is not a mapping \(its fields"):
        read_pins(tmp_path / "pins.json")
    (tmp_path / "pins.json").write_text("[" * 100_000)
    with pytest.raises(TrainshedError, match=r"pins\.json: is nested too deeply"):
        read_pins(tmp_path / "pins.json")


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to each value, of long lists and mappings only to the first three."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)  # type: ignore[arg-type]
    for key, entry in islice(entries, 3 if len(path) in (1, 3) else None):
        yield (*path, key)
        if isinstance(entry, dict | list):
            yield from places(entry, (*path, key))


@pytest.mark.parametrize(
    "wrong", [None, True, 1, 1.5, "", "\ud800", [], [1], {}, {"kind": "x"}, {"kind": []}], ids=repr
)
def test_no_wrong_value_is_answered_in_the_words_of_a_library(wrong: object) -> None:
    for path in places(json.loads(FILE.read_text())):
        document = json.loads(FILE.read_text())
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = wrong
        try:
            parse_pins(document)
        except PinError as error:
            assert not re.search(r"should|valid |Dictionary|Tuple|pydantic", str(error)), path


@pytest.mark.parametrize("indent", [pytest.param(2, id="spaces"), pytest.param("\t", id="tabs")])
def test_a_key_that_is_there_twice_is_refused(tmp_path: Path, indent: int | str) -> None:
    text = json.dumps(json.loads(FILE.read_text()), indent=indent)
    text = text.replace('"suite": "jammy",', '"suite": "jammy",\n"suite": "noble",', 1)
    (tmp_path / "pins.json").write_text(text)
    line = text.splitlines().index('"suite": "noble",') + 1

    with pytest.raises(PinError) as raised:
        read_pins(tmp_path / "pins.json")

    assert str(raised.value) == (
        f"{tmp_path}/pins.json:{line}: the key 'suite' is on line {line - 1} too; leave one of them"
    )


# Outdated pins.


def test_a_pin_behind_the_list_is_outdated_on_every_base(pins: Pins) -> None:
    found = outdated(pins, {"docker": "99.0", "efa-installer": "99.0"})

    assert {(entry.pin, entry.newest) for entry in found} == {
        ("efa-installer", "99.0"),
        ("docker@ubuntu-22.04", "99.0"),
        ("docker@ubuntu-24.04", "99.0"),
        ("docker@amazon-linux-2023", "99.0"),
    }


def test_a_list_may_speak_of_one_base_of_a_release_of_tools_and_of_tags(pins: Pins) -> None:
    newest = {
        "docker@ubuntu-22.04": "99.0",
        "amazon-linux-2023": "2099.1.20990101",
        "tool/packer": "99.0",
        "container/cpu": "99.1-slim",
    }

    assert {entry.pin for entry in outdated(pins, newest)} == newest.keys()


def test_pins_that_are_newest_or_newer_are_not_outdated(pins: Pins) -> None:
    assert outdated(pins, pinned_versions(pins)) == ()
    assert outdated(pins, {"efa-installer": "0.1"}) == ()


def test_another_commit_is_a_newer_one(pins: Pins) -> None:
    pinned = pinned_versions(pins)["hccl-demo"]

    assert outdated(pins, {"hccl-demo": "0" * 40}) == (
        Outdated(pin="hccl-demo", pinned=pinned, newest="0" * 40),
    )


def test_a_name_that_no_pin_has_is_refused(pins: Pins) -> None:
    with pytest.raises(UnknownName, match="did you mean efa-installer"):
        outdated(pins, {"efa-instaler": "1.0"})


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.9", "1.10"),
        ("1.2", "1.2.1"),
        ("1.0~rc1", "1.0"),
        ("580.95.05", "580.126.09"),
        ("6.8.0-1063.66~22.04.1", "6.8.0-1064.67~22.04.1"),
        ("5:28.5.2-1~ubuntu.22.04~jammy", "5:29.0.0-1~ubuntu.22.04~jammy"),
        ("2.15.6-1fsx34", "2.15.6-1fsx35"),
        ("20261015T000000Z", "20261116T000000Z"),
        ("1.300072.0b1766", "1.300072.0b1767"),
        ("2023.12.20260930", "2023.12.20261012"),
    ],
)
def test_versions_are_ordered_as_package_managers_do(older: str, newer: str) -> None:
    assert is_older(older, newer)
    assert not is_older(newer, older)


@given(VERSIONS, VERSIONS)
def test_of_two_versions_at_most_one_is_older(one: str, other: str) -> None:
    assert not (is_older(one, other) and is_older(other, one))
    assert not is_older(one, one)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_order_is_transitive(one: str, two: str, three: str) -> None:
    if is_older(one, two) and is_older(two, three):
        assert is_older(one, three)
