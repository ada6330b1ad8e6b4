/**
 * Measures calls to an upstream with https, as most hosted Odoo have: on kept connections, on a new connection for each
 * call, which resumes a TLS session, and to many databases in turn, whose connections are idle between their calls.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEST_CERTIFICATE } from '../../packages/egress/test/test-certificate.ts';
import { readCpuMs, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest } from '../program.ts';
import {
  type Bench,
  divideRounds,
  type Finding,
  findMedian,
  microseconds,
  milliseconds,
  printMebibytes,
  runLoad,
  type Scenario,
  type Table,
  times,
  WARM_UP_CALLS,
} from '../scenario.ts';
import { FLOORS, listHttpsSubjects, PROXY, type RunningSubject } from '../subjects.ts';
import { type Handshakes, HTTPS_DATABASES, SMALL_BYTES } from '../upstream.ts';

const CONNECTIONS = 16;
const CALLS = 3000;
const ROUNDS = 7;
const KEPT_FACTOR_MAX = 1.5;

interface Case {
  title: string;
  /** How the calls are described in a finding and in an answer. */
  what: string;
  ports: readonly number[];
  subjects: ReturnType<typeof listHttpsSubjects>;
  factorMax: number | null;
}

interface Measured {
  name: string;
  subject: RunningSubject;
  cpuUs: number[];
  p50Ms: number[];
  /** Connections that were opened in the rounds, and those of them that resumed a TLS session. */
  opened: number;
  resumed: number;
}

export const https: Scenario = {
  name: 'https',
  async run(bench) {
    const certificateFile = join(bench.folder, 'upstream-certificate.pem');
    writeFileSync(certificateFile, TEST_CERTIFICATE);
    const subjects = listHttpsSubjects(certificateFile);
    const ofNode = subjects.filter(({ name }) => name === PROXY || name === FLOORS.keep);
    const cases: Case[] = [
      {
        title: 'Upstream with https, which keeps connections',
        what: 'upstream with https keeps connections, as most hosted Odoo do',
        ports: [bench.ports.https.keep],
        subjects,
        factorMax: KEPT_FACTOR_MAX,
      },
      {
        title: 'Upstream with https, which closes connections',
        what: 'upstream with https closes connections',
        ports: [bench.ports.https.close],
        subjects,
        factorMax: null,
      },
      {
        title: `${HTTPS_DATABASES} servers with https in turn`,
        what: `${HTTPS_DATABASES} servers with https in turn`,
        ports: bench.ports.httpsDatabases,
        subjects: ofNode,
        factorMax: null,
      },
    ];
    const tables: Table[] = [];
    for (const each of cases) tables.push(await measure(bench, each));
    return tables;
  },
};

async function measure(bench: Bench, measuredCase: Case): Promise<Table> {
  const { ports, subjects } = measuredCase;
  const measured: Measured[] = [];
  const askHandshakes = async () => ({ ...((await bench.upstream.ask('handshakes')) as Handshakes) });
  try {
    for (const { name, start } of subjects) {
      const subject = await start(ports[0]!, bench.folder);
      measured.push({ name, subject, cpuUs: [], p50Ms: [], opened: 0, resumed: 0 });
    }
    const run = ({ subject }: Measured, calls: number) =>
      runLoad(bench, {
        port: subject.port,
        requests: ports.map((port) => buildRequest(subject.key, port)),
        connections: CONNECTIONS,
        calls,
        bodyBytesMin: SMALL_BYTES - 20,
      });
    for (const each of measured) await run(each, bench.isQuick ? 200 : WARM_UP_CALLS);
    const calls = bench.isQuick ? 200 : CALLS;
    for (let round = 0; round < (bench.isQuick ? 1 : ROUNDS); round++) {
      for (const each of measured) {
        const before = await askHandshakes();
        const beforeMs = readCpuMs(each.subject.pid);
        const { p50Us } = await run(each, calls);
        each.cpuUs.push(((readCpuMs(each.subject.pid) - beforeMs) * 1000) / calls);
        each.p50Ms.push(p50Us / 1000);
        const after = await askHandshakes();
        each.opened += after.opened - before.opened;
        each.resumed += after.resumed - before.resumed;
      }
    }
    return tabulate(measuredCase, measured);
  } finally {
    for (const { subject } of measured) await subject.stop();
  }
}

/** The certificate of the upstream is one for `localhost`. */
function buildRequest(key: string | null, port: number): Buffer {
  const headers = { 'x-upstream-port': String(port) };
  return buildExecuteRequest(key ?? 'none', `https://localhost:${port}`, headers);
}

function tabulate({ title, what, factorMax }: Case, measured: Measured[]): Table {
  const find = (name: string) => measured.find((each) => each.name === name)!;
  const [proxy, floor] = [find(PROXY), find(FLOORS.keep)];
  const ratio = findMedian(divideRounds(proxy.cpuUs, floor.cpuUs));
  const findings: Finding[] =
    factorMax === null
      ? []
      : [
          {
            isReached: ratio <= factorMax,
            text: `CPU time, ${SMALL_BYTES} bytes, ${what}: at most ${factorMax.toFixed(1)} times undici by hand (${ratio.toFixed(2)} times)`,
          },
        ];
  const cpuUs = findMedian(proxy.cpuUs);
  return {
    title,
    columns: ['', 'CPU µs/call', 'of undici by hand', 'p50 ms', 'connections opened', 'resumed', 'peak MiB'],
    rows: measured.map((each) => [
      each.name,
      microseconds(each.cpuUs),
      times(divideRounds(each.cpuUs, floor.cpuUs)),
      milliseconds(each.p50Ms),
      String(each.opened),
      each.opened === 0 ? '' : `${((100 * each.resumed) / each.opened).toFixed(0)} %`,
      printMebibytes(readPeakBytes(each.subject.pid)),
    ]),
    notes: [
      `Answers of ${SMALL_BYTES} bytes, ${CONNECTIONS} connections. \`resumed\`: share of the opened connections that resumed a TLS session.`,
    ],
    findings,
    answers: [
      {
        question: 'calls',
        text: `About ${Number((1e6 / cpuUs).toPrecision(2)).toLocaleString('en')} with answers of ${SMALL_BYTES} bytes, ${what} (${cpuUs.toFixed(0)} µs of processor time a call; undici by hand ${findMedian(floor.cpuUs).toFixed(0)}).`,
      },
    ],
  };
}
