"""URLs of servers and logs are split here, so that no error or message shows the user or the password that one has (`UrlError`, `hide_credentials`)."""

from urllib.parse import SplitResult, urlsplit


class UrlError(ValueError):
    """A text that is no URL. Its message has nothing of the text, which may hold a password."""

    def __init__(self) -> None:
        """Say what a URL looks like."""
        super().__init__(
            "the URL can't be read: write SCHEME://host[:port][/path], with ASCII letters in the host, a number as the port, "
            "and %2F, %3A, %40, %5B for / : @ [ in a user or password"
        )


def split_url(url: str) -> SplitResult:
    """Split a URL, whose place may be a list of hosts and ports. Raises `UrlError`."""
    try:
        return urlsplit(url)
    except ValueError:
        pass  # its text names the user and password; so may a cause of another error
    raise UrlError


def split_server_url(url: str) -> SplitResult:
    """Split a URL of one server, whose port can be read then. Raises `UrlError`."""
    parts = split_url(url)
    try:
        _ = parts.port
    except ValueError:
        pass  # as above
    else:
        return parts
    raise UrlError


def hide_credentials(url: str) -> str:
    """Return a URL, or several with commas, without user and password, for messages."""
    return ",".join(_hide_in_address(address) for address in url.split(","))


def _hide_in_address(address: str) -> str:
    scheme, slashes, rest = address.partition("://")
    if not slashes:
        return address.rpartition("@")[2]
    return f"{scheme}://{rest.rpartition('@')[2]}"
