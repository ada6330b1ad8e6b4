import { Tabs } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { mayAll } from '../../api/session.ts';

const PATHS = {
  connections: '/people',
  'sign-ins': '/people/sign-ins',
  applications: '/people/applications',
} as const;

/** Tabs that switch between the pages about persons. */
export function PeopleTabs({ value }: { value: keyof typeof PATHS }) {
  const navigate = useNavigate();
  return (
    <Tabs value={value} mb="md" onChange={(tab) => void navigate({ to: PATHS[tab as keyof typeof PATHS] })}>
      <Tabs.List aria-label="People">
        <Tabs.Tab value="connections">Connections to Odoo</Tabs.Tab>
        {mayAll() && <Tabs.Tab value="sign-ins">Roles and sessions</Tabs.Tab>}
        {mayAll() && <Tabs.Tab value="applications">Applications</Tabs.Tab>}
      </Tabs.List>
    </Tabs>
  );
}
