/** Shows one plot over time, with its values as a table for people who cannot see the plot. */
import { AreaChart, ChartTooltip, LineChart } from '@mantine/charts';
import { Box, Group, Paper, Table, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import { printMoment } from '../../parts/print-moment.ts';
import type { Point } from './periods.ts';
import { describePlot, printAxisTime } from './print-plot.ts';

export interface PlotSeries {
  name: string;
  label: string;
  color: string;
}

interface PlotProps {
  title: string;
  /** `stacked`: the values are added up. */
  kind: 'stacked' | 'lines';
  points: readonly Point[];
  series: readonly PlotSeries[];
  /** Prints a value with its unit. */
  print: (value: number) => string;
  /** The text that replaces an empty plot. */
  empty: string;
}

const HEIGHT = 180;
/** If there are more series than this, only those that are not zero are listed beside the pointer. */
const FEW = 3;

export function Plot({ title, kind, points, series, print, empty }: PlotProps) {
  const headingId = useId();
  const isEmpty = points.every((point) => series.every(({ name }) => (point[name] ?? 0) === 0));
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby={headingId}>
      <Title order={2} size="h5" id={headingId} mb="xs">
        {title}
      </Title>
      {isEmpty ? (
        <Text c="dimmed" size="sm" h={HEIGHT} ta="center" pt={70}>
          {empty}
        </Text>
      ) : (
        <Box role="img" aria-label={describePlot(title, points, series, print)}>
          <Chart kind={kind} points={points} series={series} print={print} />
        </Box>
      )}
      {!isEmpty && <Legend series={series} />}
      {!isEmpty && <Values title={title} points={points} series={series} print={print} />}
    </Paper>
  );
}

function Chart({ kind, points, series, print }: Pick<PlotProps, 'kind' | 'points' | 'series' | 'print'>) {
  const spanMs = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  const common = {
    h: HEIGHT,
    data: [...points],
    dataKey: 'at',
    series: [...series],
    withDots: false,
    strokeWidth: 1.5,
    // Off: the table of values can be reached by Tab, and the plot itself is an image.
    accessibilityLayer: false,
    xAxisProps: { tickFormatter: (at: number) => printAxisTime(at, spanMs), minTickGap: 36 },
    // A normal space would break the line.
    yAxisProps: {
      tickFormatter: (value: number) => print(value).replace(' ', '\u00a0'),
      width: 56,
      allowDecimals: false,
    },
    tooltipProps: {
      content: ({ label, payload }: TooltipContent) => (
        <ChartTooltip
          label={printMoment(Number(label))}
          payload={payload.filter(({ value }) => value !== null && (series.length <= FEW || value !== 0))}
          series={[...series]}
          valueFormatter={print}
        />
      ),
    },
  };
  return kind === 'stacked' ? (
    <AreaChart {...common} type="stacked" curveType="step" fillOpacity={0.5} />
  ) : (
    // A round cap shows a point without neighbours, which is a line of no length.
    <LineChart {...common} curveType="linear" connectNulls={false} lineProps={{ strokeLinecap: 'round' }} />
  );
}

/** The used props of the tooltip's content. */
interface TooltipContent {
  label?: unknown;
  payload: readonly { value?: unknown }[];
}

function Legend({ series }: Pick<PlotProps, 'series'>) {
  return (
    <Group gap="4px 14px" my={6} aria-hidden="true">
      {series.map(({ name, label, color }) => (
        <Group key={name} gap={5} wrap="nowrap">
          <span
            style={{
              width: 9,
              height: 9,
              borderRadius: 2,
              background: `var(--mantine-color-${color.replace('.', '-')})`,
            }}
          />
          <Text size="xs" c="dimmed">
            {label}
          </Text>
        </Group>
      ))}
    </Group>
  );
}

/** Rendered when it is opened, because a day has 1,440 rows. */
function Values({ title, points, series, print }: Pick<PlotProps, 'title' | 'points' | 'series' | 'print'>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <Text component="summary" size="xs" c="dimmed" style={{ cursor: 'pointer' }}>
        Values as a table
      </Text>
      {isOpen && (
        <Box
          mah={260}
          tabIndex={0}
          role="region"
          aria-label={`Values of ${title}`}
          style={{ overflow: 'auto' }}
        >
          <Table fz="xs" aria-label={title} stickyHeader>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                {series.map(({ name, label }) => (
                  <Table.Th key={name}>{label}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {points.toReversed().map((point) => (
                <tr key={point.at}>
                  <td>{printMoment(point.at)}</td>
                  {series.map(({ name }) => (
                    <td key={name}>{printOrDash(point[name] ?? null, print)}</td>
                  ))}
                </tr>
              ))}
            </Table.Tbody>
          </Table>
        </Box>
      )}
    </details>
  );
}

function printOrDash(value: number | null, print: (value: number) => string): string {
  return value === null ? '–' : print(value);
}
