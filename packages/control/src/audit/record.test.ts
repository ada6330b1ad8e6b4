import { expect, test } from 'vitest';
import { makeAdminAction, makeCall } from './audit.fixture.ts';
import { cleanName, printAdminAction, printCall, readView } from './record.ts';

test.each([
  ['res.partner', 'res.partner'],
  ['Zoë 🛒', 'Zoë 🛒'],
  ['a\u001b[2Jb', 'a\ufffd[2Jb'],
  ['a\r\n\tb', 'a\ufffd\ufffd\ufffdb'],
  ['a\u009bb\u007f', 'a\ufffdb\ufffd'],
  ['\u202egnp', '\ufffdgnp'],
  ['\u2066a\u2069', '\ufffda\ufffd'],
  ['a\u061cb\u00adc\u180e', 'a\ufffdb\ufffdc\ufffd'],
  ['tag \u{e0041}', 'tag \ufffd'],
  ['half \ud83d', 'half \ufffd'],
  ['', ''],
])('%j stands as %j', (name, clean) => {
  expect(cleanName(name)).toBe(clean);
});

test('a name is cut at 256 UTF-16 units, or before a character that does not fit', () => {
  expect(cleanName('x'.repeat(256))).toHaveLength(256);
  expect(cleanName('x'.repeat(1e6))).toBe(`${'x'.repeat(255)}…`);
  expect(cleanName(`${'x'.repeat(254)}🛒more`)).toBe(`${'x'.repeat(254)}…`);
});

test('null stays null', () => {
  expect(cleanName(null)).toBeNull();
});

test.each([
  ['token', { type: 'token', id: 'token', name: 'admin.token' }],
  ['session', { type: 'session', id: 'session', name: 'session' }],
  ['proxy', { type: 'proxy', id: 'proxy', name: 'proxy' }],
  ['nobody', { type: 'nobody', id: 'nobody', name: 'nobody' }],
  ['cli:ada@host', { type: 'command', id: 'cli:ada@host', name: 'ada@host' }],
])('an actor %j of an older record is shown with its type and name', (actor, shown) => {
  for (const printed of [printAdminAction(makeAdminAction(), 0), printCall(makeCall(), 0)]) {
    const record = JSON.stringify({ ...JSON.parse(printed), actor });
    expect(readView({ seq: 1, at: 0, hash: new Uint8Array(32), record })).toMatchObject({ actor: shown });
  }
});

test('a record has no further members of its actor, and no strange characters', () => {
  const actor = { type: 'token', id: 'a\u202e', name: 'Zoë\n', role: 'admin', address: '::1' } as const;
  const clean = { type: 'token', id: 'a\ufffd', name: 'Zoë\ufffd' };
  expect(JSON.parse(printAdminAction(makeAdminAction({ actor }), 0)).actor).toEqual(clean);
  expect(JSON.parse(printCall(makeCall({ actor }), 0)).actor).toEqual(clean);
});
