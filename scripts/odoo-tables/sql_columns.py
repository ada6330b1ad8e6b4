"""Finds in the texts of a query which columns of tables it returns. Reads no more SQL than the queries of Odoo have.

Order and nesting are ignored: an alias stands for all tables that have it anywhere in the texts. A column of a query
within the query stands for all expressions that have its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SELECT = re.compile(r"\bselect\b(?:\s+distinct\b(?:\s+on\s*\([^)]*\))?)?", re.IGNORECASE)
FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
TABLE = re.compile(
    r'\b(?:from|join)\s+(?:only\s+|lateral\s+)?"?([a-z_]\w*)"?(?:\s+(?:as\s+)?"?([a-z_]\w*)"?)?', re.IGNORECASE
)
# A part of a query that another function puts behind FROM.
STARTS_WITH_TABLE = re.compile(r'\s*"?[a-z_]\w*"?\s+(?:as\s+)?"?[a-z_]\w*"?\s+(?:\w+\s+)?join\b', re.IGNORECASE)
COLUMN = re.compile(r'"?\b([a-z_]\w*)"?\."?([a-z_]\w*)"?', re.IGNORECASE)
NAMED = re.compile(r'(.*)\bas\s+"?([a-z_]\w*)"?\s*', re.IGNORECASE | re.DOTALL)
WORD = re.compile(r'"?\b([a-z_]\w*)\b"?(?!\s*\()', re.IGNORECASE)
# Comments, texts and conditions.
WITHOUT_VALUE = re.compile(r"--[^\n]*|'[^']*'|\bwhen\b.*?\bthen\b", re.IGNORECASE | re.DOTALL)
# Words that can follow a table in place of an alias.
KEYWORDS = {
    "where", "left", "right", "inner", "outer", "full", "cross", "join", "on", "group", "order", "union", "limit",
    "using", "having", "lateral", "natural", "as", "set", "returning", "for", "offset",
}  # fmt: skip
# Steps from a column of a query within the query to its expression.
STEPS_MAX = 4


def is_query(text: str) -> bool:
    return SELECT.search(text) is not None


class Expression(NamedTuple):
    text: str
    # The only table of the query that has the expression, for columns without an alias.
    table: str | None


class Query:
    """`columns`: texts of expressions, with the names that they get."""

    def __init__(self, texts: Iterable[str], columns: Iterable[tuple[str, str]] = ()) -> None:
        # Tables by alias.
        self.tables: dict[str, set[str]] = {}
        # Expressions by the name of their column. None: they have no name.
        self.expressions: dict[str | None, set[Expression]] = {}
        # The expressions of queries that are not within others.
        self.returned: set[Expression] = set()
        for text in map(_clean, texts):
            for table, alias in TABLE.findall(f"FROM {text}" if STARTS_WITH_TABLE.match(text) else text):
                names = {table, alias} if alias and alias.lower() not in KEYWORDS else {table}
                for name in names:
                    self.tables.setdefault(name.lower(), set()).add(table.lower())
            for items, table, depth in _list_selects(text):
                for name, expression in map(_split_name, items):
                    self.expressions.setdefault(name, set()).add(Expression(expression, table))
                    if depth == 0:
                        self.returned.add(Expression(expression, table))
        for name, text in columns:
            self.expressions.setdefault(name, set()).add(Expression(_clean(text), None))

    def list_columns(self, name: str | None, known: dict[str, str]) -> set[tuple[str, str]]:
        """The columns in the expressions of a name, with the model of their table. `known`: models by table."""
        return set().union(*(self._resolve(each, known, 0) for each in self.expressions.get(name, ())))

    def list_returned(self, known: dict[str, str]) -> set[tuple[str, str]]:
        return set().union(*(self._resolve(each, known, 0) for each in self.returned))

    def _resolve(self, expression: Expression, known: dict[str, str], depth: int) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        inner = SELECT.search(expression.text)
        if inner is not None:
            selects = _list_selects(expression.text) if depth < STEPS_MAX else ()
            parts = [Expression(_split_name(item)[1], table) for items, table, _ in selects for item in items]
            found = found.union(*(self._resolve(part, known, depth + 1) for part in parts))
            expression = expression._replace(text=expression.text[: inner.start()])
        for alias, column in self._list_names(expression, known):
            tables = [table for table in self.tables.get(alias, {alias}) if table in known]
            found.update((known[table], column) for table in tables)
            if not tables and depth < STEPS_MAX:
                for inner in self.expressions.get(column, set()) - {expression}:
                    found |= self._resolve(inner, known, depth + 1)
        return found

    def _list_names(self, expression: Expression, known: dict[str, str]) -> Iterator[tuple[str, str]]:
        qualified = [(alias.lower(), column.lower()) for alias, column in COLUMN.findall(expression.text)]
        yield from qualified
        tables = {table for each in self.tables.values() for table in each if table in known}
        table = expression.table or (next(iter(tables)) if len(tables) == 1 else None)
        if not qualified and table is not None:
            yield from ((table, word.lower()) for word in WORD.findall(expression.text))


def _clean(text: str) -> str:
    return WITHOUT_VALUE.sub("''", text)


def _list_selects(text: str) -> Iterator[tuple[list[str], str | None, int]]:
    """
    The items of each list after SELECT, the table if the query has one alone, and the depth of the query. A text
    without SELECT is part of such a list.
    """
    starts = [match.end() for match in SELECT.finditer(text)] or [0]
    for index, start in enumerate(starts):
        nesting = text.count("(", 0, start) - text.count(")", 0, start)
        items: list[str] = []
        end = start
        depth = 0
        while end < len(text) and depth >= 0 and not (depth == 0 and FROM.match(text, end)):
            if depth == 0 and text[end] == ",":
                items.append(text[start:end])
                start = end + 1
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        items.append(text[start : end - (depth < 0)])
        tables = TABLE.findall(text[end : starts[index + 1] if index + 1 < len(starts) else len(text)])
        yield items, tables[0][0].lower() if len(tables) == 1 else None, nesting


def _split_name(item: str) -> tuple[str | None, str]:
    named = NAMED.fullmatch(item)
    if named is not None:
        return named[2].lower(), named[1]
    column = COLUMN.fullmatch(item.strip())
    if column is not None:
        return column[2].lower(), item
    word = WORD.fullmatch(item.strip())
    return (word[1].lower() if word is not None else None), item
