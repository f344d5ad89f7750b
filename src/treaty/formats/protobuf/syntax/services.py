"""Services of Protobuf and their methods are read from their text."""

from treaty.core.limits import SCHEMA_MEMBERS
from treaty.formats.protobuf.model import ProtoOption, RpcMethod, RpcService
from treaty.formats.protobuf.syntax import options
from treaty.formats.protobuf.syntax.cursor import TokenCursor
from treaty.formats.protobuf.syntax.messages import SCALARS


def read_service(cursor: TokenCursor, begin: int) -> RpcService:
    """A service, with the cursor after its first word; `begin` is where the definition begins."""
    name = cursor.name("the name of a service")
    cursor.expect("{")
    methods: list[RpcMethod] = []
    option_list: list[ProtoOption] = []
    while not cursor.accept("}"):
        if cursor.accept("option"):
            option_list.append(options.read_statement(cursor))
        elif not cursor.accept(";"):
            methods.append(_method(cursor))
        if len(methods) > SCHEMA_MEMBERS:
            limit = f"more methods than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
            raise cursor.fault("TOO_MANY", limit, f"at most {SCHEMA_MEMBERS} in one service")
    return RpcService(name, tuple(methods), tuple(option_list), cursor.doc(begin), cursor.place(begin))


def _method(cursor: TokenCursor) -> RpcMethod:
    begin = cursor.at
    cursor.expect("rpc")
    name = cursor.name("the name of a method")
    takes, client = _side(cursor)
    cursor.expect("returns")
    returns, server = _side(cursor)
    option_list: list[ProtoOption] = []
    if cursor.accept("{"):
        while not cursor.accept("}"):
            if not cursor.accept(";"):
                cursor.expect("option")
                option_list.append(options.read_statement(cursor))
    else:
        cursor.expect(";")
    return RpcMethod(name, takes, returns, client, server, tuple(option_list), cursor.doc(begin), cursor.place(begin))


def _side(cursor: TokenCursor) -> tuple[str, bool]:
    cursor.expect("(")
    streams = cursor.accept("stream")
    if cursor.tokens[cursor.at] in SCALARS:
        raise cursor.unexpected_token("the name of a message")
    name = cursor.dotted_name("the name of a message")
    cursor.expect(")")
    return name, streams
