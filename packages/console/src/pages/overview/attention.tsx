/** Lists what needs an administrator, each item with a link to the page where it can be fixed. */
import type { AttentionItem, AttentionView } from '@erp-proxy/contract';
import { Badge, Button, Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { Icon } from '../../parts/icon.tsx';
import { PageAnchor } from '../../parts/page-anchor.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { revealInvisible } from '../../parts/show-json.ts';
import { Time } from '../../parts/time.tsx';
import { findAttentionLink, printTarget } from './attention-link.ts';

const REFRESH_MS = 15_000;
/** Maximum items that are shown, the worst first. */
const ITEMS_SHOWN = 6;
const COLORS = { critical: 'red', warning: 'orange', info: 'blue' } as const;

export function Attention({ isPaused }: { isPaused: boolean }) {
  const { data, error } = useQuery({
    ...readAdmin<AttentionView>('/attention'),
    refetchInterval: isPaused ? false : REFRESH_MS,
  });
  const [isAll, setAll] = useState(false);
  const items = data?.items ?? [];
  const shown = isAll ? items : items.slice(0, ITEMS_SHOWN);
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="attention">
      <Title order={2} size="h5" id="attention" mb={6}>
        Needs attention
      </Title>
      <ProblemAlert error={error} />
      {data === undefined && error === null && <Skeleton h={24} />}
      {data?.items.length === 0 && (
        <Group gap={6} c="teal">
          <Icon name="check" size={16} />
          <Text size="sm" c="dimmed">
            {data.incomplete.length === 0 ? 'Nothing at present.' : 'Nothing in what was looked at.'}
          </Text>
        </Group>
      )}
      <Stack gap={6} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {shown.map((item) => (
          <Item key={`${item.kind} ${item.target}`} item={item} />
        ))}
      </Stack>
      {shown.length < items.length && (
        <Button variant="subtle" size="compact-xs" mt={6} onClick={() => setAll(true)}>
          Show all {items.length}
        </Button>
      )}
      {data !== undefined && data.incomplete.length > 0 && (
        <Text size="xs" c="dimmed" mt={6}>
          Looked at in part only: {data.incomplete.join(', ').replaceAll('_', ' ')}. Something may be missing
          here.
        </Text>
      )}
      {isAll && data !== undefined && data.more > 0 && (
        <Text size="xs" c="dimmed" mt={6}>
          and {data.more} more
        </Text>
      )}
    </Paper>
  );
}

function Item({ item }: { item: AttentionItem }) {
  return (
    <Group component="li" gap="2px 8px" align="flex-start">
      <Badge variant="light" color={COLORS[item.severity]} tt="none" miw={78} style={{ flexShrink: 0 }}>
        {item.severity}
      </Badge>
      <Text size="sm" flex="1 1 260px" style={{ overflowWrap: 'anywhere' }}>
        <PageAnchor className="data" link={findAttentionLink(item)}>
          {printTarget(item)}
        </PageAnchor>{' '}
        {revealInvisible(item.text)}{' '}
        {item.since !== null && (
          <Text span c="dimmed" size="xs">
            <Time at={item.since} />
          </Text>
        )}
      </Text>
    </Group>
  );
}
