import { expect, test } from 'vitest';
import { recordedJson2 } from '../../test/recorded-protocols.ts';
import { classifyJson2Answer } from '../json2/json2-answer.ts';
import { classifyOwnJson2Fault } from './json2-own-fault.ts';

const OPTIONS = { debug: false, secrets: [] };

const faults = recordedJson2.flatMap((recording) => {
  const body = Buffer.from(recording.body);
  const headers = { 'content-type': recording.contentType, location: recording.location };
  const classified = classifyJson2Answer({ status: recording.status, headers, body }, OPTIONS);
  return 'fault' in classified && classified.kind !== 'database_hidden'
    ? [{ name: recording.name, body, translated: classified.fault }]
    : [];
});

test('there are enough recorded faults', () => {
  expect(faults.length).toBeGreaterThan(40);
});

test.each(faults)(
  'keeps the class that Odoo named, and the type of the mistake: $name',
  ({ body, translated }) => {
    const own = classifyOwnJson2Fault(body, translated, OPTIONS);
    expect(own.data.name).toBe(JSON.parse(body.toString()).name);
    const { type, retryable, status } = translated.data;
    expect(own.data).toMatchObject({ type, retryable, status });
    expect(own.message).toMatch(/./);
    expect(own.data).not.toHaveProperty('debug');
  },
);
