/** The inputs of a subscription. */
import type { InstanceView, KeyView } from '@erp-proxy/contract';
import {
  NumberInput,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { findFault } from '../../parts/find-fault.ts';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { ObjectSelect } from '../../parts/object-select.tsx';
import type { SubscriptionDraft } from './subscription-draft.ts';

interface SubscriptionFieldsProps {
  draft: SubscriptionDraft;
  onChange: (members: Partial<SubscriptionDraft>) => void;
  error: Error | null;
  /** False: the name cannot be changed any more. */
  isNew: boolean;
}

export function SubscriptionFields({ draft, onChange, error, isNew }: SubscriptionFieldsProps) {
  const domainFault = findFault(error, 'domain');
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Name"
          description="It cannot be changed later"
          placeholder="contacts"
          value={draft.name}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
          error={findFault(error, 'name')}
          disabled={!isNew}
          required={isNew}
          spellCheck={false}
        />
        <TextInput
          label="Receiver"
          description="Gets the changes by POST; https"
          placeholder="https://shop.example.com/webhooks/odoo"
          value={draft.url}
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
          error={findFault(error, 'url')}
          required
          spellCheck={false}
        />
        <ObjectSelect<InstanceView>
          label="Instance"
          description="Its user reads the changes"
          path="/instances"
          idOf={({ name }) => name}
          describe={({ name, url }) => `${name} · ${url}`}
          value={draft.instance}
          onChange={(instance) => onChange({ instance })}
          error={findFault(error, 'instance')}
          required
        />
        <TextInput
          label="Model"
          description="Its changes are sent; it needs write_date"
          placeholder="res.partner"
          value={draft.model}
          onChange={({ currentTarget }) => onChange({ model: currentTarget.value })}
          error={findFault(error, 'model')}
          required
          spellCheck={false}
        />
      </SimpleGrid>
      <TagsInput
        label="Fields"
        description="Their values are sent. Type a name and press Enter."
        placeholder={draft.fields.length === 0 ? 'name, email' : ''}
        value={draft.fields}
        onChange={(fields) => onChange({ fields })}
        splitChars={[',', ' ']}
        acceptValueOnBlur
        error={findFault(error, 'fields')}
        withAsterisk
      />
      <JsonEditor
        label="Domain"
        description='Only records that match, as in Odoo: [["is_company", "=", true]]. Empty: all records.'
        value={draft.domain}
        onChange={(domain) => onChange({ domain })}
        minHeight={60}
        maxHeight={240}
      />
      {domainFault !== undefined && (
        <Text size="xs" c="red">
          {domainFault}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <NumberInput
          label="Interval in seconds"
          description="Between two readings: 5 to 86,400"
          min={5}
          max={86_400}
          allowDecimal={false}
          value={draft.interval_seconds}
          onChange={(value) => typeof value === 'number' && onChange({ interval_seconds: value })}
          error={findFault(error, 'interval_seconds')}
          required
        />
        <ObjectSelect<KeyView>
          label="Client key"
          description="Its policy and limits hold for the calls on Odoo. Empty: no policy restricts them."
          placeholder="none"
          path="/keys"
          filters={{ state: 'active' }}
          idOf={({ id }) => id}
          describe={({ id, name }) => `${name} · ${id}`}
          value={draft.key}
          onChange={(key) => onChange({ key })}
          error={findFault(error, 'key')}
        />
      </SimpleGrid>
      <Choice label="Payload" hint="Thin: only ids, without the values of the record">
        <SegmentedControl
          aria-label="Payload"
          data={[
            { value: 'full', label: 'Full' },
            { value: 'thin', label: 'Thin' },
          ]}
          value={draft.payload}
          onChange={(payload) => onChange({ payload: payload === 'thin' ? 'thin' : 'full' })}
        />
      </Choice>
      <Choice label="Start" hint="What is sent first">
        <SegmentedControl
          aria-label="Start"
          data={[
            { value: 'now', label: 'Changes from now on' },
            { value: 'all', label: 'All records that match' },
          ]}
          value={draft.start}
          onChange={(start) => onChange({ start: start === 'all' ? 'all' : 'now' })}
        />
      </Choice>
      <Switch
        label="Send records that vanish, too"
        description="At most 50,000 records may match then"
        checked={draft.gone}
        onChange={({ currentTarget }) => onChange({ gone: currentTarget.checked })}
        error={findFault(error, 'gone')}
      />
    </Stack>
  );
}

function Choice({ label, hint, children }: { label: string; hint: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <Text size="xs" c="dimmed" mb={4}>
        {hint}
      </Text>
      {children}
    </div>
  );
}
