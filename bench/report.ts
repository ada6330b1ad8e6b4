/** Renders measurements as a table for the terminal and as a page for docs/. Does not know how they were made. */
import { cpus, totalmem } from 'node:os';
import type { Table } from './scenario.ts';

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

export function renderPage(tables: Table[], missing: string[], date: string): string {
  return `# Benchmarks

This page shows what a call through the proxy costs: processor time, latency and memory. It compares the proxy with
other reverse proxies and with minimal programs.

\`npm run bench\` wrote this page on ${date}. Do not edit it by hand.

## Targets

${renderShortcomings(tables)}

## Method

${wrapWords(`All figures are from one run on one machine: ${describeMachine()}. Upstream, load generator and each subject are separate processes that share these cores. Calls per second and latencies are therefore those of a fully loaded machine. Compare figures within a table, not with other machines.`)}

- **CPU time** is user and system time of the subject's process and its children, from /proc, divided by the number of
  calls. It hardly depends on what else the machine does, so look at it first.
- **Load.** 16 connections send one call after the other. The subjects take turns in short rounds after a warm-up. Each
  figure is the median of the rounds. The status and length of every answer are checked, and a failed call ends the run.
- **erp-proxy** is the real program with its default settings: keys in SQLite, egress guard (the test upstream is in
  \`egress.allow\`), credential memory, metrics, and a log line for each call, written to a file.
- **The other subjects** parse nothing, check nothing and log nothing. "By hand" is the floor: only node:http and
  undici, or node:http and one bare socket for each call.
- **Upstream.** The upstream that keeps connections speaks HTTP/1.1. The one that closes them answers like Odoo's
  workers: HTTP/1.0, Content-Length, \`Connection: close\`. The caller's request is a \`search_read\` of about 400 bytes.${missing.length === 0 ? '' : `\n- **Not measured**, because not installed on this machine: ${missing.join(', ')}.`}

${tables.map(renderMarkdownTable).join('\n')}`;
}

export function renderShortcomings(tables: Table[]): string {
  const findings = tables.flatMap((table) => table.findings);
  const list = (isReached: boolean) =>
    findings
      .filter((finding) => finding.isReached === isReached)
      .map(({ text }) => `- ${text}`)
      .join('\n') || '- none';
  return `Targets missed:\n\n${list(false)}\n\nTargets met:\n\n${list(true)}`;
}

export function renderMarkdownTable({ title, columns, rows, notes }: Table): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rule = line(columns.map((_, index) => (index === 0 ? '---' : '---:')));
  const text = [`## ${title}`, '', line(columns), rule, ...rows.map(line), ''];
  return [...text, ...notes.flatMap((note) => [wrapWords(note), ''])].join('\n');
}

/** Breaks lines of prose at 120 columns. */
export function wrapWords(text: string): string {
  return text
    .split('\n')
    .map((paragraph) => paragraph.replaceAll(/(?=.{121})(.{1,119}\S) /g, '$1\n'))
    .join('\n');
}

function renderFindings(tables: Table[]): string[] {
  return tables.flatMap((table) =>
    table.findings.map(({ isReached, text }) => `${isReached ? 'reached     ' : 'NOT reached '} ${text}`),
  );
}

/** Processors, memory, platform and Node version. No host name and no paths. */
export function describeMachine(): string {
  const [first] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), ${gibibytes} GiB, ${process.platform}, Node ${process.versions.node}`;
}
