/** Inputs for the members of an instance. */
import {
  Alert,
  Button,
  Code,
  Collapse,
  NumberInput,
  PasswordInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { ProblemError } from '../../api/send.ts';
import { mayAll } from '../../api/session.ts';
import { findFault } from '../../parts/find-fault.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { TimeInput } from '../../parts/time-input.tsx';
import type { InstanceDraft } from './instance-draft.ts';

interface InstanceFieldsProps {
  draft: InstanceDraft;
  onChange: (members: Partial<InstanceDraft>) => void;
  error: Error | null;
  /** False: the instance exists. Its name cannot be changed, and its key stays if none is typed. */
  isNew: boolean;
  /** The changes for which the key must be typed again; empty if there are none. */
  riskyChanges: readonly string[];
}

const PROTOCOLS = [
  { value: 'auto', label: 'Automatic' },
  { value: 'jsonrpc', label: 'JSON-RPC' },
  { value: 'json2', label: 'JSON-2 (Odoo 19 and later)' },
] as const;

const IDENTITIES = [
  { value: 'shared', label: 'One user for all callers' },
  { value: 'person', label: 'Each person as their own user' },
] satisfies { value: InstanceDraft['identity']; label: string }[];

const MORE = ['protocol', 'timeout_ms', 'concurrency', 'certificates', 'rotate_key', 'key_expires_at'];

export function InstanceFields({ draft, onChange, error, isNew, riskyChanges }: InstanceFieldsProps) {
  const [isMoreOpen, { toggle }] = useDisclosure(false);
  const hasFault = MORE.some((member) => findFault(error, member) !== undefined);
  const needsKey = isNew || riskyChanges.length > 0;
  const isShared = draft.identity === 'shared';
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Name"
          description={isNew ? 'Calls and policies use it. It cannot be changed.' : 'It cannot be changed.'}
          placeholder="prod"
          value={draft.name}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
          error={findFault(error, 'name')}
          disabled={!isNew}
          required={isNew}
          spellCheck={false}
        />
        <TextInput
          label="Address"
          description="Of the Odoo server"
          placeholder="https://erp.example.com"
          value={draft.url}
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
          error={findFault(error, 'url')}
          required
          spellCheck={false}
        />
        <TextInput
          label="Database"
          description="Its name, as in Odoo"
          placeholder="prod"
          value={draft.db}
          onChange={({ currentTarget }) => onChange({ db: currentTarget.value })}
          error={findFault(error, 'db')}
          required
          spellCheck={false}
        />
        <Select
          label="Calls run as"
          description="The user in Odoo, whose rights they have"
          data={IDENTITIES}
          value={draft.identity}
          onChange={(value) => value !== null && onChange({ identity: value as InstanceDraft['identity'] })}
          error={findFault(error, 'identity')}
          allowDeselect={false}
        />
        {isShared && (
          <NumberInput
            label="User id"
            description="The number of the user in Odoo: the id in the address of its form"
            placeholder="2"
            min={1}
            allowDecimal={false}
            value={draft.user_id ?? ''}
            onChange={(value) => onChange({ user_id: readNumber(value) })}
            error={findFault(error, 'user_id')}
            required
          />
        )}
      </SimpleGrid>
      {isShared && (
        <PasswordInput
          label="Odoo key"
          description={
            isNew
              ? 'An API key of this user: in Odoo under Preferences, Account security. Nobody can read it back.'
              : 'The stored key is never shown. Type one to replace it.'
          }
          value={draft.api_key}
          onChange={({ currentTarget }) => onChange({ api_key: currentTarget.value })}
          error={
            findFault(error, 'api_key') ??
            (riskyChanges.length > 0 && draft.api_key === ''
              ? `Type the key again: ${riskyChanges.join(' and ')} changed, and a stored key is never sent to another server.`
              : undefined)
          }
          required={needsKey}
          placeholder={isNew ? '' : 'unchanged'}
          autoComplete="new-password"
        />
      )}
      <TagsInput
        label="Tags"
        description="Words by which calls to many instances choose theirs"
        placeholder="production"
        value={draft.tags ?? []}
        onChange={(tags) => onChange({ tags })}
        error={findFault(error, 'tags')}
        clearable
      />
      <Switch
        label="The server has a private address or uses plain http"
        description="Without this, the proxy calls only public addresses over https. It applies to this instance only."
        checked={draft.allow_private === true}
        onChange={({ currentTarget }) => onChange({ allow_private: currentTarget.checked })}
        // The network of the proxy is not that of some of the instances.
        disabled={!mayAll() && draft.allow_private !== true}
        error={findFault(error, 'allow_private')}
      />
      <div>
        <Button variant="subtle" size="compact-sm" onClick={toggle} aria-expanded={isMoreOpen || hasFault}>
          {isMoreOpen || hasFault ? 'Fewer settings' : 'More settings'}
        </Button>
      </div>
      <Collapse expanded={isMoreOpen || hasFault}>
        <More draft={draft} onChange={onChange} error={error} />
      </Collapse>
    </Stack>
  );
}

function More({
  draft,
  onChange,
  error,
}: Pick<InstanceFieldsProps, 'draft' | 'onChange' | 'error'>): ReactNode {
  const isShared = draft.identity === 'shared';
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        <Select
          label="Protocol"
          description="Automatic suits every version"
          data={PROTOCOLS}
          allowDeselect={false}
          value={draft.protocol ?? null}
          onChange={(protocol) => protocol !== null && onChange({ protocol })}
          error={findFault(error, 'protocol')}
        />
        <NumberInput
          label="Time limit in ms"
          description="Of calls that set none"
          placeholder="as in the settings"
          min={1}
          max={300_000}
          allowDecimal={false}
          value={draft.timeout_ms ?? ''}
          onChange={(value) => onChange({ timeout_ms: readNumber(value) })}
          error={findFault(error, 'timeout_ms')}
        />
        <NumberInput
          label="Calls at once"
          description="Further calls wait"
          placeholder="no separate limit"
          min={1}
          max={1_000}
          allowDecimal={false}
          value={draft.concurrency ?? ''}
          onChange={(value) => onChange({ concurrency: readNumber(value) })}
          error={findFault(error, 'concurrency')}
        />
      </SimpleGrid>
      <Textarea
        label="Certificates"
        description="PEM certificates to trust in place of the public ones: that of your own authority, or of the server"
        placeholder="-----BEGIN CERTIFICATE-----"
        autosize
        minRows={3}
        maxRows={10}
        value={draft.certificates}
        onChange={({ currentTarget }) => onChange({ certificates: currentTarget.value })}
        error={findFault(error, 'certificates')}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        spellCheck={false}
      />
      <Switch
        label={
          isShared ? 'Replace the Odoo key before it expires' : 'Replace keys of persons before they expire'
        }
        description="Odoo 19 and later can create the successor by itself"
        checked={draft.rotate_key === true}
        onChange={({ currentTarget }) => onChange({ rotate_key: currentTarget.checked })}
        error={findFault(error, 'rotate_key')}
      />
      {isShared && (
        <TimeInput
          label="The Odoo key ends"
          description="Only for versions of Odoo that do not tell it"
          value={draft.key_expires_at ?? null}
          onChange={(key_expires_at) => onChange({ key_expires_at })}
          error={findFault(error, 'key_expires_at')}
          none="Not known"
        />
      )}
    </Stack>
  );
}

/** Shows why the instance could not be saved. Without a master key, says which setting is missing. */
export function InstanceProblem({ error, onDismiss }: { error: Error | null; onDismiss: () => void }) {
  const isSealed = error instanceof ProblemError && error.problem.status === 503;
  return (
    <>
      <ProblemAlert error={error} onDismiss={onDismiss} />
      {isSealed && /master ?key/i.test(error.problem.detail) && (
        <Alert color="blue" title="The vault needs a master key">
          Odoo keys are stored encrypted. Create a key with <Code>openssl rand -base64 32</Code>, give it to
          the proxy as <Code>ERP_PROXY_VAULT_MASTER_KEY</Code> (setting <Code>vault.masterKey</Code>), and
          restart the proxy. Keep a copy apart from the backups of the store.
        </Alert>
      )}
    </>
  );
}

function readNumber(value: number | string): number | null {
  return typeof value === 'number' ? value : null;
}
