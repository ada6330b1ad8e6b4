/**
 * The commonest mistakes of callers: the call, the exception of each version of Odoo, and the type that the answers of
 * all versions must have. A fault is recorded if `source` names a recording; otherwise it is derived from the given
 * file and function of Odoo's source.
 */
import { readFileSync } from 'node:fs';
import type { BusinessErrorType } from '@erp-proxy/contract';
import type { Operation } from './protocols/operations.ts';

export interface RaisedFault {
  name: string;
  message: string;
  /** File and function of the innermost frame; absent if the recorder truncated the traceback. */
  frame?: [file: string, name: string];
  source: string;
}

export interface Mistake {
  mistake: string;
  type: BusinessErrorType;
  /** The call, with ids of the sandbox. */
  call: Omit<Operation, 'name'>;
  faults: Record<string, RaisedFault>;
}

export const MISTAKES: readonly Mistake[] = JSON.parse(
  readFileSync(new URL('data/mistakes.json', import.meta.url), 'utf8'),
);

/** The known part of Odoo's traceback, with the path of its container images. */
export function printDebug({ name, message, frame }: RaisedFault): string {
  if (frame === undefined) return '';
  const [file, where] = frame;
  const place = `/usr/lib/python3/dist-packages/${file}`;
  const className = name.replace('builtins.', '');
  return `Traceback (most recent call last):\n  File "/usr/lib/python3/dist-packages/odoo/http.py", line 1764, in _serve_db\n    return x\n  File "${place}", line 12, in ${where}\n    y\n${className}: ${message}\n`;
}
