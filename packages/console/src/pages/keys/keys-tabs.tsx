import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { mayAll } from '../../api/session.ts';

/** Tabs that switch between keys and denied subjects. */
export function KeysTabs({ value }: { value: 'keys' | 'subjects' }) {
  const navigate = useNavigate();
  return (
    <Tabs
      value={value}
      mb="md"
      onChange={(tab) => void navigate({ to: tab === 'keys' ? '/keys' : '/keys/denied-subjects' })}
    >
      <Tabs.List aria-label="Credentials">
        <Tabs.Tab value="keys">Client keys</Tabs.Tab>
        {mayAll() && <Tabs.Tab value="subjects">Denied subjects</Tabs.Tab>}
      </Tabs.List>
    </Tabs>
  );
}
