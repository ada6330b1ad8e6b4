/** A policy in a file of its own, YAML or JSON, which is YAML too. */
import type { Policy } from '@erp-proxy/contract';
import { type LineFault, readDocument } from './apply/document.ts';
import { judgePolicy } from './apply/policies.ts';
import { CommandError } from './command.ts';

/** Every fault at once, each with its line. */
export function readPolicyFile(file: string, bytes: Buffer): Policy {
  const read = readDocument(bytes.toString(), 'closed');
  const judged = 'faults' in read ? read : judgePolicy(read.root);
  if ('faults' in judged) throw new CommandError(printFaults(file, judged.faults));
  return judged.policy;
}

export function printFaults(file: string, faults: readonly LineFault[]): string {
  const inOrder = [...faults].sort((one, other) => one.line - other.line);
  return inOrder.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n');
}
