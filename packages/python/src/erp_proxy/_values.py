"""The types of values, for the files that `erp-proxy types --language python` writes."""

from __future__ import annotations

import datetime
from typing import Any, List, Literal, Optional, Sequence, Tuple, TypedDict, Union

#: A many2one that is read in the form of Odoo: its id, and its name, which is False where Odoo computes none. JSON has
#: no tuples: the value is a list of two items.
Many2one = Tuple[int, Union[str, Literal[False]]]


class NamedRecord(TypedDict):
    """A many2one in normalized form."""

    id: int
    name: Optional[str]


class ReferencedRecord(TypedDict):
    """A reference in normalized form."""

    model: str
    id: int


#: A date that is written: a date, or a text such as `2026-10-21`.
DateValue = Union[str, datetime.date]

#: A time that is written: a datetime with a time zone, or a text in UTC such as `2026-10-21 01:31:00`.
TimeValue = Union[str, datetime.datetime]

#: A command that changes a one2many or many2many field, such as `(4, 7, 0)`.
X2manyCommand = Union[Tuple[int, Any, Any], Tuple[int, Any], Tuple[int], List[Any]]


class X2manyChanges(TypedDict, total=False):
    """A change of a one2many or many2many field in normalized form. Its members are applied in this order."""

    #: Replaces all records.
    set: Sequence[int]
    #: Adds existing records.
    add: Sequence[int]
    #: Removes records from the field without deleting them.
    remove: Sequence[int]
    #: Creates records and adds them.
    create: Sequence[Any]
    #: Changes records of the field, each with its `id`.
    update: Sequence[Any]
    #: Deletes records of the field.
    delete: Sequence[int]
    #: Removes all records.
    clear: bool
