/**
 * Domains of Odoo as a tree of groups and conditions, to show them as rows. The only negation in the tree is a group
 * "none of": a `!` becomes such a group, which selects the same records.
 */
import { type Json, tryParse } from '@erp-proxy/contract';

export interface Condition {
  kind: 'condition';
  field: string;
  operator: string;
  value: Json;
}

export interface DomainGroup {
  kind: 'group';
  /** `none`: no item may match. */
  match: 'all' | 'any' | 'none';
  items: DomainNode[];
}

export type DomainNode = Condition | DomainGroup;

/** Null if rows cannot show the text as a domain. An empty text is a domain without conditions. */
export function parseDomain(text: string): DomainGroup | null {
  const value = text.trim() === '' ? [] : tryParse(text);
  return Array.isArray(value) ? readItems(value as Json[]) : null;
}

function readItems(items: Json[]): DomainGroup | null {
  const nodes: DomainNode[] = [];
  for (let next = 0; next < items.length; ) {
    const read = readNode(items, next);
    if (read === null) return null;
    nodes.push(read.node);
    next = read.next;
  }
  const [only] = nodes;
  if (nodes.length === 1 && only?.kind === 'group') return only;
  return { kind: 'group', match: 'all', items: nodes.flatMap((node) => spread(node, 'all')) };
}

function readNode(items: Json[], at: number): { node: DomainNode; next: number } | null {
  const item = items[at];
  if (Array.isArray(item)) {
    const [field, operator, value] = item;
    if (item.length !== 3 || typeof field !== 'string' || typeof operator !== 'string') return null;
    return { node: { kind: 'condition', field, operator, value: value ?? null }, next: at + 1 };
  }
  if (item === '!') {
    const read = readNode(items, at + 1);
    return read && { node: negate(read.node), next: read.next };
  }
  if (item !== '&' && item !== '|') return null;
  const first = readNode(items, at + 1);
  const second = first && readNode(items, first.next);
  if (first === null || second === null) return null;
  const match = item === '&' ? 'all' : 'any';
  return {
    node: { kind: 'group', match, items: [...spread(first.node, match), ...spread(second.node, match)] },
    next: second.next,
  };
}

function negate(node: DomainNode): DomainNode {
  if (node.kind === 'group' && node.match === 'none') {
    const [only] = node.items;
    return node.items.length === 1 && only !== undefined ? only : { ...node, match: 'any' };
  }
  return { kind: 'group', match: 'none', items: spread(node, 'any') };
}

/** The items of a nested group that has the same `match` as its parent; otherwise the node itself. */
function spread(node: DomainNode, match: DomainGroup['match']): DomainNode[] {
  return node.kind === 'group' && node.match === match && node.items.length > 0 ? node.items : [node];
}

/** Prints the tree as a domain in Odoo's prefix notation. Groups without items have no effect. */
export function printDomain(root: DomainGroup): Json[] {
  if (root.match === 'all') return root.items.flatMap((item) => printNode(item) ?? []);
  return printNode(root) ?? [];
}

function printNode(node: DomainNode): Json[] | null {
  if (node.kind === 'condition') return [[node.field, node.operator, node.value]];
  const items = node.items.map(printNode).filter((item) => item !== null);
  if (items.length === 0) return null;
  const operator = node.match === 'all' ? '&' : '|';
  const joined: Json[] = [...items.slice(1).map(() => operator), ...items.flat()];
  return node.match === 'none' ? ['!', ...joined] : joined;
}
