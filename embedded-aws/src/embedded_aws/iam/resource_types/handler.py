"""The base class of IAM's handlers of resources to which others are attached."""

from dataclasses import replace

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.resource import Request


class HolderHandler(Handler):
    """Detaches, before a deletion, what the template attached; with more, IAM refuses it."""

    service = "iam"

    def _delete(self, request: Request, physical_id: str) -> None:
        for name, setting in self.settings.items():
            if setting.each:
                nothing = replace(request, properties={})
                self._apply(nothing, setting, name, physical_id, request.properties)
        super()._delete(request, physical_id)
