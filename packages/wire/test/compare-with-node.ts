/**
 * Compares the reader of plain requests with Node's parser: whatever is a plain request must be the same request for
 * both, and end at the same byte.
 */
// biome-ignore lint/style/useNodejsImportProtocol: Node has no such name for its internal parser.
import { HTTPParser } from '_http_common';
import { type PlainRequest, readPlainRequest } from '../src/server/plain-call.ts';

/**
 * Null if both read the beginning of these bytes as the same request, or a description of what each has read. Bodies
 * are completed, and further requests are replaced, as `read` understands the bytes.
 */
export function compareWithNode(
  bytes: Buffer,
  read: (bytes: Buffer) => PlainRequest | null = readPlainRequest,
): 'not plain' | string | null {
  const plain = read(bytes);
  if (plain === null) return 'not plain';
  const { headBytes, bodyBytes, closes, path, headers } = plain;
  // What is in a body must not matter.
  const body = Buffer.alloc(Math.min(bodyBytes, COMPLETED_BYTES_MAX), 'GET / HTTP/1.1\r\n\r\n');
  if (bodyBytes > body.length) return null;
  const whole = Buffer.concat([bytes.subarray(0, headBytes), body, closes ? EMPTY : NEXT]);
  const expected: Read[] = [
    {
      method: 'POST',
      path,
      headers: [...headers],
      body: body.toString('latin1'),
      keepsConnection: !closes,
    },
  ];
  if (!closes) expected.push(READ_NEXT);
  const { requests, endedCount, error } = NODE.read(whole);
  const [ours, theirs] = [JSON.stringify(expected), JSON.stringify(requests)];
  if (error === null && endedCount === expected.length && ours === theirs) return null;
  return `${JSON.stringify(whole.toString('latin1'))}: read ${ours}, Node ${theirs}, ${endedCount} whole, ${error}`;
}

/** Completing a longer body would take most of the time. */
const COMPLETED_BYTES_MAX = 5000;
const EMPTY = Buffer.alloc(0);
/** Whatever follows a request must be read as the next one. */
const NEXT = Buffer.from('POST /next HTTP/1.1\r\nhost: x\r\nx-note: next\r\ncontent-length: 2\r\n\r\nok');

interface Read {
  method: string;
  path: string;
  headers: [string, string][];
  body: string;
  keepsConnection: boolean;
}

/** What Node's parser reads from the bytes: requests, and an error if it refuses them. */
class NodeReader {
  readonly #parser = new HTTPParser();
  #requests: Read[] = [];
  /** Lines of the current head that came before its end, which it does not repeat. */
  #early: string[] = [];
  #endedCount = 0;

  constructor() {
    this.#parser[HTTPParser.kOnHeaders] = (headers: string[]) => {
      this.#early.push(...headers);
    };
    this.#parser[HTTPParser.kOnHeadersComplete] = (...values: unknown[]) => {
      const [, , headers, method, path, , , , keepsConnection] = values as [
        number,
        number,
        string[],
        number,
        string,
        unknown,
        unknown,
        boolean,
        boolean,
      ];
      const pairs: [string, string][] = [];
      const all = [...this.#early.splice(0), ...(headers ?? [])];
      for (let at = 0; at < all.length; at += 2) pairs.push([all[at]!.toLowerCase(), all[at + 1]!]);
      this.#requests.push({
        method: METHODS[method] ?? String(method),
        path,
        headers: pairs,
        body: '',
        keepsConnection,
      });
    };
    this.#parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
      this.#requests.at(-1)!.body += bytes.toString('latin1');
    };
    this.#parser[HTTPParser.kOnMessageComplete] = () => {
      this.#endedCount++;
    };
  }

  read(bytes: Buffer): { requests: Read[]; endedCount: number; error: Error | null } {
    this.#requests = [];
    this.#early = [];
    this.#endedCount = 0;
    this.#parser.initialize(HTTPParser.REQUEST, {}, NODE_HEAD_BYTES_MAX);
    const result = this.#parser.execute(bytes);
    const error = result instanceof Error ? result : null;
    return { requests: this.#requests, endedCount: this.#endedCount, error };
  }
}

/** More than the inputs have. How long a head may be for Node is a setting. */
const NODE_HEAD_BYTES_MAX = 1024 * 1024;

/** llhttp's numbers of the methods that a plain request could be taken for. */
const METHODS: Record<number, string> = { 0: 'DELETE', 1: 'GET', 2: 'HEAD', 3: 'POST', 4: 'PUT' };

const NODE = new NodeReader();

/** What Node's parser reads from the bytes. */
export function readByNode(bytes: Buffer): { requests: Read[]; error: Error | null } {
  return NODE.read(bytes);
}

const READ_NEXT: Read = {
  method: 'POST',
  path: '/next',
  headers: [
    ['host', 'x'],
    ['x-note', 'next'],
    ['content-length', '2'],
  ],
  body: 'ok',
  keepsConnection: true,
};
