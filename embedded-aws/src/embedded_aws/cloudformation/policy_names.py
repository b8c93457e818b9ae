"""Attributes of a resource that say what becomes of it, and how it is made and updated."""

from typing import Final

DELETION: Final = "DeletionPolicy"
REPLACEMENT: Final = "UpdateReplacePolicy"
POLICIES: Final = (DELETION, REPLACEMENT, "CreationPolicy", "UpdatePolicy")
