/**
 * `npm run bench -- --compare <checkout>`: measures this checkout and another one in pairs of short rounds on one
 * upstream. Load on the machine affects both rounds of a pair, so that the ratio of a pair shows what a change did.
 */
import { readCpuMs, readPeakBytes } from './process-usage.ts';
import { buildExecuteRequest, OWN_CHECKOUT } from './program.ts';
import { type Bench, findMedian, printMebibytes, runLoad, type Table, WARM_UP_CALLS } from './scenario.ts';
import { type RunningSubject, startCheckout } from './subjects.ts';
import { type ConnectionMode, LARGE_BYTES, SMALL_BYTES } from './upstream.ts';

const CONNECTIONS = 16;
const PAIRS = 15;
const PAIRS_QUICK = 2;

interface Round {
  cpuUs: number;
  p50Us: number;
}

/** The cases that are compared: an answer size, and whether the upstream keeps connections open or closes them. */
export const CASES = ['small-keep', 'small-close', 'large-keep', 'large-close'] as const;

/** Compares all cases, or only one. */
export async function compareCheckouts(bench: Bench, other: string, only: string | null): Promise<Table> {
  const rows: string[][] = [];
  for (const name of CASES.filter((each) => only === null || each === only)) {
    const [size, mode] = name.split('-') as ['small' | 'large', ConnectionMode];
    rows.push(...(await compare(bench, other, size, mode)));
  }
  return {
    title: `This checkout against ${other}`,
    columns: ['', 'other', 'this', 'ratio', 'quartiles of the ratio'],
    rows,
    notes: [
      'CPU time and median latency of a call, peak memory of the process. A ratio is the median over pairs of rounds.',
      'If the quartiles lie on both sides of 1.00, this run shows no difference.',
    ],
    findings: [],
  };
}

async function compare(
  bench: Bench,
  other: string,
  size: 'small' | 'large',
  mode: ConnectionMode,
): Promise<string[][]> {
  const upstreamPort = bench.ports[size][mode];
  const bodyBytes = size === 'small' ? SMALL_BYTES : LARGE_BYTES;
  const subjects = [
    await startCheckout(other, bench.folder),
    await startCheckout(OWN_CHECKOUT, bench.folder),
  ];
  try {
    const measure = async (subject: RunningSubject, calls: number): Promise<Round> => {
      const beforeMs = readCpuMs(subject.pid);
      const { p50Us } = await runLoad(bench, {
        connections: CONNECTIONS,
        bodyBytesMin: bodyBytes - 20,
        port: subject.port,
        requests: [buildExecuteRequest(subject.key ?? 'none', upstreamPort)],
        calls,
      });
      return { cpuUs: ((readCpuMs(subject.pid) - beforeMs) * 1000) / calls, p50Us };
    };
    for (const subject of subjects) await measure(subject, bench.isQuick ? 200 : WARM_UP_CALLS);
    // Short rounds would differ by chance, for example by a garbage collection.
    const calls = bench.isQuick ? 200 : size === 'small' ? 8000 : 4000;
    const pairs: [Round, Round][] = [];
    for (let pair = 0; pair < (bench.isQuick ? PAIRS_QUICK : PAIRS); pair++) {
      // The order alternates, so that a trend of the machine's load favours neither.
      const order = pair % 2 === 0 ? [0, 1] : [1, 0];
      const rounds: Round[] = [];
      for (const index of order) rounds[index] = await measure(subjects[index]!, calls);
      pairs.push([rounds[0]!, rounds[1]!]);
    }
    const what = `${bodyBytes.toLocaleString('en')} bytes, upstream ${mode === 'keep' ? 'keeps' : 'closes'} connections`;
    const [otherPeak, ownPeak] = subjects.map(({ pid }) => readPeakBytes(pid));
    return [
      tabulate(`CPU µs/call, ${what}`, pairs, ({ cpuUs }) => cpuUs),
      tabulate(`p50 µs, ${what}`, pairs, ({ p50Us }) => p50Us),
      [
        `peak MiB, ${what}`,
        printMebibytes(otherPeak!),
        printMebibytes(ownPeak!),
        (ownPeak! / otherPeak!).toFixed(2),
        '',
      ],
    ];
  } finally {
    for (const subject of subjects) await subject.stop();
  }
}

function tabulate(what: string, pairs: readonly [Round, Round][], read: (round: Round) => number): string[] {
  const ratios = pairs.map(([other, own]) => read(own) / read(other)).toSorted((a, b) => a - b);
  const quartile = (share: number) => ratios[Math.round((ratios.length - 1) * share)]!.toFixed(2);
  return [
    what,
    findMedian(pairs.map(([other]) => read(other))).toFixed(0),
    findMedian(pairs.map(([, own]) => read(own))).toFixed(0),
    quartile(0.5),
    `${quartile(0.25)} to ${quartile(0.75)}`,
  ];
}
