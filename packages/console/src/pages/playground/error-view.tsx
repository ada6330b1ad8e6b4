/** Shows an error of a call: what it means, and what to do. */

import type { ErrorBody } from '@erp-proxy/contract';
import { cutText } from '@erp-proxy/contract';
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { describeError } from './describe-answer.ts';

interface ErrorViewProps {
  error: ErrorBody;
  /** Replaces the unknown name by a name that exists. Without it, such names are only shown. */
  onUseName?: (name: string) => void;
}

export function ErrorView({ error, onUseName }: ErrorViewProps) {
  const { title, meaning, remedy, retry, outcome } = describeError(error);
  const { type, path, rule, nearest = [] } = error.data;
  const facts = [
    { label: 'Meaning', value: meaning },
    { label: 'What to do', value: remedy },
    { label: 'Outcome', value: outcome },
    { label: 'Again', value: retry },
    { label: 'Member', value: path },
    { label: 'Rule', value: rule },
  ].filter(({ value }) => typeof value === 'string');
  return (
    <Alert color="red" role="alert" icon={<Icon name="warning" />} title={title}>
      <Stack gap="sm">
        <Text
          size="sm"
          mah={240}
          style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {cutText(error.message, MESSAGE_LENGTH_MAX)}
        </Text>
        {nearest.length > 0 && (
          <Group gap="xs">
            <Text size="sm">Use instead:</Text>
            {nearest.map((name) => (
              <Button
                key={name}
                size="compact-xs"
                variant="light"
                disabled={onUseName === undefined}
                onClick={() => onUseName?.(name)}
              >
                {name}
              </Button>
            ))}
          </Group>
        )}
        <dl style={{ margin: 0, display: 'grid', gridTemplateColumns: 'max-content 1fr', gap: '4px 12px' }}>
          <Fact label="Type">
            <span className="data">
              {type} ({error.code})
            </span>
          </Fact>
          {facts.map(({ label, value }) => (
            <Fact key={label} label={label}>
              {label === 'Member' || label === 'Rule' ? <span className="data">{value}</span> : value}
            </Fact>
          ))}
        </dl>
      </Stack>
    </Alert>
  );
}

const MESSAGE_LENGTH_MAX = 10_000;

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <Text component="dt" size="sm" c="dimmed">
        {label}
      </Text>
      <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </>
  );
}
