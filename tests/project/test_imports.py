"""How the modules of the embedded AWS import each other."""

from graphlib import TopologicalSorter

import grimp


def test_no_circle_of_imports() -> None:
    """Also none of imports in functions, or for type checkers only."""
    graph = grimp.build_graph("embedded_aws")

    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}

    assert "embedded_aws.gateway" in imports
    # It raises a CycleError that names the modules.
    TopologicalSorter(imports).prepare()
