"""The models of operations, which the threads of a server share."""

from typing import Any

import pytest
from moto.core import model
from moto.core.utils import get_service_model


@pytest.mark.usefixtures("endpoint")
def test_two_threads_that_first_ask_for_an_operation_both_get_the_model_of_moto(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A copy in which nobody has asked for an operation yet.
    service = get_service_model.__wrapped__("eks")
    of_the_other: list[Any] = []

    class Interrupted(model.OperationModel):
        """Whose thread gives way to another one before it is made."""

        def __init__(self, *arguments: Any) -> None:
            if not of_the_other:
                of_the_other.append("is asking")
                of_the_other[0] = service.operation_model("ListClusters")
            super().__init__(*arguments)

    monkeypatch.setattr(model, "OperationModel", Interrupted)

    assert service.operation_model("ListClusters").http_trait.path == "/clusters"
    assert of_the_other[0].http_trait.path == "/clusters"
