"""moto's models of operations, which the threads of a server share."""

from typing import Any

from botocore.model import ServiceModel as BotocoreServiceModel
from botocore.utils import instance_cache
from moto.core import model


def keep_apart() -> None:
    """Keep moto's models of operations where botocore does not keep its own.

    moto's method keeps them under the name that botocore's method uses, too. While one thread makes
    moto's model of an operation, another finds botocore's, which has no `http_trait`: an HTTP 500.
    """
    model.ServiceModel.operation_model = instance_cache(_moto_model)  # type: ignore[method-assign]


def _moto_model(self: model.ServiceModel, operation_name: str) -> model.OperationModel:
    of_botocore: Any = BotocoreServiceModel.operation_model(self, operation_name)
    return model.OperationModel(of_botocore._operation_model, self, operation_name)
