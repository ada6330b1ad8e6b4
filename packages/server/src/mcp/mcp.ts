/**
 * Serves `POST /mcp`: requests of the Model Context Protocol, whose tools call Odoo. The SDK is loaded with the first
 * request, so that a process without MCP clients does not pay for it. Keys, limits and addresses were checked before.
 */
import type { Conversation } from '../execute/terms/conversation.ts';
import { Denial } from '../execute/terms/denial.ts';
import type { Instances } from '../instances/instances.ts';
import { SingleFlightCache } from '../streams/single-flight-cache.ts';
import type { ChangesSource } from './changes-source.ts';
import { weighFields } from './fields.ts';
import type { McpHandler } from './handler.ts';
import { loadHandler } from './load-handler.ts';
import type { McpAnswer } from './mcp-request.ts';
import { readCallMeta } from './message.ts';
import { findOfferedTools } from './offered-tools.ts';
import type { AnswerRelay } from './questions.ts';
import { readBody } from './read-body.ts';
import { Session, type SessionDeps } from './session.ts';

export interface McpOptions {
  instances: Pick<Instances, 'list'>;
  changes: ChangesSource;
  /** 32 bytes, the same on all replicas: proves that a confirmed call is the one that was asked about. */
  secret: Uint8Array;
  /** Passes the answers of people between processes. */
  relay: AnswerRelay;
  /** Version of this program. */
  version: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Receives exceptions of tools. */
  onFault: (requestId: string, error: unknown) => void;
}

export interface Mcp {
  /** Answers the request of a conversation, or returns why it cannot be answered. */
  serve(conversation: Conversation): Promise<Denial | null>;
}

const INSTANCES_MAX = 1000;
const INSTANCES_KEPT_MS = 1000;
/** Maximum size of the fields of models that are kept, and of users, for all keys. */
const KNOWN_BYTES_MAX = 64 * 1024 * 1024;
/** What is kept takes so many bytes without fields. */
const ENTRY_BYTES = 1000;

export function createMcp({
  instances,
  changes,
  secret,
  relay,
  version,
  clock,
  nowMs,
  onFault,
}: McpOptions): Mcp {
  const stored = new SingleFlightCache<Awaited<ReturnType<SessionDeps['listInstances']>>>(1, nowMs);
  const sessions: SessionDeps = {
    changes,
    listInstances: async () =>
      stored.get('all', async () => ({
        value: await instances.list({ after: null, limit: INSTANCES_MAX }),
        ttlMs: INSTANCES_KEPT_MS,
      })),
    namePolicy: createPolicyNames(),
    known: new SingleFlightCache(KNOWN_BYTES_MAX, nowMs, weigh),
    clock,
  };
  let loading: Promise<McpHandler> | null = null;
  const load = () => {
    loading ??= loadHandler({ secret, relay, version, nowMs, onFault });
    return loading;
  };
  return {
    async serve(conversation) {
      const body = await readBody(conversation.bytes, conversation.signal);
      if (body instanceof Denial) return body;
      const handler = await load();
      const { exchange, client } = conversation;
      const session = new Session(conversation, readCallMeta(body.value), sessions);
      const answer = await handler.answer(body.value, {
        session,
        offered: findOfferedTools(client.policy, (await session.listInstances()).length),
        keyId: client.key.id,
        requestId: exchange.requestId,
        waiting: conversation,
        header: (name) => exchange.header(name),
      });
      const headers = {
        ...conversation.describe(),
        'content-type': answer.contentType,
        ...answer.headers,
      };
      if (answer.stream === undefined) exchange.writer.sendWhole(answer.status, headers, answer.body);
      else await sendEvents(conversation, headers, answer.stream);
      return null;
    },
  };
}

/** Each event is sent at once: a gateway that collects them would keep a question from the person. */
const UNBUFFERED = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

async function sendEvents(
  { exchange: { writer } }: Conversation,
  headers: Record<string, string>,
  stream: NonNullable<McpAnswer['stream']>,
): Promise<void> {
  writer.begin(200, { ...headers, ...UNBUFFERED }, null);
  try {
    await stream((text) => {
      void writer.write(Buffer.from(text));
    });
    writer.end();
  } catch {
    writer.breakOff();
  }
}

function weigh(known: NonNullable<unknown>): number {
  return ENTRY_BYTES + (known instanceof Map ? weighFields(known) : 0);
}

/**
 * Numbers policies as they are seen. Ids do not tell them apart: a key can get another policy, and tokens of one user
 * can have different ones.
 */
function createPolicyNames(): SessionDeps['namePolicy'] {
  const numbers = new WeakMap<object, number>();
  let count = 0;
  return (policy) => {
    if (policy === null) return '-';
    const number = numbers.get(policy) ?? ++count;
    numbers.set(policy, number);
    return String(number);
  };
}
