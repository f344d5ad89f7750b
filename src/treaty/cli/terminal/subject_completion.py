"""Completion in bash, zsh and fish of subjects, which a registry is asked for, and of lints."""

import os
from dataclasses import replace
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from treaty.core.messages.listings import ListSubjects
from treaty.core.names import subject_of
from treaty.core.registry import CallOptions

PATIENCE = 0.8
"""Seconds to wait for the registry."""
OFFERED = 200
"""The most names that are offered."""


def complete_lints(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return ids of lints with this prefix, of all formats."""
    del ctx
    formats = import_module("treaty.formats.registry").find_formats()
    lints = sorted({lint for name in formats.names for lint in formats[name].lints})
    return [CompletionItem(lint) for lint in lints if lint.startswith(incomplete.upper())]


def complete_subjects(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return names of subjects with this prefix; none if the registry does not answer or refuses."""
    # Loaded late: every command asks for this, and most never talk to a registry.
    registry_url, client = (
        import_module("treaty.cli.terminal.registry_url"),
        import_module("treaty.client.http_registry"),
    )
    try:
        environment = dict(os.environ)  # noqa: TID251 (a command's settings are variables too)
        url = ctx.params.get("registry") or environment.get("TREATY_REGISTRY") or ""
        # without a terminal nobody is asked for a password
        settings = registry_url.read_settings(str(url), {"TREATY_PASSWORD": "", **environment})
        if isinstance(settings, str) or not settings.urls[0]:
            return []  # a log would have to be read from its beginning
        quick = replace(settings, rounds=1, attempt_timeout=PATIENCE, connect_timeout=PATIENCE)
        registry = client.HttpRegistry(quick)
        try:
            request = ListSubjects(subject_of(incomplete) if incomplete else ListSubjects().prefix, limit=OFFERED)
            names = registry.ask(request, CallOptions(consistency="eventual", timeout=PATIENCE)).answer.names
        finally:
            registry.close()
    except Exception:  # noqa: BLE001 (a line being typed is no place for messages)
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)][:OFFERED]
