"""Several clusters: what they share, and what is said when they do not agree."""

from collections.abc import Callable

import pytest

from trainshed.plan import Fleet
from trainshed.plan.sharing import addresses_of

Problems = Callable[..., list[str]]
Plan = Callable[..., Fleet]


def text(name: str, added: str = "", nodes: int = 2, type_: str = "trn1.32xlarge") -> str:
    return (
        f"name: {name}\nregion: us-west-2\ninstance: {{type: {type_}, nodes: {{max: {nodes}}}}}\n"
        f"{added}\n"
    )


NETWORK = "network: {name: shared}"


def test_duplicate_names_are_reported_with_both_files(problems: Problems) -> None:
    assert problems(text("Alpha"), text("Alpha")) == [
        "b.yaml:1: name: 'Alpha' is the name of another cluster (a.yaml:1)"
    ]


def test_a_duplicate_name_is_reported_though_one_of_them_cannot_be_planned(
    problems: Problems,
) -> None:
    lines = problems(text("Alpha", type_="trn1.64xlarge"), text("Alpha"))

    assert [line.split(": ")[:2] for line in lines] == [
        ["a.yaml:3", "instance.type"],
        ["b.yaml:1", "name"],
    ]


def test_names_that_make_the_same_default_names_are_reported(problems: Problems) -> None:
    assert problems(text("Alpha"), text("AlphaCluster"), text("alphacluster")) == [
        "b.yaml:1: name: 'AlphaCluster' and 'Alpha' (a.yaml:1) both shorten to 'alpha', so their "
        "stacks collide; rename one of them",
        "c.yaml:1: name: 'alphacluster' and 'Alpha' (a.yaml:1) both shorten to 'alpha', so their "
        "stacks collide; rename one of them",
    ]


def test_clusters_apart_have_stacks_apart(fleet: Plan) -> None:
    found = fleet(text("Alpha"), text("Beta"))

    assert list(found.networks) == ["AlphaNetwork", "BetaNetwork"]
    assert list(found.repositories) == ["AlphaContainers", "BetaContainers"]
    assert found.storages == {}


def test_a_shared_network_has_the_subnets_and_endpoints_of_all(fleet: Plan) -> None:
    found = fleet(
        text("Alpha", "zone: usw2-az1\nnetwork: {name: shared, endpoints: [ecr]}"),
        text("Beta", "zone: usw2-az4\nnetwork: {name: shared, endpoints: [logs, ecr]}"),
    )

    (network,) = found.networks.values()
    assert [subnet.zone.name for subnet in network.subnets] == ["usw2-az1", "usw2-az4"]
    assert network.endpoint_services == ("ecr.api", "ecr.dkr", "logs")


def test_a_zone_that_joins_a_network_moves_no_subnet(fleet: Plan) -> None:
    alone = fleet(text("Beta", f"zone: usw2-az4\n{NETWORK}"))
    joined = fleet(
        text("Alpha", f"zone: usw2-az1\n{NETWORK}"), text("Beta", f"zone: usw2-az4\n{NETWORK}")
    )

    (before,) = alone.networks["SharedNetwork"].subnets
    assert before in joined.networks["SharedNetwork"].subnets


def test_subnets_of_different_zones_never_overlap(fleet: Plan) -> None:
    zones = ["use1-az4", "use1-az5", "use1-az6"]
    texts = [
        text(f"Cluster{n}", f"zone: {zone}\n{NETWORK}").replace("us-west-2", "us-east-1")
        for n, zone in enumerate(zones)
    ]

    (network,) = fleet(*texts).networks.values()

    cidrs = [
        cidr for subnet in network.subnets for cidr in (subnet.private_cidr, subnet.public_cidr)
    ]
    assert len(cidrs) == 6
    assert not any(a.overlaps(b) for a in cidrs for b in cidrs if a is not b)
    assert all(network.cidr and cidr.subnet_of(network.cidr) for cidr in cidrs)


def test_a_zone_keeps_its_subnet_when_its_region_gets_another_zone(fleet: Plan) -> None:
    found = fleet(
        "name: Alpha\nregion: ap-northeast-1\nzone: apne1-az4\ninstance: {type: p5.48xlarge}\n"
    )

    # apne1-az3 does not exist today: its place stays free.
    (subnet,) = found.networks["AlphaNetwork"].subnets
    assert str(subnet.private_cidr) == "10.20.96.0/19"


def test_a_shared_network_of_two_ranges_is_reported_with_both_files_and_values(
    problems: Problems,
) -> None:
    lines = problems(
        text("Alpha", "network: {name: shared, cidr: 10.1.0.0/16}"),
        text("Beta", "network: {name: shared, cidr: 10.2.0.0/16}"),
    )

    assert lines == [
        "b.yaml:4: network: shares the stack SharedNetwork with Alpha (a.yaml:4), but differs from "
        "it: cidr is 10.2.0.0/16 here and 10.1.0.0/16 there"
    ]


def test_a_shared_file_system_of_two_settings_is_reported_in_the_words_of_the_file(
    problems: Problems,
) -> None:
    shared = "storage: {{lustre: {{name: data, compression: {}}}}}\nnetwork: {{name: shared}}"

    assert problems(text("Alpha", shared.format("lz4")), text("Beta", shared.format("none"))) == [
        "b.yaml:4: storage.lustre: shares the stack DataStorage with Alpha (a.yaml:4), but differs "
        "from it: compression is none here and lz4 there"
    ]


def existing(name: str = "") -> str:
    return (
        f"network: {{{name}vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, "
        "default_security_group: sg-0123456789abcdef0}"
    )


def test_networks_of_their_own_may_add_rules_to_one_default_group(fleet: Plan) -> None:
    found = fleet(*(text(name, existing()) for name in ("Alpha", "Beta")))

    groups = {name: network.default_security_group_id for name, network in found.networks.items()}
    assert groups == dict.fromkeys(["AlphaNetwork", "BetaNetwork"], "sg-0123456789abcdef0")


def test_clusters_share_an_existing_network_and_its_default_group(fleet: Plan) -> None:
    found = fleet(*(text(name, existing("name: lab, ")) for name in ("Alpha", "Beta")))

    assert list(found.networks) == ["LabNetwork"]


def test_a_shared_file_system_must_be_the_same(problems: Problems) -> None:
    storage = "storage: {{lustre: {{name: data, capacity_gib: {}}}}}"

    lines = problems(
        text("Alpha", f"{NETWORK}\n{storage.format(2400)}"),
        text("Beta", f"{NETWORK}\n{storage.format(4800)}"),
    )

    assert lines == [
        "b.yaml:5: storage.lustre: shares the stack DataStorage with Alpha (a.yaml:5), but differs "
        "from it: capacity_gib is 4800 here and 2400 there"
    ]


def test_a_shared_file_system_is_new_for_all_or_existing_for_all(problems: Problems) -> None:
    new = "storage: {lustre: {name: data}}"
    existing = "storage: {lustre: {name: data, existing: fs-0123456789abcdef0}}"

    (line,) = problems(text("Alpha", f"{NETWORK}\n{new}"), text("Beta", f"{NETWORK}\n{existing}"))

    assert "existing is fs-0123456789abcdef0 here and not set there" in line


def test_an_existing_file_system_takes_no_new_addresses(fleet: Plan) -> None:
    existing = "storage: {lustre: {existing: fs-0123456789abcdef0, mount: /data}}"

    (cluster,) = fleet(text("Alpha", existing)).clusters

    assert cluster.lustre
    assert cluster.lustre.interfaces == 0
    assert (cluster.lustre.stack_name, cluster.lustre.mount) == ("AlphaStorage", "/data")


@pytest.mark.parametrize(
    ("storage", "addresses"),
    [
        ("efs: {mount: /home}", 1),
        # It may have no mount target in the nodes' zone yet.
        ("efs: {mount: /home, existing: fs-0123456789abcdef0}", 1),
        ("openzfs: {mount: /home}", 2),
        ("openzfs: {mount: /home, existing: fs-0123456789abcdef0}", 0),
        ("bucket: {mount: /data}", 0),
    ],
)
def test_storage_takes_addresses_in_the_subnet(fleet: Plan, storage: str, addresses: int) -> None:
    alone, beside = fleet(text("Alpha"), text("Beta", f"storage: {{{storage}}}")).clusters

    assert addresses_of([beside]) - addresses_of([alone]) == addresses


@pytest.mark.parametrize("kind", ["lustre: {", "openzfs: {mount: /home, "])
def test_clusters_in_two_zones_share_a_file_system_that_is_there(fleet: Plan, kind: str) -> None:
    existing = f"storage: {{{kind}name: data, existing: fs-0123456789abcdef0}}}}"

    first, second = fleet(
        text("Alpha", f"zone: usw2-az1\n{NETWORK}\n{existing}"),
        text("Beta", f"zone: usw2-az4\n{NETWORK}\n{existing}"),
    ).clusters

    assert first.storages == second.storages


def test_a_shared_file_system_is_in_one_network_and_zone(problems: Problems) -> None:
    storage = "storage: {lustre: {name: data}}"

    (line,) = problems(
        text("Alpha", f"zone: usw2-az1\n{storage}"), text("Beta", f"zone: usw2-az4\n{storage}")
    )

    assert "network is beta here and alpha there" in line
    assert "zone is usw2-az4 here and usw2-az1 there" in line


def test_a_shared_file_system_and_repository_are_one_stack(fleet: Plan) -> None:
    same = f"{NETWORK}\nstorage: {{lustre: {{name: data}}}}\nimage: {{repository: team/train}}"

    found = fleet(text("Alpha", same), text("Beta", same))

    assert list(found.networks) == ["SharedNetwork"]
    assert list(found.storages) == ["DataStorage"]
    assert list(found.repositories) == ["TeamTrainContainers"]


def test_stacks_of_different_kinds_with_one_name_are_reported(problems: Problems) -> None:
    assert problems(text("Alpha"), text("AlphaNetwork")) == [
        "b.yaml:1: name: makes a stack called AlphaNetwork, and so does network of Alpha (a.yaml:1)"
        "; rename one of them"
    ]


def test_a_cluster_called_like_the_prerequisites_of_another_is_reported(problems: Problems) -> None:
    (line,) = problems(text("Alpha"), text("AlphaPrerequisites"))

    assert line.startswith("b.yaml:1: name: shares the stack AlphaPrerequisites with Alpha (a.yaml")


def test_a_cluster_called_like_its_own_network_stack_is_reported(problems: Problems) -> None:
    (line,) = problems(text("AlphaNetwork", "network: {name: alpha}"))

    assert "makes a stack called AlphaNetwork" in line


def test_a_zone_named_in_two_ways_cannot_have_one_subnet_twice(problems: Problems) -> None:
    lines = problems(
        text("Alpha", f"zone: usw2-az1\n{NETWORK}"), text("Beta", f"zone: us-west-2a\n{NETWORK}")
    )

    assert lines == [
        "b.yaml:4: zone: us-west-2a would get the subnet of usw2-az1 of Alpha (a.yaml:4), which "
        "shares the network: name zones in one way, by ID"
    ]


@pytest.mark.parametrize(("nodes", "fits"), [(30, True), (31, False)])
def test_clusters_of_one_subnet_must_fit_into_it_together(
    problems: Problems, fleet: Plan, nodes: int, fits: bool
) -> None:
    network = "network: {name: shared, cidr: 10.9.0.0/22}"
    texts = text("Alpha", network, nodes=31), text("Beta", network, nodes=nodes)
    if fits:
        assert len(fleet(*texts).clusters) == 2
        return

    assert problems(*texts) == [
        "b.yaml:4: network.cidr: the clusters that share SharedNetwork (Alpha, Beta) need 124 "
        "addresses in 10.9.0.0/25, which has 123; take 10.9.0.0/21"
    ]


def test_clusters_that_share_a_file_system_share_its_efa_connections(problems: Problems) -> None:
    shared = (
        "network: {name: shared}\nstorage: {lustre: {name: data, efa: true, capacity_gib: 19200}}"
    )

    # 8 interfaces of each node of p5, at 100 nodes each.
    lines = problems(
        text("Alpha", shared, nodes=100, type_="p5.48xlarge"),
        text("Beta", shared, nodes=100, type_="p5.48xlarge"),
    )

    assert lines == [
        "b.yaml:5: storage.lustre.efa: the clusters that share the file system (Alpha, Beta) need "
        "1600 EFA connections to it, and it takes 1024; use fewer nodes, or a file system each"
    ]
