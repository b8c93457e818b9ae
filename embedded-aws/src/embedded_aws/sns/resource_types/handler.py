"""What the handlers of SNS have in common."""

from typing import ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler, changed
from embedded_aws.cloudformation.resource import Properties, Request


class SnsHandler(Handler):
    """A handler of a resource whose attributes SNS sets one per call.

    Attributes:
        setter: the operation that sets an attribute.
        settable: the properties that are such attributes.
    """

    service = "sns"
    setter: ClassVar[str]
    settable: ClassVar[tuple[str, ...]]

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        for name in self.settable:
            if changed(request, before, name):
                value = request.properties.get(name, "")
                wanted = {"AttributeName": name, "AttributeValue": value, self.target: physical_id}
                self._call(request, self.setter, wanted)
