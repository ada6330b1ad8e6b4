"""Follows the values of fields through the body of one function, to what it assigns and returns.

Only values count, not conditions: `order.total = line.price if order.state else 0` has the value of `price`. The order
of statements is ignored: a name has the union of everything that is assigned to it.

A value is a set of paths. A path begins with `self`, a parameter (`=name`), a model (`@name`) or the text of a query
(`#text`), whose rows it stands for. Its steps are names of attributes, and calls of methods, which field_sources.py
replaces by what the method returns.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Union

from sql_columns import is_query

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef]
Value = frozenset  # a set of paths

NOTHING: Value = frozenset()
SELF = ("self",)
STEPS_MAX = 6
# Maximum number of paths. A function with more is no formula.
PATHS_MAX = 200


class CallStep(NamedTuple):
    method: str
    arguments: tuple
    keywords: tuple


@dataclass
class ValueFacts:
    """What one function does with values. Records are represented by paths."""

    # By records and field: the value that the function assigns.
    assigned: dict[tuple[tuple, str], Value] = field(default_factory=dict)
    # Records to which the function assigns fields whose names another function returns.
    spread: set[tuple[tuple, tuple]] = field(default_factory=set)
    returned: Value = NOTHING
    # The entries of a dict that the function returns.
    entries: dict[str, Value] = field(default_factory=dict)
    # Calls of methods, as paths that end with a call.
    calls: set[tuple] = field(default_factory=set)
    # By context key: the values that a condition on it controls, assigned or returned.
    keyed: dict[str, Value] = field(default_factory=dict)
    # Context keys that the function reads.
    keys: set[str] = field(default_factory=set)
    # Texts in the code, and texts that a key of a dict names. The query of a view is made of them.
    texts: list[str] = field(default_factory=list)
    named_texts: list[tuple[str, str]] = field(default_factory=list)


# Methods that return records of the same model.
SAME_RECORDS = {
    "sudo", "with_context", "with_user", "with_env", "with_company", "with_prefetch", "filtered", "exists",
    "filtered_domain", "sorted", "search", "browse", "search_fetch", "concat", "union", "ensure_one", "new", "copy",
    "grouped",
}  # fmt: skip
AGGREGATES = {"read_group", "_read_group", "formatted_read_group", "search_read", "read"}
# Functions and methods whose result reveals little of the value of a field.
WITHOUT_VALUE = {
    "isinstance", "bool", "hasattr", "any", "all", "type", "issubclass", "callable", "range", "search_count",
    "has_group", "user_has_groups", "has_access", "check_access_rights", "check_access", "startswith", "endswith",
    "isdigit", "get_param", "_for_xml_id", "ref", "_fields_get", "index", "is_zero", "float_is_zero",
    "float_compare", "compare_amounts", "now", "today", "context_today", "enumerate_index",
}  # fmt: skip
NEUTRAL = {
    "env", "_name", "_table", "pool", "_cr", "_uid", "_fields", "_context", "_description", "_rec_name", "_order",
    "_inherits", "_parent_name", "context", "cr", "uid",
}  # fmt: skip
RECORD_IDS = {"id", "ids", "_origin", "_ids"}
# Methods that return the rows of the queries that the function has executed.
FETCHES = {"fetchone", "fetchall", "fetchmany", "dictfetchone", "dictfetchall"}
MUTATIONS = {"append", "extend", "insert", "add", "update", "setdefault"}


def trace_values(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> ValueFacts:
    return _Trace(node, parameters, constants).run()


class _Trace:
    def __init__(self, node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> None:
        self.constants = constants
        self.nodes = [child for statement in node.body for child in ast.walk(statement)]
        self.facts = ValueFacts()
        names = [name.lstrip("*") for name in parameters]
        self.values: dict[str, Value] = {name: frozenset({(f"={name}",)}) for name in names}
        self.values["self"] = self.values["cls"] = frozenset({SELF})
        self.executed = [
            child.args[0]
            for child in self.nodes
            if isinstance(child, ast.Call) and _name_of(child.func) == "execute" and child.args
        ]
        self.bound: dict[str, list[ast.expr]] = {}
        for name, value in _list_bindings(self.nodes):
            self.bound.setdefault(name, []).append(value)
        self._propagate()

    def run(self) -> ValueFacts:
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
                self._assign(node.target, node.value)
            elif isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
                self.facts.returned |= self.value(node.value)
                for key, value in self._entries(node.value):
                    self.facts.entries[key] = self.facts.entries.get(key, NOTHING) | value
            elif isinstance(node, ast.Call):
                self._visit_call(node)
            self.facts.keys.update(self._keys_of(node))
            self._note_texts(node)
        self._visit_conditions()
        return self.facts

    def _propagate(self) -> None:
        for _ in range(8):
            changed = False
            for name, values in self.bound.items():
                known = self.values.get(name, NOTHING)
                found = known.union(*map(self.value, values))
                if name not in ("self", "cls") and found != known and len(found) <= PATHS_MAX:
                    self.values[name] = found
                    changed = True
            if not changed:
                return

    # Values of expressions

    def value(self, node: ast.expr | None) -> Value:
        if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)):
            text = _text_of(node)
            if text is not None and is_query(text):
                return frozenset({(f"#{text}",)})
        if isinstance(node, ast.Name):
            return self.values.get(node.id, NOTHING)
        if isinstance(node, ast.Attribute):
            return self._value_of_attribute(node)
        if isinstance(node, ast.Subscript):
            return self._value_of_item(node)
        if isinstance(node, ast.Call):
            return self._value_of_call(node)
        if isinstance(node, ast.BinOp):
            return self.value(node.left) | self.value(node.right)
        if isinstance(node, ast.BoolOp):
            return self._join(node.values if isinstance(node.op, ast.Or) else node.values[-1:])
        if isinstance(node, ast.IfExp):
            return self.value(node.body) | self.value(node.orelse)
        if isinstance(node, ast.UnaryOp):
            return self.value(node.operand)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._join(node.elts)
        if isinstance(node, (ast.Dict, ast.JoinedStr)):
            return self._join(node.values)
        if isinstance(node, ast.DictComp):
            return self.value(node.value)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self.value(node.elt)
        if isinstance(node, ast.Lambda):
            return self.value(node.body)
        if isinstance(node, (ast.Starred, ast.Await, ast.NamedExpr, ast.FormattedValue)):
            return self.value(node.value)
        return NOTHING

    def _join(self, nodes: Iterable[ast.expr | None]) -> Value:
        return NOTHING.union(*map(self.value, nodes))

    def _value_of_attribute(self, node: ast.Attribute) -> Value:
        if node.attr in NEUTRAL:
            return NOTHING
        if isinstance(node.value, ast.Attribute) and node.value.attr == "env":
            # `env.company` and `env.user` do not depend on fields of the record.
            return {"company": frozenset({("@res.company",)}), "user": frozenset({("@res.users",)})}.get(
                node.attr, NOTHING
            )
        own = self.value(node.value)
        return own if node.attr in RECORD_IDS else _extend(own, node.attr)

    def _value_of_item(self, node: ast.Subscript) -> Value:
        if _is_env(node.value):
            models = self._constants_of(node.slice)
            return frozenset((f"@{model}",) for model in models)
        if self._is_context(node.value):
            return NOTHING
        own = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            return own
        names = self._constants_of(node.slice)
        return NOTHING.union(*(_extend(own, name) for name in names)) if names else own

    def _value_of_call(self, node: ast.Call) -> Value:
        name = _name_of(node.func)
        if name in WITHOUT_VALUE:
            return NOTHING
        if name in FETCHES:
            return self._join(self.executed)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not isinstance(node.func, ast.Attribute):
            if name == "super":
                return frozenset({SELF})
            # The function may be a parameter or a variable.
            return self._join(arguments) | (self.values.get(name, NOTHING) if name in self.values else NOTHING)
        receiver = node.func.value
        if self._is_context(receiver):
            return NOTHING
        if isinstance(receiver, ast.Call) and _name_of(receiver.func) == "super":
            return NOTHING
        own = self.value(receiver)
        if name in SAME_RECORDS:
            return own | (self._join(node.args) if name == "browse" else NOTHING)
        if name == "mapped" and node.args:
            if isinstance(node.args[0], ast.Lambda):
                return self.value(node.args[0])
            found = own
            for step in ".".join(self._constants_of(node.args[0])).split("."):
                found = _extend(found, step) if step else NOTHING
            return found
        if name in AGGREGATES:
            names = {
                part.value.split(":")[0]
                for argument in arguments
                if not _is_domain(argument)
                for part in ast.walk(argument)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            }
            return NOTHING.union(*(_extend(own, each) for each in names))
        if not own or _is_env(receiver):
            return self._join(arguments)
        positional = tuple(self.value(argument) for argument in node.args)
        keywords = tuple((each.arg or "", self.value(each.value)) for each in node.keywords)
        return _extend(own, CallStep(name, positional, keywords))

    def _constants_of(self, node: ast.expr) -> list[str]:
        """The texts that an expression can be, according to constants and loops over them."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if not isinstance(node, ast.Name):
            return []
        values: list[object] = [self.constants.get(node.id)]
        for bound in self.bound.get(node.id, ()):
            try:
                values.append(ast.literal_eval(bound))
            except (ValueError, TypeError, SyntaxError):
                constant = self.constants.get(bound.id) if isinstance(bound, ast.Name) else None
                values.append(constant)
        flat = [item for value in values for item in (value if isinstance(value, (list, tuple, set)) else [value])]
        return [item for item in flat if isinstance(item, str)][:20]

    # Assignments

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            pairs = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
            for index, element in enumerate(target.elts):
                self._assign(element, value.elts[index] if pairs else value)  # type: ignore[attr-defined]
        elif isinstance(target, ast.Attribute):
            self._note(self.value(target.value), target.attr, self.value(value))
        elif isinstance(target, ast.Subscript):
            for name in self._constants_of(target.slice):
                self._note(self.value(target.value), name, self.value(value))

    def _note(self, records: Value, name: str, value: Value) -> None:
        for path in records:
            key = (path, name)
            self.facts.assigned[key] = self.facts.assigned.get(key, NOTHING) | value

    def _visit_call(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Attribute):
            return
        name = node.func.attr
        records = self.value(node.func.value)
        if name in ("write", "update", "create", "_write") and node.args:
            for key, value in self._entries(node.args[0]):
                self._note(records, key, value)
            for path in self.value(node.args[0]):
                if isinstance(path[-1], CallStep):
                    self.facts.spread.update((record, path) for record in records)
        for path in self.value(node):
            if isinstance(path[-1], CallStep):
                self.facts.calls.add(path)

    def _entries(self, node: ast.expr, depth: int = 0) -> Iterator[tuple[str, Value]]:
        """The entries of a dict, or of a dict that a name holds."""
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if key is None:
                    yield from self._entries(value, depth + 1)
                else:
                    for name in self._constants_of(key):
                        yield name, self.value(value)
        elif isinstance(node, ast.Call) and _name_of(node.func) == "dict":
            yield from ((keyword.arg, self.value(keyword.value)) for keyword in node.keywords if keyword.arg)
        elif isinstance(node, ast.Name) and depth < 3:
            for bound in self.bound.get(node.id, ()):
                yield from self._entries(bound, depth + 1)

    # Texts

    def _note_texts(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            text = _text_of(node)
            if text is not None:
                self.facts.texts.append(text)
        pairs = zip(node.keys, node.values) if isinstance(node, ast.Dict) else ()
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            pairs = ((node.targets[0].slice, node.value),)
        for key, value in pairs:
            text = _text_of(value.args[0] if isinstance(value, ast.Call) and value.args else value)
            if text is not None and isinstance(key, ast.Constant) and isinstance(key.value, str):
                self.facts.named_texts.append((key.value, text))

    # Context keys

    def _is_context(self, node: ast.expr, depth: int = 0) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "_context" or (node.attr == "context" and _is_env(node.value))
        if isinstance(node, ast.Name) and depth < 3:
            return node.id not in self.values and any(
                self._is_context(value, depth + 1) for value in self.bound.get(node.id, ())
            )
        return False

    def _keys_of(self, node: ast.AST) -> Iterator[str]:
        """The context keys that the node itself reads."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("get", "pop") and node.args and self._is_context(node.func.value):
                yield from self._constants_of(node.args[0])
        elif isinstance(node, ast.Subscript) and self._is_context(node.value):
            yield from self._constants_of(node.slice)
        elif isinstance(node, ast.Compare) and self._is_context(node.comparators[0]):
            yield from self._constants_of(node.left)

    def _keys_in(self, node: ast.AST, depth: int = 0) -> set[str]:
        """The keys that an expression reads, also through names."""
        keys: set[str] = set()
        for child in ast.walk(node):
            keys.update(self._keys_of(child))
            if isinstance(child, ast.Name) and depth < 2:
                for value in self.bound.get(child.id, ()):
                    keys |= self._keys_in(value, depth + 1)
        return keys

    def _visit_conditions(self) -> None:
        for node in self.nodes:
            controlled: list[ast.AST] = []
            test: ast.AST | None = None
            if isinstance(node, ast.If):
                branches = [child for part in (*node.body, *node.orelse) for child in ast.walk(part)]
                # If the body ends the function, the condition also controls the statements after it.
                ends = isinstance(node.body[-1], (ast.Return, ast.Continue))
                test, controlled = node.test, self.nodes if ends else branches
            elif isinstance(node, ast.IfExp):
                test, controlled = node.test, [node.body, node.orelse]
            elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
                test, controlled = ast.Tuple(elts=node.values[:-1], ctx=ast.Load()), [node.values[-1]]
            if test is None:
                continue
            for key in self._keys_in(test):
                self.facts.keyed[key] = self.facts.keyed.get(key, NOTHING).union(*map(self._value_set, controlled))

    def _value_set(self, node: ast.AST) -> Value:
        """The value that a statement gives to a name or returns."""
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Yield)) and node.value is not None:
            return self.value(node.value)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Name):
            is_mutation = isinstance(node, ast.Call) and _name_of(node.func) in MUTATIONS
            is_formula = isinstance(node, (ast.JoinedStr, ast.BinOp, ast.IfExp, ast.Attribute, ast.Call))
            return self._join(node.args) if is_mutation else self.value(node) if is_formula else NOTHING  # type: ignore
        return NOTHING


def _list_bindings(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _bind(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.AugAssign)) and node.value is not None:
            yield from _bind(node.target, node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield from _bind(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from _bind(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            for argument in arguments:
                if isinstance(argument, ast.Lambda) and argument.args.args:
                    yield argument.args.args[0].arg, node.func.value
                elif node.func.attr in MUTATIONS and isinstance(_holder_of(node.func.value), ast.Name):
                    yield _holder_of(node.func.value).id, argument


def _bind(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, ast.Call) and _name_of(value.func) in ("zip", "enumerate"):
            is_zip = _name_of(value.func) == "zip" and len(value.args) == len(target.elts)
            for index, element in enumerate(target.elts):
                part = value.args[index] if is_zip else value.args[-1] if index > 0 and value.args else None
                if part is not None:
                    yield from _bind(element, part)
            return
        pairs = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for index, element in enumerate(target.elts):
            yield from _bind(element, value.elts[index] if pairs else value)  # type: ignore[attr-defined]
    elif isinstance(target, ast.Starred):
        yield from _bind(target.value, value)
    elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        entry = ast.Dict(keys=[target.slice], values=[value])
        yield target.value.id, entry


def _holder_of(node: ast.expr) -> ast.expr:
    """The dict or list that has an item, or an item of an item."""
    return _holder_of(node.value) if isinstance(node, ast.Subscript) else node


def _text_of(node: ast.expr) -> str | None:
    """The text of an expression, with a question mark for each part that is not constant; None if it is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "?" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        left = _text_of(node.left)
        return left if left is None or isinstance(node.op, ast.Mod) else left + (_text_of(node.right) or "?")
    return None


def _extend(value: Value, step: object) -> Value:
    return frozenset((*path, step) for path in value if len(path) <= STEPS_MAX)


def _is_env(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("env", "pool")
    if isinstance(node, ast.Call):
        return _is_env(node.func)
    return isinstance(node, ast.Name) and node.id == "env"


def _is_domain(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Tuple) and len(part.elts) == 3 for part in ast.walk(node))


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
