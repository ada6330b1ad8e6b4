/** Shows whether a subscription works, and its facts. */
import type { SubscriptionView } from '@erp-proxy/contract';
import { Alert, Anchor, Code, List, SimpleGrid, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Facts } from '../../parts/facts.tsx';
import { NamedKeyLink } from '../../parts/key-link.tsx';
import { MadeBy } from '../../parts/made-by.tsx';
import { printJson } from '../../parts/print-json.ts';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { EVENT_LABELS } from './event-labels.ts';

export function SubscriptionOverview({ current }: { current: SubscriptionView }) {
  const { state, reason, problem, receiver } = current;
  return (
    <Stack gap="md">
      {state !== 'active' && (
        <Alert color={state === 'disabled' ? 'red' : 'orange'} title={`It is ${state}`}>
          {reason} Resume it to continue where it stopped.
        </Alert>
      )}
      {problem !== null && (
        <Alert color="red" title="Changes cannot be read">
          <span className="data">{problem}</span>
        </Alert>
      )}
      {receiver.failures > 0 && (
        <Alert color="orange" title="The receiver fails">
          {receiver.failures} attempts in a row were not taken, since <Time at={receiver.failing_since} />.{' '}
          {receiver.last_failure !== null && <span className="data">{receiver.last_failure}</span>}{' '}
          {receiver.retry_at !== null && (
            <>
              The next attempt is <Time at={receiver.retry_at} />.
            </>
          )}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Section title="Reading">
          <Facts facts={listReading(current)} />
        </Section>
        <Section title="Sending">
          <Facts facts={listSending(current)} />
        </Section>
      </SimpleGrid>
    </Stack>
  );
}

function listReading(current: SubscriptionView): (readonly [string, ReactNode])[] {
  if (current.events !== undefined) {
    return [
      ['Last read', <Time key="read" at={current.read_at} />],
      ['Events', current.events.map((event) => EVENT_LABELS[event]).join('; ')],
      ['Interval', `${current.interval_seconds.toLocaleString('en')} seconds`],
      ['Started with', current.start === 'all' ? 'keys that end soon already' : 'what happens from then on'],
    ];
  }
  const { instance, model, domain, fields, interval_seconds, start, gone, key, read_at } = current;
  return [
    ['Last read', <Time key="read" at={read_at} />],
    [
      'Instance',
      <Anchor
        key="instance"
        renderRoot={(props) => <Link to="/instances/$name" params={{ name: instance }} {...props} />}
      >
        {instance}
      </Anchor>,
    ],
    [
      'Model',
      <span key="model" className="data">
        {model}
      </span>,
    ],
    [
      'Records',
      domain.length === 0 ? (
        'all'
      ) : (
        <Code key="domain" block>
          {printJson(domain)}
        </Code>
      ),
    ],
    [
      'Fields',
      <span key="fields" className="data">
        {fields.join(', ')}
      </span>,
    ],
    ['Interval', `${interval_seconds.toLocaleString('en')} seconds`],
    ['Started with', start === 'all' ? 'all records that match' : 'changes from then on'],
    ['Records that vanish', gone ? 'are sent' : 'are not sent'],
    ['Client key', key === null ? 'none: no policy restricts it' : <NamedKeyLink key="key" id={key} />],
  ];
}

function listSending({
  url,
  payload,
  receiver,
  secrets,
  created_at,
  created_by,
  updated_at,
  version,
}: SubscriptionView) {
  return [
    [
      'Receiver',
      <span key="url" className="data">
        {url}
      </span>,
    ],
    ['Payload', payload === 'thin' ? 'without the values' : 'with the values'],
    ['Last taken', <Time key="taken" at={receiver.delivered_at} />],
    ['Failures in a row', String(receiver.failures)],
    [
      'Last failure',
      receiver.last_failure === null ? (
        'none'
      ) : (
        <span key="failure" className="data">
          {receiver.last_failure}
        </span>
      ),
    ],
    [
      'Secrets that sign',
      <List key="secrets" size="sm">
        {secrets.map((secret) => (
          <List.Item key={secret.created_at}>
            made <Time at={secret.created_at} />
            {secret.expires_at !== null && (
              <>
                , ends <Time at={secret.expires_at} />
              </>
            )}
          </List.Item>
        ))}
      </List>,
    ],
    ['Created', <MadeBy key="created" at={created_at} by={created_by} />],
    ['Changed', <Time key="changed" at={updated_at} />],
    ['Version', String(version)],
  ] as const;
}
