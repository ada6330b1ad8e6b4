import type { SubscriptionView } from '@erp-proxy/contract';
import { Anchor, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readAllAdmin } from '../../api/queries.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';

const SHOWN_MAX = 20;

/** Lists the subscriptions that read from an instance. */
export function InstanceUsers({ name }: { name: string }) {
  const { data, error } = useQuery(readAllAdmin<SubscriptionView>('/subscriptions', { search: name }));
  if (error !== null) return <ProblemAlert error={error} />;
  if (data === undefined) return <Searching />;
  // Needed because the search also finds the name in other members.
  const users = data.items.filter(({ instance }) => instance === name);
  if (users.length === 0) return data.isWhole ? null : <Cut />;
  return (
    <>
      <Text size="sm" mt="sm">
        {users.length === 1 ? 'One subscription reads' : `${users.length} subscriptions read`} changes from
        this instance:
      </Text>
      <List size="sm">
        {users.slice(0, SHOWN_MAX).map((user) => (
          <List.Item key={user.name}>
            <Anchor
              className="data"
              renderRoot={(props) => (
                <Link to="/subscriptions/$name" params={{ name: user.name }} {...props} />
              )}
            >
              {user.name}
            </Anchor>
          </List.Item>
        ))}
      </List>
      {users.length > SHOWN_MAX && (
        <Text size="sm" c="dimmed">
          and {users.length - SHOWN_MAX} more
        </Text>
      )}
      {!data.isWhole && <Cut />}
    </>
  );
}

function Searching() {
  return (
    <Text size="sm" c="dimmed" mt="sm">
      Looking for subscriptions that read from it…
    </Text>
  );
}

function Cut() {
  return (
    <Text size="sm" c="dimmed" mt="sm">
      Not all subscriptions were looked at: there may be more that read from it.
    </Text>
  );
}
