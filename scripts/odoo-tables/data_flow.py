"""Follows parameters and context keys through the body of one function.

The analysis ignores the order of statements: a name has the union of everything that is assigned to it. It knows one
function at a time. Calls of other methods are recorded with what their arguments are derived from, and
model_tables.py connects them.

A value is described by its sources. A source is the name of a parameter, `context.KEY`, or `self.FIELD` for a field
of the records that the method is called on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Union

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef]
Sources = frozenset[str]

NOTHING: Sources = frozenset()
SELF = "self"
CONTEXT_PREFIX = "context."
ANY_KEY = "*"


@dataclass(frozen=True)
class Flow:
    """What a value is derived from.

    `derived` is any dependency. `shape` are sources that determine the fields in a domain or the keys of a dict of
    values, not only single values in it. `text` are sources that become part of a text.
    """

    derived: Sources = NOTHING
    shape: Sources = NOTHING
    text: Sources = NOTHING

    def __or__(self, other: Flow) -> Flow:
        return Flow(self.derived | other.derived, self.shape | other.shape, self.text | other.text)


EMPTY = Flow()


@dataclass
class Call:
    """A call of a method of `model`; None stands for the model of the calling method."""

    model: str | None
    method: str
    arguments: list[Flow]
    keywords: dict[str, Flow]
    # Dependencies of the `*args` and `**kwargs` of the call.
    rest: Flow
    # What selects the records that the method is called on.
    records: Flow = EMPTY


@dataclass
class ContextRead:
    """The effects in a function that depend on a context key."""

    # Calls that a condition on the key controls, as indexes in `FunctionFacts.calls`.
    guarded_calls: set[int] = field(default_factory=set)
    # Names of fields that are assigned under a condition on the key.
    guarded_assignments: set[str] = field(default_factory=set)
    guards_write: bool = False
    guards_sudo: bool = False


@dataclass
class FunctionFacts:
    # Reasons with their sources, found in the function's own body.
    reasons: dict[str, set[str]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    context: dict[str, ContextRead] = field(default_factory=dict)
    writes: bool = False
    # Names of attributes that are assigned to variables. Attributes that are fields count as writes.
    assigned: set[str] = field(default_factory=set)


SENDERS = {
    "email_from", "author_id", "author_guest_id", "email_to", "email_cc", "reply_to", "partner_to",
    "from_email", "to_email", "sender", "author", "mail_server_id", "phone", "numbers", "sms_numbers", "emails",
}  # fmt: skip
SEARCHES = {
    "search", "search_count", "search_read", "search_fetch", "_search", "read_group", "_read_group",
    "web_search_read", "web_read_group", "formatted_read_group", "formatted_read_grouping_sets",
    "_read_grouping_sets", "read_progress_bar", "_where_calc",
}  # fmt: skip
# Arguments that are numbers or flags, by position and by name.
COUNT_POSITIONS = {
    "search": {1, 2}, "_search": {1, 2}, "search_count": {1}, "search_read": {2, 3}, "search_fetch": {2, 3},
    "web_search_read": {2, 3}, "read_group": {3, 4}, "_read_group": {4, 5}, "read": {1},
}  # fmt: skip
COUNTS = {"limit", "offset", "count", "lazy", "load", "access_rights_uid", "count_limit"}
READS = {"read", "search_read", "web_read", "web_search_read", "export_data", "search_fetch"}
WRITES_OF_VALUES = {"create", "write", "_create", "_write", "copy", "_load_records", "load", "new", "name_create"}
WRITES = {
    "create", "write", "unlink", "_create", "_write", "name_create", "copy", "toggle_active", "action_archive",
    "action_unarchive", "set_param", "message_post", "message_notify", "message_subscribe", "_message_log",
    "activity_schedule", "send_mail", "_send", "send", "_load_records", "load", "_write_multi", "_bus_send",
    "_sendone", "_sendmany", "sendone", "sendmany", "flush_model", "_trigger", "next_by_code", "next_by_id",
}  # fmt: skip
REFERENCES = {
    "ref", "_xmlid_to_res_id", "_xmlid_to_res_model_res_id", "xmlid_to_res_id", "xmlid_to_object",
    "xmlid_to_res_model_res_id", "_for_xml_id", "for_xml_id", "get_object", "get_object_reference",
    "_xmlid_lookup", "xmlid_lookup", "check_object_reference",
}  # fmt: skip
PATHS = {"mapped", "filtered", "sorted", "grouped", "filtered_domain", "_mapped_func"}
CODE = {"safe_eval", "eval", "exec", "test_python_expr"}
ATTRIBUTE_FUNCTIONS = {"getattr", "setattr", "delattr", "call_kw", "_call_kw", "execute_kw"}
RENDERS = re.compile(r"^_?(render|qweb_render|generate_email)|_render")
SQL_FUNCTIONS = {"execute", "executemany", "execute_query", "execute_query_dict", "_execute"}
SQL_WRITES = re.compile(r"^\s*(insert|update|delete|alter|create|drop|truncate)\b", re.IGNORECASE)
# Methods that return records of the same model.
SAME_RECORDS = {
    "sudo", "with_context", "with_user", "with_env", "with_company", "with_prefetch", "browse", "filtered",
    "filtered_domain", "sorted", "search", "exists", "new", "create", "copy", "concat", "union", "ensure_one",
    "search_fetch", "try_lock_for_update", "lock_for_update",
}  # fmt: skip
# Attributes of a recordset that reveal nothing of its values.
NEUTRAL = {
    "env", "_name", "_table", "pool", "_cr", "_uid", "_fields", "_context", "_description", "_rec_name", "_order",
    "_inherits", "_parent_name",
}  # fmt: skip
WITHOUT_FLOW = {"len", "isinstance", "bool", "hasattr", "any", "all", "type", "issubclass", "callable", "range"}
NUMBERS = {"int", "float", "round", "sum"}
# Functions whose result has the shape of their arguments.
SHAPE_FUNCTIONS = {
    "list", "tuple", "dict", "set", "sorted", "reversed", "filter", "map", "zip", "enumerate", "literal_eval",
    "safe_eval", "deepcopy", "copy", "frozendict", "loads", "normalize_domain", "AND", "OR", "Domain", "chain",
    "get", "pop", "items", "values", "keys", "setdefault", "iter", "next", "expand",
}  # fmt: skip
TEXT_METHODS = {"format", "join", "strip", "lstrip", "rstrip", "lower", "upper", "replace", "split", "get", "pop"}
SHAPE_NAMES = re.compile(r"domain|val|arg|data|kw|filter|default|param|option|dict|leaf|where")
SHAPE_CALLS = re.compile(r"domain|val|prepare|default")
TEXT_CALLS = re.compile(r"query|sql|where|clause|select")
MUTATIONS = {"append", "extend", "insert", "add", "update", "setdefault"}
OPERATORS = {
    "=", "!=", "<>", "<", ">", "<=", ">=", "in", "not in", "like", "ilike", "not like", "not ilike", "=like",
    "=ilike", "child_of", "parent_of", "any", "not any", "=?", "any!", "not any!",
}  # fmt: skip


def analyze_function(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> FunctionFacts:
    return _Analysis(node, parameters, constants).run()


class _Analysis:
    def __init__(self, node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> None:
        self.node = node
        self.constants = constants
        self.names = [name.lstrip("*") for name in parameters]
        self.nodes = [child for statement in node.body for child in ast.walk(statement)]
        self.bindings = list(self._list_bindings())
        self.facts = FunctionFacts()
        # Indexes of calls, by identity of their node, to find the calls within a condition.
        self.call_indexes: dict[int, int] = {}
        self.flows: dict[str, Flow] = {name: Flow(*[frozenset({name})] * 3) for name in self.names}
        self.flows[SELF] = self.flows["cls"] = Flow(frozenset({SELF}))
        self.env_names = {"env", "registry"}
        self._extend(self.env_names, self.is_env)
        self.self_names = {SELF, "cls"}
        self._extend(self.self_names, self.is_self, every=True)
        self.sudo_names: set[str] = set()
        self._extend(self.sudo_names, self.has_sudo)
        self.context_names = {"context"} & set(self.names)
        self._extend(self.context_names, self.is_context)
        self.models: dict[str, str] = {}
        self._find_models()

    def run(self) -> FunctionFacts:
        self._propagate()
        for name in self.names:
            if name in SENDERS:
                self._add("sender", frozenset({name}))
        for node in self.nodes:
            if isinstance(node, ast.Call):
                self._visit_call(node)
            elif isinstance(node, ast.Subscript):
                self._visit_subscript(node)
            elif isinstance(node, ast.Dict):
                self._visit_dict(node)
            elif isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                self.facts.assigned.update(_list_assigned_attributes(node))
            for key in self._list_context_keys(node):
                self.facts.context.setdefault(key, ContextRead())
        self.facts.writes = any(self._is_write(node) for node in self.nodes)
        self._visit_conditions()
        return self.facts

    # Names

    def _list_bindings(self) -> Iterator[tuple[str, ast.expr, bool]]:
        """Each binding: name, value, and whether the value is only a part of what the name holds."""
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from _bind(target, node.value)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                yield from _bind(node.target, node.value)
            elif isinstance(node, ast.AugAssign):
                yield from ((name, value, True) for name, value, _ in _bind(node.target, node.value))
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                yield from _bind(node.target, node.iter)
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                yield from _bind(node.optional_vars, node.context_expr)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                receiver = node.func.value
                if node.func.attr in MUTATIONS:
                    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                        yield from ((name, value, True) for name, value, _ in _bind(receiver, argument))
                for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                    if isinstance(argument, ast.Lambda) and argument.args.args:
                        yield argument.args.args[0].arg, receiver, False

    def _extend(self, names: set[str], is_kind: Callable[[ast.expr], bool], every: bool = False) -> None:
        """Adds the names that hold a value of a kind, by one of their values or by all of them.

        `is_kind` reads `names`, so that names of names are found too.
        """
        while True:
            kinds: dict[str, list[bool]] = {}
            for name, value, is_part in self.bindings:
                if not is_part and not _mentions(value, name):
                    kinds.setdefault(name, []).append(is_kind(value))
            found = {name for name, known in kinds.items() if (all(known) if every else any(known))}
            found -= {*self.names, SELF}
            if found <= names:
                return
            names |= found

    def _find_models(self) -> None:
        """Finds the names that hold records of one model, which `env['model']` names."""
        while True:
            models: dict[str, set[str]] = {}
            for name, value, _ in self.bindings:
                model = self.model_of(value)
                if model is not None:
                    models.setdefault(name, set()).add(model)
            found = {name: next(iter(known)) for name, known in models.items() if len(known) == 1}
            if found.keys() <= self.models.keys():
                return
            self.models |= found

    def _propagate(self) -> None:
        """Computes the dependencies of each name, until nothing changes."""
        changed = True
        while changed:
            changed = False
            for name, value, _ in self.bindings:
                known = self.flows.get(name, EMPTY)
                flow = known | self.flow(value)
                if name not in (SELF, "cls") and flow != known:
                    self.flows[name] = flow
                    changed = True

    # Tests for kinds of expressions

    def is_env(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in ("env", "pool")
        if isinstance(node, ast.Name):
            return node.id in self.env_names
        if isinstance(node, ast.Call):
            return _name_of(node.func) == "Environment" or self.is_env(node.func)
        return False

    def is_self(self, node: ast.expr) -> bool:
        """Whether the value is a recordset of the method's own model."""
        if isinstance(node, ast.Name):
            return node.id in self.self_names
        if isinstance(node, ast.Attribute):
            return node.attr == "_origin" and self.is_self(node.value)
        if isinstance(node, ast.Subscript):
            if self.is_env(node.value):
                return isinstance(node.slice, ast.Attribute) and node.slice.attr == "_name"
            is_record = isinstance(node.slice, ast.Slice) or isinstance(self._read_constant(node.slice), int)
            return is_record and self.is_self(node.value)
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                return function.id == "super"
            return (
                isinstance(function, ast.Attribute)
                and function.attr in SAME_RECORDS
                and self.is_self(function.value)
            )
        if isinstance(node, ast.BinOp):
            return self.is_self(node.left) and self.is_self(node.right)
        return isinstance(node, ast.BoolOp) and all(map(self.is_self, node.values))

    def has_sudo(self, node: ast.expr) -> bool:
        """Whether the value is a recordset that is used with all rights."""
        if isinstance(node, ast.Name):
            return node.id in self.sudo_names
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.has_sudo(node.value)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                if node.func.attr in ("sudo", "with_user"):
                    return True
                # Any other method ends the chain: the records that it returns need not have all rights.
                return node.func.attr in SAME_RECORDS | {"mapped", "env"} and self.has_sudo(node.func.value)
            return False
        return False

    def is_context(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "_context" or (
                node.attr == "context" and (self.is_env(node.value) or _name_of(node.value) == "request")
            )
        if isinstance(node, ast.Name):
            return node.id in self.context_names
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("copy", "items", "keys"):
                return self.is_context(node.func.value)
            is_copy = _name_of(node.func) in ("dict", "frozendict", "clean_context", "deepcopy", "copy")
            return is_copy and any(map(self.is_context, node.args))
        if isinstance(node, ast.Dict):
            return any(key is None and self.is_context(value) for key, value in zip(node.keys, node.values))
        if isinstance(node, ast.BoolOp):
            return any(map(self.is_context, node.values))
        return False

    def model_of(self, node: ast.expr) -> str | None:
        """The model of a recordset that begins with `env['model']`."""
        if isinstance(node, ast.Subscript) and self.is_env(node.value):
            value = self._read_constant(node.slice)
            return value if isinstance(value, str) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self.model_of(node.func.value) if node.func.attr in SAME_RECORDS else None
        return self.models.get(node.id) if isinstance(node, ast.Name) else None

    # Flows

    def flow(self, node: ast.expr | None) -> Flow:
        if node is None or isinstance(node, (ast.Constant, ast.Compare, ast.Slice)):
            return EMPTY
        if isinstance(node, ast.Name):
            return self.flows.get(node.id, EMPTY)
        if isinstance(node, ast.Attribute):
            return self._flow_of_attribute(node)
        if isinstance(node, ast.Subscript):
            return self._flow_of_subscript(node)
        if isinstance(node, ast.Call):
            return self._flow_of_call(node)
        if isinstance(node, ast.BinOp):
            flow = self.flow(node.left) | self.flow(node.right)
            return Flow(flow.derived, NOTHING, flow.text) if isinstance(node.op, ast.Mod) else flow
        if isinstance(node, ast.BoolOp):
            return self._join(node.values)
        if isinstance(node, ast.IfExp):
            return self.flow(node.body) | self.flow(node.orelse)
        if isinstance(node, ast.UnaryOp):
            return EMPTY if isinstance(node.op, ast.Not) else self.flow(node.operand)
        if isinstance(node, ast.JoinedStr):
            flow = self._join(node.values)
            return Flow(flow.derived, NOTHING, flow.text)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            flow = self._join(node.elts)
            return Flow(flow.derived, self._shape_of_elements(node.elts), flow.text)
        if isinstance(node, ast.Dict):
            flow = self._join([*(key for key in node.keys if key is not None), *node.values])
            return Flow(flow.derived, self._shape_of_dict(node), flow.text)
        if isinstance(node, ast.DictComp):
            key, value = self.flow(node.key), self.flow(node.value)
            shape = key.derived | (value.shape if isinstance(node.value, (ast.List, ast.Dict)) else NOTHING)
            return Flow(key.derived | value.derived, shape, value.text)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self.flow(node.elt)
        if isinstance(node, ast.Lambda):
            return self.flow(node.body)
        if isinstance(node, (ast.Starred, ast.Await, ast.NamedExpr, ast.FormattedValue, ast.YieldFrom, ast.Yield)):
            return self.flow(node.value)
        return EMPTY

    def _join(self, nodes: Iterable[ast.expr]) -> Flow:
        joined = EMPTY
        for node in nodes:
            joined |= self.flow(node)
        return joined

    def _flow_of_attribute(self, node: ast.Attribute) -> Flow:
        if node.attr in NEUTRAL or self.is_context(node):
            return EMPTY
        flow = self.flow(node.value)
        derived = flow.derived
        if SELF in derived:
            derived = (derived - {SELF}) | {f"{SELF}.{node.attr}"}
        return Flow(derived, NOTHING, flow.text)

    def _flow_of_subscript(self, node: ast.Subscript) -> Flow:
        if self.is_context(node.value):
            return self._flow_of_key(node.slice)
        value, key = self.flow(node.value), self.flow(node.slice)
        return Flow(value.derived | key.derived, value.shape, value.text)

    def _flow_of_key(self, key: ast.expr) -> Flow:
        return Flow(*[frozenset(CONTEXT_PREFIX + name for name in self._resolve_keys(key))] * 3)

    def _flow_of_call(self, node: ast.Call) -> Flow:
        name = _name_of(node.func)
        given = self._join([*node.args, *(keyword.value for keyword in node.keywords)])
        if name == "SQL" or (isinstance(node.func, ast.Attribute) and _name_of(node.func.value) == "SQL"):
            return Flow(given.derived, NOTHING, self._text_of_sql(node))
        if isinstance(node.func, ast.Attribute):
            receiver = node.func.value
            if self.is_context(receiver) and name in ("get", "pop", "setdefault") and node.args:
                return self._flow_of_key(node.args[0]) | self._join(node.args[1:])
            if self.is_env(node.func) or name in ("with_context", "with_env", "with_user", "with_company"):
                return self.flow(receiver)
            own = self.flow(receiver)
            shape = given.shape if name in SHAPE_FUNCTIONS else NOTHING
            if SHAPE_CALLS.search(name):
                shape |= {source for source in given.shape if SHAPE_NAMES.search(source)}
            if name in SHAPE_FUNCTIONS:
                shape |= own.shape
            text = own.text | given.text if name in TEXT_METHODS else NOTHING
            if TEXT_CALLS.search(name):
                text |= given.text
            return Flow(own.derived | given.derived, shape, text)
        if name in WITHOUT_FLOW:
            return EMPTY
        if name in NUMBERS:
            return Flow(given.derived)
        shape = given.shape if name in SHAPE_FUNCTIONS or SHAPE_CALLS.search(name) else NOTHING
        if name in ("dict", "frozendict"):
            shape = self._join([*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)]).shape
        if name == "Domain" and len(node.args) == 3:
            shape = self._shape_of_elements(node.args)
        return Flow(given.derived, shape, given.text)

    def _text_of_sql(self, node: ast.Call) -> Sources:
        """`SQL(text, *values)` quotes values that are no `SQL` themselves."""
        if isinstance(node.func, ast.Attribute):
            return self._join(node.args).text
        text = self._join(node.args[:1]).text
        for argument in node.args[1:]:
            is_parameter = isinstance(argument, ast.Name) and argument.id in self.names
            if isinstance(argument, (ast.Call, ast.Name)) and not is_parameter:
                text |= self.flow(argument).text
        return text

    def _shape_of_elements(self, elements: list[ast.expr]) -> Sources:
        """The shape of a domain, one of its terms, a list of commands, or a list of values."""
        if len(elements) == 3:
            first, second = elements[0], elements[1]
            operator = self._read_constant(second)
            if isinstance(operator, str) and operator in OPERATORS:
                below = self.flow(elements[2]).shape if "any" in operator else NOTHING
                return self.flow(first).derived | below
            command = self._read_constant(first)
            if isinstance(command, str):
                return NOTHING
            if isinstance(command, int) or (isinstance(first, ast.Attribute) and _name_of(first.value) == "Command"):
                has_values = command in (0, 1) or _name_of(first) in ("CREATE", "UPDATE")
                return self.flow(elements[2]).shape if has_values else NOTHING
        return self._join(element for element in elements if not isinstance(element, ast.Constant)).shape

    def _shape_of_dict(self, node: ast.Dict) -> Sources:
        shape = NOTHING
        for key, value in zip(node.keys, node.values):
            if key is None:
                shape |= self.flow(value).shape
                continue
            name = self._read_constant(key)
            shape |= self.flow(key).derived
            is_nested = isinstance(value, (ast.List, ast.Tuple, ast.ListComp))
            if is_nested or (isinstance(name, str) and name.endswith(("_ids", "_lines"))):
                shape |= self.flow(value).shape
        return shape

    # Reasons

    def _add(self, reason: str, sources: Sources, with_fields: bool = False) -> None:
        kept = {
            source for source in sources if source != SELF and (with_fields or not source.startswith(f"{SELF}."))
        }
        if kept:
            self.facts.reasons.setdefault(reason, set()).update(kept)

    def _visit_subscript(self, node: ast.Subscript) -> None:
        if self.is_env(node.value):
            self._add("model", self.flow(node.slice).derived, with_fields=True)
        key = self._read_constant(node.slice)
        if key in SENDERS and isinstance(node.ctx, ast.Load):
            self._add("sender", self.flow(node.value).shape)

    def _visit_dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values):
            if key is not None and self._read_constant(key) in SENDERS:
                self._add("sender", self.flow(value).derived)

    def _visit_call(self, node: ast.Call) -> None:
        name = _name_of(node.func)
        arguments = [self.flow(argument) for argument in node.args]
        first = arguments[0] if arguments else EMPTY
        for keyword in node.keywords:
            if keyword.arg in SENDERS:
                self._add("sender", self.flow(keyword.value).derived)
        if name in ATTRIBUTE_FUNCTIONS and len(arguments) > 1:
            self._add("method", arguments[1].derived, with_fields=True)
        if name in ("methodcaller", "attrgetter"):
            self._add("method", first.derived, with_fields=True)
        if name in CODE or (name == "compile" and isinstance(node.func, ast.Name)):
            self._add("code", first.derived, with_fields=True)
        if isinstance(node.func, ast.Attribute):
            self._visit_method_call(node, name, node.func.value, arguments)

    def _visit_method_call(self, node: ast.Call, name: str, receiver: ast.expr, arguments: list[Flow]) -> None:
        first = arguments[0] if arguments else EMPTY
        keywords = {keyword.arg: self.flow(keyword.value) for keyword in node.keywords if keyword.arg}
        rest = self._join(
            [argument.value for argument in node.args if isinstance(argument, ast.Starred)]
            + [keyword.value for keyword in node.keywords if keyword.arg is None]
        )
        given = self._join([*node.args, *(keyword.value for keyword in node.keywords)])
        own = self.flow(receiver)
        is_self = self.is_self(receiver)

        if name == "get" and self.is_env(receiver):
            self._add("model", first.derived, with_fields=True)
        if name in ("get", "pop") and node.args and self._read_constant(node.args[0]) in SENDERS:
            self._add("sender", own.shape)
        if name in REFERENCES:
            self._add("ref", given.derived, with_fields=True)
        if RENDERS.search(name):
            template = first | keywords.get("template", EMPTY) | keywords.get("template_src", EMPTY)
            if "template" in name and len(arguments) > 1:
                template |= arguments[1]
            self._add("render", template.derived, with_fields=True)
        if name in ("run", "method_direct_trigger", "_run"):
            self._add("code", own.derived)
        if name in SQL_FUNCTIONS:
            self._add("sql", first.text)
        if name == "with_context":
            self._add("context", first.shape | rest.shape)
        if name in PATHS and node.args and not isinstance(node.args[0], ast.Lambda):
            self._add("path", first.derived, with_fields=True)
        if is_self and name in SEARCHES | READS:
            # The fields in a condition, an order or a grouping can lead to other models.
            named = [flow for index, flow in enumerate(arguments) if index not in COUNT_POSITIONS.get(name, ())]
            named += [flow for keyword, flow in keywords.items() if keyword not in COUNTS]
            self._add("domain", rest.shape.union(*(flow.shape for flow in named)))
        if not is_self and _name_of(receiver) not in ("re", "copy", "regex"):
            if name in SEARCHES:
                domain = first | keywords.get("domain", EMPTY) | keywords.get("args", EMPTY)
                self._add("domain_elsewhere", domain.shape)
            if name in READS:
                fields = arguments[0] if name in ("read", "web_read", "export_data") and arguments else EMPTY
                fields |= arguments[1] if "search" in name and len(arguments) > 1 else EMPTY
                self._add("fields_elsewhere", (fields | keywords.get("fields", EMPTY)).shape)
            if name in WRITES_OF_VALUES:
                values = first | rest | keywords.get("vals_list", EMPTY) | keywords.get("vals", EMPTY)
                self._add("values_elsewhere", values.shape | keywords.get("default", EMPTY).shape)
            if name in ("write", "unlink", "_write", "action_archive", "action_unarchive", "toggle_active"):
                self._add("records_elsewhere", own.derived)
        if name in ("sudo", "with_user"):
            self._add("sudo", own.derived)
        elif self.has_sudo(receiver) and (name in SAME_RECORDS | SEARCHES | READS | WRITES_OF_VALUES):
            self._add("sudo", given.derived)

        model = None if is_self else self.model_of(receiver)
        is_super = isinstance(receiver, ast.Call) and _name_of(receiver.func) == "super"
        if (is_self or model) and not is_super:
            self.call_indexes[id(node)] = len(self.facts.calls)
            plain = [flow for flow, argument in zip(arguments, node.args) if not isinstance(argument, ast.Starred)]
            self.facts.calls.append(Call(model, name, plain, keywords, rest, own))

    # Writes, and reads of context keys

    def _is_write(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        name, receiver = node.func.attr, node.func.value
        if name in SQL_FUNCTIONS:
            text = node.args[0] if node.args else None
            texts = [part.value for part in ast.walk(text) if isinstance(part, ast.Constant)] if text else []
            if isinstance(text, ast.Name):
                for bound, value, _ in self.bindings:
                    if bound == text.id:
                        texts += [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
            return any(isinstance(part, str) and SQL_WRITES.search(part) for part in texts)
        if name == "copy":
            return self.is_self(receiver) or self.model_of(receiver) is not None
        return name in WRITES

    def _list_context_keys(self, node: ast.AST) -> Iterator[str]:
        """The context keys that the node itself reads."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("get", "pop", "setdefault") and node.args and self.is_context(node.func.value):
                yield from self._resolve_keys(node.args[0])
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self.is_context(node.value):
            yield from self._resolve_keys(node.slice)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if self.is_context(node.comparators[0]):
                yield from self._resolve_keys(node.left)

    def _resolve_keys(self, node: ast.expr) -> set[str]:
        constant = self._read_constant(node)
        values: list[object] = [constant]
        if constant is None and isinstance(node, ast.Name):
            bound = [self._read_constant(value) for name, value, _ in self.bindings if name == node.id]
            values = [item for value in bound for item in (value if isinstance(value, (list, tuple, set)) else [value])]
        keys = {value for value in values if isinstance(value, str)}
        return {
            key for key in keys or {ANY_KEY} if not key.startswith(("default_", "search_default_"))
        }

    def _visit_conditions(self) -> None:
        """Records the effects under a condition on a context key."""
        if not self.facts.context:
            return
        for node in self.nodes:
            if not isinstance(node, (ast.If, ast.While, ast.IfExp, ast.comprehension, ast.BoolOp)):
                continue
            keys, controlled = self._describe_condition(node)
            for key in keys & set(self.facts.context):
                read = self.facts.context[key]
                for child in controlled:
                    if id(child) in self.call_indexes:
                        read.guarded_calls.add(self.call_indexes[id(child)])
                    if isinstance(child, (ast.Assign, ast.AugAssign)):
                        read.guarded_assignments.update(_list_assigned_attributes(child))
                    read.guards_write |= self._is_write(child)
                    read.guards_sudo |= isinstance(child, ast.Call) and _name_of(child.func) == "sudo"

    def _describe_condition(self, node: ast.AST) -> tuple[set[str], list[ast.AST]]:
        """The context keys in a condition, and the nodes that it controls."""
        if isinstance(node, (ast.If, ast.While)):
            branches = [*node.body, *node.orelse]
            leaves = any(
                isinstance(branch[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
                for branch in (node.body, node.orelse)
                if branch
            )
            tests: list[ast.expr] = [node.test]
            controlled = self.nodes if leaves else [child for branch in branches for child in ast.walk(branch)]
        elif isinstance(node, ast.IfExp):
            tests = [node.test]
            controlled = [*ast.walk(node.body), *ast.walk(node.orelse)]
        elif isinstance(node, ast.comprehension):
            tests, controlled = node.ifs, self.nodes
        else:
            assert isinstance(node, ast.BoolOp)
            tests = node.values[:-1]
            controlled = [child for value in node.values[1:] for child in ast.walk(value)]
        keys: set[str] = set()
        for test in tests:
            for child in ast.walk(test):
                keys.update(self._list_context_keys(child))
                if isinstance(child, ast.Name):
                    keys.update(_list_keys(self.flow(child).derived))
                    keys.update(self._keys_of_conditions(child.id))
        return keys, controlled

    def _keys_of_conditions(self, name: str) -> set[str]:
        """The keys in the comparisons whose result a name holds."""
        return {
            key
            for bound, value, _ in self.bindings
            if bound == name
            for child in ast.walk(value)
            for key in self._list_context_keys(child)
        }

    def _read_constant(self, node: ast.expr) -> object:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id not in self.flows:
            return self.constants.get(node.id)
        try:
            return ast.literal_eval(node) if isinstance(node, (ast.Tuple, ast.List, ast.UnaryOp)) else None
        except (ValueError, TypeError):
            return None


def _bind(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr, bool]]:
    """Each name in the target of an assignment, with its value. A part of a target counts as the whole."""
    if isinstance(target, ast.Name):
        yield target.id, value, False
    elif isinstance(target, (ast.Tuple, ast.List)):
        is_pairwise = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for index, element in enumerate(target.elts):
            yield from _bind(element, value.elts[index] if is_pairwise else value)  # type: ignore[attr-defined]
    elif isinstance(target, ast.Starred):
        yield from _bind(target.value, value)
    elif isinstance(target, ast.Subscript):
        # The key becomes part of the dict that the name holds, as in a dict literal.
        entry = ast.Dict(keys=[target.slice], values=[value])
        yield from ((name, part, True) for name, part, _ in _bind(target.value, entry))
    elif isinstance(target, ast.Attribute):
        yield from ()


def _list_assigned_attributes(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        for element in elements:
            if isinstance(element, ast.Attribute) and not element.attr.startswith("_"):
                yield element.attr


def _list_keys(sources: Sources) -> Iterator[str]:
    return (source[len(CONTEXT_PREFIX) :] for source in sources if source.startswith(CONTEXT_PREFIX))


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(child, ast.Name) and child.id == name for child in ast.walk(node))


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
