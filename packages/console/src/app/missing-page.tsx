import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';

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
