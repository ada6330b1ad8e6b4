#!/usr/bin/env python3
"""Prints which fields of Odoo show the value of others, as far as `fields_get` does not tell it.

Usage: field_sources.py 14=PATH 15=PATH ... > packages/odoo/src/fields/computed-fields-table.ts

Each PATH is a checkout, as for read_odoo.py. All versions together make one table. It has one model a line, with its
fields; `any` stands for any model:

- `field`: stored, and shows no other field
- `field=source,...`: a source is a field of the record, or `model:field`
- `=writer` among the sources: a field that writes this one. It is shown, but not what it is computed from
- `*` among the sources: all fields on which the field depends, though it is stored
- `display_name=source,...`: what names of records show beside `name` and the declared fields

A field that a function computes by a query shows the columns that its queries return. A field of a model that is a view
of the database shows the columns of its expression.

With `--keys`, prints the context keys that display names read instead, with what a condition on a key controls. Too
much is listed there. Choose from it what packages/odoo/src/fields/field-context.ts needs.

Left out are:

- what `fields_get` declares of a field that is not stored
- sums over many records
- stored relations, numbers, dates and choices that a user may change: what is computed is only their first value
- what is more than two calls away
- units and currencies
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from odoo_sources import CORE_MODEL, Method, ModelClass, find_checkouts, read_checkout
from sql_columns import Query
from value_flow import NOTHING, CallStep, Value, trace_values

ANY_MODEL = "any"
NAME = "display_name"
# Marks a field that the model has from a record of another one, by `_inherits`.
INHERITED = "inherited"
CREATE_TABLE = re.compile(r"\bcreate\s+table\b", re.IGNORECASE)
# Functions that compute the names of records: up to 16, and from 17 on.
NAME_FUNCTIONS = ("name_get", "_compute_display_name")
DEPTH_MAX = 2
# Maximum number of related fields whose value is that of another related field.
RELATED_MAX = 5
# Maximum number of calls that are followed for one field. A function with more calls is no formula.
CALLS_MAX = 150
# If this number of models has a row, it counts as a row of a mixin, which other modules can use too.
MODELS_OF_MIXIN = 4

NUMBER, TEXT, RELATION, DATE, CHOICE = "number", "text", "relation", "date", "choice"
KINDS = {
    "Integer": NUMBER, "Float": NUMBER, "Monetary": NUMBER,
    "Many2one": RELATION, "One2many": RELATION, "Many2many": RELATION,
    "Date": DATE, "Datetime": DATE,
    "Boolean": CHOICE, "Selection": CHOICE,
}  # fmt: skip
# The kinds of fields that a field of a kind can show.
SHOWN_KINDS = {
    NUMBER: {NUMBER}, TEXT: {TEXT, NUMBER, DATE}, RELATION: {RELATION}, DATE: {DATE}, CHOICE: {CHOICE, TEXT},
}  # fmt: skip
# Units and settings: many formulas use them, and none shows them.
PLAIN_MODELS = {
    "decimal.precision", "ir.config_parameter", "ir.default", "res.currency", "res.currency.rate", "res.lang",
    "uom.uom",
}  # fmt: skip
PLAIN_FIELDS = {
    "company_id", "currency_id", "company_currency_id", "uom_id", "product_uom_id", "product_uom", "sequence", "lang",
    "direction_sign", "id", "active", "display_type", "currency_rate", "invoice_currency_rate",
}  # fmt: skip
# Fields whose functions hand on what they show in more steps than are followed, or by other means, and fields that no
# function computes. Each was seen on a real server to show the value.
FURTHER = """
account.journal kanban_dashboard=account.bank.statement.line:amount,account.move.line:balance,account.move:amount_total
account.journal kanban_dashboard=account.move:amount_residual,current_statement_balance
account.journal kanban_dashboard_graph=account.bank.statement:balance_end_real
any duration_tracking=mail.message:res_id,mail.tracking.value:old_value_integer
base.document.layout account_number=res.partner.bank:acc_number
blog.post website_absolute_url=blog.blog:seo_name website_url=blog.blog:seo_name
chatbot.script.answer display_name=chatbot.script.step:message
equity.valuation securities=equity.transaction:securities shares=equity.transaction:securities
event.sponsor website_absolute_url=event.event:seo_name website_url=event.event:seo_name
event.track website_absolute_url=event.event:seo_name website_url=event.event:seo_name
fleet.vehicle odometer=fleet.vehicle.odometer:value
forum.post website_url=forum.forum:seo_name
forum.tag website_url=forum.forum:seo_name
gamification.karma.tracking new_value=res.users:karma old_value=res.users:karma
hr.employee hours_last_month=hr.attendance:worked_hours
hr.employee.public hours_last_month=hr.attendance:worked_hours
hr.recruitment.source url=hr.job:seo_name,utm.campaign:name,utm.medium:name,utm.source:name
ir.actions.server.history display_name=res.partner:name
link.tracker redirected_url=utm.campaign:name,utm.medium:name,utm.source:name
link.tracker.click display_name=link.tracker.code:code
pos.config last_session_closing_cash=pos.session:cash_register_balance_end_real
pos.config statistics_for_current_session=pos.session:cash_register_balance_start
product.combo base_price=product.template:list_price
product.product base_unit_name=uom.uom:name display_name=product.attribute.value:name
product.product partner_ref=product.attribute.value:name
product.product reordering_max_qty=stock.warehouse.orderpoint:product_max_qty
product.product reordering_min_qty=stock.warehouse.orderpoint:product_min_qty
product.template reordering_max_qty=stock.warehouse.orderpoint:product_max_qty
product.template reordering_min_qty=stock.warehouse.orderpoint:product_min_qty
res.partner equity_kanban_dashboard_graph=equity.valuation:valuation
res.users next_rank_id=karma rank_id=karma
sale.order.line name_short=product.product:display_name translated_product_name=product.product:display_name
stock.move quantity=stock.move.line:quantity
stock.warehouse.orderpoint bom_id_placeholder=product.template:default_code
"""
# Editable numbers that repeat the value of another field.
REPEATED = {
    ("hr.expense", "total_amount"), ("hr.expense", "total_amount_currency"), ("res.partner", "partner_weight"),
    ("res.users", "karma"), ("resource.calendar", "full_time_required_hours"), ("sale.order.line", "purchase_price"),
    ("stock.move", "quantity"), ("stock.warehouse.orderpoint", "product_max_qty"),
}  # fmt: skip


class Shown(NamedTuple):
    model: str
    field: str


class Place(NamedTuple):
    """Where a path has led: to records (`field` None) or to the value of a field."""

    model: str | None
    # The field whose value the path has led to, with its model.
    shown: Shown | None
    is_self: bool
    # Whether the path leads through many records.
    is_many: bool


Places = frozenset


@dataclass
class Model:
    name: str
    classes: list[ModelClass] = field(default_factory=list)
    mixins: list[str] = field(default_factory=list)
    delegates: list[str] = field(default_factory=list)
    # The fields of the model and of its mixins.
    fields: dict[str, dict[str, object]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    methods: dict[str, list[Method]] = field(default_factory=dict)

    @property
    def is_abstract(self) -> bool:
        return all(known.kind == "abstract" for known in self.classes)

    @property
    def is_view(self) -> bool:
        return any(known.names.get("_auto") is False for known in self.classes)

    @property
    def table(self) -> str:
        given = [known.names["_table"] for known in self.classes if isinstance(known.names.get("_table"), str)]
        return str(given[-1]) if given else self.name.replace(".", "_")


class Sources:
    def __init__(self, classes: Iterable[ModelClass]) -> None:
        self.models: dict[str, Model] = {}
        for known in classes:
            model = self.models.setdefault(known.name, Model(known.name))
            model.classes.append(known)
            model.mixins += [name for name in known.inherit if name != known.name and name not in model.mixins]
            model.delegates += [name for name in known.delegates if name not in model.delegates]
            for method in known.methods:
                model.methods.setdefault(method.name, []).append(method)
        self.ancestors = {name: self._list_ancestors(name) for name in self.models}
        for name, model in self.models.items():
            model.fields[NAME], model.types[NAME] = {}, "Char"
            for ancestor in reversed(self.ancestors[name]):
                for known in self.models[ancestor].classes:
                    for each, definition in known.fields.items():
                        model.fields.setdefault(each, {}).update(definition.keywords)
                        model.types[each] = definition.type
        for model in self.models.values():
            for delegate in model.delegates:
                inherited = self.models.get(delegate)
                for each, keywords in inherited.fields.items() if inherited else ():
                    if each not in model.fields:
                        comodel = {key: keywords[key] for key in ("comodel_name",) if key in keywords}
                        model.fields[each] = {"related": each, INHERITED: True, **comodel}
                        model.types[each] = inherited.types[each]
        self.tables = {model.table: name for name, model in self.models.items() if not model.is_abstract}
        self.rows: dict[str, Places] = {}
        self.returns: dict[tuple, Places] = {}
        self.calls = 0

    def list_rows(self, text: str) -> Places:
        """The values in the rows of a query."""
        if text not in self.rows:
            self.rows[text] = frozenset(
                Place(None, Shown(model, column), False, False)
                for model, column in Query([text]).list_returned(self.tables)
                if column in self.models[model].fields
            )
        return self.rows[text]

    def read_view(self, model: str) -> Query:
        """The query of a model that is a view."""
        methods = [
            method
            for name in self.ancestors[model]
            for known in self.models[name].classes
            for method in known.methods
            if name != CORE_MODEL
        ]
        named = [pair for method in methods for pair in method.facts.named_texts]
        texts = [text for method in methods for text in method.facts.texts]
        # Models that make their own table are no views.
        return Query([], []) if any(CREATE_TABLE.search(text) for text in texts) else Query(texts, named)

    def find_relation(self, model: str | None, name: str, depth: int = 0) -> str | None:
        """The model that a field leads to; None if the field leads to none, or its model is not known."""
        keywords = self.models[model].fields.get(name) if model in self.models else None
        if keywords is None or depth > RELATED_MAX:
            return None
        comodel = keywords.get("comodel_name")
        if isinstance(comodel, str):
            return comodel
        at: str | None = model
        path = _path_of(keywords)
        for step in path:
            at = self.find_relation(at, step, depth + 1)
        return at if path else None

    def list_ends(self, shown: Shown, depth: int = 0) -> Iterator[Shown]:
        """A field, and the field of another model whose value it has."""
        yield shown
        at: str | None = shown.model
        *before, last = _path_of(self.models[shown.model].fields[shown.field]) or [shown.field]
        for step in before:
            at = self.find_relation(at, step)
        if before and at in self.models and last in self.models[at].fields and depth < RELATED_MAX:
            yield from self.list_ends(Shown(at, last), depth + 1)

    def _list_ancestors(self, name: str) -> list[str]:
        found: list[str] = []
        pending = [name]
        while pending:
            each = pending.pop(0)
            if each not in found and each in self.models and (each != CORE_MODEL or name == CORE_MODEL):
                found.append(each)
                pending += self.models[each].mixins
        return found

    def methods_of(self, model: str, name: str) -> list[Method]:
        return [
            method for each in self.ancestors.get(model, ()) for method in self.models[each].methods.get(name, ())
        ]

    def list_depends(self, model: str, compute: str) -> set[Shown | None]:
        """The fields on which a method declares to depend. None stands for fields that no constant names."""
        depends: set[Shown | None] = set()
        for method in self.methods_of(model, compute):
            for path in method.depends:
                depends.add(None if path == "?" else self._find_last(model, path))
        return depends

    def _find_last(self, model: str, path: str) -> Shown | None:
        at: object = model
        last = Shown(model, path)
        for step in path.split("."):
            known = self.models.get(at) if isinstance(at, str) else None
            if known is None or step not in known.fields:
                return last
            last = Shown(known.name, step)
            at = self.find_relation(known.name, step)
        return last

    def call(self, model: str, name: str, place: Place, given: tuple, named: tuple, depth: int) -> Places:
        """The result of a method for records and arguments."""
        key = (model, name, place, given, named)
        known = self.returns.get(key)
        if known is not None:
            return known
        self.calls += 1
        if self.calls > CALLS_MAX or depth >= DEPTH_MAX:
            return frozenset()
        # A preliminary result, in case the method calls itself.
        self.returns[key] = frozenset()
        found: Places = frozenset()
        for method in self.methods_of(model, name):
            frame = Frame(self, frozenset({place}), bind_arguments(method, given, dict(named)), depth + 1)
            found |= frame.resolve(method.facts.returned)
        self.returns[key] = found
        return found

    # Assignments

    def list_assigned(self, model: str, name: str) -> dict[str, set[Place]]:
        """The values that a method, or a method that it calls, assigns to fields of its own records."""
        assigned: dict[str, set[Place]] = {}
        for frame, method in self._list_frames(model, name):
            for (records, target), value in method.facts.assigned.items():
                if frame.is_own(records):
                    assigned.setdefault(target, set()).update(frame.resolve(value))
            for records, path in method.facts.spread:
                if frame.is_own(records):
                    self._spread(frame, path, assigned)
        return assigned

    def list_keyed(self, model: str, name: str) -> dict[str, set[Place]]:
        """By context key: the values that conditions on it control in a method, and in methods that it calls."""
        keyed: dict[str, set[Place]] = {}
        for frame, method in self._list_frames(model, name):
            for key in method.facts.keys:
                keyed.setdefault(key, set()).update(frame.resolve(method.facts.keyed.get(key, NOTHING)))
        return keyed

    def _list_frames(self, model: str, name: str) -> Iterator[tuple[Frame, Method]]:
        """The definitions of a method and of the methods that it calls on its own records."""
        self.calls = 0
        self.returns = {}
        start: Places = frozenset({Place(model, None, True, False)})
        pending: list[tuple[str, tuple, dict, int]] = [(name, (), {}, 0)]
        seen: set[str] = set()
        while pending:
            name, given, named, depth = pending.pop()
            if name in seen or depth > DEPTH_MAX:
                continue
            seen.add(name)
            for method in self.methods_of(model, name):
                frame = Frame(self, start, bind_arguments(method, given, named), 0)
                yield frame, method
                for path in method.facts.calls:
                    if frame.is_own(path[:-1]):
                        pending.append((path[-1].method, *frame.arguments(path[-1]), depth + 1))

    def _spread(self, frame: Frame, path: tuple, assigned: dict) -> None:
        for place in frame.follow(path[:-1]):
            for callee in self.methods_of(place.model, path[-1].method) if place.model else ():
                bound = bind_arguments(callee, *frame.arguments(path[-1]))
                inner = Frame(self, frozenset({place}), bound, 1)
                for key, value in callee.facts.entries.items():
                    assigned.setdefault(key, set()).update(inner.resolve(value))


class Frame:
    """One call of a method, with the places to which its paths lead."""

    def __init__(self, sources: Sources, start: Places, parameters: dict[str, Places], depth: int) -> None:
        self.sources = sources
        self.start = start
        self.parameters = parameters
        self.depth = depth
        self.known: dict[tuple, Places] = {}

    def resolve(self, value: Value) -> Places:
        return frozenset().union(*map(self.follow, value))

    def is_own(self, path: tuple) -> bool:
        return any(place.is_self for place in self.follow(path))

    def arguments(self, step: CallStep) -> tuple[tuple, dict]:
        given = tuple(self.resolve(each) for each in step.arguments)
        return given, {name: self.resolve(each) for name, each in step.keywords}

    def follow(self, path: tuple) -> Places:
        known = self.known.get(path)
        if known is None:
            known = self._begin(path[0]) if len(path) == 1 else self._step(self.follow(path[:-1]), path[-1])
            self.known[path] = known
        return known

    def _begin(self, root: str) -> Places:
        if root == "self":
            return self.start
        if root.startswith("#"):
            return self.sources.list_rows(root[1:])
        if root.startswith("@"):
            is_known = root[1:] in self.sources.models
            return frozenset({Place(root[1:], None, False, True)}) if is_known else frozenset()
        return self.parameters.get(root[1:], frozenset())

    def _step(self, places: Places, step: object) -> Places:
        found: set[Place] = set()
        for place in places:
            model = self.sources.models.get(place.model) if place.model else None
            if isinstance(step, CallStep):
                given, named = self.arguments(step)
                if model is not None and self.sources.methods_of(model.name, step.method):
                    arguments = (given, tuple(sorted(named.items(), key=lambda item: item[0])))
                    found |= self.sources.call(model.name, step.method, place, *arguments, self.depth)
                else:
                    found.update(*given, *named.values())
                    # The step is a method of a text or a number.
                    if model is None and place.shown:
                        found.add(place)
            elif model is None:
                if place.shown:
                    found.add(place)
            elif step in model.fields:
                comodel = self.sources.find_relation(model.name, step)
                is_many = place.is_many or model.types[step] in ("One2many", "Many2many")
                found.add(Place(comodel, Shown(model.name, step), False, is_many))
        return frozenset(found)


def bind_arguments(method: Method, given: tuple, named: dict) -> dict[str, Places]:
    """The values of the parameters of a method, by name."""
    bound: dict[str, Places] = dict(named)
    for index, name in enumerate(method.parameters):
        if name.startswith("*"):
            bound[name.lstrip("*")] = frozenset().union(*given[index:], *named.values())
            if not name.startswith("**"):
                break
        elif index < len(given):
            bound[name] = given[index]
    return bound


class Table:
    """The rows of all versions, merged."""

    def __init__(self) -> None:
        # Sources by model and field. A stored field without sources has an empty set.
        self.rows: dict[tuple[str, str], set[str]] = {}
        # Rows of views. They come from no mixin, and neither do names.
        self.views: set[tuple[str, str]] = set()
        # Shown fields by context key and model.
        self.keys: dict[tuple[str, str], set[str]] = {}

    def add(self, sources: Sources) -> None:
        for name, model in sources.models.items():
            if model.is_abstract:
                continue
            assigned: dict[str, dict[str, set[Place]]] = {}
            for each, keywords in model.fields.items():
                compute, inverse = keywords.get("compute"), keywords.get("inverse")
                if isinstance(compute, str) and each != NAME:
                    if compute not in assigned:
                        assigned[compute] = sources.list_assigned(name, compute)
                    self._add_computed(sources, model, each, assigned[compute].get(each, set()))
                if isinstance(inverse, str) and not keywords.get("store"):
                    self._add_written(sources, model, each, inverse)
            if model.is_view:
                self._add_view(sources, model)
            self._add_name(sources, model)
            self._add_keys(sources, model)

    def _add_computed(self, sources: Sources, model: Model, name: str, places: set[Place]) -> None:
        keywords = model.fields[name]
        depends = sources.list_depends(model.name, str(keywords["compute"]))
        kind = _kind_of(model, name)
        is_editable = bool(keywords.get("store")) and keywords.get("readonly") is False
        is_own = is_editable and kind != TEXT and (model.name, name) not in REPEATED
        found: set[str] = set()
        for place in places if not is_own else ():
            shown = place.shown
            if shown is None or shown == (model.name, name) or not _is_telling(shown):
                continue
            source = _kind_of(sources.models[shown.model], shown.field)
            is_sum = place.is_many and source == NUMBER
            if source in SHOWN_KINDS[kind] and not is_sum and (keywords.get("store") or shown not in depends):
                found.update(_describe_all(sources, shown, model.name))
        if keywords.get("store") and None in depends and not is_own:
            found.add("*")
        if found or keywords.get("store"):
            self.rows.setdefault((model.name, name), set()).update(found)

    def _add_name(self, sources: Sources, model: Model) -> None:
        """What the name of a record shows whatever the context, as far as its function does not declare it."""
        function = NAME_FUNCTIONS[-1]
        ancestors = [sources.models[each] for each in sources.ancestors[model.name] if each != CORE_MODEL]
        if not any(function in each.methods for each in ancestors):
            return
        depends = sources.list_depends(model.name, function)
        keyed = sources.list_keyed(model.name, function).values()
        by_context = {place.shown for places in keyed for place in places}
        for place in sources.list_assigned(model.name, function).get(NAME, ()):
            shown = place.shown
            if shown is None or shown in depends or shown in by_context or shown == (model.name, NAME):
                continue
            if _is_telling(shown) and _kind_of(sources.models[shown.model], shown.field) in SHOWN_KINDS[TEXT]:
                self.rows.setdefault((model.name, NAME), set()).update(_describe_all(sources, shown, model.name))

    def _add_view(self, sources: Sources, model: Model) -> None:
        query = sources.read_view(model.name)
        for name, keywords in model.fields.items():
            if name == NAME or "compute" in keywords or "related" in keywords:
                continue
            found = {
                source
                for shown in map(Shown._make, query.list_columns(name, sources.tables))
                if shown.model != model.name
                and shown.field in sources.models[shown.model].fields
                and _is_telling(shown)
                and _kind_of(sources.models[shown.model], shown.field) in SHOWN_KINDS[_kind_of(model, name)]
                for source in _describe_all(sources, shown, model.name)
            }
            if found and name not in PLAIN_FIELDS:
                self.rows.setdefault((model.name, name), set()).update(found)
                self.views.add((model.name, name))

    def _add_written(self, sources: Sources, model: Model, name: str, inverse: str) -> None:
        """A field that is written by another one shows its value."""
        for target, places in sources.list_assigned(model.name, inverse).items():
            is_source = any(place.shown == (model.name, name) for place in places)
            if is_source and target != name and target in model.fields and "compute" not in model.fields[target]:
                self.rows.setdefault((model.name, target), set()).add(f"={name}")

    def _add_keys(self, sources: Sources, model: Model) -> None:
        for function in NAME_FUNCTIONS:
            for key, places in sources.list_keyed(model.name, function).items():
                shown = {place.shown for place in places if place.shown and _is_telling(place.shown)}
                found = {_describe(each, model.name) for each in shown} - {NAME}
                self.keys.setdefault((key, model.name), set()).update(found)

    def render(self) -> Iterator[str]:
        for line in FURTHER.strip().splitlines():
            model, *rows = line.split(" ")
            for name, _, found in (row.partition("=") for row in rows):
                self.rows.setdefault((model, name), set()).update(found.split(","))
        for (model, name), found in list(self.rows.items()):
            # The field `name` of the record itself is known to be part of its name.
            if name == NAME and not self.rows.get((model, "name")):
                found.discard("name")
                if not found:
                    del self.rows[model, name]
        models: dict[str, dict[str, str]] = {model: {} for model, _ in self.rows}
        for (model, name), found in self.rows.items():
            models[model][name] = f"{name}={','.join(sorted(found))}" if found else name
        of_mixins = {row for row in self.rows.keys() - self.views if row[1] != NAME and self.rows[row]}
        common = Counter(models[model][name] for model, name in of_mixins)
        mixed = {row for row, count in common.items() if count >= MODELS_OF_MIXIN}
        mixed |= set(models.pop(ANY_MODEL, {}).values())
        if mixed:
            yield f"{ANY_MODEL} {' '.join(sorted(mixed))}"
        for model, rows in sorted(models.items()):
            own = sorted(row for row in rows.values() if row not in mixed)
            if own:
                yield f"{model} {' '.join(own)}"

    def render_keys(self) -> Iterator[str]:
        for (key, model), found in sorted(self.keys.items()):
            yield f"{key} {model} {','.join(sorted(found))}"


def _kind_of(model: Model, name: str) -> str:
    return KINDS.get(model.types[name], TEXT)


def _is_telling(shown: Shown) -> bool:
    return shown.model not in PLAIN_MODELS and shown.field not in PLAIN_FIELDS


def _path_of(keywords: dict[str, object]) -> list[str]:
    """The path of a related field; empty for another field."""
    related = keywords.get("related")
    path = related.split(".") if isinstance(related, str) else related
    return [step for step in path if isinstance(step, str)] if isinstance(path, (list, tuple)) else []


def _describe_all(sources: Sources, shown: Shown, model: str) -> Iterator[str]:
    """The field, and, if it belongs to another model, the field whose value it has: the server is not asked for it."""
    ends = [shown] if shown.model == model else sources.list_ends(shown)
    return (_describe(each, model) for each in ends if _is_telling(each))


def _describe(shown: Shown, model: str) -> str:
    return shown.field if shown.model == model else f"{shown.model}:{shown.field}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints which fields show the value of others.")
    parser.add_argument("--keys", action="store_true", help="print the context keys of display names")
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="version and folder with odoo/addons")
    table = Table()
    options = parser.parse_args()
    checkouts = find_checkouts(parser, options.checkouts)
    for path in checkouts.values():
        table.add(Sources(read_checkout(path, trace_values)))
    if options.keys:
        print("\n".join(table.render_keys()))
        return
    print("/**")
    print(f" * Computed fields of Odoo Community {', '.join(checkouts)}, and what they show. Written by")
    print(" * scripts/odoo-tables/field_sources.py, which describes the form.")
    print(" */")
    print("export const COMPUTED_FIELDS = `")
    print("\n".join(table.render()))
    print("`;")


if __name__ == "__main__":
    main()
