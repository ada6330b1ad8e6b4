/** Shows what needs attention, and what the proxy does: figures, plots, Odoo databases and the most frequent calls. */
import { Anchor, Button, Paper, Select, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { AsCode } from '../../parts/as-code.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { printMoment } from '../../parts/print-moment.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { Attention } from './attention.tsx';
import { Numbers } from './numbers.tsx';
import classes from './overview-page.module.css';
import { RANGE_NAMES, RANGES } from './ranges.ts';
import { describeRequest, readAllTime, readRange } from './read-statistics.ts';
import { overviewRoute } from './route.ts';
import { Servers } from './servers.tsx';
import { TopTable } from './top-table.tsx';

const Plots = lazy(async () => ({ default: (await import('./plots.tsx')).Plots }));

export function OverviewPage() {
  const { range = '1h', paused: isPaused = false } = overviewRoute.useSearch();
  const navigate = useNavigate({ from: overviewRoute.fullPath });
  const { data, error, dataUpdatedAt } = useQuery(readRange(range, isPaused));
  const isQuiet = data?.total.calls === 0;
  const { data: allTime } = useQuery({ ...readAllTime(), enabled: isQuiet });
  const isFresh = isQuiet && allTime?.total.calls === 0;
  const { durationMs, step } = RANGES[range];

  return (
    <>
      <PageHeader title="Overview" purpose="Calls, servers, and what needs attention.">
        {dataUpdatedAt > 0 && (
          <Text size="xs" c="dimmed">
            {isPaused ? 'Paused at' : 'Updated'} {printMoment(dataUpdatedAt).slice(11)}
          </Text>
        )}
        <AsCode
          request={describeRequest(durationMs, { step })}
          command={`top --once --last ${range === '24h-minutes' ? '24h' : range}`}
        />
        <Select
          aria-label="Time"
          size="xs"
          w={170}
          allowDeselect={false}
          data={RANGE_NAMES.map((name) => ({ value: name, label: RANGES[name].label }))}
          value={range}
          onChange={(value) =>
            void navigate({
              search: (old) => ({ ...old, range: RANGE_NAMES.find((name) => name === value) }),
              replace: true,
            })
          }
        />
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name={isPaused ? 'play' : 'pause'} size={14} />}
          onClick={() =>
            void navigate({
              search: (old) => ({ ...old, paused: isPaused ? undefined : true }),
              replace: true,
            })
          }
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      </PageHeader>
      <Stack gap="md">
        <Attention isPaused={isPaused} />
        <ProblemAlert error={error} />
        {isFresh && <FreshProxy />}
        <Numbers isPaused={isPaused} />
        {!isFresh && (
          <Suspense fallback={<Skeleton h={240} />}>
            {data === undefined ? error === null && <Skeleton h={240} /> : <Plots view={data} />}
          </Suspense>
        )}
        <Servers isPaused={isPaused} />
        {!isFresh && (
          <div className={classes['tops']}>
            <TopTable title="Instances" by="instance" range={range} isPaused={isPaused} />
            <TopTable title="Keys" by="key" range={range} isPaused={isPaused} />
            <TopTable title="Models" by="model" range={range} isPaused={isPaused} />
            <TopTable title="Actions" by="action" range={range} isPaused={isPaused} />
          </div>
        )}
      </Stack>
    </>
  );
}

function FreshProxy() {
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="fresh">
      <Stack gap="xs" align="flex-start">
        <Title order={2} size="h4" id="fresh">
          No call has been made yet
        </Title>
        <Text size="sm">
          Add an Odoo server, make a key, and make the first call. It takes about two minutes.
        </Text>
        <Button renderRoot={(props) => <Link to={'/start'} {...props} />}>Get started</Button>
        <Text size="xs" c="dimmed">
          Already set up? See the{' '}
          <Anchor underline="always" renderRoot={(props) => <Link to="/keys" {...props} />}>
            keys
          </Anchor>
          .
        </Text>
      </Stack>
    </Paper>
  );
}
