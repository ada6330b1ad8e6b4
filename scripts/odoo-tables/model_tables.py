"""Merges the classes of each model, and connects the facts of their methods.

A reason that a method has by a parameter is passed on to the methods that call it with a value derived from a
parameter of their own, until nothing changes. The same holds for writes and for the functions that run while records
are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from data_flow import CONTEXT_PREFIX, EMPTY, NOTHING, SELF, Call, ContextRead, Flow, Sources
from odoo_sources import CORE_MODEL, Field, Method, ModelClass

Json = dict[str, object]

# Names that Odoo refuses in a call, in addition to names that begin with an underscore.
REFUSED = {"init"}
# If more models than this have a method, the call of a mixin is not connected with it by its name.
NAMESAKES_MAX = 3
FIELD_PREFIX = f"{SELF}."
BY_SHAPE = {"domain", "domain_elsewhere", "fields_elsewhere", "values_elsewhere", "context"}
BY_TEXT = {"sql"}
RECORDS_REASON = "records_elsewhere"
# Methods that run when records are read, searched or shown.
READ_FUNCTIONS = {
    "read", "web_read", "search", "_search", "search_read", "web_search_read", "search_fetch", "search_count",
    "_name_search", "name_search", "web_name_search", "name_get", "_compute_display_name", "default_get",
    "fields_get", "fields_view_get", "_fields_view_get", "get_view", "get_views", "_get_view", "_get_view_cache",
    "load_views", "read_group", "_read_group", "_read_group_raw", "web_read_group", "formatted_read_group",
    "formatted_read_grouping_sets", "_read_grouping_sets", "read_progress_bar", "_read", "fetch", "_fetch_query",
    "export_data", "check_access_rights", "check_access_rule", "check_access", "has_access", "_check_access",
    "_filter_access_rules", "_where_calc", "_apply_ir_rules", "search_panel_select_range", "onchange",
    "search_panel_select_multi_range", "get_metadata", "copy_data", "_order_field_to_sql",
    "_generate_order_by", "_field_to_sql", "_condition_to_sql", "_search_display_name",
}  # fmt: skip
FUNCTION_KEYWORDS = ("compute", "search", "inverse", "default", "selection", "domain", "group_expand")


@dataclass
class Model:
    name: str
    classes: list[ModelClass] = field(default_factory=list)
    mixins: set[str] = field(default_factory=set)
    fields: dict[str, list[Field]] = field(default_factory=dict)
    methods: dict[str, list[Method]] = field(default_factory=dict)

    @property
    def definitions(self) -> list[ModelClass]:
        """The classes that define the model; all of its classes if the definition was not read."""
        return [known for known in self.classes if known.is_definition] or self.classes

    @property
    def kind(self) -> str:
        kinds = {known.kind for known in self.definitions}
        return next(kind for kind in ("stored", "transient", "abstract") if kind in kinds)

    @property
    def delegates(self) -> dict[str, str]:
        """Models whose fields the model has by delegation, with the fields that refer to them."""
        found = {name: link for known in self.classes for name, link in known.delegates.items()}
        for name, definitions in self.fields.items():
            for definition in definitions:
                comodel = definition.keywords.get("comodel_name")
                if definition.keywords.get("delegate") and isinstance(comodel, str):
                    found[comodel] = name
        return found


@dataclass
class Function:
    """All definitions of one method of one model."""

    model: str
    name: str
    methods: list[Method]
    reasons: dict[str, set[str]] = field(default_factory=dict)
    # Reasons from the bodies of the definitions themselves.
    direct: set[str] = field(default_factory=set)
    # Reasons that the function has by context keys that it reads itself.
    read_keys: dict[str, set[str]] = field(default_factory=dict)
    writes: bool = False
    # The ways in which the function is reached while records are read.
    paths: set[str] = field(default_factory=set)


class Tables:
    def __init__(self, classes: Iterable[ModelClass]) -> None:
        self.models = _merge(classes)
        self.field_names = {name for model in self.models.values() for name in model.fields}
        self.ancestors = {name: self._list_ancestors(name) for name in self.models}
        self.functions = {
            (model.name, name): Function(model.name, name, methods)
            for model in self.models.values()
            for name, methods in model.methods.items()
        }
        self.functions_by_name: dict[str, list[Function]] = {}
        for function in self.functions.values():
            self.functions_by_name.setdefault(function.name, []).append(function)
            function.writes = any(self._writes(method, function) for method in function.methods)
            for method in function.methods:
                for reason, sources in method.facts.reasons.items():
                    function.reasons.setdefault(reason, set()).update(sources)
                    function.direct.add(reason)
                    _note_keys(function, reason, sources)
        self._pass_on_writes()
        self._note_changed_records()
        self._pass_on_reasons()
        self._find_paths()

    def add_reasons(self, find: Callable[[str, str], Mapping[str, set[str]]]) -> None:
        """Adds further reasons of public methods, which `find` has for a model and a method."""
        for model in self.models.values():
            for name in model.methods:
                if self._is_public(model, name):
                    function = self.functions[model.name, name]
                    for reason, sources in find(model.name, name).items():
                        function.reasons.setdefault(reason, set()).update(sources)
                        function.direct.add(reason)

    def describe(self) -> dict[str, Json]:
        """The tables of each model, as JSON."""
        return {name: self._describe_model(model) for name, model in sorted(self.models.items())}

    def resolve(self, call: Call, caller: str) -> Iterator[Function]:
        """The functions that a call can reach: of the model, and of the models that it inherits.

        A mixin can call methods of models that use it. Such methods are found by their name, if few models have it.
        """
        owner = call.model or caller
        candidates = [(model, call.method) for model in self.ancestors.get(owner, ())]
        found = [self.functions[candidate] for candidate in candidates if candidate in self.functions]
        if not found and owner != CORE_MODEL and owner in self.models and self.models[owner].kind == "abstract":
            named = self.functions_by_name.get(call.method, [])
            found = named if len(named) <= NAMESAKES_MAX and (CORE_MODEL, call.method) not in self.functions else []
        yield from found

    def _list_ancestors(self, name: str) -> list[str]:
        """The model and the models that it inherits. `base` is left out, because every model inherits it."""
        found: list[str] = []
        pending = [name]
        while pending:
            model = pending.pop()
            if model not in found and model in self.models and (model != CORE_MODEL or name == CORE_MODEL):
                found.append(model)
                pending.extend(sorted(self.models[model].mixins))
        return found

    # Facts that calls pass on

    def _pass_on_reasons(self) -> None:
        changed = True
        while changed:
            changed = False
            for function in self.functions.values():
                for method in function.methods:
                    for call in method.facts.calls:
                        for callee in self.resolve(call, function.model):
                            changed |= _pass_on(callee, call, function)

    def _pass_on_writes(self) -> None:
        changed = True
        while changed:
            changed = False
            for function in self.functions.values():
                if not function.writes and any(self._call_writes(call, function) for call in _list_calls(function)):
                    function.writes = changed = True

    def _note_changed_records(self) -> None:
        """Adds the reason of functions that call a method that writes, on records that their caller selects."""
        for function in self.functions.values():
            for call in _list_calls(function):
                sources = _select(call.records, RECORDS_REASON) - {SELF}
                if call.model not in (None, function.model) and sources and self._call_writes(call, function):
                    function.reasons.setdefault(RECORDS_REASON, set()).update(sources)
                    function.direct.add(RECORDS_REASON)
                    _note_keys(function, RECORDS_REASON, sources)

    def _call_writes(self, call: Call, caller: Function) -> bool:
        return any(callee.writes for callee in self.resolve(call, caller.model))

    def _writes(self, method: Method, function: Function) -> bool:
        return method.facts.writes or self._assigns(method.facts.assigned, method, function)

    def _assigns(self, names: set[str], method: Method, function: Function) -> bool:
        """Whether one of the names is a field that the function does not compute.

        Onchange methods change records in memory only.
        """
        if "onchange" in method.decorators:
            return False
        return bool((names & self.field_names) - self._list_computed(function))

    def _list_computed(self, function: Function) -> set[str]:
        """The fields that a function computes, of the model and of those that it inherits.

        The name counts too, because not every field is defined in a class.
        """
        computed = {function.name.removeprefix("_compute_")}
        for ancestor in self.ancestors[function.model]:
            for name, definitions in self.models[ancestor].fields.items():
                if any(definition.keywords.get("compute") == function.name for definition in definitions):
                    computed.add(name)
        return computed

    def _find_paths(self) -> None:
        """Marks the functions that run when records are read, and the functions that they call."""
        pending: list[tuple[Function, str]] = []
        for function in self.functions.values():
            if function.name in READ_FUNCTIONS:
                pending.append((function, "read"))
            elif function.name.startswith("<") and function.model == CORE_MODEL:
                pending.append((function, "field"))
        for model in self.models.values():
            for definitions in model.fields.values():
                for definition in definitions:
                    for keyword in FUNCTION_KEYWORDS:
                        name = definition.keywords.get(keyword)
                        if isinstance(name, str):
                            call = Call(None, name, [], {}, EMPTY)
                            pending.extend((function, keyword) for function in self.resolve(call, model.name))
        while pending:
            function, path = pending.pop()
            if path not in function.paths:
                function.paths.add(path)
                for call in _list_calls(function):
                    pending.extend((callee, path) for callee in self.resolve(call, function.model))

    # Description

    def _describe_model(self, model: Model) -> Json:
        described: Json = {
            "modules": sorted({known.module for known in model.classes}),
            "defined_by": sorted({known.module for known in model.classes if known.is_definition}),
            "kind": model.kind,
            "inherit": sorted(model.mixins),
            "inherits": model.delegates,
            "methods": self._describe_methods(model),
            "fields": {name: self._describe_field(model, name) for name in model.fields},
            "context": self._describe_context(model),
        }
        return {key: value for key, value in described.items() if value or key == "kind"}

    def _describe_methods(self, model: Model) -> Json:
        return {
            name: _describe_function(self.functions[model.name, name])
            for name in model.methods
            if self._is_public(model, name)
        }

    def _is_public(self, model: Model, name: str) -> bool:
        """Odoo refuses a method if a class of the model, or of a model that it inherits, marks it as private."""
        if name.startswith(("_", "<")) or name in REFUSED:
            return False
        decorators = {
            decorator
            for ancestor in {*self.ancestors[model.name], CORE_MODEL}
            for method in (self.models[ancestor].methods.get(name, ()) if ancestor in self.models else ())
            for decorator in method.decorators
        }
        is_property = {"property", "lazy_property", "cached_property", "setter"} & decorators
        return not is_property and "private" not in decorators

    def _describe_field(self, model: Model, name: str) -> Json:
        definitions = model.fields[name]
        keywords: dict[str, object] = {}
        for definition in definitions:
            keywords.update(definition.keywords)
        related = keywords.get("related")
        compute = keywords.get("compute")
        is_stored = bool(keywords.get("store", related is None and compute is None))
        depends: set[str] = set()
        if isinstance(compute, str):
            for function in self.resolve(Call(None, compute, [], {}, EMPTY), model.name):
                depends.update(path for method in function.methods for path in method.depends)
        described: Json = {
            "type": definitions[-1].type,
            "comodel": keywords.get("comodel_name"),
            "related": ".".join(related) if isinstance(related, (list, tuple)) else related,
            "compute": compute,
            "depends": sorted(depends),
            "inverse": keywords.get("inverse"),
            "inverse_name": keywords.get("inverse_name"),
            "search": keywords.get("search"),
            "groups": keywords.get("groups"),
        }
        described = {key: value for key, value in described.items() if value}
        if related and keywords.get("readonly") is False:
            described["readonly"] = False
        return described if is_stored else {**described, "store": False}

    def _describe_context(self, model: Model) -> Json:
        """For each key, the functions that read it, and what they do."""
        keys: dict[str, Json] = {}
        for name, methods in model.methods.items():
            function = self.functions[model.name, name]
            for method in methods:
                for key, read in method.facts.context.items():
                    described = keys.setdefault(key, {}).setdefault(name, {})  # type: ignore[attr-defined]
                    self._describe_read(key, read, method, function, described)
        return dict(keys)

    def _describe_read(
        self, key: str, read: ContextRead, method: Method, function: Function, described: Json
    ) -> None:
        """Adds what one definition of a function does with a context key."""
        calls = [method.facts.calls[index] for index in read.guarded_calls]
        guards = set(described.get("guards", ()))  # type: ignore[call-overload]
        if (
            read.guards_write
            or self._assigns(read.guarded_assignments, method, function)
            or any(self._call_writes(call, function) for call in calls)
        ):
            guards.add("writes")
        if read.guards_sudo:
            guards.add("sudo")
        reasons = {
            reason for reason, sources in function.reasons.items() if CONTEXT_PREFIX + key in sources
        }
        if function.writes:
            described["writes"] = True
        direct = function.read_keys.get(key, set())
        for name, values in (("guards", guards), ("paths", function.paths), ("reasons", reasons), ("direct", direct)):
            if values:
                described[name] = sorted(values)


def _merge(classes: Iterable[ModelClass]) -> dict[str, Model]:
    models: dict[str, Model] = {}
    for known in classes:
        model = models.setdefault(known.name, Model(known.name))
        model.classes.append(known)
        model.mixins.update(name for name in known.inherit if name != known.name)
        for name, definition in known.fields.items():
            model.fields.setdefault(name, []).append(definition)
        for method in known.methods:
            model.methods.setdefault(method.name, []).append(method)
    return models


def _list_calls(function: Function) -> Iterator[Call]:
    for method in function.methods:
        yield from method.facts.calls


def _pass_on(callee: Function, call: Call, caller: Function) -> bool:
    """Adds the reasons of a callee to its caller, by the arguments of the call. Returns whether any reason is new."""
    changed = False
    for reason, sources in callee.reasons.items():
        passed: set[str] = set()
        for source in sources:
            if source.startswith(CONTEXT_PREFIX):
                passed.add(source)
            elif source.startswith(FIELD_PREFIX):
                if call.model is None and callee.model == caller.model:
                    passed.add(source)
            else:
                for method in callee.methods:
                    given = _select(_find_argument(call, method, source), reason)
                    _note_keys(caller, reason, given)
                    passed |= given
        passed.discard(SELF)
        passed = {source for source in passed if source not in caller.reasons.get(reason, ())}
        if passed:
            caller.reasons.setdefault(reason, set()).update(passed)
            changed = True
    return changed


def _note_keys(function: Function, reason: str, sources: Iterable[str]) -> None:
    for source in sources:
        if source.startswith(CONTEXT_PREFIX):
            function.read_keys.setdefault(source.removeprefix(CONTEXT_PREFIX), set()).add(reason)


def _find_argument(call: Call, method: Method, parameter: str) -> Flow:
    """The value that a call passes as a parameter of a method."""
    flow = call.keywords.get(parameter, EMPTY)
    names = [name for name in method.parameters if not name.startswith("**")]
    for index, name in enumerate(names):
        if name == f"*{parameter}":
            for argument in call.arguments[index:]:
                flow |= argument
            return flow | call.rest
        if name == parameter:
            return flow | (call.arguments[index] if index < len(call.arguments) else call.rest)
        if name.startswith("*"):
            break
    if f"**{parameter}" in method.parameters:
        for name, argument in call.keywords.items():
            if name not in method.parameters:
                flow |= argument
    return flow | call.rest


def _select(flow: Flow, reason: str) -> Sources:
    if flow is EMPTY:
        return NOTHING
    if reason in BY_SHAPE:
        return flow.shape
    sources = flow.text if reason in BY_TEXT else flow.derived
    return frozenset(source for source in sources if not source.startswith(FIELD_PREFIX))


def _describe_function(function: Function) -> Json:
    parameters: list[str] = []
    decorators: set[str] = set()
    for method in function.methods:
        decorators |= method.decorators
        parameters.extend(name for name in method.parameters if name not in parameters)
    described: Json = {"parameters": parameters}
    if decorators & {"model", "model_create_multi"}:
        described["model"] = True
    if "readonly" in decorators:
        described["readonly"] = True
    if function.writes:
        described["writes"] = True
    if function.reasons:
        described["reasons"] = {reason: sorted(sources) for reason, sources in function.reasons.items()}
    if function.direct:
        described["direct"] = sorted(function.direct)
    return described
