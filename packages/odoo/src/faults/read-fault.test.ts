import { readDocument } from '@erp-proxy/json';
import { describe, expect, test, vi } from 'vitest';
import { expectCpuBelow } from '../../../server/test/time.ts';
import { classifyFault } from './faults.ts';
import { parseFault } from './read-fault.ts';

const RAISED =
  'Traceback (most recent call last):\n  File "/o/odoo/service/model.py", line 1, in execute_cr\n    y\nodoo.exceptions.UserError: ';

/** Maximum time to parse a fault, as a multiple of the time of one scan of its document. */
const SCANS_MAX = 8;

function build(changes: object = {}) {
  const data = {
    name: 'odoo.exceptions.UserError',
    message: 'No',
    arguments: ['No'],
    context: {},
    debug: RAISED,
  };
  return { code: 200, message: 'Odoo Server Error', data: { ...data, ...changes } };
}

function parse(fault: unknown) {
  const bytes = Buffer.from(JSON.stringify(fault));
  return parseFault(bytes, readDocument(bytes).root);
}

test.each([build(), build({ context: { a: [1.5, null, 'é'] } }), null, [], 7, 'x', { name: 'x' }])(
  'a short value is parsed completely: %j',
  (value) => {
    expect(parse(value)).toEqual(value);
  },
);

describe('a long fault', () => {
  test.each(['x', 'é', '\\', '"', '\u0001', '😀', '\ud83d'])(
    'of %j keeps the beginning of the message and the end of the traceback',
    (unit) => {
      const unitBytes = Buffer.byteLength(JSON.stringify(unit)) - 2;
      // Each shift moves the cut to another byte of the unit.
      for (let shift = 0; shift < unitBytes; shift++) {
        const text = 'a'.repeat(shift) + unit.repeat(1_100_000 / unitBytes);
        const fault = parse(
          build({ message: `Start ${text}`, arguments: [text], debug: text + RAISED }),
        ) as ReturnType<typeof build>;
        expect(fault.code).toBe(200);
        expect(fault.data.name).toBe('odoo.exceptions.UserError');
        expect(fault.data.message.startsWith(`Start ${text.slice(0, 10_000)}`)).toBe(true);
        expect(fault.data.message.length).toBeLessThanOrEqual(1_048_576);
        expect(fault.data.arguments).toBeNull();
        expect(fault.data.debug.endsWith(text.slice(-10_000) + RAISED)).toBe(true);
        expect(classifyFault(fault, { debug: false, secrets: [] }).data.type).toBe('model_not_found');
      }
    },
  );

  test.each(['', '\u0001'.repeat(5)])('no half of a secret is left: %j', (between) => {
    const secret = 'c0ffee'.repeat(7);
    for (let shift = 0; shift < 45; shift += 4) {
      const text = 'x'.repeat(shift) + `${secret} ${between}`.repeat(30_000);
      const fault = parse(build({ message: text, debug: text }));
      const error = classifyFault(fault, { debug: true, secrets: [secret] });
      expect(JSON.stringify(error)).not.toMatch(/c0|ff/);
    }
  });

  test.each<[string, number, (share: number) => unknown]>([
    ['arguments', SCANS_MAX, (share) => Array.from({ length: 500_000 / share }, (_, index) => `${index}`)],
    [
      'context',
      SCANS_MAX,
      (share) =>
        Object.fromEntries(Array.from({ length: 300_000 / share }, (_, index) => [`key ${index}`, index])),
    ],
    // A scan of a text is very quick, and its beginning is parsed as well.
    ['name', 4 * SCANS_MAX, (share) => 'x'.repeat(4_000_000 / share)],
  ])(
    'many values are not parsed, and take time in proportion to their number: %s',
    async (member, scansMax, make) => {
      const print = (share: number) => Buffer.from(JSON.stringify(build({ [member]: make(share) })));
      const prepare = (share: number) => {
        const bytes = print(share);
        const { root } = readDocument(bytes);
        return () => classifyFault(parseFault(bytes, root), { debug: false, secrets: ['some-secret'] });
      };
      const classify = prepare(1);
      const parse = vi.spyOn(JSON, 'parse');
      try {
        classify();
        // The beginning of a long text, and the other members.
        const parsedLength = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
        expect(parsedLength).toBeLessThan(member === 'name' ? 1_100_000 : 1000);
      } finally {
        parse.mockRestore();
      }
      await expectCpuBelow(20, classify, prepare(10));
      const bytes = print(1);
      await expectCpuBelow(scansMax, classify, () => readDocument(bytes));
    },
  );
});
