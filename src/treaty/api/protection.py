"""Protection of a node: how rights, the audit log and the read-only mode of a server are opened and put around the registry."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from treaty.api.audit_log import AuditFile, AuditLog, RecordsAudit
from treaty.api.auth.authentication import RequestAuthenticator, admit_everyone, open_authentication
from treaty.api.auth.authorization import AuthorizedRegistry
from treaty.api.auth.watched_file import AuthFileError
from treaty.api.dispatcher import Authenticate, RunningNode
from treaty.metastore.records.outcomes import ReportRecords

STDERR = Path("-")
"""The path that means stderr."""


@dataclass(frozen=True, slots=True)
class ProtectionSettings:
    """Options of the protection; by default there is none. `auth` is a file of rights. `audit` is a file, or `STDERR`."""

    auth: Path | None = None
    audit: Path | None = None
    read_only: bool = False
    ddl: bool = True
    """Whether statements of clients may change sources and types."""
    imports: bool = False
    """Without `ddl`: whether a client that says it imports may change them all the same. With `auth` the permission `import` decides."""

    def __bool__(self) -> bool:
        return self.auth is not None or self.audit is not None or self.read_only or not self.ddl


@dataclass(frozen=True, slots=True)
class ActiveProtection:
    """The same, open and at work."""

    authenticator: RequestAuthenticator | None = None
    audit_file: AuditFile | None = None
    read_only: bool = False
    ddl: bool = True
    imports: bool = False

    @property
    def authenticate(self) -> Authenticate:
        """What lets requests in."""
        return admit_everyone if self.authenticator is None else self.authenticator

    @property
    def on_records(self) -> ReportRecords | None:
        """What gets the outcome of statements that write records; None without an audit log."""
        return None if self.audit_file is None else RecordsAudit(self.audit_file)

    def protect(self, member: RunningNode) -> AuthorizedRegistry:
        """Return the member as those see it who were let in."""
        scribe = None if self.audit_file is None else AuditLog(member, self.audit_file)
        has_rights = self.authenticator is not None
        return AuthorizedRegistry(member, has_rights, self.read_only, self.ddl, scribe, imports=self.imports)


@asynccontextmanager
async def open_protection(protection: ProtectionSettings) -> AsyncIterator[ActiveProtection | None]:
    """Open the protection for the block, and reload its files; None without options. Raises `AuthFileError` for an
    unusable file.
    """
    if not protection:
        yield None
        return
    admission = None if protection.auth is None else open_authentication(protection.auth)
    lines = None
    if protection.audit is not None:
        lines = AuditFile(None if protection.audit == STDERR else protection.audit)
        try:
            lines.open()
        except OSError as reason:
            fault = f"the audit log can't be opened ({reason.strerror})"
            raise AuthFileError(protection.audit, 0, fault, "give a file that can be written") from None
    following = asyncio.create_task(admission.follow()) if admission is not None else None
    try:
        yield ActiveProtection(admission, lines, protection.read_only, protection.ddl, protection.imports)
    finally:
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        if admission is not None:
            admission.close()
        if lines is not None:
            await asyncio.to_thread(lines.close)
