import { Anchor, Button, Stack, Text, Title } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';

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
