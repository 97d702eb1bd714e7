"""The HTTP service: models that answer over the network, in batches, with a page to try them.

:func:`create_app` makes the ASGI application; the command ``splmll serve`` runs it.
"""

try:
    import fastapi  # noqa: F401
    import orjson  # noqa: F401
    import prometheus_client  # noqa: F401
    import python_multipart  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'The service needs the package {error.name}: pip install "splmll[serve]".'
    ) from error

from splmll.serving.app import create_app
from splmll.serving.limits import Limits

__all__ = ["Limits", "create_app"]
