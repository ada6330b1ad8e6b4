#!/usr/bin/env python3
"""Prints which fields of Odoo change records of other models, or send something, when a caller sets them.

Usage: written_models.py 14=PATH 15=PATH ... > packages/odoo/src/sensitive/written-models-data.ts

Each PATH is a checkout, as for read_odoo.py. A field is found if it has

- `related` with `readonly=False`: its value is kept in the record that the path leads to
- `inverse`: what the method, and methods that it calls, change
- a place in `create` or `write` of its model, or in a method that these call, that looks the field up in the values and
  changes other records then; also what is called on the records that the field leads to
- a place where its text is evaluated, as that of a domain: it can name fields of any model
- a place in `_track_template`, by which Odoo sends a template when the field changes
- a place in the conditions by which a scheduled action finds records, for which it then sends mail
- a place in `_message_auto_subscribe_followers`: the user whom it names gets mail, and follows the record. `user_id`
  counts if changes of it are tracked, as in Odoo
- a place as the link of `_inherits`: values of the call, and later ones, are written to the record that it names
- a column that only Odoo fills in, by computing it from records of other models, such as the residual amount of a line
  from its reconciliations: a value of the call says what these records do not say. `computed` of review.json says which
  of them count

A public method is found too, under its name with `()`, by what it changes itself. `called` of review.json says which of
its targets need an entry.

A field that links to one record or to many is found if these records are deleted or changed when the record is deleted,
by `unlink`, by methods that Odoo calls before it (`api.ondelete`), or by methods that these call. For a link that is
computed or related, the fields that it comes from are found. `deleted` of review.json says which targets need an entry.
One2many fields are left out: their records are parts of the record, as are those that the database deletes.

A field has the targets of the fields that it changes in turn, such as `manager_id` of a department those of `parent_id`
of its employees. Targets are a model with `create`, `write` or `unlink`. Mail counts as `create` of `mail.mail`, and
new followers as `write` of `mail.followers`.

`targets` of review.json says which targets need an entry in a policy; the others are left out. With `--rows`, prints
all of them, with the versions, how they were found, the fields that are changed, and those that link. In the output,
each line is a model with rows:

- `field,field=model/method`: fields with a target
- `!` after the target: new records do not have it
- `~` after the target: the record that the field names is deleted or changed with the record
- `?field,...`: a new record has it only if one of these fields links it to the other record
- `@14-16`: the versions, if these are not all

Three further lists follow: the targets that are left out, except those that `harmless` of the review has; the models
that have the fields and methods of another one; and the fields with JSON that a call can set, except those that `json`
of the review has. What Odoo does with members of such a value is not traced: the fields that it obeys need a row in
`FURTHER_ROWS` of written-models.ts.

Not seen are effects that need no field, such as mail that each new record sends; fields that are compared with their
value before; what `create` and `write` of the other record do, except that it changes fields that have rows; paths of
fields that Odoo follows step by step; and texts that only modules under another license evaluate. `FURTHER_ROWS` of
written-models.ts has those that are known. Messages to the followers of a record do not count, nor do followers of
other records.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from effect_flow import ANYTHING, ASSIGNMENT, CALLED, FOLLOWS, MAILS, Effect, trace_effects
from field_sources import INHERITED, Sources
from odoo_sources import CORE_MODEL, find_checkouts, read_checkout
from scheduled_methods import read_scheduled

REVIEW = Path(__file__).with_name("review.json")
# Maximum number of calls that are followed from `create`, `write` or an inverse.
DEPTH_MAX = 8
# Maximum number of related fields that are followed, each related to the next.
RELATED_MAX = 4
CREATES = {"create", "copy", "name_create", "find_or_create", "_load_records"}
WRITES = {"write", "_write", "update", ASSIGNMENT, "toggle_active", "action_archive", "action_unarchive"}
# Methods that return records of the same model.
SAME_RECORDS = {
    "sudo", "with_context", "with_user", "with_env", "with_company", "filtered", "exists", "filtered_domain", "sorted",
    "search", "browse", "search_fetch", "concat", "union", "ensure_one", "mapped",
}  # fmt: skip
# Methods that notify the followers or the users of a record, as every tracked change does.
TELLING = {
    "message_post", "message_post_with_view", "_message_log", "_message_log_batch", "_message_log_with_view",
    "message_unsubscribe", "activity_schedule", "activity_schedule_with_view", "_activity_schedule_with_view",
    "activity_reschedule", "activity_unlink", "activity_feedback", "activity_update",
}  # fmt: skip
# How the value of a field is copied into the other record itself.
DIRECT = ("related", "inverse")
MAIL = ("mail.mail", "create")
# What a text that is evaluated counts as: a stored condition.
CONDITION = ("ir.filters", "create")
TEXTS = {"Char", "Text"}
# How the target of a link is changed when the record is deleted.
DELETED = "unlink"
LINKS = {"Many2one", "Many2many"}
# How a text is used that is evaluated.
EVALUATED = "evaluated"
SCHEDULED = "scheduled"
# How the record changes whose fields a record has as its own.
INHERITS = "inherits"
# How a value stands in for what Odoo computes from other records.
COMPUTED = "computed"
# How a user is told of a record, and follows it.
ASSIGNED = "assigned"
SUBSCRIBES = "_message_auto_subscribe_followers"
THREAD = "mail.thread"
# What a field does only if the call sets it, not if another field sets it.
ALONE = {COMPUTED, DELETED, EVALUATED, INHERITS, SCHEDULED}
# The end of the name under which a method is listed among the fields.
CALL = "()"
REFUSED_DECORATORS = {"private", "property", "lazy_property", "cached_property", "setter"}
FOLLOWER = ("mail.followers", "write")


class Hit(NamedTuple):
    """One effect of a field on records of a model."""

    model: str
    method: str
    # The field of the other record that is set; empty: not known.
    field: str
    # The field that links the record to the other one; empty: no field does.
    link: str
    # `related`, `inverse`, `create`, `write`, `unlink`, `track`, `evaluated`, `scheduled`, `inherits` or `assigned`.
    how: str


class Place(NamedTuple):
    """Records that a path leads to."""

    model: str
    # The field of the call's record with which the path begins.
    link: str
    is_own: bool


@dataclass
class Step:
    """A call of a method, with what is known about it."""

    model: str
    method: str
    is_own: bool
    keys: frozenset
    link: str
    depth: int


class Finder:
    """Finds the effects of each field of a version."""

    def __init__(self, sources: Sources, scheduled: Iterable[tuple[str, str]] = ()) -> None:
        self.sources = sources
        # Effects by model and field.
        self.hits: dict[tuple[str, str], set[Hit]] = {}
        # Fields with texts that are evaluated of records whose model is not known.
        self.evaluated_names: set[str] = set()
        for name, model in sources.models.items():
            if not model.is_abstract and name != CORE_MODEL:
                self._find(name, model.fields)
        self._find_evaluated_names()
        names = {name.replace(".", "_"): name for name in sources.models}
        for model_name, method in scheduled:
            self._find_scheduled(names.get(model_name, model_name), method)

    def _find(self, model: str, fields: dict) -> None:
        for name, keywords in fields.items():
            if isinstance(keywords.get("inverse"), str):
                for _, hit in self._follow(model, keywords["inverse"], "inverse"):
                    self._add(model, name, hit)
            if keywords.get("related") and keywords.get("readonly") is False:
                self._add_related(model, name, keywords["related"])
            if _is_only_computed(keywords):
                for other, source in self._list_sources(model, name):
                    self._add(model, name, Hit(other, "write", source, "", COMPUTED))
        for ancestor in self.sources.ancestors[model]:
            for known in self.sources.models[ancestor].classes:
                for parent, link in known.delegates.items():
                    self._add(model, link, Hit(parent, "write", "", "", INHERITS))
        for method in ("create", "write"):
            for key, hit in self._follow(model, method, method):
                if key is not None:
                    self._add(model, key, hit)
        for method in self.sources.methods_of(model, "_track_template"):
            for key in method.facts.returned_keys & fields.keys():
                self._add(model, key, Hit(*MAIL, "", "", "track"))
        self._find_assigned(model)
        self._find_deleted(model)
        for method in {name for each in self.sources.ancestors[model] for name in self.sources.models[each].methods}:
            self._find_evaluated(model, method)
        for method in self.list_public(model):
            for _, hit in self._follow(model, method, CALL):
                self._add(model, method + CALL, hit)

    def _find_assigned(self, model: str) -> None:
        """Finds fields whose users get mail and follow the record."""
        fields = self.sources.models[model].fields
        for ancestor in self.sources.ancestors[model]:
            for definition in self.sources.models[ancestor].methods.get(SUBSCRIBES, ()):
                for name in definition.facts.keys & fields.keys():
                    # Odoo takes the user from the values of the call, also if the field cannot be set.
                    if ancestor != THREAD or self._is_tracked(model, name):
                        self._add(model, name, Hit(*FOLLOWER, "", "", ASSIGNED))

    def _is_tracked(self, model: str, name: str) -> bool:
        """Whether changes of a field are tracked. A related field is tracked like the one that it leads to."""
        for _ in range(RELATED_MAX):
            known = self.sources.models.get(model)
            keywords = known.fields.get(name, {}) if known else {}
            if "tracking" in keywords or not keywords.get("related"):
                return bool(keywords.get("tracking"))
            *links, name = _split(keywords["related"])
            for link in links:
                model = self.sources.find_relation(model, link) or ""
        return False

    def _find_evaluated(self, model: str, method: str) -> None:
        """Finds fields whose texts a method evaluates, or passes on to one that does."""
        for definition in self.sources.methods_of(model, method):
            self.evaluated_names |= definition.facts.evaluated_names
            for path in definition.facts.evaluated:
                self._add_evaluated_path(model, path)
            for records, called, index, paths in definition.facts.passed:
                for place in self._list_places(records, model):
                    if self._evaluates(place.model, called, index):
                        for path in paths:
                            self._add_evaluated_path(model, path)

    def _evaluates(self, model: str, method: str, index: int) -> bool:
        return any(
            (f"={name}",) in definition.facts.evaluated
            for definition in self.sources.methods_of(model, method)
            for name in definition.parameters[index : index + 1]
        )

    def _add_evaluated_path(self, model: str, path: tuple) -> None:
        if len(path) < 2 or not isinstance(path[-1], str):
            return
        start = Place(model, "", True) if path[0] == "self" else Place(path[0].removeprefix("@"), "", False)
        places = list(self._walk(start, path[1:-1])) if path[0][:1] in ("s", "@") else []
        for place in places:
            self._add_evaluated(place.model, path[-1])
        if not places:
            self.evaluated_names.add(path[-1])

    def _find_evaluated_names(self) -> None:
        """Finds texts that are evaluated of records of an unknown model, if only one model has a field of the name."""
        for name in self.evaluated_names:
            owners = [each.name for each in self.sources.models.values() if name in each.fields and not each.is_abstract]
            if len(owners) == 1:
                self._add_evaluated(owners[0], name)

    def _add_evaluated(self, model: str, name: str) -> None:
        known = self.sources.models.get(model)
        if known and known.types.get(name) in TEXTS and _is_settable(known.fields[name]):
            self._add(model, name, Hit(*CONDITION, "", "", EVALUATED))
            for parent in known.delegates if known.fields[name].get(INHERITED) else ():
                self._add_evaluated(parent, name)

    def _find_scheduled(self, model: str, method: str) -> None:
        """Finds fields by which a scheduled action finds the records for which it sends something."""
        if model not in self.sources.models:
            return
        hits = {hit for _, hit in self._follow(model, method, SCHEDULED) if hit[:2] == MAIL}
        called = [method, *(effect.method for effect in self._list_effects_of(model, method))]
        for definition in (each for name in called for each in self.sources.methods_of(model, name)):
            for records, names in definition.facts.searched:
                for place in self._list_places(records, model):
                    fields = self.sources.models[place.model].fields if place.model in self.sources.models else {}
                    for name in names & fields.keys():
                        if _is_settable(fields[name]):
                            self.hits.setdefault((place.model, name), set()).update(hits)

    def _list_effects_of(self, model: str, method: str) -> list[Effect]:
        """The calls that a method makes of its own records."""
        effects = [each for known in self.sources.methods_of(model, method) for each in known.facts.effects]
        return [each for each in effects if any(path[0] == "self" for path in each.records)]

    def _find_deleted(self, model: str) -> None:
        """Finds links to records that are deleted or changed with the record."""
        for method in ("unlink", *self._list_before_unlink(model)):
            for _, hit in self._follow(model, method, DELETED):
                # Records of a one2many field are parts of the record. What the linked records delete in turn is theirs.
                is_link = self.sources.models[model].types.get(hit.link) in LINKS
                if is_link and hit.model == self.sources.find_relation(model, hit.link):
                    for link in self._list_settable(model, hit.link):
                        self._add(model, link, hit)

    def _list_before_unlink(self, model: str) -> list[str]:
        """The methods that Odoo calls before it deletes records."""
        found = {
            method.name
            for ancestor in self.sources.ancestors[model]
            for methods in self.sources.models[ancestor].methods.values()
            for method in methods
            if "ondelete" in method.decorators
        }
        return sorted(found)

    def _list_settable(self, model: str, link: str) -> set[str]:
        """The links that a call can set: the field itself, or those that it is computed from or related to."""
        fields, types = self.sources.models[model].fields, self.sources.models[model].types
        return {name for name in self._list_origins(model, link) if types[name] in LINKS and _is_settable(fields[name])}

    def _list_origins(self, model: str, link: str) -> set[str]:
        """A field, and those of its model that it is computed from or related to, over any number of steps."""
        found: set[str] = set()
        pending = [link]
        fields = self.sources.models[model].fields
        while pending:
            name = pending.pop()
            if name in found or name not in fields:
                continue
            found.add(name)
            related, compute = fields[name].get("related"), fields[name].get("compute")
            if related:
                pending.append(related[0] if isinstance(related, (list, tuple)) else str(related).split(".")[0])
            elif isinstance(compute, str):
                for method in self.sources.methods_of(model, compute):
                    pending += [path.split(".")[0] for path in method.depends]
        return found

    def list_public(self, model: str) -> list[str]:
        """The methods that a call can name, besides those of the ORM."""
        found: list[str] = []
        core = self.sources.models[CORE_MODEL].methods if CORE_MODEL in self.sources.models else {}
        for name in {each for known in self.sources.ancestors[model] for each in self.sources.models[known].methods}:
            decorators = {each for method in self.sources.methods_of(model, name) for each in method.decorators}
            if not name.startswith(("_", "<")) and name not in core and not decorators & REFUSED_DECORATORS:
                found.append(name)
        return sorted(found)

    def _add(self, model: str, name: str, hit: Hit) -> None:
        self.hits.setdefault((model, name), set()).add(hit)

    def _list_sources(self, model: str, name: str) -> set[tuple[str, str]]:
        """The fields of other models from which a field is computed, over any number of steps.

        An empty name stands for the existence of records of the model.
        """
        found: set[tuple[str, str]] = set()
        pending = [(model, name)]
        seen: set[tuple[str, str]] = set()
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            for path in self._list_dependencies(*at):
                owner = at[0]
                for step in path:
                    if owner not in self.sources.models or step not in self.sources.models[owner].fields:
                        break
                    found.add((owner, step))
                    pending.append((owner, step))
                    relation = self.sources.find_relation(owner, step)
                    if relation is None:
                        break
                    found.add((relation, ""))
                    owner = relation
        return {each for each in found if each[0] != model}

    def _list_dependencies(self, model: str, name: str) -> list[list[str]]:
        """The paths that a field is related to, or that the method that computes it declares."""
        keywords = self.sources.models[model].fields[name]
        related, compute = keywords.get("related"), keywords.get("compute")
        if related:
            return [_split(related)]
        definitions = self.sources.methods_of(model, compute) if isinstance(compute, str) else ()
        return [path.split(".") for method in definitions for path in method.depends]

    def _add_related(self, model: str, name: str, related: object) -> None:
        path = _split(related)
        at: object = model
        for step in path[:-1]:
            known = self.sources.models.get(at) if isinstance(at, str) else None
            at = known.fields.get(step, {}).get("comodel_name") if known else None
        if isinstance(at, str) and len(path) > 1:
            self._add(model, name, Hit(at, "write", path[-1], path[0], "related"))

    def _follow(self, model: str, method: str, how: str) -> Iterator[tuple[str | None, Hit]]:
        """The effects of a method, each with the field that it looks up for the effect; None: it looks up no field."""
        own = self.sources.models[model].fields.keys()
        pending = [Step(model, method, True, frozenset(), "", 0)]
        seen: set[tuple] = set()
        while pending:
            step = pending.pop()
            mark = (step.model, step.method, step.is_own, step.keys, step.link)
            if mark in seen or step.depth > DEPTH_MAX:
                continue
            seen.add(mark)
            for definition in self.sources.methods_of(step.model, step.method):
                for effect in definition.facts.effects:
                    looked_up = frozenset(self._list_keys(step.model, effect) & own) if step.is_own else frozenset()
                    keys = looked_up or step.keys
                    for place in self._list_places(effect.records, step.model):
                        link = step.link or (place.link if step.is_own else "")
                        is_own = step.is_own and place.is_own
                        # If a field leads to the records on which a method is called, the effect depends on that field.
                        by_link = how != "inverse" and step.is_own and place.link in own
                        given = keys or (frozenset({place.link}) if by_link else frozenset())
                        hits = list(self._list_hits(place.model, effect, link, how))
                        if FOLLOWER in (hit[:2] for hit in hits) and effect.method in FOLLOWS:
                            # Other records have other followers, which depend on what their modules do.
                            hits = hits if step.is_own and (place.is_own or place.model == "") else []
                        for hit in hits:
                            yield from ((key, hit) for key in given or (None,))
                        if not hits and effect.method not in TELLING | FOLLOWS:
                            pending.append(Step(place.model, effect.method, is_own, given, link, step.depth + 1))

    def _list_keys(self, model: str, effect: Effect) -> set[str]:
        """The names that a method looks up, or that methods to which it passes the values look up."""
        found: set[str] = set()
        for key in effect.keys:
            if key.startswith(CALLED):
                for method in self.sources.methods_of(model, key.removeprefix(CALLED)):
                    found |= method.facts.keys
            else:
                found.add(key)
        return found

    def _list_hits(self, model: str, effect: Effect, link: str, how: str) -> Iterator[Hit]:
        known = self.sources.models.get(model)
        names = effect.fields & known.fields.keys() if known else ()
        if effect.method in MAILS:
            yield Hit(*MAIL, "", link, how)
        elif effect.method in FOLLOWS:
            yield Hit(*FOLLOWER, "", link, how)
        elif known is None:
            return
        elif effect.method == ASSIGNMENT:
            yield from (Hit(model, "write", name, link, how) for name in names)
        elif effect.method in CREATES or effect.method in WRITES:
            method = "create" if effect.method in CREATES else "write"
            yield from (Hit(model, method, name, link, how) for name in names or ("",))
        elif effect.method == "unlink":
            yield Hit(model, "unlink", "", link, how)

    def _list_places(self, records: frozenset, model: str) -> Iterator[Place]:
        if ANYTHING in records:
            yield Place("", "", False)
            return
        for path in records:
            root = path[0]
            if root == "self":
                yield from self._walk(Place(model, "", True), path[1:])
            elif root.startswith("@"):
                yield from self._walk(Place(root[1:], "", False), path[1:])

    def _walk(self, place: Place, steps: tuple) -> Iterator[Place]:
        for step in steps:
            known = self.sources.models.get(place.model)
            if known is None:
                return
            if not isinstance(step, str):
                if step.method not in SAME_RECORDS | CREATES:
                    return
                place = place._replace(is_own=place.is_own and step.method not in CREATES)
                continue
            comodel = self.sources.find_relation(place.model, step)
            if comodel is None:
                return
            place = Place(comodel, place.link or (step if place.is_own else ""), False)
        yield place

    def close(self) -> dict[tuple[str, str], set[Hit]]:
        """The effects of each field, with those of fields that it changes: repeatedly in its model, once in others."""
        closed = {key: set(hits) for key, hits in self.hits.items()}
        changed = True
        while changed:
            changed = False
            for (model, name), hits in closed.items():
                if name.endswith(CALL):
                    continue
                found = {each for hit in hits if hit.model == model for each in self._pass_on(hit, closed, True)} - hits
                changed |= bool(found)
                hits |= found
        own = {key: set(hits) for key, hits in closed.items()}
        for (model, name), hits in closed.items():
            others = [hit for hit in own[model, name] if hit.model != model and not name.endswith(CALL)]
            hits.update(each for hit in others for each in self._pass_on(hit, own, False))
        return closed

    def _pass_on(self, hit: Hit, hits: dict[tuple[str, str], set[Hit]], is_own: bool) -> Iterator[Hit]:
        for further in hits.get((hit.model, hit.field), ()) if hit.field else ():
            # Messages to followers of a module's own records do not count, nor does what only a value of the call does.
            is_followed = hit.how in DIRECT or further[:2] not in (MAIL, FOLLOWER)
            if is_followed and not ALONE & {hit.how, further.how}:
                yield further._replace(
                    link=further.link if is_own else hit.link,
                    how=further.how if is_own or hit.how in DIRECT else hit.how,
                )

    def list_links(self, model: str, link: str) -> set[str] | None:
        """The fields by which a new record can get a link: the field itself, and those that it is computed from.

        None: it can have the link without any of them, by a default. A wizard gets its links from the context.
        """
        if not link or all(known.kind == "transient" for known in self.sources.models[model].classes):
            return None
        found = self._list_origins(model, link)
        fields = self.sources.models[model].fields
        return None if any(fields[name].get("default") for name in found) else found


def _split(related: object) -> list[str]:
    return list(related) if isinstance(related, (list, tuple)) else str(related).split(".")


def _is_only_computed(keywords: dict) -> bool:
    """Whether a field has a column of its own that only Odoo fills in, although a call can set it."""
    is_derived = keywords.get("compute") or (keywords.get("related") and not keywords.get(INHERITED))
    is_stored = keywords.get("store") is True
    return bool(is_derived) and is_stored and not keywords.get("inverse") and keywords.get("readonly") is not False


def _is_settable(keywords: dict) -> bool:
    is_derived = keywords.get("compute") or (keywords.get("related") and not keywords.get(INHERITED))
    return not is_derived or bool(keywords.get("store") or keywords.get("inverse")) or keywords.get("readonly") is False


@dataclass
class Review:
    """The part `targets` of review.json."""

    # Targets that need an entry in a policy, with the fields that need it.
    needed: list[dict]
    # Targets of methods that need an entry.
    called: list[dict]
    # Targets of links that need an entry.
    deleted: list[dict]
    # Targets of fields that only Odoo computes that need an entry.
    computed: list[dict]
    # Fields that need no entry: patterns of models, with fields and targets unless all count; `scheduled` for mail
    # that a scheduled action sends.
    sources: list[dict]
    # Fields by which a new record gets a link, by model and link, besides those that the link is computed from.
    links: dict[tuple[str, str], list[str]]
    # Targets that must be named in a policy, but need no entry here.
    harmless: set[tuple[str, str]]
    # Fields with JSON that names nothing on which Odoo acts.
    json: set[str]

    @staticmethod
    def read(path: Path) -> Review:
        rows = json.loads(path.read_text(encoding="utf-8"))["targets"]
        return Review(
            rows["needed"],
            rows["called"],
            rows["deleted"],
            rows.get("computed", []),
            rows["sources"],
            {(row["model"], row["link"]): row["by"] for row in rows["links"]},
            {(model, method) for row in rows["harmless"] for model in row["models"] for method in row["methods"]},
            {name for row in rows.get("json", ()) for name in row["fields"]},
        )

    def check(self, model: str, name: str, hit: Hit) -> tuple[str, str] | None:
        """The target that needs an entry in a policy; None: no target does."""
        ways = {DELETED: self.deleted, COMPUTED: self.computed}
        rows = self.called if name.endswith(CALL) else ways.get(hit.how, self.needed)
        row = {} if hit.how == INHERITS else next((row for row in rows if _is_needed(row, hit)), None)
        if row is None:
            return None
        target = tuple(row["as"].split("/")) if "as" in row else (hit.model, hit.method)
        is_left_out = any(
            row.get("scheduled", False) == (hit.how == SCHEDULED)
            and any(fnmatchcase(model, pattern) for pattern in row["models"])
            and name in row.get("fields", [name])
            and "/".join(target) in row.get("targets", ["/".join(target)])
            for row in self.sources
        )
        return None if is_left_out else target


def _is_needed(row: dict, hit: Hit) -> bool:
    return (
        any(fnmatchcase(hit.model, pattern) for pattern in row["models"])
        and hit.method in row["methods"]
        and (not row.get("direct") or hit.how in DIRECT)
        and ("fields" not in row or hit.field in row["fields"])
        and hit.field not in row.get("except", ())
    )


@dataclass
class Row:
    """A target of a field, merged over all versions."""

    versions: set[int] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    hows: set[str] = field(default_factory=set)
    # Fields by which a new record gets the link to the other record, separately for copied values (True) and other
    # effects. None: it needs no such field.
    linked: dict[bool, set[str] | None] = field(default_factory=dict)

    def add(self, version: int, hit: Hit, links: set[str] | None) -> None:
        self.versions.add(version)
        self.fields.add(hit.field)
        self.hows.add(hit.how)
        is_direct = hit.how in DIRECT
        known = self.linked.get(is_direct, set())
        self.linked[is_direct] = None if known is None or links is None else known | links

    @property
    def links(self) -> set[str] | None:
        return self.linked.get(True, self.linked.get(False))


Rows = dict[tuple[str, str], dict[tuple[str, str], Row]]


class Table:
    def __init__(self, review: Review) -> None:
        self.review = review
        self.versions: list[int] = []
        self.rows: Rows = {}
        self.left_out: Rows = {}

    def add(self, version: int, finder: Finder) -> None:
        self.versions.append(version)
        for (model, name), hits in finder.close().items():
            for hit in hits:
                if hit.model != model:
                    needed = self.review.check(model, name, hit)
                    if needed is None and (name.endswith(CALL) or hit.how == COMPUTED):
                        continue
                    rows = self.left_out if needed is None else self.rows
                    row = rows.setdefault((model, name), {}).setdefault(needed or (hit.model, hit.method), Row())
                    is_linked = not name.endswith(CALL) and hit.how != DELETED
                    links = finder.list_links(model, hit.link) if is_linked else None
                    further = self.review.links.get((model, hit.link), ())
                    row.add(version, hit, None if links is None else links.union(further))

    def render(self) -> Iterator[str]:
        models: dict[str, dict[str, list[str]]] = {}
        for (model, name), targets in sorted(self.rows.items()):
            for (other, method), row in sorted(targets.items()):
                words = models.setdefault(model, {})
                words.setdefault(self._render_row(other, method, row), []).append(name)
        for model, words in models.items():
            yield " ".join([model, *(f"{','.join(names)}={end}" for end, names in words.items())])

    def _render_row(self, model: str, method: str, row: Row) -> str:
        links = f"?{','.join(sorted(row.links))}" if row.links else ""
        # Odoo does not run `write` for a new record.
        mark = "!" if row.hows == {"write"} else "~" if row.hows == {DELETED} else ""
        first, last = min(row.versions), max(row.versions)
        is_all = (first, last) == (min(self.versions), max(self.versions))
        versions = "" if is_all else f"@{first}" if first == last else f"@{first}-{last}"
        return f"{model}/{method}{mark}{links}{versions}"

    def list_left_out(self) -> list[str]:
        """The targets that no field in the output has, except targets that the review allows."""
        found = {target for targets in self.left_out.values() for target in targets}
        found -= {target for targets in self.rows.values() for target in targets}
        return sorted("/".join(target) for target in found - self.review.harmless)

    def render_rows(self) -> Iterator[str]:
        for mark, rows in (("needed", self.rows), ("-", self.left_out)):
            for (model, name), targets in sorted(rows.items()):
                for (other, method), row in sorted(targets.items()):
                    parts = [sorted(row.versions), sorted(row.hows), sorted(row.fields), sorted(row.links or ())]
                    described = " ".join(",".join(map(str, part)) or "-" for part in parts)
                    yield f"{mark} {model} {name} {other}/{method} {described}"


def list_json(sources: Sources) -> Iterator[str]:
    """The fields with JSON that a call can set."""
    for name, model in sources.models.items():
        for field_name, keywords in () if model.is_abstract else model.fields.items():
            is_own = not keywords.get(INHERITED) and keywords.get("store") is not False
            if model.types[field_name] == "Json" and is_own and _is_settable(keywords):
                yield f"{name} {field_name}"


def list_heirs(sources: Sources) -> Iterator[str]:
    """Models that have the fields and methods of another model that is no mixin."""
    for name, model in sorted(sources.models.items()):
        if model.is_abstract:
            continue
        for parent in model.mixins:
            if parent in sources.models and not sources.models[parent].is_abstract:
                yield f"{name} inherits {parent}"
        for parent in model.delegates:
            yield f"{name} delegates {parent}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints which fields change records of other models.")
    parser.add_argument("--rows", action="store_true", help="print all targets, for the review")
    parser.add_argument("--review", type=Path, default=REVIEW, help="the reviewed targets; default: review.json")
    parser.add_argument("checkouts", nargs="+", metavar="VERSION=PATH", help="version and folder with odoo/addons")
    options = parser.parse_args()
    table = Table(Review.read(options.review))
    heirs: set[str] = set()
    values: set[str] = set()
    for version, path in find_checkouts(parser, options.checkouts).items():
        sources = Sources(read_checkout(path, trace_effects))
        table.add(int(version), Finder(sources, read_scheduled(path)))
        heirs.update(list_heirs(sources))
        values.update(list_json(sources))
    for line in table.render_rows() if options.rows else render(table, heirs, values - table.review.json):
        print(line)


def render(table: Table, heirs: set[str], values: set[str]) -> Iterator[str]:
    yield "/**"
    yield f" * Fields of Odoo Community {', '.join(map(str, table.versions))} that change records of other models."
    yield " * Written by scripts/odoo-tables/written_models.py, which describes the form: change its review.json."
    yield " */"
    yield "export const WRITTEN_MODELS = `"
    yield from table.render()
    yield "`;"
    yield ""
    yield "/** Targets that need no entry. */"
    yield "export const LEFT_OUT = `"
    yield from table.list_left_out()
    yield "`;"
    yield ""
    yield "/** Models that have what another one has, by `_inherit` under another name or `_inherits`. */"
    yield "export const HEIRS = `"
    yield from sorted(heirs)
    yield "`;"
    yield ""
    yield "/** Fields with JSON that a call can set, and on which Odoo acts. */"
    yield "export const JSON_VALUES = `"
    yield from sorted(values)
    yield "`;"


if __name__ == "__main__":
    main()
