/** The figures as text: a table for the terminal, a page for docs/. Knows nothing of how they came about. */
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

Written by \`npm run bench\` on ${date}; do not edit it by hand.

## What falls short

${renderShortcomings(tables)}

## Method

- All of it in one run on one machine: ${describeMachine()}. Upstream, load and each subject are processes of their own and share these
  cores, so calls per second and latencies are those of a machine that is full. Compare figures within a table, not with other machines.
- CPU time is user and system time of the subject's process (and its children) divided by the calls, from /proc. It hardly depends
  on what else the machine does, and is the figure to look at first.
- 16 connections, each with one call after the other. The subjects take turns in short rounds after a warm-up; each figure is the
  median of the rounds. Every answer's status and length are checked; a failed call ends the bench.
- The proxy is the real program with its default settings and everything on: keys in SQLite, egress guard (the test upstream is in
  \`egress.allow\`), credential memory, metrics, and a log line for each call, written to a file. The peers parse nothing, check nothing and log nothing.
- The upstream that keeps connections speaks HTTP/1.1; the one that closes them answers as Odoo's workers do: HTTP/1.0, Content-Length,
  \`Connection: close\`. The caller's request is a \`search_read\` of some 400 bytes.
- "By hand" is the floor: node:http and undici (or a bare socket a call), nothing else.${missing.length === 0 ? '' : `\n- Not installed on this machine, so not measured: ${missing.join(', ')}.`}

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

/** In general words: no name of the machine, no paths. */
export function describeMachine(): string {
  const [first] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), ${gibibytes} GiB, ${process.platform}, Node ${process.versions.node}`;
}
