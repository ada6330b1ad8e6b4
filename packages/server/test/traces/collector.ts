/** For tests: a collector of OTLP over HTTP. Decodes JSON, and of protobuf the members that tests compare. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listenOnFreePort } from '../listen.ts';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty if the span begins a trace. */
  parentSpanId: string;
  name: string;
  /** 1: internal, 2: server, 3: client. */
  kind: number;
  /** Milliseconds since 1970. */
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  /** 2: an error. */
  status: number;
}

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** Attributes of the service that sent the last spans. */
  resource: Record<string, unknown>;
  /** `service.instance.id` of each sender. */
  processes: Set<unknown>;
  requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
  close(): Promise<void>;
}

type Answer = (response: ServerResponse, index: number) => void;

const ACCEPT: Answer = (response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');

/** `answer`: by default, accepts the spans. Spans are collected whatever the answer is. */
export async function startCollector(answer: Answer = ACCEPT): Promise<Collector> {
  const requests: Collector['requests'] = [];
  const spans: CollectedSpan[] = [];
  const processes: Collector['processes'] = new Set();
  let resource: Record<string, unknown> = {};
  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    if (/\/v1\/(logs|metrics)$/.test(request.url ?? '')) {
      // Tests of other signals read the requests.
    } else if (request.headers['content-type'] === 'application/json') {
      for (const { resource: sender, scopeSpans } of JSON.parse(body.toString()).resourceSpans) {
        resource = readAttributes(sender.attributes);
        processes.add(resource['service.instance.id']);
        for (const { spans: sent } of scopeSpans) spans.push(...sent.map(readSpan));
      }
    } else {
      spans.push(...readProtobuf(body));
    }
    answer(response, requests.length - 1);
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    get resource() {
      return resource;
    },
    processes,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface JsonSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: JsonAttribute[];
  status: { code: number };
}

export interface JsonAttribute {
  key: string;
  value: Record<string, unknown>;
}

function readSpan(span: JsonSpan): CollectedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    name: span.name,
    kind: span.kind,
    startMs: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
    endMs: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
    attributes: readAttributes(span.attributes),
    status: span.status.code,
  };
}

export function readAttributes(attributes: JsonAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Field numbers are those of opentelemetry/proto/trace/v1/trace.proto. */
function readProtobuf(bytes: Buffer): CollectedSpan[] {
  const resourceSpans = readFields(bytes).get(1) ?? [];
  const scopeSpans = resourceSpans.flatMap((part) => readFields(part).get(2) ?? []);
  return scopeSpans
    .flatMap((part) => readFields(part).get(2) ?? [])
    .map((part) => {
      const fields = readFields(part);
      const first = (field: number) => fields.get(field)?.[0] ?? Buffer.alloc(0);
      return {
        traceId: first(1).toString('hex'),
        spanId: first(2).toString('hex'),
        parentSpanId: first(4).toString('hex'),
        name: first(5).toString(),
        kind: first(6)[0] ?? 0,
        startMs: Number(first(7).readBigUInt64LE()) / 1e6,
        endMs: Number(first(8).readBigUInt64LE()) / 1e6,
        attributes: {},
        status: 0,
      };
    });
}

/** The values of each field of a protobuf message, as bytes. A number keeps its encoding. */
export function readFields(bytes: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const readVarint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const type = tag & 7;
    const start = at;
    let value: Buffer;
    if (type === 0) {
      readVarint();
      value = bytes.subarray(start, at);
    } else {
      const length = type === 2 ? readVarint() : type === 1 ? 8 : 4;
      value = bytes.subarray(at, at + length);
      at += length;
    }
    fields.set(tag >>> 3, [...(fields.get(tag >>> 3) ?? []), value]);
  }
  return fields;
}
