import { expect, test } from 'vitest';
import { splitFlags } from './flags.ts';

test('separates settings from the flags and words of a command', () => {
  const argv = ['serve', '--http.port', '8080', '--json', '--http.host=::1', '--config', 'x.yaml', 'word'];
  expect(splitFlags(argv)).toEqual({
    settings: ['--http.port=8080', '--http.host=::1'],
    rest: ['serve', '--json', '--config', 'x.yaml', 'word'],
  });
});

test('treats a misspelt setting as a setting, so that it is refused and not ignored', () => {
  expect(splitFlags(['--http.prot', '8080']).settings).toEqual(['--http.prot=8080']);
});

test('leaves the word after a switch to the command, unless it is true or false', () => {
  expect(splitFlags(['--errors.debug', 'serve'])).toEqual({ settings: ['--errors.debug'], rest: ['serve'] });
  expect(splitFlags(['--errors.debug', 'false'])).toEqual({ settings: ['--errors.debug=false'], rest: [] });
});

test('does not treat a flag as a value, but a negative number', () => {
  expect(splitFlags(['--http.port', '--json'])).toEqual({ settings: ['--http.port'], rest: ['--json'] });
  expect(splitFlags(['--http.port', '-1']).settings).toEqual(['--http.port=-1']);
});

test('keeps the equals signs and line breaks of a value', () => {
  expect(splitFlags(['--keys.hashSecret', 'a=b\nc']).settings).toEqual(['--keys.hashSecret=a=b\nc']);
});

test('treats nothing after -- as a setting', () => {
  expect(splitFlags(['--', '--http.port=1'])).toEqual({ settings: [], rest: ['--', '--http.port=1'] });
});

test('finds the same settings in its own output', () => {
  const { settings } = splitFlags([
    '--http.port',
    '--log.level',
    'info',
    '--errors.debug',
    'serve',
    '--a.b',
    'c',
  ]);
  expect(splitFlags(settings)).toEqual({ settings, rest: [] });
});
