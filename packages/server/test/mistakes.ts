/**
 * The commonest mistakes of callers: the call, what each version of Odoo raises over it, and the one type that it must have. A
 * fault is a recording's where `source` names one; else it follows from that file and function of Odoo's source.
 */
import { readFileSync } from 'node:fs';
import type { BusinessErrorType } from '@erp-proxy/contract';
import type { Operation } from './protocols/operations.ts';

export interface RaisedFault {
  name: string;
  message: string;
  /** File and function of the innermost frame; absent where the recorder cut the traceback. */
  frame?: [file: string, name: string];
  source: string;
}

export interface Mistake {
  mistake: string;
  type: BusinessErrorType;
  /** With ids that the sandbox has. */
  call: Omit<Operation, 'name'>;
  faults: Record<string, RaisedFault>;
}

export const MISTAKES: readonly Mistake[] = JSON.parse(
  readFileSync(new URL('data/mistakes.json', import.meta.url), 'utf8'),
);

/** Odoo's traceback as far as it is known; the path is the one of its container images. */
export function printDebug({ name, message, frame }: RaisedFault): string {
  if (frame === undefined) return '';
  const [file, where] = frame;
  const place = `/usr/lib/python3/dist-packages/${file}`;
  const className = name.replace('builtins.', '');
  return `Traceback (most recent call last):\n  File "/usr/lib/python3/dist-packages/odoo/http.py", line 1764, in _serve_db\n    return x\n  File "${place}", line 12, in ${where}\n    y\n${className}: ${message}\n`;
}
