"""Prints graphs as PyTorch prints them: what `print(ep.graph)` shows.

    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})
        return (relu,)

PyTorch shows of a sub-graph only its name, in a `get_attr` line. Here the sub-graphs follow, each under its name
(`true_graph_0 = graph():`; one in another under both names, with a dot between), so that the text can be read back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from xdsl_exir.dialects.dtypes import DType
from xdsl_exir.exchange.graph import (
    CustomObj,
    Device,
    Graph,
    InputSpec,
    Layout,
    MemoryFormat,
    Node,
    NodeInput,
    OperatorRef,
    Ref,
    Result,
    Subgraph,
    Value,
    references,
    serialized_target,
)

TUPLES: dict[str, frozenset[int]] = {
    "higher_order.cond": frozenset({3}),
    "higher_order.while_loop": frozenset({2, 3}),
    "higher_order.while_loop_stack_output": frozenset({2, 3}),
    "higher_order.scan": frozenset({3}),
    "higher_order.associative_scan": frozenset({2}),
}
"""Arguments that are tuples; all others of several values are lists."""


def fx_text(graph: Graph, inputs: tuple[InputSpec, ...] = ()) -> str:
    """The text of a graph and of its sub-graphs. `inputs` names the inputs that export fixed."""
    texts = ["graph():\n" + _body(graph, inputs)]
    texts += [f"{name} = graph():\n" + _body(inner) for name, inner in subgraphs(graph)]
    return "\n\n".join(texts)


def subgraphs(graph: Graph, prefix: str = "") -> Iterator[tuple[str, Graph]]:
    """The sub-graphs of a graph with their names, those inside of others after them."""
    for node in graph.nodes:
        for item in node.inputs:
            if isinstance(item.value, Subgraph):
                name = prefix + item.value.name
                yield name, item.value.graph
                yield from subgraphs(item.value.graph, f"{name}.")


def _body(graph: Graph, inputs: tuple[InputSpec, ...] = ()) -> str:
    users = _users(graph)
    lines: list[str] = []
    for i, value in enumerate(graph.inputs):
        name = value.name if isinstance(value, Ref | CustomObj) else inputs[i].name if inputs else f"arg{i}"
        lines.append(f"%{name} : [num_users={users[name]}] = placeholder[target={name}]")
    for node in graph.nodes:
        lines += _node_lines(node, users)
    returned = [_text(value, ref="") for value in graph.outputs]
    bare = graph.returns_single_tensor
    lines.append(f"return {returned[0] if bare else _tuple(returned)}")
    return "\n".join(f"    {line}" for line in lines)


def _users(graph: Graph) -> Counter[str]:
    """How many nodes use each value; the output is one too."""
    users: Counter[str] = Counter()
    for node in graph.nodes:
        users.update({name for item in node.inputs for name in references(item.value)})
    users.update({name for output in graph.outputs for name in references(output)})
    return users


def _node_lines(node: Node, users: Counter[str]) -> Iterator[str]:
    """A node's line; before it those of its sub-graphs, after it those of the results that it gives."""
    for item in node.inputs:
        if isinstance(item.value, Subgraph):
            yield f"%{item.value.name} : [num_users=1] = get_attr[target={item.value.name}]"
    positional = [_argument(node, i, item) for i, item in enumerate(node.inputs) if not item.keyword]
    keyword = [f"{item.name}: {_text(item.value)}" for item in node.inputs if item.keyword]
    target = serialized_target(node.target).replace("_operator.", "operator.")
    items = list(_getitems(node, users))
    count = users[node.name] if not items else len(items)
    yield (
        f"%{node.name} : [num_users={count}] = call_function[target={target}]"
        f"(args = {_tuple(positional)}, kwargs = {{{', '.join(keyword)}}})"
    )
    for index, name in items:
        yield (
            f"%{name} : [num_users={users[name]}] = call_function[target=operator.getitem]"
            f"(args = (%{node.name}, {index}), kwargs = {{}})"
        )


def _getitems(node: Node, users: Counter[str]) -> Iterator[tuple[int, str]]:
    """The results that have a node of their own; one that nothing reads has none."""
    if len(node.outputs) == 1 and node.outputs[0] == Ref(node.name):
        return
    for index, name in enumerate(name for result in node.outputs for name in _names(result)):
        if name is not None and (users[name] or name != f"{node.name}_unused_{index}"):
            yield index, name


def _names(result: Result) -> list[str | None]:
    items = result if isinstance(result, tuple) else (result,)
    return [item.name if item is not None else None for item in items]


def _argument(node: Node, index: int, item: NodeInput) -> str:
    if index in TUPLES.get(node.target, ()) and isinstance(item.value, tuple):
        return _tuple([_text(value) for value in item.value])
    return _text(item.value)


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _text(value: Value, ref: str = "%") -> str:
    """An argument; strings stand as they are, without quotes."""
    match value:
        case Ref() | Subgraph() | CustomObj():
            return f"{ref}{value.name}"
        case tuple():
            return f"[{', '.join(_text(item, ref) for item in value)}]"
        case dict():
            return f"{{{', '.join(f'{key}: {_text(item, ref)}' for key, item in value.items())}}}"
        case DType():
            return f"torch.{value.torch_name}"
        case Layout() | MemoryFormat():
            return f"torch.{value.name}"
        case Device() | OperatorRef():
            return value.name
        case _:
            return str(value)
