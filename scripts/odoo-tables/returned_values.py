"""Finds what the answer of a method shows: values of records of other models, and credentials.

Extends value_flow.py: the paths that a function returns are followed through fields and called methods. Ids and
recordsets show nothing, because Odoo answers with ids. The name of a record behind a many2one field of the model itself
shows nothing either, because each read of that field has it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from data_flow import OPERATORS
from field_sources import PLAIN_FIELDS, PLAIN_MODELS, Shown, Sources, bind_arguments
from odoo_sources import Method
from value_flow import MUTATIONS, NOTHING, CallStep, FunctionNode, Value, _extend, _is_env, _name_of, _Trace

# Names of fields, functions and system parameters that hold, make or sign what opens a record or a service.
CREDENTIAL = re.compile(
    r"(^|_)(access_token|.*_token|token|password|passwd|secret|.*_secret|api_?key|.*_api_key|apikey|private_key"
    r"|.*_hmac|hmac|signup_url|.*kiosk_key|.*kiosk_url|portal_url|share_url|client_key|_?portal_ensure_token"
    r"|generate_access_token|pin"
    r"|.*_pin_hashed|signed_url|.*_signature_key)($|\.)|get_portal_url|_sign_token|_encode_link|_generate_signed"
)
# Names that match, but show nothing.
NO_CREDENTIAL = re.compile(r"_ids?$|^(has|is|use|check|count|nb)_|payment_token|csrf_token|_name$")
# Methods of records whose answer has values of the fields that constants in the arguments name, or of all fields.
READS = {
    "read", "search_read", "web_read", "web_search_read", "export_data", "copy_data", "_read_format", "read_group",
    "_read_group", "web_read_group", "formatted_read_group", "jsonify", "_read", "_export_rows",
}  # fmt: skip
TEXTS = {"format", "join", "replace", "strip", "split", "encode", "decode", "lower", "upper"}
NAMES = {"name_get", "name_search", "_name_search"}
FETCHES = {"fetchall", "fetchone", "fetchmany", "dictfetchall", "dictfetchone", "execute_query", "execute_query_dict"}
# Methods of the object in which Odoo collects what it sends to its web client.
COLLECTED = {"get_result"}
RENDERS = re.compile(r"^_render_(qweb|field|template_postprocess|lang)|_generate_template|generate_email")
# Functions whose result shows nothing of their arguments: answers of services are those of the service.
WITHOUT_VALUE = {
    "len", "bool", "isinstance", "any", "all", "search_count", "hasattr", "type", "iap_jsonrpc", "jsonrpc", "post",
    "consteq", "has_group", "user_has_groups", "is_zero", "float_is_zero", "float_compare", "compare_amounts",
}  # fmt: skip
# Methods that return records, or a part of them, whatever else they do.
RECORDS = {
    "create", "copy", "name_create", "_search", "message_post", "_message_log", "message_notify", "_create", "load",
    "activity_schedule", "_message_create", "find_or_create", "_load_records",
}  # fmt: skip
# Names of variables that hold the name of a field.
FIELD_NAMES = re.compile(r"field|fname|^f$|^name$|^attr")
NAME_FIELDS = {"name", "display_name", "complete_name"}
# Models that describe Odoo, or what everybody knows.
PUBLIC_MODELS = PLAIN_MODELS | {
    "res.country", "res.country.state", "ir.model", "ir.model.fields", "ir.model.data", "ir.sequence",
    "decimal.precision", "mail.activity.type", "uom.category", "ir.actions.act_window", "ir.actions.actions",
    "ir.actions.client", "ir.actions.report", "ir.actions.act_url", "ir.ui.view", "ir.ui.menu",
}  # fmt: skip
ALL_FIELDS = "*"
MARK = "!"
SECRET, STATEMENT, RENDERED, STORE = (f"{MARK}{kind}" for kind in ("credential", "statement", "rendered", "store"))
# Maximum number of calls that are followed for one method.
CALLS_MAX = 3000
DEPTH_MAX = 12


def trace_returned(node: FunctionNode, parameters: list[str], constants: dict[str, object]) -> Value:
    """The paths of what the function returns, and of what a private one adds to its arguments."""
    trace = _ReturnTrace(node, parameters, constants)
    returned = [child.value for child in trace.nodes if isinstance(child, (ast.Return, ast.Yield, ast.YieldFrom))]
    if node.name.startswith("_"):
        returned += [value for name in parameters for value in trace.bound.get(name, ())]
    return trace._join(returned)


def is_credential(name: str) -> bool:
    return bool(CREDENTIAL.search(name)) and not NO_CREDENTIAL.search(name)


class _ReturnTrace(_Trace):
    def _propagate(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    root = _find_root(target)
                    if root is not None:
                        self.bound.setdefault(root, []).append(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                root = _find_root(node.func.value)
                if root is not None and node.func.attr in MUTATIONS:
                    self.bound.setdefault(root, []).extend(node.args)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                self._bind_filled(node.value)
        super()._propagate()

    def _bind_filled(self, call: ast.Call) -> None:
        """Binds the arguments of a private method that is called for what it adds to them."""
        if isinstance(call.func, ast.Attribute) and call.func.attr.startswith("_"):
            result = ast.Call(func=call.func, args=[], keywords=[])
            for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(argument, ast.Name):
                    self.bound.setdefault(argument.id, []).append(result)

    def value(self, node: ast.expr | None) -> Value:
        if isinstance(node, ast.Dict):
            return self._join([*node.values, *(key for key in node.keys if key is not None)])
        if isinstance(node, ast.DictComp):
            return self.value(node.key) | self.value(node.value)
        return super().value(node)

    def _value_of_attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "env":
            # The user and the company of the call.
            return NOTHING
        return super()._value_of_attribute(node) | _mark(node.attr)

    def _value_of_item(self, node: ast.Subscript) -> Value:
        found = super()._value_of_item(node)
        if not _is_env(node.value):
            is_field = isinstance(node.slice, ast.Name) and FIELD_NAMES.search(node.slice.id) is not None
            if is_field or any(path[0].startswith("=") for path in self.value(node.slice)):
                # A variable, or the caller, names the field.
                found |= _extend(self.value(node.value), ALL_FIELDS)
            for name in self._constants_of(node.slice):
                found |= _mark(name)
        return found

    def _value_of_call(self, node: ast.Call) -> Value:
        name = _name_of(node.func)
        if name in WITHOUT_VALUE:
            return NOTHING
        if name in FETCHES:
            return frozenset({(STATEMENT,)})
        if name in ("get_param", "_get_param"):
            keys = [key for argument in node.args[:1] for key in self._constants_of(argument)]
            return NOTHING.union(*(_mark(key) for key in keys))
        marked = _mark(name)
        if isinstance(node.func, ast.Attribute):
            receiver = node.func.value
            if name in COLLECTED:
                marked |= frozenset({(STORE,)})
            if RENDERS.search(name):
                marked |= frozenset({(RENDERED,)})
            if name == "get" and node.args:
                marked = marked.union(*map(_mark, self._constants_of(node.args[0])))
            if name in TEXTS:
                # The result has the values themselves. As steps of a path, calls within calls would grow too long.
                given = self._join([*node.args, *(keyword.value for keyword in node.keywords)])
                return marked | self.value(receiver) | given
            if name in READS:
                return marked | self._value_of_read(node, self.value(receiver))
            if name in NAMES:
                return marked | _extend(self.value(receiver), "display_name")
        return marked | super()._value_of_call(node)

    def _value_of_read(self, node: ast.Call, records: Value) -> Value:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        names = {name.split(":")[0] for argument in given for name in self._list_names(argument)}
        if not names or any(path[0].startswith("=") for argument in given for path in self.value(argument)):
            names = names | {ALL_FIELDS}
        return NOTHING.union(*(_extend(records, name) for name in names))

    def _list_names(self, node: ast.expr, depth: int = 0) -> Iterator[str]:
        """The constants in an argument that is no domain."""
        if isinstance(node, ast.Name):
            yield from self._constants_of(node)
            for bound in self.bound.get(node.id, ()) if depth < 2 else ():
                yield from self._list_names(bound, depth + 1)
        elif not _has_conditions(node):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def _find_root(target: ast.expr) -> str | None:
    """The name of the dict or list that holds an item of an item."""
    depth = 0
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        if isinstance(target, ast.Attribute):
            return None
        target = target.value
        depth += 1
    return target.id if isinstance(target, ast.Name) and depth > 0 else None


def _has_conditions(node: ast.expr) -> bool:
    return any(
        isinstance(part, (ast.Tuple, ast.List))
        and len(part.elts) == 3
        and isinstance(part.elts[1], ast.Constant)
        and part.elts[1].value in OPERATORS
        for part in ast.walk(node)
    )


def _mark(name: str) -> Value:
    return frozenset({(SECRET,)}) if is_credential(name) else NOTHING


class Place(NamedTuple):
    """Where a path has led: to records (`model`), or to a value of a field (`shown`)."""

    model: str | None
    shown: Shown | None
    # The field that led to the records.
    via: Shown | None


Places = frozenset


class Returned:
    """What the answers of the methods of a version show."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.known: dict[tuple, Places] = {}
        self.calls = 0
        self.cut: list[str] = []

    def list_reasons(self, model: str, name: str) -> dict[str, set[str]]:
        self.calls = 0
        places = self.call(model, name, Place(model, None, None), (), (), 0)
        if self.calls > CALLS_MAX:
            self.cut.append(f"{model} {name}")
        reasons: dict[str, set[str]] = {}
        for place in places:
            if place.shown is None:
                continue
            shown = ".".join(filter(None, place.shown)).lstrip(MARK)
            if place.shown.model == SECRET or is_credential(place.shown.field):
                reasons.setdefault("credential", set()).add(shown)
            elif self._is_elsewhere(model, place):
                reasons.setdefault("read_elsewhere", set()).add(shown)
        return reasons

    def _is_elsewhere(self, model: str, place: Place) -> bool:
        shown, via = place.shown, place.via
        assert shown is not None
        family = self._list_family(model)
        is_id = shown.field.endswith(("_id", "_ids"))
        if is_id or shown.model in family or shown.model in PUBLIC_MODELS or shown.field in PLAIN_FIELDS:
            return False
        is_name = shown.field in NAME_FIELDS and via is not None and via.model in family
        return not (is_name and self.sources.models[via.model].types.get(via.field) == "Many2one")

    def _list_family(self, model: str) -> set[str]:
        family = {*self.sources.ancestors.get(model, ()), model}
        for name in list(family):
            family.update(self.sources.models[name].delegates if name in self.sources.models else ())
        return family

    def call(self, model: str, name: str, place: Place, given: tuple, named: tuple, depth: int) -> Places:
        key = (model, name, place, given, named)
        known = self.known.get(key)
        if known is not None:
            return known
        self.calls += 1
        if self.calls > CALLS_MAX or depth > DEPTH_MAX:
            return frozenset()
        self.known[key] = frozenset()
        found: Places = frozenset()
        for method in self.sources.methods_of(model, name):
            frame = _Frame(self, place, bind_arguments(method, given, dict(named)), depth + 1)
            found |= frame.resolve(method.facts.returned)
        self.known[key] = found
        return found


class _Frame:
    def __init__(self, returned: Returned, start: Place, parameters: dict[str, Places], depth: int) -> None:
        self.returned = returned
        self.models = returned.sources.models
        self.start = start
        self.parameters = parameters
        self.depth = depth
        self.known: dict[tuple, Places] = {}

    def resolve(self, value: Value) -> Places:
        return frozenset().union(*map(self.follow, value))

    def follow(self, path: tuple) -> Places:
        known = self.known.get(path)
        if known is None:
            known = self._begin(path[0]) if len(path) == 1 else self._step(self.follow(path[:-1]), path[-1])
            self.known[path] = known
        return known

    def _begin(self, root: str) -> Places:
        if root == "self":
            return frozenset({self.start})
        if root.startswith("@"):
            return frozenset({Place(root[1:], None, None)})
        if root.startswith(MARK):
            return frozenset({Place(None, Shown(root, ""), None)})
        return self.parameters.get(root[1:], frozenset())

    def _step(self, places: Places, step: object) -> Places:
        found: set[Place] = set()
        for place in places:
            if isinstance(step, CallStep):
                found.update(self._call(place, step))
            elif place.model is None:
                found.add(place)
            elif step == ALL_FIELDS:
                found.add(Place(None, Shown(place.model, ALL_FIELDS), place.via))
            else:
                found.update(self._read(place, str(step)))
        return frozenset(found)

    def _read(self, place: Place, name: str) -> Iterable[Place]:
        model = self.models.get(place.model or "")
        if model is None or name not in model.fields:
            return ()
        comodel = model.fields[name].get("comodel_name")
        shown = Shown(model.name, name)
        if isinstance(comodel, str):
            return (Place(comodel, None, shown),)
        return (Place(None, shown, place.via),)

    def _call(self, place: Place, step: CallStep) -> Iterable[Place]:
        if place.model in PUBLIC_MODELS:
            return ()
        if step.method in RECORDS:
            return (place._replace(shown=None),) if place.model is not None else ()
        given = tuple(self.resolve(each) for each in step.arguments)
        named = tuple(sorted(((name, self.resolve(each)) for name, each in step.keywords), key=lambda item: item[0]))
        if place.model is not None and self.returned.sources.methods_of(place.model, step.method):
            return self.returned.call(place.model, step.method, place, given, named, self.depth)
        found = {each for argument in (*given, *(value for _, value in named)) for each in argument}
        # Otherwise the step is a method of a text or a number.
        return found if place.model is not None else {*found, place}
