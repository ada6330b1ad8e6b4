/** Shows the facts of an instance, whether calls to it work, and its use. */
import type { InstanceView } from '@erp-proxy/contract';
import { Alert, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import type { AdminRequest } from '../../api/send.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { ExaminationSteps } from '../../parts/examination-steps.tsx';
import { Facts } from '../../parts/facts.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { quoteIfNeeded } from '../../parts/print-options.ts';
import { Section } from '../../parts/section.tsx';
import { revealInvisible } from '../../parts/show-json.ts';
import { Time } from '../../parts/time.tsx';
import { Usage } from '../../parts/usage.tsx';
import { useExamination } from '../../parts/use-examination.ts';
import { InstanceUsers } from './instance-users.tsx';
import { OdooKeyState } from './odoo-key-state.tsx';

export function InstanceOverview({ current, path }: { current: InstanceView; path: string }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <Stack gap="md">
        <StoredCheck name={current.name} path={path} />
        <Section title="Last 24 hours" purpose="Calls on this instance.">
          <Usage of={{ instance: current.name }} />
        </Section>
      </Stack>
      <Stack gap="md">
        {current.key.failure !== null && (
          <Alert color="red" title="The Odoo key could not be replaced">
            {revealInvisible(current.key.failure)}
          </Alert>
        )}
        <Section title="Facts">
          <Facts facts={listFacts(current)} />
          <InstanceUsers name={current.name} />
        </Section>
      </Stack>
    </SimpleGrid>
  );
}

function StoredCheck({ name, path }: { name: string; path: string }) {
  const examination = useExamination();
  const request: AdminRequest = { method: 'POST', path: `${path}/check` };
  const isFresh = !examination.isRunning && examination.examination === null && examination.error === null;
  return (
    <Section
      title="Do calls work?"
      purpose="Checks the connection, the database, the user and the key. It changes nothing."
      actions={
        <>
          <AsCode request={request} command={`doctor --instance ${quoteIfNeeded(name)}`} />
          <ForRole needs="operator">
            {examination.isRunning ? (
              <Button size="xs" variant="default" onClick={examination.reset}>
                Cancel
              </Button>
            ) : (
              <Button size="xs" variant="default" onClick={() => void examination.run(request)}>
                {isFresh ? 'Check now' : 'Check again'}
              </Button>
            )}
          </ForRole>
        </>
      }
    >
      {isFresh && (
        <Text size="sm" c="dimmed">
          Not checked yet.
        </Text>
      )}
      <ExaminationSteps run={examination} onDismiss={examination.reset} />
    </Section>
  );
}

function listFacts(instance: InstanceView) {
  const { url, db, user_id, protocol, timeout_ms, concurrency, certificates, allow_private, key, tags } =
    instance;
  const data = (name: string, text: string) => (
    <span key={name} className="data">
      {text}
    </span>
  );
  return [
    ['Address', data('url', url)],
    ['Database', data('db', db)],
    ['Calls run as', user_id === null ? 'the user of the person who calls' : `user ${user_id} of Odoo`],
    user_id === null
      ? (['Keys of persons', key.rotate ? 'replaced by the proxy' : 'not replaced'] as const)
      : (['Odoo key', <OdooKeyState key="key" odooKey={key} />] as const),
    ['Protocol', protocol === 'auto' ? 'automatic' : protocol],
    ['Time limit', timeout_ms === null ? 'as in the settings' : `${timeout_ms.toLocaleString('en')} ms`],
    ['Calls at once', concurrency === null ? 'no separate limit' : String(concurrency)],
    ['Certificates', certificates === null ? 'the public ones' : 'own ones'],
    ['Tags', tags.length === 0 ? 'none' : tags.join(', ')],
    ['Private address', allow_private ? 'allowed' : 'not allowed'],
    ['Created', <Time key="created" at={instance.created_at} />],
    ['Changed', <Time key="changed" at={instance.updated_at} />],
    ['Version', String(instance.version)],
  ] as const;
}
