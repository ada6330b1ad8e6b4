import { expect, test } from 'vitest';
import { parseSignature } from '../signatures/signature.ts';
import { mapCall } from './map-call.ts';

const SERVER = { pathPrefix: '', db: 'prod', apiKey: 'a'.repeat(40) };

function printCall(method: string, params: string, records: 'given' | 'unsaid' = 'unsaid') {
  return { model: 'res.partner', method, params: Buffer.from(params), keyword: Buffer.from('{}'), records };
}

test('positional arguments get the names of the signature, and the records are the ids', () => {
  const mapped = mapCall(printCall('read', '[[9],["name"]]'), SERVER, parseSignature('ids (fields=)'), true);
  expect(mapped).toMatchObject({ head: { path: '/json/2/res.partner/read' }, isIdsGuess: false });
  expect(JSON.parse(String('body' in mapped && mapped.body))).toEqual({ ids: [9], fields: ['name'] });
});

test('a method whose parameters are not known is left to the other protocol, if there is one', () => {
  const call = printCall('action_x', '[[9]]');
  expect(mapCall(call, SERVER, undefined, true)).toEqual({ unmappable: 'its parameters are not known' });
  expect(mapCall(call, SERVER, undefined, false)).toMatchObject({ isIdsGuess: true });
});

test('records are not given to a method that takes none', () => {
  const call = printCall('search', '[[9],[]]', 'given');
  expect(mapCall(call, SERVER, parseSignature('model (domain)'), true)).toEqual({ takesRecords: false });
});
