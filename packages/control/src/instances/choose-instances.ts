/**
 * Chooses instances by patterns of their names, or by tags. Each pattern and each tag must choose at least one, so that
 * a misspelt one is never taken for an empty choice. Pure.
 */
import { compileGlob } from '@erp-proxy/contract';
import { findNearestNames } from '@erp-proxy/text';
import type { InstanceRecord } from './views.ts';

export interface InstanceChoice {
  /** Whether `texts` are patterns of names or tags. */
  readonly by: 'instances' | 'tags';
  readonly texts: readonly string[];
}

/** A pattern or a tag that chooses nothing: its place in the list, and up to three similar names. */
export interface EmptyChoice {
  readonly index: number;
  readonly nearest: readonly string[];
}

const NEAREST_MAX = 3;

/** `visible`: the instances that the caller may use; others do not exist for it. Keeps their order. */
export function chooseInstances(
  visible: readonly InstanceRecord[],
  { by, texts }: InstanceChoice,
): readonly InstanceRecord[] | EmptyChoice {
  const chosen = new Set<InstanceRecord>();
  for (const [index, text] of texts.entries()) {
    const matches = compileGlob(text);
    const found = visible.filter(({ name, tags }) => (by === 'tags' ? tags.includes(text) : matches(name)));
    if (found.length === 0) return { index, nearest: findNearest(visible, by, text) };
    for (const instance of found) chosen.add(instance);
  }
  return visible.filter((instance) => chosen.has(instance));
}

function findNearest(visible: readonly InstanceRecord[], by: InstanceChoice['by'], text: string): string[] {
  const known = visible.flatMap(({ name, tags }) => (by === 'tags' ? tags : [name]));
  return findNearestNames(text, [...new Set(known)], NEAREST_MAX);
}
