"""The options of commands that resolve: a configuration, registries, the key, the algorithm."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from treaty.cli.iglu.server_options import API
from treaty.cli.terminal.registry_url import connect_to
from treaty.cli.terminal.source import UnusableError
from treaty.client.iglu import (
    IgluRegistry,
    Resolver,
    ResolverConfig,
    ResolverConfigError,
    ResolverOptions,
    embedded_registry,
    http_registry,
    load_resolver_config,
    treaty_registry,
)
from treaty.client.iglu.algorithms import ALGORITHMS
from treaty.core.refusals import RegistryError
from treaty.core.urls import hide_credentials, split_url

UNAVAILABLE = 3
"""The exit code where some registry can't say now."""


@dataclass(frozen=True, slots=True)
class ResolverSource:
    """Where a command resolves: the file of a configuration, and further registries."""

    config: str | None
    registries: tuple[str, ...]
    treaty: tuple[str, ...]
    apikey: str | None
    algorithm: str

    @contextmanager
    def open(self) -> Iterator[Resolver]:
        """Yield the resolver. Raises `UnusableError` where the options name none."""
        if not (self.config or self.registries or self.treaty):
            raise click.UsageError("no registry is named; give --resolver FILE, --registry URL or --treaty URL")
        with ExitStack() as stack:
            try:
                resolver = self._make_resolver(stack)
            except (ResolverConfigError, OSError, ValueError, RegistryError) as error:
                where = f"{self.config}: " if self.config and isinstance(error, ResolverConfigError) else ""
                raise UnusableError(f"{where}{error}") from error
            yield resolver  # what goes wrong with it is no fault of the options

    def _make_resolver(self, stack: ExitStack) -> Resolver:
        config = ResolverConfig() if self.config is None else _load_config(self.config)
        more = [_open_place(place, self.apikey) for place in self.registries]
        for url in self.treaty:
            connection = stack.enter_context(connect_to(url))
            more.append(treaty_registry(hide_credentials(url), connection))
        options = ResolverOptions(algorithm=self.algorithm)
        return stack.enter_context(Resolver(config, registries=more, options=options))


def _load_config(path: str) -> ResolverConfig:
    try:
        return load_resolver_config(path)
    except OSError as error:
        raise UnusableError(
            f"{path} cannot be read: {error.strerror}; give the file of a resolver's configuration, or name registries"
        ) from error


def _open_place(place: str, apikey: str | None) -> IgluRegistry:
    if split_url(place).scheme in {"http", "https"}:
        return http_registry(place, place, apikey=apikey)
    if not place.startswith("package:") and not Path(place.partition("!")[0]).exists():
        raise UnusableError(
            f"{hide_credentials(place)} does not exist; --registry takes an http(s) URL, a folder, a zip file or package:NAME"
        )
    return embedded_registry(place, place)


def _or_usual(source: ResolverSource) -> ResolverSource:
    """Return the source, or where it names nothing the registry of TREATY_REGISTRY: an Iglu registry, if its path ends
    in /api, or one of Treaty.
    """
    usual = os.environ.get("TREATY_REGISTRY", "")  # noqa: TID251 (a command's settings are variables too)
    if not usual or source.config or source.registries or source.treaty:
        return source
    is_api = split_url(usual).path.rstrip("/").endswith(API)
    return replace(source, registries=(usual,)) if is_api else replace(source, treaty=(usual,))


def resolver_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which receives them as `source`."""

    @wraps(command)
    def run(
        *args: Any,
        resolver: str | None,
        registries: tuple[str, ...],
        treaty: tuple[str, ...],
        apikey: str | None,
        algorithm: str,
        **rest: Any,
    ) -> Any:
        source = ResolverSource(resolver, registries, treaty, apikey, algorithm)
        return command(*args, source=_or_usual(source), **rest)

    for option in (
        click.option(
            "--algorithm",
            type=click.Choice(list(ALGORITHMS)),
            default="current",
            help="current (the default): the Scala client's since 0.6. seed: the one of Iglu's documentation.",
        ),
        click.option(
            "--apikey",
            envvar="TREATY_IGLU_APIKEY",
            show_envvar=True,
            metavar="KEY",
            help="Key for each --registry URL.",
        ),
        click.option(
            "--treaty",
            multiple=True,
            metavar="URL",
            help="A registry of Treaty, or of Confluent's API, with subjects VENDOR/NAME/FORMAT. Repeatable. "
            "Without --resolver, --registry and --treaty it is that of TREATY_REGISTRY.",
        ),
        click.option(
            "--registry",
            "registries",
            multiple=True,
            metavar="PLACE",
            help="An Iglu registry: http(s) URL, a folder or zip file with schemas/…, or package:NAME. Repeatable.",
        ),
        click.option(
            "--resolver",
            envvar="TREATY_IGLU_RESOLVER",
            show_envvar=True,
            metavar="FILE",
            help="Configuration of a resolver, 1-0-0 to 1-0-3.",
        ),
    ):
        run = option(run)
    return run
