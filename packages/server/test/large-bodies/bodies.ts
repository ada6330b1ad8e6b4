/** Bodies near the maximum size, each of which is expensive in a different way. */

export interface LargeBody {
  name: string;
  bytes: Buffer;
  headers?: Record<string, string>;
  path?: string;
}

const MIB = 1024 ** 2;

/** The parts of a call before and after its arguments. */
interface Frame {
  action?: string;
  model?: string;
  keyword?: string;
}

/** Builds a call whose arguments begin with `open`, end with `close`, and repeat `unit` in between. */
function fill(
  url: string,
  sizeBytes: number,
  [open, unit, separator, close]: readonly [string, string, string, string],
  { action = 'create', model = 'res.partner', keyword = '{}' }: Frame = {},
): Buffer {
  const instance = JSON.stringify({ url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' });
  const head = `{"id":1,"action":"${action}","model_id":"${model}","erp_instance":${instance},"keyword":${keyword},"params":${open}`;
  const end = `${close}}`;
  const count = Math.floor((sizeBytes - head.length - end.length) / (unit.length + separator.length));
  return Buffer.concat([
    Buffer.from(head),
    Buffer.alloc((count - 1) * (unit.length + separator.length), unit + separator),
    Buffer.from(unit + end),
  ]);
}

/** The bodies of calls of `/api/erp/execute`, of about `sizeBytes` each. */
export function makeLargeBodies(url: string, sizeBytes: number = 32 * MIB): LargeBody[] {
  const make = (parts: readonly [string, string, string, string], frame?: Frame) =>
    fill(url, sizeBytes, parts, frame);
  const row = '{"name":"Deco Addict","ref":"A\\"1","color":3,"active":true,"comment":false}';
  const nested = `${'['.repeat(500)}${']'.repeat(500)}`;
  const call = fill(url, Math.floor(sizeBytes / 100) - 2, ['[[', row, ',', ']]']);
  return [
    { name: 'records', bytes: make(['[[', row, ',', ']]']) },
    { name: 'numbers', bytes: make(['[[', '-12.5e3', ',', ']]'], { action: 'write' }) },
    { name: 'escapes', bytes: make(['[{"comment":"', '\\u00e9\\n', '', '"}]']) },
    { name: 'one string', bytes: make(['[{"image_1920":"', 'QUJD', '', '"}]']) },
    { name: 'nested', bytes: make(['[[', nested, ',', ']]'], { action: 'action_confirm' }) },
    { name: 'ids', bytes: make(['[[', '1234567', ',', ']]'], { action: 'unlink' }) },
    {
      name: 'read of ids',
      bytes: make(['[[', '1234567', ',', ']]'], { action: 'read', keyword: '{"fields":["name"]}' }),
    },
    { name: 'named ids', bytes: makeNamedIds(url, sizeBytes) },
    {
      name: 'domain',
      bytes: make(['[[', '["name","=","x"]', ',', ']]'], {
        action: 'search_read',
        keyword: '{"fields":["name"]}',
      }),
    },
    {
      name: 'operators',
      bytes: make(['[[', '"|"', ',', ']]'], { action: 'search_count' }),
    },
    {
      name: 'commands',
      bytes: make(['[[7],{"child_ids":[', '[0,0,{"name":"x","user_ids":[[4,5]]}]', ',', ']}]'], {
        action: 'write',
      }),
    },
    {
      name: 'names',
      bytes: make(['[{"a":1', ',"field_name":1', '', '}]']),
    },
    {
      name: 'batch',
      bytes: Buffer.concat([
        Buffer.from('['),
        ...Array.from({ length: 100 }, (_, index) =>
          index === 0 ? call : Buffer.concat([Buffer.from(','), call]),
        ),
        Buffer.from(']'),
      ]),
    },
  ];
}

function makeNamedIds(url: string, sizeBytes: number): Buffer {
  const instance = JSON.stringify({ url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' });
  const head = `{"id":1,"action":"unlink","model_id":"res.partner","erp_instance":${instance},"keyword":{"ids":[`;
  const count = Math.floor((sizeBytes - head.length - 10) / 8);
  return Buffer.concat([Buffer.from(head), Buffer.alloc((count - 1) * 8, '1234567,'), Buffer.from('7]}}')]);
}

/** A body of `/v2/odoo/execute`. */
export function makeJson2Body(url: string, sizeBytes: number): Buffer {
  const instance = JSON.stringify({ url, db: 'prod', api_key: 'upstream-key-0123456789' });
  const head = `{"id":1,"method":"write","model_id":"res.partner","odoo_instance":${instance},"kwargs":{"ids":[`;
  const count = Math.floor((sizeBytes - head.length - 10) / 8);
  return Buffer.concat([Buffer.from(head), Buffer.alloc((count - 1) * 8, '1234567,'), Buffer.from('7]}}')]);
}

/** The text and white space after it, in pieces of one byte. */
export function* makeTinyChunks(text: string, count: number): Generator<Uint8Array> {
  const bytes = Buffer.from(text.padEnd(count));
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1);
}
