"""The HTTP service: answers requests to models in batches, and has a page to try them.

:func:`create_app` makes the ASGI application; the command ``splmll serve`` runs it.
"""

from splmll.extras import required

try:
    from splmll.serving.annotating import Annotation
    from splmll.serving.app import create_app
    from splmll.serving.limits import Limits
except ModuleNotFoundError as error:
    required(str(error.name), "serve", "The service")  # says what to install
    raise
# Uploaded files need it, and nobody should learn that from the first upload.
required("python_multipart", "serve", "The service")

__all__ = ["Annotation", "Limits", "create_app"]
