"""Finds methods that change who signs in, who may do what, where mail comes in, where money goes, or what code runs.

Follows effect_flow.py from each method, as written_models.py does from `create` and `write`.
"""

from __future__ import annotations

import re

from field_sources import Sources
from written_models import Finder, Hit

GUARDED = {
    "res.users", "res.groups", "res.partner.bank", "res.company", "mail.alias", "mail.alias.domain",
    "ir.config_parameter", "ir.cron", "ir.rule", "ir.model.access", "ir.model", "ir.model.fields", "ir.ui.view",
    "ir.actions.server", "mail.template", "fetchmail.server",
}  # fmt: skip
# Fields that a method changes for the work of a service, or to remember what a user has seen.
TECHNICAL = re.compile(
    r"token|_cal_id$|^odoobot_|^auth_passkey|chain_sequence|last_transaction|external_report_layout_id|proxy_state"
    r"|migration_key|has_received_warning|alias_status|_onboarding_payment_method$"
)


class Changed(Finder):
    """What methods change; unlike a Finder, on demand."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def list_reasons(self, model: str, name: str) -> dict[str, set[str]]:
        if model not in self.sources.models:
            return {}
        hits = {hit for _, hit in self._follow(model, name, name) if hit.model != model and _is_guarded(hit)}
        return {"guarded": {f"{hit.model}.{hit.field or hit.method}" for hit in hits}} if hits else {}


def _is_guarded(hit: Hit) -> bool:
    return hit.model in GUARDED and not TECHNICAL.search(hit.field)
