/** Decodes like Python's base64.b64decode: ignores characters that are not base64, and requires padding. */
import { Binary } from '../json/binary.ts';
import { Fault, valueError } from './fault.ts';

export function decodeBase64(text: string): Binary {
  if (/[^\x00-\x7f]/.test(text)) throw valueError('string argument should contain only ASCII characters');
  const [, data = '', padding = ''] = /^([^=]*)(=*)/.exec(text.replace(/[^A-Za-z0-9+/=]/g, '')) ?? [];
  const left = data.length % 4;
  if (left === 1)
    throw new Fault(
      'binascii.Error',
      `Invalid base64-encoded string: number of data characters (${data.length}) cannot be 1 more than a multiple of 4`,
    );
  if (left > 0 && left + padding.length < 4) throw new Fault('binascii.Error', 'Incorrect padding');
  return Binary.of([Buffer.from(data, 'base64')]);
}
