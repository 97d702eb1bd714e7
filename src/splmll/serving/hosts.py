"""The host names of a service, and the pages from which a browser may use it.

A page of another site can send requests to a service on the reader's own machine, and by pointing
its own name at that machine (DNS rebinding) even read the answers. Both show in the request: in the
name it was sent to, and in the origin that browsers add.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

from starlette.datastructures import Headers

ANY = "*"  # every name, for services that something else guards
_PLACE = re.compile(r"(\[[^\]]+\]|[^\[\]:/@]+)(?::\d*)?")
_OTHER_SITES = ("cross-site", "same-site")  # same-site: another port or sub-domain


class Hosts:
    """The host names that a service answers to.

    They always include numeric addresses and ``localhost``, which nobody can point elsewhere.

    Parameters
    ----------
    names : collection of str
        Further names, such as ``tags.example.org``; ``"*"`` for all.

    Examples
    --------
    >>> from splmll.serving.hosts import Hosts
    >>> hosts = Hosts(["tags.example.org"])
    >>> [hosts.allow(each) for each in ("127.0.0.1:8000", "tags.example.org", "evil.example")]
    [True, True, False]
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        self.any = ANY in names
        self.names = frozenset(_checked(name) for name in names if name != ANY)

    def allow(self, host: str) -> bool:
        """Return whether a request may be sent to this host, as the header Host gives it."""
        name = host_name(host)
        if name is None:
            return False
        return self.any or name in self.names or _is_own_machine(name) or _is_address(name)

    def is_foreign(self, headers: Headers, method: str) -> bool:
        """Return whether a browser sent a request for a page of another site.

        Parameters
        ----------
        headers : Headers
            Those of the request.
        method : str
            Its method.

        Returns
        -------
        foreign : bool
            False for what no page sent, and for a link to the service that someone followed.
        """
        origin = headers.get("origin")
        if origin is not None and not self._is_own(origin, headers.get("host", "")):
            return True
        if headers.get("sec-fetch-site") not in _OTHER_SITES or origin is not None:
            return False
        return method != "GET" or headers.get("sec-fetch-mode") != "navigate"

    def _is_own(self, origin: str, host: str) -> bool:
        place = origin.partition("://")[2].lower()
        # A server in front may have put its own name into Host; those that were given still count.
        return place == host.lower() or host_name(place) in self.names


def host_name(host: str) -> str | None:
    """Return the name in a header Host, without its port; None where there is none.

    Examples
    --------
    >>> from splmll.serving.hosts import host_name
    >>> host_name("Tags.Example.org:8000"), host_name("[::1]:80"), host_name("a@b")
    ('tags.example.org', '[::1]', None)
    """
    found = _PLACE.fullmatch(host)
    return None if found is None else found[1].lower().rstrip(".")


def _checked(name: str) -> str:
    found = host_name(name)
    if not found or found != name.lower().rstrip("."):
        raise ValueError(
            f"{name!r} is not a host name; give it without http:// and port, such as "
            "tags.example.org, or * for all names."
        )
    return found


def _is_own_machine(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
