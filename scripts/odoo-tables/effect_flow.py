"""Finds what one function does to records, and which members of its arguments decide about it.

Extends value_flow.py: records are paths. An effect is a call of a method, or an assignment to a field. Its keys are the
names that the function looks up in an argument to decide whether it happens (`if "stage_id" in values`), or to get a
value of it (`values["email"]`). The innermost condition with such a name counts, because without it nothing happens.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from value_flow import NOTHING, SELF, FunctionNode, Value, _is_env, _name_of, _Trace

ASSIGNMENT = "="
# Prefix for the name of a method that looks up names in an argument of its caller.
CALLED = "()"
GROUPS = "@res.groups"
# Records whose model cannot be determined.
ANYTHING = ("?",)
# Methods that send mail by a template or to receivers of their own, or subscribe followers.
MAILS = {
    "send_mail", "send_mail_batch", "action_send_mail", "_action_send_mail", "message_post_with_template",
    "message_post_with_source", "message_mail_with_source", "message_notify", "_message_sms_with_template",
    "_message_sms_schedule_mass", "_send_sms",
}  # fmt: skip
EVALUATIONS = {"literal_eval", "safe_eval"}
FOLLOWS = {"message_subscribe", "_message_subscribe"}
SEARCHES = {"search", "search_count", "search_fetch", "search_read", "_search", "read_group", "_read_group"}
# Number of parts of a condition.
CONDITION_PARTS = 3
SENDING = MAILS | FOLLOWS
# Functions whose result is a dict or a list of values.
PLAIN_CALLS = re.compile(
    r"val|prepare|dict|default|^(read|zip|list|set|sorted|items|values|keys|split|get)$|read_group|_get_.*data"
)
Keys = frozenset


@dataclass(frozen=True)
class Effect:
    records: Value
    # The name of a method, or `=` for an assignment.
    method: str
    # Fields that an assignment, or a literal of values, sets.
    fields: frozenset
    # Names that the function looks up in its arguments. Empty: it looks up none.
    keys: Keys


@dataclass
class EffectFacts:
    effects: list[Effect] = field(default_factory=list)
    # Names that the function looks up in its arguments to compute its result.
    returned_keys: set[str] = field(default_factory=set)
    # All names that the function looks up.
    keys: set[str] = field(default_factory=set)
    # Records that are searched for, with the fields that the conditions name.
    searched: list[tuple[Value, frozenset]] = field(default_factory=list)
    # Texts that are evaluated as a domain or another expression.
    evaluated: set[tuple] = field(default_factory=set)
    # Names of fields with such texts whose records are not known.
    evaluated_names: set[str] = field(default_factory=set)
    # Fields that are passed on: records, a method of them, the position of the argument, and its value.
    passed: list[tuple[Value, str, int, Value]] = field(default_factory=list)


def trace_effects(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> EffectFacts:
    return _EffectTrace(node, parameters, constants).find()


class _EffectTrace(_Trace):
    def __init__(self, node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> None:
        self.roots = {f"={name.lstrip('*')}" for name in parameters}
        super().__init__(node, parameters, constants)
        self.node = node
        self.found = EffectFacts()

    def find(self) -> EffectFacts:
        for node in self.nodes:
            self.found.keys.update(self._list_looked_up(node))
            if isinstance(node, ast.Call) and _name_of(node.func) in EVALUATIONS and node.args:
                text = node.args[0]
                self.found.evaluated |= self.value(text)
                if isinstance(text, ast.Attribute) and not self.value(text):
                    self.found.evaluated_names.add(text.attr)
        self._walk(self.node.body, NOTHING)
        return self.found

    def _value_of_call(self, node: ast.Call) -> Value:
        # The name of a group's external id begins with `group_` by convention.
        if _name_of(node.func) in ("ref", "_ref") and node.args:
            names = self._constants_of(node.args[0])
            if any(name.partition(".")[2].startswith("group_") for name in names):
                return frozenset({(GROUPS,)})
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(receiver, ast.Call) and _name_of(receiver.func) == "super" and _name_of(node.func) == "create":
            return frozenset({SELF})
        return super()._value_of_call(node)

    def _walk(self, body: list[ast.stmt], keys: Keys) -> None:
        for index, statement in enumerate(body):
            if isinstance(statement, ast.If):
                tested = self._keys_within(statement.test)
                self._visit(statement.test, keys)
                if tested and self._is_negative(statement.test):
                    # The body runs without the name. If the body ends the function, the rest of it needs the name.
                    self._walk(statement.body, keys)
                    self._walk(statement.orelse, tested)
                    if _leaves(statement.body):
                        self._walk(body[index + 1 :], tested)
                        return
                    continue
                self._walk(statement.body, tested or keys)
                self._walk(statement.orelse, keys)
            elif isinstance(statement, (ast.For, ast.AsyncFor)):
                self._visit(statement.iter, keys)
                self._walk(statement.body, keys | self._keys_of_filter(statement.iter))
                self._walk(statement.orelse, keys)
            elif isinstance(statement, (ast.While, ast.With, ast.AsyncWith, ast.Try)):
                for name in ("test", "items"):
                    part = getattr(statement, name, None)
                    for each in part if isinstance(part, list) else [part] if part else []:
                        self._visit(each, keys)
                for handler in getattr(statement, "handlers", ()):
                    self._walk(handler.body, keys)
                for name in ("body", "orelse", "finalbody"):
                    self._walk(getattr(statement, name, []), keys)
            elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if isinstance(statement, ast.Return):
                    self.found.returned_keys |= keys
                self._visit(statement, keys)

    def _visit(self, node: ast.AST, keys: Keys) -> None:
        """Records the effects in a statement or an expression."""
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._note_assignment(target, node.value, keys)
                if self._is_result(target):
                    self.found.returned_keys |= keys
        if isinstance(node, ast.IfExp):
            tested = self._keys_within(node.test)
            self._visit(node.test, keys)
            self._visit(node.body, tested or keys)
            self._visit(node.orelse, keys)
            return
        if isinstance(node, ast.Call):
            for call in self._list_calls(node):
                self._note_call(call, keys)
        for child in ast.iter_child_nodes(node):
            self._visit(child, keys)

    def _list_calls(self, node: ast.Call) -> Iterator[ast.Call]:
        """A call of a method, also of one that a variable holds: as calls of the methods themselves."""
        functions = self.bound.get(node.func.id, ()) if isinstance(node.func, ast.Name) else (node.func,)
        for function in (each for bound in functions for each in self._list_methods(bound)):
            yield ast.copy_location(ast.Call(func=function, args=node.args, keywords=node.keywords), node)

    def _list_methods(self, node: ast.expr) -> Iterator[ast.Attribute]:
        """The methods that an expression can be: `a.b`, `getattr(a, "b")`, and choices between such expressions."""
        if isinstance(node, ast.Attribute):
            yield node
        elif isinstance(node, ast.Call) and _name_of(node.func) == "getattr" and len(node.args) > 1:
            for name in self._constants_of(node.args[1]):
                yield ast.copy_location(ast.Attribute(value=node.args[0], attr=name, ctx=ast.Load()), node)
        else:
            parts = [node.body, node.orelse] if isinstance(node, ast.IfExp) else getattr(node, "elts", ())
            for part in node.values if isinstance(node, (ast.BoolOp, ast.Dict)) else parts:
                yield from self._list_methods(part)

    def _is_result(self, target: ast.expr) -> bool:
        """Whether a statement adds to the result of the function."""
        return isinstance(target, ast.Subscript) and _name_of(target.value) in ("res", "result", "templates")

    def _note_assignment(self, target: ast.expr, value: ast.expr, keys: Keys) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._note_assignment(element, value, keys)
        elif isinstance(target, ast.Attribute):
            found = keys or self._keys_in_values(value)
            self._add(self.value(target.value), ASSIGNMENT, frozenset({target.attr}), found)
        elif isinstance(target, ast.Subscript) and not self._is_plain(target.value):
            names = frozenset(self._constants_of(target.slice))
            if names:
                self._add(self.value(target.value), ASSIGNMENT, names, keys or self._keys_in_values(value))

    def _note_call(self, node: ast.Call, keys: Keys) -> None:
        receiver = node.func.value  # type: ignore[attr-defined]
        if isinstance(receiver, ast.Call) and _name_of(receiver.func) == "super":
            return
        records = NOTHING if self._is_plain(receiver) else self.value(receiver)
        if self._is_any_model(receiver) or (not records and node.func.attr in SENDING):  # type: ignore[attr-defined]
            records = frozenset({ANYTHING})
        if not records:
            return
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        for index, argument in enumerate(node.args):
            paths = frozenset(path for path in self.value(argument) if len(path) > 1 and isinstance(path[-1], str))
            if paths:
                self.found.passed.append((records, _name_of(node.func), index, paths))
        if node.func.attr in SEARCHES:  # type: ignore[attr-defined]
            self.found.searched.append((records, frozenset(self._list_conditions(given))))
        fields = frozenset(name for argument in given[:1] for name, _ in self._entries(argument))
        found = self._keys_of_filter(receiver) | self._keys_of_arguments(node.func.attr, given)  # type: ignore
        self._add(records, self._name_call(node), fields, keys or found)

    def _keys_of_arguments(self, _method: str, given: list[ast.expr]) -> Keys:
        """The names whose values are arguments of a call."""
        return NOTHING.union(*map(self._keys_in_values, given))

    def _list_conditions(self, nodes: list[ast.expr], depth: int = 0) -> Iterator[str]:
        """The fields in the conditions of a domain, also of domains that variables hold."""
        for child in (child for node in nodes for child in ast.walk(node)):
            if isinstance(child, ast.Name) and depth < 2:
                yield from self._list_conditions(self.bound.get(child.id, []), depth + 1)
            parts = child.args if isinstance(child, ast.Call) and _name_of(child.func) == "Domain" else None
            if isinstance(child, (ast.Tuple, ast.List)):
                parts = child.elts
            if parts and len(parts) == CONDITION_PARTS and isinstance(parts[1], ast.Constant):
                yield from self._constants_of(parts[0])

    def _is_any_model(self, node: ast.expr) -> bool:
        """Whether a receiver begins with `env[...]`, where no constant names the model."""
        while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
            if isinstance(node, ast.Subscript) and _is_env(node.value):
                return not self._constants_of(node.slice)
            node = node.func if isinstance(node, ast.Call) else node.value
        return False

    def _name_call(self, node: ast.Call) -> str:
        name = _name_of(node.func)
        # A constant names a view, which is posted as a message. Other values can be templates, which have their own
        # receivers.
        is_view = bool(node.args) and bool(self._constants_of(node.args[0]))
        return "message_post" if name == "message_post_with_source" and is_view else name

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is a dict or list of values, not records: value_flow.py does not distinguish them."""
        if isinstance(node, ast.Name):
            return any(
                isinstance(bound, (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.Tuple))
                or (isinstance(bound, ast.Call) and bool(PLAIN_CALLS.search(_name_of(bound.func))))
                for bound in self.bound.get(node.id, ())
            )
        if isinstance(node, ast.Subscript):
            return self._is_plain(node.value)
        return isinstance(node, ast.Call) and bool(PLAIN_CALLS.search(_name_of(node.func)))

    def _add(self, records: Value, method: str, fields: frozenset, keys: Keys) -> None:
        if records:
            self.found.effects.append(Effect(records, method, fields, keys))

    # Names that are looked up in arguments

    def _keys_of_filter(self, node: ast.expr) -> Keys:
        """The names by which a comprehension, a lambda or a filter selects."""
        found: Keys = NOTHING
        for child in ast.walk(node):
            if isinstance(child, ast.comprehension):
                found = found.union(*(self._keys_within(each) for each in child.ifs))
            elif isinstance(child, ast.Call) and _name_of(child.func) == "filtered" and child.args:
                found |= self._keys_within(child.args[0])
        return found

    def _keys_in_values(self, node: ast.expr) -> Keys:
        """The names whose values become part of an expression."""
        return frozenset(
            name
            for child in ast.walk(node)
            for name in self._list_looked_up(child)
            if not isinstance(child, ast.Compare)
        )

    def _keys_within(self, node: ast.AST, depth: int = 0) -> Keys:
        """The names without which an expression is false or empty, including names that other variables depend on."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            parts = [self._keys_within(value, depth) for value in node.values]
            return frozenset().union(*parts) if all(parts) else NOTHING
        found = set(self._list_looked_up(node))
        if isinstance(node, ast.Name) and depth < 2 and f"={node.id}" not in self.roots:
            for bound in self.bound.get(node.id, ()):
                found |= self._keys_within(bound, depth + 1)
        for child in ast.iter_child_nodes(node):
            found |= self._keys_within(child, depth)
        return frozenset(found)

    def _list_looked_up(self, node: ast.AST) -> Iterator[str]:
        """The names that the node itself looks up in an argument."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, receiver = node.func.attr, node.func.value
            if name in ("get", "pop") and node.args and self._is_argument(receiver):
                yield from self._constants_of(node.args[0])
            elif isinstance(receiver, ast.Name) and receiver.id == "self" and any(map(self._is_argument, node.args)):
                yield f"{CALLED}{name}"
            elif name in ("intersection", "isdisjoint", "issubset"):
                yield from self._list_common([receiver, *node.args])
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self._is_argument(node.value):
            yield from self._constants_of(node.slice)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if self._is_argument(node.comparators[0]):
                yield from self._constants_of(node.left)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.Sub)):
            yield from self._list_common([node.left, node.right])

    def _is_negative(self, test: ast.expr) -> bool:
        """Whether a condition holds without the names that it looks up."""
        if isinstance(test, ast.UnaryOp):
            is_disjoint = isinstance(test.operand, ast.Call) and _name_of(test.operand.func) == "isdisjoint"
            return isinstance(test.op, ast.Not) and not is_disjoint
        if isinstance(test, ast.Compare):
            return isinstance(test.ops[0], ast.NotIn)
        return isinstance(test, ast.BoolOp) and all(map(self._is_negative, test.values))

    def _list_common(self, sides: list[ast.expr]) -> Iterator[str]:
        if any(self._is_argument(side) for side in sides):
            for side in sides:
                for part in ast.walk(side):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value
                    elif isinstance(part, ast.Name):
                        yield from self._constants_of(part)

    def _is_argument(self, node: ast.expr) -> bool:
        """Whether an expression is a parameter, or a part of it."""
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
            return any(map(self._is_argument, node.args))
        return any(path[0] in self.roots for path in self.value(node))


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], (ast.Return, ast.Continue, ast.Raise))
