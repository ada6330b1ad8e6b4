/** Measures what the options of a call cost: each one against the same call without it, in alternating rounds. */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { createKey, startAdministered, storeInstance } from '../administered-program.ts';
import { readCpuMs } from '../process-usage.ts';
import { buildExecuteRequest, changeBody, type Program } from '../program.ts';
import {
  type Bench,
  divideRounds,
  findMedian,
  microseconds,
  milliseconds,
  runLoad,
  type Scenario,
  times,
  WARM_UP_CALLS,
} from '../scenario.ts';
import { RECORDS_BYTES, SMALL_BYTES } from '../upstream.ts';

/** Database 9, so that a run disturbs no other use of the server. */
const REDIS_URL = process.env['BENCH_REDIS_URL'] ?? 'redis://127.0.0.1:6379/9';
const CONNECTIONS = 16;
const POLICY_RULES = 50;
const RATIO_MAX = 1.2;
const NORMALIZED_RATIO_MAX = 4;
/** A limit that no run reaches. */
const MANY = 100_000_000;

interface Option {
  name: string;
  program: Program;
  /** The same call without the option; null for a call without options. */
  base: Option | null;
  /** The largest ratio that meets the target; null: there is no target. */
  ratioMax: number | null;
  /** Minimum size of an answer, in bytes. */
  answerBytes: number;
  /** Number of calls, as a share of the number of calls with small answers. */
  callsShare: number;
  makeRequests: (calls: number) => Buffer[];
  cpuUs: number[];
  p50Ms: number[];
}

export const options: Scenario = {
  name: 'options',
  async run(bench) {
    const hasRedis = await answers(new URL(REDIS_URL));
    const programs: Program[] = [];
    try {
      const rows = await prepare(
        bench,
        async (settings) => {
          const program = await startAdministered(bench, {
            'idempotency.clientKeysMax': String(MANY),
            'idempotency.clientBytesMax': '10GiB',
            ...settings,
          });
          programs.push(program);
          return program;
        },
        hasRedis,
      );
      for (const row of rows) await measure(bench, row, bench.isQuick ? 100 : WARM_UP_CALLS);
      for (const row of rows) row.cpuUs.length = row.p50Ms.length = 0;
      for (let round = 0; round < (bench.isQuick ? 1 : 7); round++)
        for (const row of rows) await measure(bench, row, bench.isQuick ? 100 : 2500);
      return [tabulate(rows, hasRedis)];
    } finally {
      for (const program of programs) await program.stop();
    }
  },
};

async function prepare(
  bench: Bench,
  startWith: (settings: Record<string, string>) => Promise<Program>,
  hasRedis: boolean,
): Promise<Option[]> {
  const program = await startWith({});
  const port = bench.ports.small.keep;
  const add = (
    name: string,
    base: Option | null,
    makeRequests: Option['makeRequests'],
    more = {},
  ): Option => ({
    name,
    program,
    base,
    ratioMax: RATIO_MAX,
    answerBytes: SMALL_BYTES - 20,
    callsShare: 1,
    makeRequests,
    cpuUs: [],
    p50Ms: [],
    ...more,
  });
  const repeat = (request: Buffer) => () => [request];
  const key = await createKey(program, null);
  const read = buildExecuteRequest(key, port);
  const write = changeBody(read, { action: 'write', params: [[1], { name: 'Azure' }], keyword: {} });

  const plain = add('a read', null, repeat(read));
  const withPolicy = await createKey(program, buildPolicy());
  await storeInstance(program, port);
  const named = changeBody(read, { erp_instance: { name: 'prod' } });
  const plainWrite = add('a write', null, repeat(write));
  // Each call writes to a store on disk, so there is no target.
  const storing = { ratioMax: null };
  const ofRecords = { answerBytes: RECORDS_BYTES, callsShare: 0.1 };
  const records = (headers = {}) => {
    const request = buildExecuteRequest(key, bench.ports.records, headers);
    return repeat(changeBody(request, { keyword: {} }));
  };
  const megabyte = add('a read of 1 MB', null, records(), ofRecords);
  const rows = [
    plain,
    add(`a policy of ${POLICY_RULES} models`, plain, repeat(buildExecuteRequest(withPolicy, port))),
    add('a stored instance', plain, repeat(named)),
    plainWrite,
    add('an idempotency key', plainWrite, (calls) => giveKeys(write, calls), storing),
    megabyte,
    add('normalized values', megabyte, records({ prefer: 'values=normalized' }), {
      ...ofRecords,
      ratioMax: NORMALIZED_RATIO_MAX,
    }),
  ];
  if (!hasRedis) return rows;
  const shared = await startWith({ 'redis.url': REDIS_URL });
  const ofShared = { program: shared };
  const sharedKey = await createKey(shared, null);
  const limitedKey = await createKey(shared, {
    ...buildPolicy(1),
    rate: { requests: MANY, seconds: 1 },
    per_day: MANY,
    concurrency: 1000,
  });
  const sharedRead = add('a read, with Redis', null, repeat(buildExecuteRequest(sharedKey, port)), ofShared);
  const limited = repeat(buildExecuteRequest(limitedKey, port));
  return [
    ...rows,
    sharedRead,
    add('rate, calls per day and concurrency in Redis', sharedRead, limited, ofShared),
  ];
}

/** The last rule is for the model of the calls. Half of the other rules have patterns. */
function buildPolicy(rules = POLICY_RULES): object {
  const names = Array.from({ length: rules - 1 }, (_, index) =>
    index % 2 === 0 ? `x_custom.model_${index}` : `x_module_${index}.*`,
  );
  const methods = ['read', 'search_read', 'search*', 'write'];
  return {
    origins: ['*'],
    dbs: ['prod*'],
    models: Object.fromEntries([...names, 'res.partner'].map((name) => [name, methods])),
  };
}

/** Copies of the request, each with an idempotency key of its own. */
function giveKeys(request: Buffer, count: number): Buffer[] {
  const text = request.toString();
  return Array.from({ length: count }, () =>
    Buffer.from(text.replace('\r\n', `\r\nidempotency-key: ${randomUUID()}\r\n`)),
  );
}

async function measure(bench: Bench, option: Option, callsOfSmall: number) {
  const { program, makeRequests, answerBytes, callsShare, cpuUs, p50Ms } = option;
  const calls = Math.ceil(callsOfSmall * callsShare);
  const job = { port: program.port, requests: makeRequests(calls), connections: CONNECTIONS, calls };
  const beforeMs = readCpuMs(program.pid);
  const { p50Us } = await runLoad(bench, { ...job, bodyBytesMin: answerBytes });
  cpuUs.push(((readCpuMs(program.pid) - beforeMs) * 1000) / calls);
  p50Ms.push(p50Us / 1000);
}

function tabulate(rows: readonly Option[], hasRedis: boolean) {
  const bounded = rows.flatMap(({ name, base, cpuUs, ratioMax }) =>
    base === null || ratioMax === null
      ? []
      : [
          {
            name: `${base.name}, with ${name}`,
            ratioMax,
            ratio: findMedian(divideRounds(cpuUs, base.cpuUs)),
          },
        ],
  );
  return {
    title: 'Cost of options',
    columns: ['', 'CPU µs/call', 'of the call without', 'p50 ms'],
    rows: rows.map(({ name, base, cpuUs, p50Ms }) => [
      base === null ? name : `${base.name}, with ${name}`,
      microseconds(cpuUs),
      base === null ? '' : times(divideRounds(cpuUs, base.cpuUs)),
      milliseconds(p50Ms),
    ]),
    notes: [
      `The policy has ${POLICY_RULES} models, and that of the calls is the last. Each write with an idempotency key has another one, and its claim is synced to disk before the call is sent.`,
      ...(hasRedis ? [] : ['No Redis answered, so limits in Redis were not measured (`BENCH_REDIS_URL`).']),
    ],
    findings: bounded.map(({ name, ratio, ratioMax }) => ({
      isReached: ratio <= ratioMax,
      text: `${name}: at most ${ratioMax} times the call without (${ratio.toFixed(2)} times)`,
    })),
  };
}

/** Whether a server accepts connections at the address. */
function answers({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || 6379) });
    const end = (isAnswering: boolean) => {
      socket.destroy();
      resolve(isAnswering);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
