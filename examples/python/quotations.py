"""Lists open quotations, creates a customer, or confirms a quotation:

    python3 quotations.py list
    python3 quotations.py customer 1001 'Azure Interior'
    python3 quotations.py confirm 1

ERP_PROXY_URL, ERP_PROXY_KEY and ERP_PROXY_INSTANCE name the proxy, the client key and the stored instance. The program
needs the standard library only.
"""

import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request

ATTEMPTS = 4
# No connection, an answer that breaks off, and an answer that is not JSON.
NO_ANSWER = (OSError, http.client.HTTPException, ValueError)


class ProxyError(Exception):
    """An error of the proxy or of Odoo. `type` is one of the types in docs/errors.md."""

    def __init__(self, error, headers):
        super().__init__(error["message"])
        self.type = error["data"]["type"]
        self.retryable = error["data"]["retryable"]
        self.request_id = headers.get("x-request-id")
        self.retry_after = float(headers.get("retry-after", 0))


def call(model, method, params=(), keyword=None, idempotency_key=None):
    """Calls a method. The same bytes are sent again if a repetition is safe."""
    body = json.dumps(
        {
            "model_id": model,
            "action": method,
            "params": list(params),
            "keyword": keyword or {},
            "erp_instance": {"name": os.environ["ERP_PROXY_INSTANCE"]},
        }
    ).encode()
    is_read = method in ("search_read", "read", "search", "search_count", "fields_get")
    for attempt in range(1, ATTEMPTS + 1):
        wait = 0.2 * 2**attempt * random.uniform(0.5, 1)
        try:
            return send(body, idempotency_key)
        except ProxyError as error:
            if not error.retryable or attempt == ATTEMPTS:
                raise
            wait = max(wait, error.retry_after)
        except NO_ANSWER:
            # The call may have run. Only a read, or a write with a key, can be sent again.
            if not (is_read or idempotency_key) or attempt == ATTEMPTS:
                raise
        time.sleep(wait)


def send(body, idempotency_key):
    headers = {"content-type": "application/json", "x-proxy-api": os.environ["ERP_PROXY_KEY"]}
    if idempotency_key:
        headers["idempotency-key"] = idempotency_key
    url = os.environ["ERP_PROXY_URL"].rstrip("/") + "/api/erp/execute"
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            answer, headers = json.load(response), response.headers
    except urllib.error.HTTPError as response:
        # Errors of the proxy have a status of 400 or more, and the same body.
        answer, headers = json.load(response), response.headers
    if "error" in answer:
        raise ProxyError(answer["error"], headers)
    return answer["result"]


def read_pages(model, domain, fields, size):
    """Yields each record once: a page begins after the previous one's last id, so that new records do not shift
    pages."""
    last = 0
    while True:
        page = call(
            model,
            "search_read",
            [domain + [["id", ">", last]]],
            {"fields": fields, "limit": size, "order": "id"},
        )
        yield from page
        if len(page) < size:
            return
        last = page[-1]["id"]


def list_quotations():
    fields = ["name", "partner_id", "amount_total"]
    for order in read_pages("sale.order", [["state", "in", ["draft", "sent"]]], fields, 2):
        print(f"{order['name']}  {order['partner_id'][1]}  {order['amount_total']:.2f}")


def create_customer(number, name):
    """`number` is the customer's number in the shop: the same number never creates a second customer."""
    values = {"name": name, "ref": number}
    print("customer", call("res.partner", "create", [values], idempotency_key=f"shop-customer-{number}"))


def confirm_quotation(number):
    call("sale.order", "action_confirm", [[number]])
    print("confirmed", number)


def main(command="", first="", second=""):
    missing = [name for name in ("ERP_PROXY_URL", "ERP_PROXY_KEY", "ERP_PROXY_INSTANCE") if not os.environ.get(name)]
    if missing:
        sys.exit(f"Set {', '.join(missing)}.")
    try:
        if command == "list":
            list_quotations()
        elif command == "customer":
            create_customer(first, second)
        elif command == "confirm":
            confirm_quotation(int(first) if first.isdigit() else 0)
        else:
            sys.exit("usage: quotations.py list | customer <number> <name> | confirm <id>")
    except ProxyError as error:
        if error.type == "record_missing":
            sys.exit("There is no such quotation.")
        if error.type in ("user_error", "validation_error"):
            sys.exit(f"Odoo refuses: {error}")
        sys.exit(f"{error.type}: {error} (request {error.request_id})")
    except NO_ANSWER as error:
        sys.exit(f"No answer of a proxy at {os.environ['ERP_PROXY_URL']}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
