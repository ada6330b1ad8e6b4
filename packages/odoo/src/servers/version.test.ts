import { describe, expect, test } from 'vitest';
import { readJsonrpcVersion, readJsonVersion, readMajor, readSerie } from './version.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const version = (server_serie: string) => ({
  server_version: `${server_serie}-20230301`,
  server_version_info: [16, 0, 0, 'final', 0, ''],
  server_serie,
  protocol_version: 1,
});

test.each(['16.0', '19.0', 'saas~18.2'])('reads the answer of /jsonrpc for %s', (serie) => {
  const read = readJsonrpcVersion(bytes({ jsonrpc: '2.0', id: 1, result: version(serie) }));
  expect(read).toEqual(version(serie));
});

test.each([
  ['16.0', 16],
  ['19.0', 19],
  ['22.0', 22],
  ['saas~18.2', 18],
  ['saas~19.1', 19],
  ['7', 7],
  ['master', null],
  ['', null],
  ['1e3.0', null],
  ['99999.0', null],
])('the number of %j is %j', (serie, major) => {
  expect(readMajor(version(serie))).toBe(major);
});

test.each(['7', '14.0', '18.0.1', 'saas~18.2', 'saas-17.4'])('%j is a series', (serie) => {
  expect(readSerie(version(serie))).toBe(serie);
});

test.each(['', 'master', '18.0\n', '18.0 ', `18.${'0'.repeat(100)}`])('%j is no series', (serie) => {
  expect(readSerie(version(serie))).toBeNull();
});

describe('an answer without a version', () => {
  test.each([
    '',
    '<html>',
    '[]',
    'null',
    '{"result":null}',
    '{"result":[]}',
    '{"error":{}}',
    { result: { ...version('19.0'), server_serie: 19 } },
    { result: { ...version('19.0'), server_version_info: '19' } },
    { result: { ...version('19.0'), server_version: null } },
    { version: 19, version_info: [19] },
    { version: '19.0', version_info: '19' },
  ])('is not read: %j', (value) => {
    expect(readJsonrpcVersion(bytes(value))).toBeNull();
    expect(readJsonVersion(bytes(value))).toBeNull();
  });
});

test('reads the answer of /json/version', () => {
  const info = [19, 0, 0, 'final', 0, ''];
  expect(readJsonVersion(bytes({ version_info: info, version: '19.0' }))).toEqual({
    server_version: '19.0',
    server_version_info: info,
    server_serie: '19.0',
    protocol_version: 1,
  });
});
