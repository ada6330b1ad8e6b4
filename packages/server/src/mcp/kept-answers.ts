/**
 * Keeps answers of the SDK that do not depend on Odoo: what the server is, and the list of tools. The key of an answer
 * is all that the SDK reads of a request, but for its id, which is replaced.
 */
import { LRUCache } from 'lru-cache';
import type { McpAnswer, McpRequest } from './mcp-request.ts';
import { type Message, nameRequest } from './message.ts';
import { SDK_HEADERS } from './sdk.ts';

export interface KeptAnswers {
  find(message: Message, request: McpRequest): McpAnswer | null;
  keep(message: Message, request: McpRequest, answer: McpAnswer): void;
}

interface Kept {
  contentType: string;
  beforeId: string;
  afterId: string;
}

const METHODS = ['server/discover', 'initialize', 'tools/list', 'ping'];
const CHARACTERS_MAX = 2 * 1024 * 1024;
const NAME_LENGTH_MAX = 4000;

export function createKeptAnswers(): KeptAnswers {
  const kept = new LRUCache<string, Kept>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: ({ beforeId, afterId }, name) => beforeId.length + afterId.length + name.length,
  });
  return {
    find(message, request) {
      const name = nameAnswer(message, request);
      const found = name === null ? undefined : kept.get(name);
      if (found === undefined) return null;
      const { contentType, beforeId, afterId } = found;
      const text = `${beforeId}${JSON.stringify(message.id)}${afterId}`;
      return { status: 200, contentType, body: Buffer.from(text) };
    },
    keep(message, request, { status, contentType, body }) {
      const name = nameAnswer(message, request);
      if (name === null || status !== 200) return;
      const parts = cutId(Buffer.from(body).toString(), message.id);
      if (parts !== null) kept.set(name, { contentType, ...parts });
    },
  };
}

/** Null for requests whose answers are not kept. */
function nameAnswer({ method, params, meta }: Message, request: McpRequest): string | null {
  if (!METHODS.includes(method)) return null;
  const name = nameRequest(request, SDK_HEADERS, [method, { ...params, _meta: meta }, request.offered.name]);
  return name.length > NAME_LENGTH_MAX ? null : name;
}

/** The SDK prints the id as the last member of an answer. Null if it is not there. */
function cutId(text: string, id: Message['id']): Omit<Kept, 'contentType'> | null {
  const member = `"id":${JSON.stringify(id)}}`;
  const end = text.trimEnd();
  if (!end.endsWith(member) || !text.includes('"result":')) return null;
  const at = end.length - member.length + '"id":'.length;
  return { beforeId: text.slice(0, at), afterId: text.slice(end.length - 1) };
}
