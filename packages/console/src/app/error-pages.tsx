import type { Role } from '@erp-proxy/contract';
import { Anchor, Button, Stack, Text, Title } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { readHolder } from '../api/session.ts';

/** Shown instead of a page that could not be loaded or rendered. */
export function FailedPage({ error, reset }: ErrorComponentProps) {
  return (
    <Stack gap="xs" align="flex-start">
      <Title order={1} size="h2">
        This page failed
      </Title>
      <Text className="data">{String(error)}</Text>
      <Text c="dimmed">After an update of the proxy, load the page again.</Text>
      <Button onClick={() => location.reload()}>Load again</Button>
      <Button variant="subtle" onClick={reset}>
        Try again without loading
      </Button>
    </Stack>
  );
}

/** Shown to a person whose role is too low for the page to which a link has led. */
export function RolePage({ needs }: { needs: Role }) {
  return (
    <Stack gap="xs">
      <Title order={1} size="h2">
        Not with your role
      </Title>
      <Text>
        This page needs the role {needs}; you have the role {readHolder()?.role}. Ask an administrator of the
        proxy.
      </Text>
    </Stack>
  );
}

/** Shown to a person who is limited to some of the instances, for a page about the whole proxy. */
export function LimitedPage() {
  return (
    <Stack gap="xs">
      <Title order={1} size="h2">
        Not with your instances
      </Title>
      <Text>
        This page is about the whole proxy; you are limited to the instances{' '}
        {readHolder()?.instances?.join(', ')}. Ask an administrator of the proxy.
      </Text>
    </Stack>
  );
}

export function MissingPage() {
  return (
    <Stack gap="xs">
      <Title order={1} size="h2">
        There is no such page
      </Title>
      <Text>
        Go to the{' '}
        <Anchor underline="always" renderRoot={(props) => <Link to="/" {...props} />}>
          overview
        </Anchor>
        .
      </Text>
    </Stack>
  );
}
