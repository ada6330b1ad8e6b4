import type { AuditAdminView, AuditView } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { makeAdminAction, makeCall } from './audit.fixture.ts';
import { formatAudit } from './format.ts';
import { printAdminAction, printCall, readView } from './record.ts';

const AT = Date.parse('2026-03-31T08:00:00.000Z');
const NO_HASH = new Uint8Array(32);
const CALL = readView({ seq: 1, at: AT, hash: NO_HASH, record: printCall(makeCall({ code: -32010 }), AT) });

const makeAdminView = (changes: Parameters<typeof makeAdminAction>[0]) =>
  readView({ seq: 2, at: AT, hash: NO_HASH, record: printAdminAction(makeAdminAction(changes), AT) });

async function format(views: AuditView[], as: 'ndjson' | 'csv'): Promise<string> {
  let text = '';
  async function* give() {
    yield* views;
  }
  for await (const piece of formatAudit(give(), as)) text += piece;
  return text;
}

test('NDJSON has one line for each record', async () => {
  const views = [CALL, makeAdminView({})];
  const lines = (await format(views, 'ndjson')).split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line))).toEqual(views);
  expect(await format([], 'ndjson')).toBe('');
});

/** A record with a target that only older records can have. */
const withTarget = (target: string): AuditView => ({ ...(makeAdminView({}) as AuditAdminView), target });

test('CSV has the same columns for calls and administrative actions', async () => {
  expect(await format([CALL, makeAdminView({})], 'csv')).toBe(
    [
      'seq,time,kind,request_id,key_id,instance,upstream,db,model,action,outcome,code,http_status,batch_index,total_ms,upstream_ms,actor,address,target,changes,rule,problem,client_id,approval,via,trace_id,actor_type,actor_name,instances,person,odoo_login',
      '1,2026-03-31T08:00:00.000Z,call,request-1,key1,prod,https://erp.example.com,prod,res.partner,read,ok,-32010,200,,12.3,11.1,,192.0.2.1,,,,,client1,,,,,,,,',
      '2,2026-03-31T08:00:00.000Z,admin,request-2,,,,,,key.update,,,,,,,token,192.0.2.7,key key1,"{""name"":{""from"":""shop"",""to"":""web shop""}}",,,,,,,token,admin.token,,,',
      '',
    ].join('\r\n'),
  );
});

test('CSV quotes special characters by RFC 4180', async () => {
  const [, row] = (await format([withTarget('key "a", b\r\nc')], 'csv')).split(/\r\n(?=\d)/);
  expect(row).toContain(',"key ""a"", b\r\nc",');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])(
  'a spreadsheet does not run %j as a formula',
  async (target) => {
    expect(await format([withTarget(target)], 'csv')).toMatch(`'${target}`);
  },
);

test('a damaged record has a row', async () => {
  const damaged = readView({ seq: 3, at: AT, hash: NO_HASH, record: 'no json' });
  const [, row] = (await format([damaged], 'csv')).split('\r\n');
  expect(row).toMatch(/^3,2026-03-31T08:00:00.000Z,damaged,,+This is no record of the audit/);
});
