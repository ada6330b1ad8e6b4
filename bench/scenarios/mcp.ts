/**
 * Measures tools for agents against the execute calls that they make: 100 at once, in alternating rounds. A session is
 * what a client sends to use one tool: it asks what the server is, lists the tools, and calls one.
 */
import { createKey, startAdministered, storeInstance } from '../administered-program.ts';
import { readCpuMs, readPeakBytes, resetPeakMemory } from '../process-usage.ts';
import { buildExecuteRequest, changeBody, type Program } from '../program.ts';
import { FIELD_TYPES } from '../records.ts';
import {
  type Bench,
  divideRounds,
  microseconds,
  milliseconds,
  printMebibytes,
  runLoad,
  type Scenario,
  type Table,
  times,
  WARM_UP_CALLS,
} from '../scenario.ts';
import { type ConnectionMode, FEW_RECORDS_BYTES } from '../upstream.ts';

const CONNECTIONS = 100;
const UNITS = 2000;
const ROUNDS = 9;
const FIELDS = ['name', 'email', 'phone'];
const LIMIT = 10;
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

/** An agent that may only read. */
const POLICY = {
  instances: ['prod'],
  models: {
    '*': ['read', 'search_read', 'search_count', 'read_group', 'formatted_read_group', 'fields_get'],
    'res.users': ['context_get'],
  },
  read_only: true,
};

interface Row {
  name: string;
  program: Program;
  /** The requests of one unit, sent in turn. */
  requests: Buffer[];
  /** The row of the execute call that the tool makes; null for the rows of execute calls. */
  execute: Row | null;
  cpuUs: number[];
  p50Ms: number[];
  peakBytes: number;
  /** Maximum number of connections to the upstream that a round opened. */
  opened: number;
}

export const mcp: Scenario = {
  name: 'mcp',
  async run(bench) {
    const programs: Program[] = [];
    try {
      const rows: Row[] = [];
      for (const mode of ['close', 'keep'] as const) {
        const program = await startAdministered(bench);
        programs.push(program);
        await storeInstance(program, bench.ports.fewRecords[mode]);
        rows.push(...createRows(program, await createKey(program, POLICY), mode));
      }
      for (const row of rows) await measure(bench, row, bench.isQuick ? 100 : WARM_UP_CALLS);
      for (const row of rows) Object.assign(row, { cpuUs: [], p50Ms: [], peakBytes: 0, opened: 0 });
      for (let round = 0; round < (bench.isQuick ? 1 : ROUNDS); round++)
        for (const row of rows) await measure(bench, row, bench.isQuick ? 100 : UNITS);
      return [tabulate(rows)];
    } finally {
      for (const program of programs) await program.stop();
    }
  },
};

function createRows(program: Program, key: string, mode: ConnectionMode): Row[] {
  const tool = {
    name: 'search_records',
    arguments: { model: 'res.partner', domain: [['is_company', '=', true]], fields: FIELDS, limit: LIMIT },
  };
  const call = buildMcpRequest(key, 'tools/call', tool);
  const callOf2025 = buildMcpRequest(key, 'tools/call', tool, '2025-11-25');
  const row = (name: string, requests: Buffer[], execute: Row | null): Row => {
    const text = `${name} (upstream: ${mode})`;
    return {
      ...{ name: text, program, requests, execute },
      ...{ cpuUs: [], p50Ms: [], peakBytes: 0, opened: 0 },
    };
  };
  // The address of the upstream is not used: the call names an instance.
  const request = changeBody(buildExecuteRequest(key, 0, { prefer: 'values=normalized' }), {
    params: [[['is_company', '=', true]], FIELDS, 0, LIMIT + 1],
    keyword: { context: { bin_size: true } },
    erp_instance: { name: 'prod' },
  });
  const execute = row('an execute call with normalized values', [request], null);
  return [
    execute,
    row('a tool call', [call], execute),
    row('a tool call of a client of 2025', [callOf2025], execute),
    row(
      'a session: discover, list of tools, tool call',
      [buildMcpRequest(key, 'server/discover', {}), buildMcpRequest(key, 'tools/list', {}), call],
      execute,
    ),
    row(
      'a session of a client of 2025: initialize, list of tools, tool call',
      [
        buildMcpRequest(key, 'initialize', INITIALIZE, null),
        buildMcpRequest(key, 'tools/list', {}, '2025-11-25'),
        callOf2025,
      ],
      execute,
    ),
  ];
}

/** Builds a complete HTTP request for `/mcp`, as the official client sends it. */
function buildMcpRequest(
  key: string,
  method: string,
  params: object,
  revision: '2026-07-28' | '2025-11-25' | null = '2026-07-28',
): Buffer {
  const isModern = revision === '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: isModern ? { ...params, _meta: meta } : params,
  });
  const lines = Object.entries({
    host: '127.0.0.1',
    'x-proxy-api': key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    // All calls are the same read. Without this header they would share calls to Odoo.
    'cache-control': 'no-cache',
    ...(revision === null ? {} : { 'mcp-protocol-version': revision }),
    ...(isModern ? { 'mcp-method': method } : {}),
    ...(isModern && 'name' in params ? { 'mcp-name': String(params.name) } : {}),
    'content-length': String(body.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

async function measure(bench: Bench, row: Row, units: number): Promise<void> {
  const { program, requests } = row;
  const calls = units * requests.length;
  const openedBefore = (await bench.upstream.ask('opened')) as number;
  resetPeakMemory(program.pid);
  const beforeMs = readCpuMs(program.pid);
  const { p50Us } = await runLoad(bench, {
    port: program.port,
    requests,
    connections: CONNECTIONS,
    calls,
    bodyBytesMin: 200,
  });
  row.cpuUs.push(((readCpuMs(program.pid) - beforeMs) * 1000) / units);
  row.p50Ms.push(p50Us / 1000);
  row.peakBytes = Math.max(row.peakBytes, readPeakBytes(program.pid));
  row.opened = Math.max(row.opened, ((await bench.upstream.ask('opened')) as number) - openedBefore);
}

function tabulate(rows: readonly Row[]): Table {
  const divide = ({ cpuUs, requests, execute }: Row, callsOf: (requests: Buffer[]) => number) =>
    execute === null
      ? []
      : divideRounds(
          cpuUs,
          execute.cpuUs.map((us) => us * callsOf(requests)),
        );
  const ofOne = (row: Row) => divide(row, () => 1);
  const ofAsMany = (row: Row) => divide(row, ({ length }) => length);
  const units = rows[0]?.cpuUs.length === 1 ? 100 : UNITS;
  return {
    title: 'Tools for agents (MCP)',
    columns: [
      '',
      'requests',
      'CPU µs',
      'of one execute call',
      'of as many execute calls',
      'p50 ms of a request',
      'peak MiB',
      `connections to Odoo for ${units}`,
    ],
    rows: rows.map((row) => [
      row.name,
      String(row.requests.length),
      microseconds(row.cpuUs),
      row.execute === null ? '' : times(ofOne(row)),
      row.execute === null ? '' : times(ofAsMany(row)),
      milliseconds(row.p50Ms),
      printMebibytes(row.peakBytes),
      String(row.opened),
    ]),
    notes: [
      `${CONNECTIONS} connections send one request after the other, and a new session begins whenever one ends. The tool is \`search_records\`: it reads ${Object.keys(FIELD_TYPES).length} fields of some partners from a stored instance, about ${FEW_RECORDS_BYTES} bytes. The execute call reads the same.`,
    ],
    findings: [],
  };
}
