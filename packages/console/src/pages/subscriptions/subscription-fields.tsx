/** Inputs for the members of a subscription. */
import { type InstanceView, type KeyView, SUBSCRIPTION_EVENTS } from '@erp-proxy/contract';
import {
  Checkbox,
  Group,
  NumberInput,
  Radio,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { mayAll } from '../../api/session.ts';
import { findFault } from '../../parts/find-fault.ts';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { ObjectSelect } from '../../parts/object-select.tsx';
import { EVENT_LABELS } from './event-labels.ts';
import type { SubscriptionDraft } from './subscription-draft.ts';

interface SubscriptionFieldsProps {
  draft: SubscriptionDraft;
  onChange: (members: Partial<SubscriptionDraft>) => void;
  error: Error | null;
  /** False: the subscription exists, and its name cannot be changed. */
  isNew: boolean;
}

export function SubscriptionFields({ draft, onChange, error, isNew }: SubscriptionFieldsProps) {
  const sendsRecords = draft.source === 'records';
  return (
    <Stack gap="sm">
      {/* Events are about the keys and jobs of the whole proxy. */}
      {isNew && mayAll() && (
        <Radio.Group
          label="Source"
          value={draft.source}
          onChange={(source) => onChange({ source: source === 'events' ? 'events' : 'records' })}
        >
          <Group gap="lg" mt={4}>
            <Radio value="records" label="Changes of records" />
            <Radio value="events" label="Events of the proxy" />
          </Group>
        </Radio.Group>
      )}
      {!sendsRecords && (
        <Checkbox.Group
          label="Events"
          value={draft.events}
          onChange={(names) =>
            onChange({ events: SUBSCRIPTION_EVENTS.filter((event) => names.includes(event)) })
          }
          error={findFault(error, 'events')}
        >
          <Stack gap={6} mt={4}>
            {SUBSCRIPTION_EVENTS.map((event) => (
              <Checkbox key={event} value={event} label={`${event}: ${EVENT_LABELS[event]}`} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Name"
          description={
            mayAll()
              ? 'It cannot be changed later'
              : 'It begins with the name of the instance and a dot. It cannot be changed later'
          }
          placeholder={mayAll() ? 'contacts' : `${draft.instance || 'client-a-prod'}.contacts`}
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
      </SimpleGrid>
      {sendsRecords && <Records draft={draft} onChange={onChange} error={error} />}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <NumberInput
          label="Interval in seconds"
          description="Between two readings: 5 to 86,400"
          min={5}
          max={86_400}
          allowDecimal={false}
          value={draft.interval_seconds ?? ''}
          onChange={(value) => typeof value === 'number' && onChange({ interval_seconds: value })}
          error={findFault(error, 'interval_seconds')}
          required
        />
        {sendsRecords && (
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
        )}
      </SimpleGrid>
      {sendsRecords && (
        <Radio.Group
          label="Payload"
          value={draft.payload ?? null}
          onChange={(payload) => onChange({ payload: payload === 'thin' ? 'thin' : 'full' })}
          error={findFault(error, 'payload')}
        >
          <Stack gap={6} mt={4}>
            <Radio value="full" label="Full: with the values of the fields" />
            <Radio value="thin" label="Thin: only which record has changed" />
          </Stack>
        </Radio.Group>
      )}
      <Radio.Group
        label="Start"
        value={draft.start ?? null}
        onChange={(start) => onChange({ start: start === 'all' ? 'all' : 'now' })}
        error={findFault(error, 'start')}
      >
        <Stack gap={6} mt={4}>
          <Radio value="now" label="With what changes from now on" />
          <Radio
            value="all"
            label={sendsRecords ? 'With all records that match' : 'With keys that end soon already'}
          />
        </Stack>
      </Radio.Group>
      {sendsRecords && (
        <Switch
          label="Send records that vanish, too"
          description="At most 50,000 records may match then"
          checked={draft.gone === true}
          onChange={({ currentTarget }) => onChange({ gone: currentTarget.checked })}
          error={findFault(error, 'gone')}
        />
      )}
    </Stack>
  );
}

/** Inputs that only a subscription to records has. */
function Records({ draft, onChange, error }: Omit<SubscriptionFieldsProps, 'isNew'>) {
  const domainFault = findFault(error, 'domain');
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
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
        onChange={(fields) => onChange({ fields: splitNames(fields) })}
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
    </>
  );
}

/** Splits texts into names, because several names can be typed or pasted at once. */
function splitNames(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.split(/[\s,]+/)))].filter((name) => name !== '');
}
