"""YAML without aliases: a few lines of aliases of aliases would be more than any memory."""

from typing import Any

import yaml


class AliasError(yaml.MarkedYAMLError):  # type: ignore[misc]  # PyYAML is untyped
    """A text has an alias."""


class PlainLoader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML is untyped
    """Reads YAML until the first alias.

    Raises:
        AliasError: there is one.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node:
        """Return the next node."""
        if self.check_event(yaml.AliasEvent):
            raise AliasError(None, None, "aliases are not allowed", self.peek_event().start_mark)
        return super().compose_node(parent, index)
