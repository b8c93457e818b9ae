"""A real API server for the tests of a module."""

from api_servers import api_server

__all__ = ["api_server"]
