"""URLs as they may be shown and matched: never with query, fragment or credentials."""

import re
import string
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit

OPENABLE = ("http", "https")
"""The schemes of what an agent may open, beside ``about:blank``."""


_PRINTED = string.ascii_letters + string.digits + string.punctuation
_UNRESERVED = string.ascii_letters + string.digits + "-._~"
_WEB = re.compile(r"^(https?|wss?):[\\/]*", re.IGNORECASE)
_ADDRESS = re.compile(r"((?:[a-z][a-z0-9+.-]*:)*(?://)?[^\s/?#]+/[^?#]*)[?#]", re.IGNORECASE)
_ADDRESS_IN = re.compile(r"(.*?[a-z][a-z0-9+.-]*://[^\s?#]*)[?#]", re.IGNORECASE | re.DOTALL)
_CONTENT = re.compile(r"((?:Loading )?(?:view-source:)?(?:data|javascript|blob|filesystem):)\S", re.IGNORECASE)
_DEFAULT_PORTS = {"http": ":80", "https": ":443", "ws": ":80", "wss": ":443"}


def _as_browsers_read(url: str) -> str:
    """Browsers take a backslash for a slash, any number of slashes for two, and leave out line breaks."""
    url = re.sub(r"[\t\r\n]", "", url.strip("".join(map(chr, range(0x21)))))
    if _WEB.match(url):
        address, mark, rest = re.match(r"([^?#]*)([?#]?)(.*)", url, re.DOTALL).groups()  # type: ignore[union-attr]
        url = _WEB.sub(r"\1://", address.replace("\\", "/")) + mark + rest
    return url


def redact_url(url: str) -> str:
    """The URL without query, fragment, user name and password; a scheme alone for URLs that carry their content."""
    url = _as_browsers_read(url)
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "invalid:"
    if parts.scheme in OPENABLE or parts.scheme in ("ws", "wss"):
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        return f"{parts.scheme}://{host}{port}{parts.path}"
    if url.startswith(("about:blank", "about:srcdoc")):
        return url.split("?")[0].split("#")[0]
    return f"{parts.scheme}:" if parts.scheme else ""


def without_address(title: str) -> str:
    """A title; of one that is an address or has one in it, what comes before query and fragment, and nothing after.

    A browser titles a page by its address for as long as it has no other, and "Loading ..." before that. A query in a
    title may have spaces: where it ends is not known.
    """
    match = _CONTENT.match(title) or _ADDRESS.match(title) or _ADDRESS_IN.match(title)
    return match[1] if match else title


def place_of(url: str) -> tuple[str, str]:
    """The host (with its port) and the path of a URL as whoever asks has written it: nothing where it is none."""
    parts = urlsplit(redact_url(url))
    return parts.netloc, parts.path


def redact_link(link: str) -> str:
    """A link as a page writes it (it may be relative), without query and fragment."""
    if re.match(r"^[a-z][a-z0-9+.-]*:", link, re.IGNORECASE):
        return redact_url(link)
    # what begins with two slashes names a host, and may name a user before it
    return re.sub(r"^[\\/]{2}[^\\/]*@", "//", re.split(r"[?#]", link.strip(), maxsplit=1)[0])


def _host(host: str) -> str:
    """A host, or a part of one, as addresses write it: in ASCII."""
    try:
        return unquote(host).encode("idna").decode().lower().rstrip(".")
    except UnicodeError:
        return host.lower()


@lru_cache(maxsize=2048)
def _one_spelling(url: str) -> str:
    """A redacted URL as browsers and servers understand it, however it was written."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    host, _, path = rest.partition("/")
    host, colon, port = (host, "", "") if host.startswith("[") else host.partition(":")
    port = "" if f"{colon}{port}" == _DEFAULT_PORTS.get(scheme) else colon + port
    return f"{scheme}://{_host(host)}{port}/{_path(path)}"


def _path(path: str) -> str:
    parts: list[str] = []
    steps = _decoded(path).split("/")
    for position, step in enumerate(steps):
        if step == "..":
            parts = parts[:-1]
        elif step != ".":
            parts.append(step)
        if step in (".", "..") and position == len(steps) - 1:
            parts.append("")
    return quote("/".join(parts), safe=_PRINTED)


def _decoded(path: str) -> str:
    """What need not be escaped is not."""
    return re.sub(r"%([0-9A-Fa-f]{2})", _plain_character, path)


def _plain_character(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _glob(glob: str) -> str:
    """A glob in the one spelling: a person may write letters that an address cannot have."""
    glob = _decoded(glob)
    if glob.isascii():
        return glob
    scheme, mark, rest = glob.partition("://")
    if not mark:
        return quote(glob, safe=_PRINTED)
    host, slash, path = rest.partition("/")
    parts = (part if part.isascii() else _host(part) for part in host.split("."))
    return f"{scheme}://{'.'.join(parts)}{slash}{quote(path, safe=_PRINTED)}"


@lru_cache(maxsize=512)
def _pattern(glob: str) -> re.Pattern[str]:
    out = []
    glob = _glob(glob)
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", glob):
        match part:
            case "**/":
                out.append("(?:.*/)?")
            case "**":
                out.append(".*")
            case "*":
                out.append("[^/]*")
            case "?":
                out.append("[^/]")
            case _:
                out.append(re.escape(part))
    return re.compile("".join(out))


def matches(glob: str, url: str) -> bool:
    """True where the redacted URL matches the whole glob; ``*`` stays within a segment, ``**`` does not.

    However it is written: ``https://a.example:443/x/../b`` is ``https://a.example/b``.
    """
    return _pattern(glob).fullmatch(_one_spelling(redact_url(url))) is not None
