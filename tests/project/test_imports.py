"""How the modules of the embedded AWS import each other."""

from graphlib import TopologicalSorter

import grimp
import pytest


def test_no_circle_of_imports() -> None:
    """Also none of imports in functions, or for type checkers only."""
    graph = grimp.build_graph("embedded_aws")

    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}

    assert "embedded_aws.gateway" in imports
    # It raises a CycleError that names the modules.
    TopologicalSorter(imports).prepare()


@pytest.mark.parametrize(
    "name",
    [
        *("actions", "constraints", "ec2.instance_events", "faults_of_calls", "gateway", "hooks"),
        *("inventory", "offered_controls", "services", "serving", "unsigned"),
    ],
)
def test_what_services_register_with_knows_none_by_name(name: str) -> None:
    graph = grimp.build_graph("embedded_aws")
    module = f"embedded_aws.{name}"
    known = ("embedded_aws", module.rpartition(".")[0])

    imported = graph.find_modules_directly_imported_by(module)

    assert {each for each in imported if each.rpartition(".")[0] not in known} == set()


def test_one_module_of_a_service_reads_the_settings() -> None:
    graph = grimp.build_graph("embedded_aws")

    readers = graph.find_modules_that_directly_import("embedded_aws.service_settings")

    folders = [each.split(".")[1] for each in readers if each.count(".") > 1]
    assert "ecr" in folders
    assert len(folders) == len(set(folders))
