import type { Page, SubscriptionView } from '@erp-proxy/contract';
import { Anchor, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readAdmin } from '../../api/queries.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';

const READ_MAX = 500;
const SHOWN_MAX = 20;

/** The subscriptions that read from an instance. */
export function InstanceUsers({ name }: { name: string }) {
  const { data, error } = useQuery(
    readAdmin<Page<SubscriptionView>>('/subscriptions', { search: name, limit: READ_MAX }),
  );
  if (error !== null) return <ProblemAlert error={error} />;
  // The search finds the name in other members, too.
  const users = data?.items.filter(({ instance }) => instance === name) ?? [];
  if (users.length === 0) return null;
  return (
    <>
      <Text size="sm" mt="sm">
        {users.length === 1 ? 'One subscription uses' : `${users.length} subscriptions use`} it, and can read
        no more changes then:
      </Text>
      <List size="sm">
        {users.slice(0, SHOWN_MAX).map((user) => (
          <List.Item key={user.name}>
            <Anchor
              renderRoot={(props) => (
                <Link to="/subscriptions/$name" params={{ name: user.name }} {...props} />
              )}
            >
              {user.name}
            </Anchor>
          </List.Item>
        ))}
      </List>
      {(users.length > SHOWN_MAX || data?.next !== null) && (
        <Text size="sm" c="dimmed">
          There are more.
        </Text>
      )}
    </>
  );
}
