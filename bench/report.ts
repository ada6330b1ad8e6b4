/** Renders measurements as a table for the terminal and as a page for docs/. Does not know how they were made. */
import type { Machine } from './machine.ts';
import { QUESTIONS, type Table } from './scenario.ts';

const LINE_WIDTH = 120;
const ODOO_TIME =
  'Odoo itself takes 5 to 15 ms to read one partner: one connection gets 65 to 186 answers a second, by version and protocol ([measured](odoo-facts.md#throughput)). Larger reads take longer.';

export function renderTerminal(table: Table): string {
  const { title, columns, rows, notes } = table;
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ');
  return ['', title, line(columns), ...rows.map(line), ...notes, ...renderFindings([table]), ''].join('\n');
}

export interface PageFacts extends Machine {
  date: string;
  /** Servers that are not installed on this machine. */
  missing: readonly string[];
}

export function renderPage(tables: readonly Table[], { date, machine, node, missing }: PageFacts): string {
  const peers = tables.filter(({ comparesPeers }) => comparesPeers === true);
  const others = tables.filter(({ comparesPeers }) => comparesPeers !== true);
  return `# Benchmarks

This page shows what a call through the proxy costs: time, processor and memory. It compares the proxy with other
reverse proxies and with minimal programs, and lists the targets that it misses.

\`npm run bench\` wrote this page on ${date}. Do not edit it by hand.

${wrapWords(`All figures are from one machine: ${machine}, Node ${node}. Upstream, load generator and proxy share its cores. Ratios carry over to other machines better than times.`)}

${renderAnswers(tables)}
## Other proxies

The other proxies only forward: they check no key, address or policy, limit nothing, and write no log line here. The
floors, "by hand", are minimal programs of about 50 lines: node:http with undici, if the upstream keeps connections, or
with one bare socket for each call.

${peers.map((table) => renderMarkdownRows(table)).join('\n')}
## What falls short

Each line is a target that was missed. What was measured is in brackets.

${renderFindingList(tables, false)}

## What meets its target

${renderFindingList(tables, true)}

## Method

- **CPU time** is user and system time of the subject's process and its children, from /proc, divided by the number of
  calls. It hardly depends on what else the machine does, so look at it first.
- **Calls a second of a core** are computed from the CPU time of a call. The columns "calls/s" and the latencies beside
  them are those of a machine on which upstream and load generator take their share of the cores.
- **Load.** 16 connections send one call after the other, if a table says nothing else. The subjects take turns in short
  rounds after a warm-up. Each figure is the median of the rounds. The status and length of every answer are checked.
  A failed call ends the run, except through nginx, HAProxy and Caddy: a table tells how many answers these broke off.
- **erp-proxy** is the real program with its default settings: keys in SQLite, egress guard (the test upstream is in
  \`egress.allow\`), credential memory, metrics, and a log line for each call, written to a file.
- **Upstream.** The upstream that keeps connections speaks HTTP/1.1. The one that closes them answers like Odoo's
  workers: HTTP/1.0, Content-Length, \`Connection: close\`. The caller's request is a \`search_read\` of about 400 bytes.${missing.length === 0 ? '' : `\n- **Not installed** on this machine: ${missing.join(', ')}.`}

${others.map(renderMarkdownTable).join('\n')}`;
}

function renderAnswers(tables: readonly Table[]): string {
  const answers = tables.flatMap((table) => table.answers ?? []);
  return Object.entries(QUESTIONS)
    .map(([question, words]) => {
      const texts = answers.filter((answer) => answer.question === question).map(({ text }) => text);
      if (question === 'time') texts.push(ODOO_TIME);
      return texts.length === 0 ? '' : `## ${words}\n\n${texts.map(renderItem).join('\n')}\n`;
    })
    .filter((section) => section !== '')
    .join('\n');
}

function renderFindingList(tables: readonly Table[], isReached: boolean): string {
  const findings = tables.flatMap((table) => table.findings);
  const texts = findings.filter((finding) => finding.isReached === isReached).map(({ text }) => text);
  return texts.map(renderItem).join('\n') || '- none';
}

export function renderShortcomings(tables: readonly Table[]): string {
  return `Targets missed:\n\n${renderFindingList(tables, false)}\n\nTargets met:\n\n${renderFindingList(tables, true)}`;
}

export function renderMarkdownTable(table: Table): string {
  return `## ${table.title}\n\n${renderMarkdownRows(table)}`;
}

function renderMarkdownRows({ columns, rows, notes }: Table): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rule = line(columns.map((_, index) => (index === 0 ? '---' : '---:')));
  const text = [line(columns), rule, ...rows.map(line), ''];
  return [...text, ...notes.flatMap((note) => [wrapWords(note), ''])].join('\n');
}

function renderItem(text: string): string {
  return `- ${wrapWords(text, LINE_WIDTH - 2).replaceAll('\n', '\n  ')}`;
}

/** Breaks lines of prose at blanks. */
export function wrapWords(text: string, width = LINE_WIDTH): string {
  const tooLong = new RegExp(`(?=.{${width + 1}})(.{1,${width - 1}}\\S) `, 'g');
  return text
    .split('\n')
    .map((paragraph) => paragraph.replaceAll(tooLong, '$1\n'))
    .join('\n');
}

function renderFindings(tables: Table[]): string[] {
  return tables.flatMap((table) =>
    table.findings.map(({ isReached, text }) => `${isReached ? 'reached     ' : 'NOT reached '} ${text}`),
  );
}
