"""Runs cases of behaviour.heavy.test.ts with the Python client: each line of standard input is a case as JSON, and each
line of standard output its outcomes. `drive.py async` uses the client for asyncio."""

import asyncio
import base64
import dataclasses
import json
import re
import sys

import erp_proxy


def main():
    is_async = sys.argv[1:] == ["async"]
    for line in sys.stdin:
        case = json.loads(line)
        outcomes = asyncio.run(run_async(case)) if is_async else run_blocking(case)
        print(json.dumps(outcomes), flush=True)


def run_blocking(case):
    outcomes = []
    with erp_proxy.Client(**read_options(case["client"])) as client:
        for step in case["steps"]:
            try:
                outcomes.append({"result": collect(prepare(client, step, outcomes)())})
            except erp_proxy.ErpProxyError as error:
                outcomes.append({"error": describe(error)})
    return outcomes


async def run_async(case):
    outcomes = []
    async with erp_proxy.AsyncClient(**read_options(case["client"])) as client:
        for step in case["steps"]:
            try:
                outcomes.append({"result": await collect_async(prepare(client, step, outcomes)())})
            except erp_proxy.ErpProxyError as error:
                outcomes.append({"error": describe(error)})
    return outcomes


def prepare(client, step, outcomes):
    """A function that makes the call of a step."""
    target = client.model(step["model"]) if "model" in step else client
    if "job" in step:
        target = client.job(*insert_results(step["job"], outcomes))
    method = getattr(target, to_snake(step["do"]))
    args = [insert_results(each, outcomes) for each in step.get("args", [])]
    named = insert_results({**step.get("query", {}), **step.get("options", {})}, outcomes)
    if step["do"] == "upload":
        args[1] = args[1].encode()
    return lambda: method(*args, **read_options(named))


def read_options(options):
    """The names of Python; times in seconds."""
    named = {to_snake(name): value for name, value in options.items()}
    if isinstance(named.get("timeout"), (int, float)):
        named["timeout"] /= 1000
    return named


def to_snake(name):
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


def insert_results(value, outcomes):
    """`$0` stands for the result of the first step."""
    if isinstance(value, str) and re.fullmatch(r"\$\d+", value):
        return outcomes[int(value[1:])]["result"]
    if isinstance(value, list):
        return [insert_results(each, outcomes) for each in value]
    if isinstance(value, dict):
        return {name: insert_results(each, outcomes) for name, each in value.items()}
    return value


def collect(result):
    if isinstance(result, erp_proxy.File):
        with result:
            return describe_file(result, result.read())
    return normalize(list(result) if hasattr(result, "__next__") else result)


async def collect_async(result):
    if hasattr(result, "__anext__"):
        return normalize([item async for item in result])
    result = await result
    if isinstance(result, erp_proxy.AsyncFile):
        async with result:
            return describe_file(result, await result.read())
    return normalize(result)


def describe_file(file, content):
    return {"name": file.name, "type": file.content_type, "content": base64.b64encode(content).decode()}


def normalize(value):
    """The form of a result in which clients are compared."""
    if isinstance(value, (erp_proxy.Job, erp_proxy.AsyncJob)):
        return value.id
    if isinstance(value, erp_proxy.UpsertResult):
        return {"id": value.id, "isCreated": value.is_created}
    if isinstance(value, erp_proxy.ChangesPage):
        return normalize(dataclasses.asdict(value))
    if isinstance(value, erp_proxy.ErpProxyError):
        return {"error": describe(value)}
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return "".join(value)  # the pieces of a file may differ
    if isinstance(value, dict) and isinstance(value.get("error"), erp_proxy.ErpProxyError):
        return {**value, **normalize(value["error"])}
    if isinstance(value, (list, tuple)):
        return [normalize(each) for each in value]
    return value


def describe(error):
    return {
        "type": error.type,
        "message": error.message,
        "code": error.code,
        "retryable": error.retryable,
        "outcome": error.outcome,
        "status": error.status,
        "retryAfter": error.retry_after,
        "hasKey": error.idempotency_key is not None,
        "hasRequestId": error.request_id is not None,
        "approval": error.approval,
        "nearest": error.nearest,
        "data": error.data,
    }


main()
