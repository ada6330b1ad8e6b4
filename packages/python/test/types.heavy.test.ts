/**
 * Checks types with pyright in strict mode, for the oldest Python that the client supports: those of the client, those
 * that `types --language python` writes, and programs that use both.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSandbox } from '@erp-proxy/sandbox';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { runCommand } from '../../server/test/commands/run-command.ts';
import { hasCommand, runProgram, startShop } from '../../server/test/examples/shop.ts';
import { type Proxy as RunningProxy, startProxy } from '../../server/test/harness.ts';
import { startPair } from '../../server/test/pair.ts';
import { makeFolder } from '../../server/test/process/program.ts';
import { installTools } from '../../server/test/process/tools.ts';
import { answerLikeOdoo, printResult } from '../../server/test/scripted-upstream.ts';
import { ENDLESS_MS } from '../../server/test/time.ts';
import { PACKAGE } from './python.ts';

const tools = installTools('python-tools', ENDLESS_MS);
const PYRIGHT = 'node_modules/pyright/index.js';

interface Finding {
  file: string;
  message: string;
  range: { start: { line: number } };
}

/** The findings of pyright for the files of a folder, as `file:line: first line of the message`. */
async function check(folder: string): Promise<string[]> {
  cpSync(join(PACKAGE, 'src/erp_proxy'), join(folder, 'erp_proxy'), { recursive: true });
  writeFileSync(
    join(folder, 'pyrightconfig.json'),
    JSON.stringify({ include: ['.'], typeCheckingMode: 'strict', pythonVersion: '3.9' }),
  );
  const printed = await tools
    .node(PYRIGHT, '--outputjson', '-p', folder)
    .catch((error: Error) => error.message.slice(error.message.indexOf('{')));
  const { generalDiagnostics } = JSON.parse(printed) as { generalDiagnostics: Finding[] };
  return generalDiagnostics.map(
    ({ file, message, range }) =>
      `${file.slice(folder.length + 1)}:${range.start.line + 1}: ${message.split('\n')[0]}`,
  );
}

async function writeTypes(
  folder: string,
  proxy: RunningProxy,
  args: readonly string[],
  models: string,
): Promise<string> {
  const options = ['--language', 'python', '--models', models, '--output', 'models.py', '--url', proxy.url];
  const ran = await runCommand(['types', ...args, ...options], { folder, env: { ERP_PROXY_KEY: proxy.key } });
  expect(ran).toMatchObject({ status: 0, stdout: '' });
  return readFileSync(join(folder, 'models.py'), 'utf8');
}

function locate(folder: string, url: string, db: string, apiKey: string): string[] {
  writeFileSync(join(folder, 'key'), apiKey);
  return [url, '--db', db, '--user-id', '2', '--api-key-file', 'key'];
}

const GOOD = `
import asyncio
import datetime
from typing import List, Optional, Tuple, Union

from typing_extensions import assert_type

import models
from erp_proxy import AsyncClient, ChangesPage, Client, ErpProxyError, UpsertResult


def use(client: Client) -> None:
    orders = client.model(models.SaleOrder)
    order = orders.one(1, ["name", "state", "partner_id"])
    if order is not None and order["partner_id"]:
        assert_type(order["partner_id"][0], int)
    values: models.SaleOrderCreate = {"partner_id": 9, "order_line": [(0, 0, {"name": "x"})]}
    assert_type(orders.create(values), int)
    orders.update([1], {"date_order": datetime.datetime.now(datetime.timezone.utc), "note": False})
    orders.create({"partner_id": 9, "note": "x"})
    assert_type(orders.upsert("note", [{"partner_id": 9, "note": "S1"}]), List[UpsertResult])
    for page in orders.changes([["state", "=", "sale"]], fields=["name"], since=None):
        assert_type(page, ChangesPage[models.SaleOrderRead])
    names: List[str] = [row["name"] for row in orders.paginate([("state", "!=", "cancel")], ["name"])]
    result: Union[str, ErpProxyError] = client.batch([{"action": "read", "model_id": "res.partner"}])[0]
    print(names, result, client.model("res.partner").read([9], ["anything"])[0]["anything"])


async def use_async(client: AsyncClient) -> None:
    orders = client.model(models.SaleOrder)
    order: Optional[models.SaleOrderRead] = await orders.one(1, timeout=5, context={"lang": "en_US"})
    rows = [row["name"] async for row in orders.export(fields=["name"], progress=print)]
    pairs: List[Tuple[int, str]] = await orders.name_search("S0")
    async with await client.model("ir.attachment").download(1, "datas") as file:
        print(order, rows, pairs, await file.read())


asyncio.run(use_async(AsyncClient(key="ep_x")))
`;

const WRONG = `
import models
from erp_proxy import Client

orders = Client().model(models.SaleOrder)
orders.read([1], ["nmae"])
orders.create({"state": "draft"})
orders.update(1, {"state": "sold"})
orders.update(1, {"nmae": "x"})
orders.one(1)["name"]
orders.count(timeot=5)
Client().model(models.ResPartner).update(1, {"type": "sold"})
`;

test('the client has no findings', async () => {
  expect(await check(makeFolder())).toEqual([]);
});

describe.each(['odoo', 'normalized'])('types of the form %s', (form) => {
  test.each([14, 19] as const)('describe every model of Odoo %i without findings', async (version) => {
    const odoo = closeAfterTest(await startSandbox({ version }));
    const settings = { 'upstream.protocol': 'auto' };
    const proxy = closeAfterTest(await startProxy({ allow: [odoo.url], settings }));
    const folder = makeFolder();
    const args = locate(folder, odoo.url, odoo.db, odoo.users.admin.apiKey);
    const text = await writeTypes(folder, proxy, [...args, '--values', form], '*');
    const link = form === 'odoo' ? 'Many2one | Literal[False]' : 'NamedRecord | None';
    expect(text).toContain('class ResPartnerRead(');
    expect(text).toContain(`    # Country\n    country_id: ${link}\n`);
    if (form === 'odoo') {
      writeFileSync(join(folder, 'good.py'), GOOD);
      writeFileSync(join(folder, 'wrong.py'), WRONG);
    }
    const findings = await check(folder);
    expect(findings.filter((finding) => !finding.startsWith('wrong.py'))).toEqual([]);
    const lines = findings.map((finding) => Number(/^wrong\.py:(\d+)/.exec(finding)?.[1]));
    expect([...new Set(lines)]).toEqual(form === 'odoo' ? [6, 7, 8, 9, 10, 11, 12] : []);
  });
});

test('hostile names, values and comments give valid code', async () => {
  const fields = {
    __last_update: { type: 'datetime', readonly: true },
    str: { type: 'char', string: 'Hides a type', required: true, store: true },
    after: { type: 'char', string: 'Ends """ here\r\n  import os\u2028\u0000x', help: 'a\n\nb' },
    lambda: { type: 'integer' },
    'x-1': { type: 'many2one', relation: 'x' },
    state: {
      type: 'selection',
      selection: [
        ['it\'s"', ''],
        ['new\nline\u2028\\', ''],
        [5, 'Five'],
      ],
    },
    tz: { type: 'selection', selection: Array.from({ length: 600 }, (_, at) => [`zone/${at}`, '']) },
    odd: { type: 'a new type' },
    root_id: { type: 'many2one', relation: 'account.root', store: false },
  };
  const described: Record<string, object> = {
    'x.y': fields,
    x_y: fields,
    typing: fields,
    empty: {},
    any: fields,
  };
  const pair = closeAfterTest(
    await startPair((socket, { body }) => {
      const [, , , model, method] = JSON.parse(body.toString()).params.args;
      answerLikeOdoo(socket, printResult(JSON.stringify(method === 'default_get' ? {} : described[model])));
    }),
  );
  const folder = makeFolder();
  const args = locate(folder, pair.upstream.url, 'prod', 'upstream-key-0123456789');
  const text = await writeTypes(folder, pair.proxy, args, Object.keys(described).join(','));
  expect(text).not.toMatch(/\p{Cc}(?<!\n)|\u2028/u);
  const use = `
import models

row: models.XYRead = models.XYRead(
    {"__last_update": False, "str": "", "after": "", "lambda": 1, "x-1": (1, "a"), "state": 5, "tz": "any", "odd": 1, "root_id": ("1", "a")}
)
text: str = row["str"]
models.XYCreate({"str": "x", "state": "it's\\""})
models.Any_2Update({"state": "new\\nline\\u2028\\\\"})
print(row["__last_update"], text, models.XY_2, models.Empty)
`;
  writeFileSync(join(folder, 'use.py'), use);
  expect(await check(folder)).toEqual([]);
  if (!hasCommand('python3')) return;
  const shop = closeAfterTest(await startShop());
  const ran = await runProgram(['python3', join(folder, 'use.py')], shop, { env: { PYTHONPATH: folder } });
  expect(ran).toMatchObject({ status: 0, stderr: '' });
});

test('the options of the command are checked', async () => {
  const folder = makeFolder();
  const complain = async (...args: string[]) =>
    (await runCommand(['types', '--models', 'x', ...args], { folder, env: {} })).stderr;
  expect(await complain('--language', 'ruby')).toBe('--language must be typescript or python.\n');
  expect(await complain('--values', 'odoo')).toBe('--values needs --language python.\n');
  expect(await complain('--language', 'python', '--values', 'x')).toBe(
    '--values must be odoo or normalized.\n',
  );
});
