/** The stored instances that a policy allows. Pure. */
import type { ReadDraft } from './policy-draft.ts';

/** In the order of `stored`. Names without `*` come first, whether or not they are among `stored`. */
export function listAllowedInstances(read: ReadDraft, stored: readonly string[]): string[] {
  const patterns = 'policy' in read && Array.isArray(read.policy?.instances) ? read.policy.instances : [];
  const texts = patterns.filter((pattern) => typeof pattern === 'string' && pattern !== '');
  const names = texts.filter((pattern) => !pattern.includes('*'));
  const found = stored.filter((name) => texts.some((pattern) => matches(name, pattern)));
  return [...new Set([...names, ...found])];
}

/** `*` stands for any text. One pass, without backtracking. */
function matches(name: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
