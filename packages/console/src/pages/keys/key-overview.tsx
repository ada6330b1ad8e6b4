/** Shows the facts of a key and its use, with inputs for its name and its end. */
import type { KeyView } from '@erp-proxy/contract';
import { Button, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { readAllAdmin } from '../../api/queries.ts';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { pickChanges } from '../../parts/compare-members.ts';
import { Facts } from '../../parts/facts.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { KeyLink, NamedKeyLink } from '../../parts/key-link.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { MadeBy } from '../../parts/made-by.tsx';
import { printKeyCommand } from '../../parts/print-key-command.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SaveProblem } from '../../parts/save-problem.tsx';
import { Section } from '../../parts/section.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { Usage } from '../../parts/usage.tsx';
import { useEdited } from '../../parts/use-edited.ts';
import { describePolicy } from './describe-policy.ts';
import { toKeyDraft } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';

interface KeyOverviewProps {
  current: KeyView;
  path: string;
}

export function KeyOverview({ current, path }: KeyOverviewProps) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <Stack gap="md">
        <Section title="Last 24 hours" purpose="Calls with any key of this client.">
          <Usage of={{ key: current.client_id }} />
        </Section>
        {current.state !== 'revoked' && <Settings current={current} path={path} />}
      </Stack>
      <Stack gap="md">
        <Section title="Facts">
          <Facts facts={listFacts(current)} />
        </Section>
        <Rotations current={current} />
      </Stack>
    </SimpleGrid>
  );
}

function listFacts(key: KeyView) {
  return [
    ['State', <StateBadge key="state" state={key.state} />],
    ['Policy', describePolicy(key.policy)],
    ['Last used', <Time key="used" at={key.last_used_at} />],
    ['Ends', <Time key="ends" at={key.expires_at} />],
    ['Created', <MadeBy key="created" at={key.created_at} by={key.created_by} />],
    ...(key.revoked_at === null ? [] : [['Revoked', <Time key="revoked" at={key.revoked_at} />] as const]),
    [
      'Id',
      <span key="id" className="data">
        {key.id}
      </span>,
    ],
    [
      'Client',
      <span key="client" className="data">
        {key.client_id}
      </span>,
    ],
    ...(key.replaces === null
      ? []
      : [['Replaces', <NamedKeyLink key="replaces" id={key.replaces} />] as const]),
    ['Version', String(key.version)],
  ] as const;
}

function Settings({ current, path }: KeyOverviewProps) {
  const edited = useEdited(current, toKeyDraft);
  const { draft, before, change, isDirty, tag } = edited;
  const save = useAdminMutation<KeyView>(['/keys'], (saved) => edited.reset(saved));
  const body = pickChanges(before, draft);
  const request = (ifMatch: string): AdminRequest => ({ method: 'PATCH', path, body, ifMatch });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.run(request(tag));
  };
  return (
    <Section
      title="Name and end"
      actions={
        <AsCode
          request={request(tag)}
          command={printKeyCommand(`keys update ${current.id}`, body, Date.now())}
        />
      }
    >
      <LeaveGuard isDirty={isDirty} />
      <form onSubmit={submit}>
        <Stack gap="sm">
          <KeyFields draft={draft} onChange={change} error={save.error} isNew={false} />
          <SaveProblem save={save} edited={edited} request={request} />
          <ForRole needs="operator" purpose="Changing this">
            <Group gap="xs">
              <Button type="submit" disabled={!isDirty} loading={save.isPending}>
                Save
              </Button>
              {isDirty && (
                <Button variant="subtle" onClick={() => edited.reset()}>
                  Discard changes
                </Button>
              )}
            </Group>
          </ForRole>
        </Stack>
      </form>
    </Section>
  );
}

/** Shows the keys of the same client. Finds them by name, which a rotation keeps. */
function Rotations({ current }: { current: KeyView }) {
  const { data, error } = useQuery(readAllAdmin<KeyView>('/keys', { name: current.name }));
  const keys = data?.items.filter(({ client_id }) => client_id === current.client_id) ?? [];
  return (
    <Section title="Rotations" purpose="The keys of this client with the same name, oldest first.">
      <ProblemAlert error={error} />
      {data?.isWhole === false && (
        <Text size="sm" c="dimmed">
          Only the first {data.items.length.toLocaleString('en')} keys with this name were looked at.
        </Text>
      )}
      {keys.length <= 1 ? (
        <Text size="sm" c="dimmed">
          The key was not rotated.
        </Text>
      ) : (
        <ListTable
          label="Keys of this client"
          columns={['Key', 'State', 'Created', 'Ends']}
          isLoading={false}
          isEmpty={false}
          empty=""
        >
          {keys.map((key) => (
            <Table.Tr key={key.id}>
              <Table.Td>
                {key.id === current.id ? (
                  <span className="data">{key.id} (this one)</span>
                ) : (
                  <KeyLink id={key.id} />
                )}
              </Table.Td>
              <Table.Td>
                <StateBadge state={key.state} />
              </Table.Td>
              <Table.Td>
                <Time at={key.created_at} />
              </Table.Td>
              <Table.Td>
                <Time at={key.expires_at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </ListTable>
      )}
    </Section>
  );
}
