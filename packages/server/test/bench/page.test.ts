import { expect, test } from 'vitest';
import { renderPage } from '../../../../bench/report.ts';
import { type Table, times } from '../../../../bench/scenario.ts';

const TABLE: Table = {
  title: 'Details',
  columns: ['', 'ratio'],
  rows: [['erp-proxy', times([3, 1, 2])]],
  notes: [],
  findings: [
    { isReached: false, text: 'a target that is missed (2.00 times)' },
    { isReached: true, text: 'a target that is met (1.00 times)' },
  ],
  answers: [{ question: 'time', text: 'An answer.' }],
};

test('the page begins with answers, then shows other proxies, missed targets, and the details', () => {
  const peers: Table = { ...TABLE, findings: [], answers: [], title: 'Peers', comparesPeers: true };
  const facts = { date: '2026-01-02', machine: '2 cores', node: '24.0.0', missing: ['Caddy'] };
  const page = renderPage([TABLE, peers], facts);
  const places = [
    'How much time does the proxy add to a call?\n\n- An answer.',
    '## Other proxies',
    '| erp-proxy | 2.00 |',
    '## What falls short',
    'a target that is missed (2.00 times)',
    '## What meets its target',
    'a target that is met',
    'Not installed',
    '## Details',
  ].map((text) => page.indexOf(text));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});
