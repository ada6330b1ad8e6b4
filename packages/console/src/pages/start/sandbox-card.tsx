/** Offers a simulated Odoo: by one click if the proxy can start it, otherwise by a command. */
import type { InstanceView, SandboxView } from '@erp-proxy/contract';
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { readAdmin } from '../../api/queries.ts';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ProblemAlert } from '../../parts/problem-alert.tsx';

interface SandboxCardProps {
  /** True if the form already has the values of the sandbox. */
  isFilledIn: boolean;
  onFillIn: () => void;
  /** Called when the sandbox runs and is stored under this name. */
  onStarted: (name: string) => void;
}

const START: AdminRequest = { method: 'POST', path: '/sandbox' };

export function SandboxCard({ isFilledIn, onFillIn, onStarted }: SandboxCardProps) {
  const { data } = useQuery(readAdmin<SandboxView>('/sandbox'));
  const start = useAdminMutation<InstanceView>(['/instances', '/sandbox'], ({ name }) => onStarted(name));
  return (
    <Paper withBorder p="md" component="section" aria-label="Sandbox">
      <Stack gap="sm" align="stretch">
        <Text fw={600}>Or try the sandbox</Text>
        {data?.available === true ? (
          <>
            <Text size="sm">
              A simulated Odoo with the data of a small company. The proxy starts it on this machine, and
              stores it as an instance. It ends with the proxy, and its data with it.
            </Text>
            <ProblemAlert error={start.error} onDismiss={start.reset} />
            <Group>
              <Button variant="default" loading={start.isPending} onClick={() => start.run(START)}>
                Start the sandbox
              </Button>
              <AsCode request={START} command={null} />
            </Group>
          </>
        ) : (
          <>
            <Text size="sm">
              A simulated Odoo with the data of a small company. Run this on the machine of the proxy:
            </Text>
            <CodeBlock label="command" code="npx erp-proxy sandbox" />
            <Group>
              <Button variant="default" onClick={onFillIn}>
                Fill in its values
              </Button>
            </Group>
            {isFilledIn && (
              <Alert color="teal" p="xs">
                The values are filled in. Test the connection when the sandbox runs.
              </Alert>
            )}
          </>
        )}
      </Stack>
    </Paper>
  );
}
