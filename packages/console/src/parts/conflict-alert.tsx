import { Alert, Button, Code, Group, Stack, Table, Text } from '@mantine/core';
import { ProblemError } from '../api/send.ts';
import type { MemberDifference } from './compare-members.ts';
import { Icon } from './icon.tsx';
import { printJson } from './print-json.ts';

interface ConflictAlertProps {
  /** The changes of somebody else that this person's changes would overwrite. */
  differences: readonly MemberDifference[];
  /** Discards this person's changes. */
  onTakeTheirs: () => void;
  /** Saves this person's changes on top of the newest version. */
  onKeepMine: () => void;
  isPending: boolean;
}

/** Says that somebody else has changed the object since the form was opened, and that nothing was saved. */
export function ConflictAlert({ differences, onTakeTheirs, onKeepMine, isPending }: ConflictAlertProps) {
  return (
    <Alert
      color="orange"
      role="alert"
      icon={<Icon name="warning" />}
      title="Somebody else has changed it meanwhile"
    >
      <Stack gap="sm">
        <Text size="sm">
          Nothing was saved, and your changes are still in the form.
          {differences.length === 0 && ' Their change does not touch what you have changed.'}
        </Text>
        {differences.length > 0 && (
          <Table.ScrollContainer minWidth={360}>
            <Table fz="xs" aria-label="Differences">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Member</Table.Th>
                  <Table.Th>Theirs</Table.Th>
                  <Table.Th>Yours</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {differences.map(({ member, theirs, mine }) => (
                  <Table.Tr key={member} style={{ verticalAlign: 'top' }}>
                    <Table.Td className="data">{member}</Table.Td>
                    <Table.Td>
                      <Code block>{printValue(theirs)}</Code>
                    </Table.Td>
                    <Table.Td>
                      <Code block>{printValue(mine)}</Code>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
        <Group gap="xs">
          <Button size="xs" loading={isPending} onClick={onKeepMine}>
            Save mine over theirs
          </Button>
          <Button size="xs" variant="default" onClick={onTakeTheirs}>
            Discard mine
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function printValue(value: unknown): string {
  return typeof value === 'string' ? value : printJson(value);
}

/** True if a change was refused because somebody else has changed the object. */
export function isConflict(error: Error | null): boolean {
  return error instanceof ProblemError && error.problem.status === 412;
}
