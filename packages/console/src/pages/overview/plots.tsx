/** The plots of the overview. Loaded separately, because their code is larger than the page itself. */
import '@mantine/charts/styles.css';
import type { StatisticsView } from '@erp-proxy/contract';
import { SimpleGrid } from '@mantine/core';
import { memo, useMemo } from 'react';
import { colorOutcome } from '../../parts/outcome-colors.ts';
import { fillPeriods, listErrorTypes, nameError } from './periods.ts';
import { Plot, type PlotSeries } from './plot.tsx';
import { printCount, printDuration } from './print-plot.ts';

/** Errors are at the bottom, where their number can be read. */
const CALLS: readonly PlotSeries[] = [
  { name: 'failed', label: 'Failed', color: 'red.6' },
  { name: 'succeeded', label: 'Succeeded', color: 'teal.6' },
];

const IN_PROGRESS: readonly PlotSeries[] = [
  { name: 'in_flight', label: 'In flight', color: 'indigo.5' },
  { name: 'queued', label: 'Queued', color: 'orange.6' },
];

const WITHOUT_ODOO: readonly PlotSeries[] = [
  { name: 'shared', label: 'Shared', color: 'cyan.6' },
  { name: 'replayed', label: 'Replayed', color: 'violet.5' },
  { name: 'refused', label: 'Refused', color: 'orange.6' },
];

/** Rendered again only if the statistics have changed. */
export const Plots = memo(function Plots({ view }: { view: StatisticsView }) {
  const points = useMemo(() => fillPeriods(view), [view]);
  const errors = listErrorTypes(view).map((type) => ({
    name: nameError(type),
    label: type,
    color: colorOutcome(type),
  }));
  const of = `of each ${view.step}`;
  return (
    <SimpleGrid type="container" cols={{ base: 1, '760px': 2, '1700px': 3 }} spacing="md">
      <Plot
        title={`Calls ${of}`}
        kind="stacked"
        points={points}
        series={CALLS}
        print={printCount}
        empty="No calls in this time."
      />
      <Plot
        title="Errors by type"
        kind="stacked"
        points={points}
        series={errors}
        print={printCount}
        empty="No errors in this time."
      />
      <Plot
        title="Time in Odoo"
        kind="lines"
        points={points}
        series={quantiles('odoo', 'violet')}
        print={printDuration}
        empty="Nothing was sent to Odoo in this time."
      />
      <Plot
        title="Time in the proxy"
        kind="lines"
        points={points}
        series={quantiles('proxy', 'teal')}
        print={printDuration}
        empty="No calls in this time."
      />
      <Plot
        title={`In flight and queued, the most ${of}`}
        kind="lines"
        points={points}
        series={IN_PROGRESS}
        print={printCount}
        empty="Nothing was in flight in this time."
      />
      <Plot
        title="Shared, replayed and refused"
        kind="lines"
        points={points}
        series={WITHOUT_ODOO}
        print={printCount}
        empty="No call of this time was shared, replayed or refused."
      />
    </SimpleGrid>
  );
});

function quantiles(prefix: string, color: string): PlotSeries[] {
  return [
    { name: `${prefix}_p50`, label: 'p50', color: `${color}.3` },
    { name: `${prefix}_p95`, label: 'p95', color: `${color}.5` },
    { name: `${prefix}_p99`, label: 'p99', color: `${color}.8` },
  ];
}
