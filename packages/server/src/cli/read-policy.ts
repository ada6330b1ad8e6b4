/** Reads a policy from a file of YAML or JSON. */
import type { Policy } from '@erp-proxy/contract';
import { type LineError, readDocument } from './apply/document.ts';
import { parseLocatedPolicy } from './apply/policies.ts';
import { CommandError } from './command.ts';
import { readText } from './read-text.ts';

/** Parses the policy. Reports all errors at once, each with its line. */
export function readPolicyFile(file: string, bytes: Buffer): Policy {
  const read = readDocument(readText(file, bytes), 'closed');
  const checked = 'errors' in read ? read : parseLocatedPolicy(read.root);
  if ('errors' in checked) throw new CommandError(printLineErrors(file, checked.errors));
  return checked.policy;
}

export function printLineErrors(file: string, errors: readonly LineError[]): string {
  const inOrder = [...errors].sort((one, other) => one.line - other.line);
  return inOrder.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n');
}
