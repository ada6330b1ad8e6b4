"""Finds methods that change who signs in, who may do what, where mail comes in, where money goes, or what code runs.

Finds forms too that delete records which their fields name.

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
    r"token|_cal_id$|^karma$|^odoobot_|^auth_passkey|chain_sequence|last_transaction|external_report_layout_id"
    r"|proxy_state|migration_key|has_received_warning|alias_status|_onboarding_payment_method$"
)


class Changed(Finder):
    """What methods change; unlike a Finder, on demand."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def list_reasons(self, model: str, name: str) -> dict[str, set[str]]:
        if model not in self.sources.models:
            return {}
        hits = {hit for _, hit in self._follow(model, name, name) if hit.model != model}
        found = {
            "guarded": {_describe(hit) for hit in hits if _is_guarded(hit)},
            "records_elsewhere": {_describe(hit) for hit in hits if self._is_removal(model, hit)},
        }
        return {reason: sources for reason, sources in found.items() if sources}

    def _is_removal(self, model: str, hit: Hit) -> bool:
        """Whether a form deletes or archives records that its fields name: a caller fills in these fields."""
        if hit.method != "unlink" and hit.field != "active":
            return False
        form = self.sources.models[model]
        is_form = all(known.kind == "transient" for known in form.classes)
        return is_form and form.fields.get(hit.link, {}).get("comodel_name") == hit.model


def _describe(hit: Hit) -> str:
    return f"{hit.model}.{hit.field or hit.method}"


def _is_guarded(hit: Hit) -> bool:
    return hit.model in GUARDED and not TECHNICAL.search(hit.field)
