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
  findMedian,
  mebibytes,
  microseconds,
  milliseconds,
  runLoad,
  type Scenario,
  type Table,
  times,
} from '../scenario.ts';

const CONNECTIONS = 100;
const WARM_UP = 6000;
const UNITS = 2000;
const ROUNDS = 9;
const CALL_RATIO_MAX = 1.3;
const SESSION_RATIO_MAX = 1.5;
const FIELDS = ['name', 'email', 'phone'];
const LIMIT = 10;

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
  /** The requests of one unit, sent in turn. */
  requests: Buffer[];
  /** Number of execute calls to which a unit is compared. */
  comparedCalls: number;
  cpuUs: number[];
  p50Ms: number[];
  peakBytes: number;
  /** Connections to the upstream that were opened while it ran. */
  opened: number;
}

export const mcp: Scenario = {
  name: 'mcp',
  async run(bench) {
    const program = await startAdministered(bench);
    try {
      await storeInstance(program, bench.ports.fewRecords);
      const key = await createKey(program, POLICY);
      const rows = createRows(key, bench.ports.fewRecords).filter((_, i) => !process.env['ROW'] || i === Number(process.env['ROW']));
      for (const row of rows) await measure(bench, program, row, bench.isQuick ? 100 : WARM_UP);
      for (const row of rows) Object.assign(row, { cpuUs: [], p50Ms: [], peakBytes: 0, opened: 0 });
      for (let round = 0; round < (bench.isQuick ? 1 : ROUNDS); round++)
        for (const row of rows) await measure(bench, program, row, bench.isQuick ? 100 : UNITS);
      return process.env['ROW'] ? (console.log(rows[0]?.cpuUs), []) : [tabulate(rows)];
    } finally {
      await program.stop();
    }
  },
};

function createRows(key: string, port: number): Row[] {
  const execute = changeBody(buildExecuteRequest(key, port, { prefer: 'values=normalized' }), {
    params: [[['is_company', '=', true]], FIELDS, 0, LIMIT + 1],
    keyword: { context: { bin_size: true } },
    erp_instance: { name: 'prod' },
  });
  const tool = {
    name: 'search_records',
    arguments: { model: 'res.partner', domain: [['is_company', '=', true]], fields: FIELDS, limit: LIMIT },
  };
  const call = buildMcpRequest(key, 'tools/call', tool);
  const row = (name: string, requests: Buffer[], comparedCalls = requests.length): Row => {
    return { name, requests, comparedCalls, cpuUs: [], p50Ms: [], peakBytes: 0, opened: 0 };
  };
  return [
    row('an execute call with normalized values', [execute]),
    row('a tool call', [call]),
    row('a tool call of a client of 2025', [buildMcpRequest(key, 'tools/call', tool, '2025-11-25')]),
    row('a session: discover, list of tools, tool call', [
      buildMcpRequest(key, 'server/discover', {}),
      buildMcpRequest(key, 'tools/list', {}),
      call,
    ]),
    row('a session of a client of 2025: initialize, list of tools, tool call', [
      buildMcpRequest(
        key,
        'initialize',
        { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
        null,
      ),
      buildMcpRequest(key, 'tools/list', {}, '2025-11-25'),
      buildMcpRequest(key, 'tools/call', tool, '2025-11-25'),
    ]),
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

async function measure(bench: Bench, program: Program, row: Row, units: number): Promise<void> {
  const { requests } = row;
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
  const [execute, tool, toolOf2025, session] = rows as [Row, Row, Row, Row];
  const compare = ({ cpuUs, comparedCalls }: Row) =>
    divideRounds(
      cpuUs,
      execute.cpuUs.map((us) => us * comparedCalls),
    );
  const find = (row: Row) => findMedian(compare(row));
  const finding = (row: Row, ratioMax: number, of: string) => ({
    isReached: find(row) <= ratioMax,
    text: `${row.name}: at most ${ratioMax} times ${of} (${find(row).toFixed(2)} times)`,
  });
  return {
    title: 'Tools for agents (MCP)',
    columns: ['', 'requests', 'CPU µs', 'of as many execute calls', 'p50 ms of a request', 'peak MiB', 'new connections to Odoo'],
    rows: rows.map((row) => [
      row.name,
      String(row.requests.length),
      microseconds(row.cpuUs),
      times(compare(row)),
      milliseconds(row.p50Ms),
      mebibytes(row.peakBytes),
      String(row.opened),
    ]),
    notes: [
      `${CONNECTIONS} connections send one request after the other. The tool is \`search_records\`, which reads ${Object.keys(FIELD_TYPES).length} fields of a few partners from a stored instance; the execute call reads the same. "As many" is as many execute calls as the unit has requests.`,
    ],
    findings: [
      finding(tool, CALL_RATIO_MAX, 'an execute call'),
      finding(toolOf2025, CALL_RATIO_MAX, 'an execute call'),
      finding(session, SESSION_RATIO_MAX, 'three execute calls'),
    ],
  };
}
