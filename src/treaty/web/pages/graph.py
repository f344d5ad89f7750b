"""References and readers as a drawn graph, with the same as a list beside it: what needs what, as far as the viewer may see."""

from collections import deque
from dataclasses import dataclass, field

from treaty.core.messages.metastore.sources import ListDependents
from treaty.core.messages.schemas import ReferencedBy, UsesOf
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotFound, Refusal
from treaty.web.pages.graph_layout import BOX_HEIGHT, BOX_WIDTH, GraphNode, ReferenceGraph, draw_graph
from treaty.web.pages.page import PageRequest, WebPage
from treaty.web.pages.subject import list_pinned_sources
from treaty.web.pages.templates import link_to, link_to_use

NODES = 200
"""Nodes that are drawn."""
USES = 50
"""Subjects with one schema that are followed."""
LABEL = 26
"""Characters of a label in a box."""


@dataclass(slots=True)
class GraphSearch:
    """A search from one version outwards, nearest first, until NODES are there."""

    request: PageRequest
    nodes: dict[str, GraphNode] = field(default_factory=dict)
    edges: set[tuple[str, str]] = field(default_factory=set)
    waiting: deque[tuple[Subject, int, str]] = field(default_factory=deque)
    is_cut: bool = False

    def result(self) -> ReferenceGraph:
        """Return the graph; edges whose ends are there."""
        edges = frozenset((start, end) for start, end in self.edges if {start, end} <= self.nodes.keys())
        return ReferenceGraph(self.nodes, edges, self.is_cut)

    def add(self, node: GraphNode) -> bool:
        """Add a node; False where it is there, or past the most."""
        if node.key in self.nodes:
            return False
        if len(self.nodes) >= NODES:
            self.is_cut = True
            return False
        self.nodes[node.key] = node
        return True

    def reach(self, subject: Subject, number: int, direction: str) -> str:
        """Add a version, which is looked at later, in one direction or both; return its key."""
        key = f"{subject}@{number}"
        link = link_to("schema", subject=subject, version=number)
        if self.add(GraphNode(key, str(subject), f"version {number}", "subject", link)):
            self.waiting.append((subject, number, direction))
        return key

    async def extend(self, subject: Subject, number: int, direction: str) -> None:
        """Find what a version needs (``down``), and who needs it (``up``)."""
        key = f"{subject}@{number}"
        if direction in {"down", "both"}:
            version = await self.request.ask_or_none(GetVersion(subject, number, deleted=True, exact=True), Refusal)
            for reference in version.references if version else ():
                self.edges.add((key, self.reach(subject.sibling(reference.subject), reference.version, "down")))
        if direction in {"up", "both"}:
            referenced = await self.request.ask_or_none(ReferencedBy(subject, number, deleted=True), Refusal)
            for schema_id in referenced.ids if referenced else ():
                uses = await self.request.ask_or_none(UsesOf(schema_id, Subject(subject.context, "")), NotFound)
                for name, other in (uses.uses if uses else ())[:USES]:
                    self.edges.add((self.reach(subject_of(name), other, "up"), key))


async def find_references(request: PageRequest, subject: Subject, number: int) -> ReferenceGraph:
    """Return what a version needs and who needs it, sources that are pinned to its subject too."""
    search = GraphSearch(request)
    root = search.reach(subject, number, "both")
    for source in await list_pinned_sources(request, subject):
        node = GraphNode(
            f"source {source.name}", source.name, source.kind.lower(), "source", link_to("source", name=source.name)
        )
        search.add(node)
        search.edges.add((node.key, root))
    while search.waiting:
        await search.extend(*search.waiting.popleft())
    return search.result()


async def find_readers(request: PageRequest, name: str) -> ReferenceGraph:
    """Return what a source needs, and all that needs it, further and further."""
    dependents = await request.ask(ListDependents(name, "SOURCE", recursive=True))
    search = GraphSearch(request)
    search.add(_source_node("SOURCE", name))
    for upstream in dependents.upstreams:
        search.add(_source_node(upstream.kind, upstream.name))
        search.edges.add((_key(name), _key(upstream.name)))
    for upstream in dependents.dependents:
        search.add(_source_node(upstream.kind, upstream.name))
        search.edges.add((_key(upstream.name), _key(upstream.needs)))
    return search.result()


def _key(name: str) -> str:
    return name.lower()


def _source_node(kind: str, name: str) -> GraphNode:
    link = link_to_use(kind, name)
    if kind == "SOURCE":
        return GraphNode(_key(name), name, "stream or table", "source", link)
    subject, word, number = name.rpartition(" version ")
    return GraphNode(_key(name), subject or name, f"version {number}" if word else kind.lower(), "subject", link)


async def show_graph(request: PageRequest) -> WebPage:
    """Show the graph around a version of a subject, or around a source; without either the form that asks for one."""
    graph, root, title = ReferenceGraph({}, frozenset()), "", "Graph"
    if request.raw("source"):
        title = request.raw("source")
        graph, root = await find_readers(request, title), title.lower()
    elif request.raw("subject"):
        number = request.number("version", -1, lowest=-1)
        version = await request.ask(GetVersion(request.subject("subject"), number, deleted=True))
        title = version.subject
        graph, root = await find_references(request, subject_of(title), version.number), f"{title}@{version.number}"
    needs = {key: sorted(end for start, end in graph.edges if start == key) for key in graph.nodes}
    values = {
        "graph": graph,
        "drawing": draw_graph(graph) if graph.nodes else None,
        "root": root,
        "title_name": title,
        "needs": needs,
        "most": NODES,
        "box": (BOX_WIDTH, BOX_HEIGHT),
        "label": LABEL,
        "query": {"subject": request.raw("subject"), "source": request.raw("source")},
    }
    return WebPage("graph.html", f"Graph of {title}" if root else "Graph", values, "graph")
