"""How a method is called whose driver takes memory (`lowering.driver`), kept in attributes of the driver that need no dialect of ours.

    exir.signature    the method as it was at edge
    exir.plan         {inputs = [...], constants = [...], copies = [...], updates = [...], conditions = [...], checks = [...], reads = [...]}

`inputs` are the positions of the method's arguments that the driver takes, behind its symbols; `constants` the names, in the program's state, of
the arrays that it takes next; `copies` and `updates` are `Plan`'s, `conditions` its checks of symbols; `checks` are the operators that look at the last results (`lowering.checks`),
before `reads`, the symbols that it reads, each with what it is at most (`lowering.reads`): said where there are some.
All else the signature says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xdsl_exir.dialects.operator import OperatorOp
from xdsl_exir.dialects.signature import PLAN
from xdsl_exir.dialects.tensors import SymType, is_tensor_type, tensor_meta
from xdsl_exir.errors import LoadError
from xdsl_exir.exchange.tensor_data import TensorData
from xdsl_exir.lowering.checks import check_of, check_text
from xdsl_exir.lowering.dispatch import symbol_places
from xdsl_exir.lowering.dispatches.buffers import Array, Buffer, Plan, Value, value_for
from xdsl_exir.lowering.driver import as_attribute, size_in
from xdsl_exir.lowering.plan_memory import arena_bytes_of, is_planned
from xdsl_exir.lowering.pools import arenas_of
from xdsl_exir.lowering.reads import READ
from xdsl_exir.lowering.signatures import keep_signature
from xdsl_exir.program import State, signature_of


def words(*values: Attribute) -> ArrayAttr[Attribute]:
    return ArrayAttr(values)


PARTS = ("inputs", "constants", "copies", "updates", "conditions", "checks", "reads")


@dataclass(frozen=True)
class PlannedCall:
    """How a method is called."""

    plan: Plan
    passed: list[int]
    """Positions of the method's arguments that the driver takes as inputs."""
    checks: list[OperatorOp]
    """What the caller has to check: the driver's last results are what these look at."""


def keep_plan(call: PlannedCall, method: FuncOp, state: State) -> None:
    """Says of the driver of a method how it is called. Its constants become the program's state."""
    plan = call.plan
    name, driver = method.sym_name.data, plan.driver

    def constant(array: Array) -> StringAttr:
        return StringAttr(state.add(f"{name}.constant", array))

    copies = [
        words(as_attribute(at), as_attribute(source) if isinstance(source, int) else constant(source))
        for at, source in plan.copies
    ]
    conditions = [words(as_attribute(condition), StringAttr(message)) for condition, message in plan.checks]
    reads = [words(StringAttr(symbol), as_attribute(most)) for symbol, most in plan.reads.items()]
    driver.attributes[PLAN] = DictionaryAttr(
        {
            "inputs": words(*(IntegerAttr(position, i64) for position in call.passed)),
            "constants": words(*(constant(array) for _, array in plan.constants)),
            "copies": words(*copies),
            "updates": words(*(words(*map(as_attribute, pair)) for pair in plan.updates.items())),
            "conditions": words(*conditions),
            "checks": words(*(StringAttr(check_text(check)) for check in call.checks)),
            **({"reads": words(*reads)} if reads else {}),
        }
    )
    keep_signature(method, driver)


def plan_of(driver: FuncOp, state: Mapping[str, TensorData]) -> PlannedCall:
    """How a method is called, from its driver.

    Raises `LoadError` where the driver's attributes do not say it."""
    name, said = driver.sym_name.data, driver.attributes.get(PLAN)
    signature = signature_of(driver)
    if not isinstance(said, DictionaryAttr) or signature is driver:
        raise LoadError(f"'{name}' does not say how it is called: it has no {PLAN} and signature")
    parts = {key: list_in(said, key, name) for key in PARTS}
    types = signature.function_type.inputs.data
    passed = [position for position in map(number_in, parts["inputs"]) if 0 <= position < len(types)]
    if len(passed) != len(parts["inputs"]) or not all(is_tensor_type(types[p]) for p in passed):
        raise LoadError(f"{PLAN} of '{name}': the inputs are no tensors that its signature has")
    plan = Plan()
    plan.driver = driver
    plan.symbols = symbol_places(types)
    plan.inputs = [value_for(tensor_meta(types[position])) for position in passed]
    checks = [check_in(attr) for attr in parts["checks"]]
    for position, at in map(pair_in, parts["updates"]):
        plan.updates[number_in(position)] = number_in(at)
    results = range(len(signature.function_type.outputs))
    if not plan.updates.keys() <= set(results) or not all(
        0 <= at < len(passed) for at in plan.updates.values()
    ):
        raise LoadError(f"{PLAN} of '{name}': the updates are no results and inputs that its signature has")
    looked_at = (type for check in checks for type in check.operand_types)
    for position, type in enumerate((*signature.function_type.outputs, *looked_at)):
        if isinstance(type, SymType):
            plan.numbers[position] = type.data
        elif is_tensor_type(type) and position not in plan.updates:
            plan.outputs.append(value_for(tensor_meta(type)))
    for symbol, most in map(pair_in, parts["reads"]):
        size = size_in(most)
        if size is None or not isinstance(symbol, StringAttr):
            raise LoadError(f"{PLAN} of '{name}': {most} is nothing that a size is at most")
        plan.reads[symbol.data] = size
        plan.outputs.append(value_for(READ))

    def constant(attr: Attribute) -> TensorData:
        if not isinstance(attr, StringAttr) or attr.data not in state:
            raise LoadError(f"{PLAN} of '{name}': no data for the constant {attr}")
        return state[attr.data]

    for data in map(constant, parts["constants"]):
        array = np.ascontiguousarray(data.numpy()).reshape(data.numpy().shape)
        plan.constants.append((Value(Buffer(array.nbytes), array.shape, data.dtype), array))
    for at, source in map(pair_in, parts["copies"]):
        given = constant(source).numpy() if isinstance(source, StringAttr) else number_in(source)
        plan.copies.append((number_in(at), given))
    for condition, message in map(pair_in, parts["conditions"]):
        size = size_in(condition)
        if size is None or not isinstance(message, StringAttr):
            raise LoadError(f"{PLAN} of '{name}': {condition} is no condition")
        plan.checks.append((size, message.data))
    if is_planned(driver):
        plan.arena_bytes = arena_bytes_of(driver)
    check_arguments(driver, plan)
    return PlannedCall(plan, passed, checks)


def list_in(said: DictionaryAttr, key: str, name: str) -> Sequence[Attribute]:
    """A list of such an attribute. Raises `LoadError` where there is none."""
    found = said.data.get(key, words() if key == "reads" else None)
    if not isa(found, ArrayAttr[Attribute]):
        raise LoadError(f"{PLAN} of '{name}' has no list '{key}'")
    return found.data


def pair_in(attr: Attribute) -> tuple[Attribute, Attribute]:
    """A list of two. Raises `LoadError` for anything else."""
    if not isa(attr, ArrayAttr[Attribute]) or len(attr.data) != 2:
        raise LoadError(f"{PLAN}: {attr} is no pair")
    first, second = attr.data
    return first, second


def check_in(attr: Attribute) -> OperatorOp:
    """A check. Raises `LoadError` for anything else."""
    if not isinstance(attr, StringAttr):
        raise LoadError(f"{PLAN}: {attr} is no check")
    return check_of(attr.data)


def number_in(attr: Attribute) -> int:
    """A number. Raises `LoadError` for anything else."""
    size = size_in(attr)
    if not isinstance(size, int):
        raise LoadError(f"{PLAN}: {attr} is no number")
    return size


def check_arguments(driver: FuncOp, plan: Plan) -> None:
    """Raises `LoadError` unless the driver takes what its plan says."""
    arenas = len(arenas_of(driver)) if is_planned(driver) else 0
    count = len(plan.symbols) + len(plan.inputs) + len(plan.constants) + len(plan.outputs) + arenas
    if len(driver.function_type.inputs) != count or driver.function_type.outputs.data:
        raise LoadError(f"'{driver.sym_name.data}' does not take the {count} arguments that its {PLAN} says")
