/** The inputs of an audit search: kind, time, and filters as chips that can be changed and removed. */
import {
  ActionIcon,
  Button,
  Group,
  Menu,
  Modal,
  Popover,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { printMoment } from '../../parts/print-moment.ts';
import {
  type AuditSearch,
  FILTER_NAMES,
  FILTERS,
  type FilterName,
  KINDS,
  LAST,
  LAST_NAMES,
  type LastName,
} from './audit-filters.ts';

interface FilterBarProps {
  search: AuditSearch;
  onChange: (changes: Partial<AuditSearch>) => void;
}

export function FilterBar({ search, onChange }: FilterBarProps) {
  /** The filter whose value is being typed or chosen. */
  const [edited, setEdited] = useState<FilterName | null>(null);
  return (
    <Group gap="xs" mb="sm" role="search" aria-label="Filters">
      <SegmentedControl
        aria-label="Kind"
        size="xs"
        data={[
          { value: '', label: 'All' },
          { value: 'call', label: 'Calls' },
          { value: 'admin', label: 'Administration' },
        ]}
        value={search.kind ?? ''}
        onChange={(value) => onChange({ kind: KINDS.find((kind) => kind === value) })}
      />
      <TimeFilter search={search} onChange={onChange} />
      <Switch
        size="xs"
        label="Errors only"
        checked={search.errors_only ?? false}
        onChange={({ currentTarget }) => onChange({ errors_only: currentTarget.checked || undefined })}
      />
      {FILTER_NAMES.filter((name) => search[name] !== undefined || name === edited).map((name) => (
        <FilterChip
          key={name}
          name={name}
          value={search[name]}
          isOpen={name === edited}
          onOpen={(isOpen) => setEdited(isOpen ? name : null)}
          onChange={(value) => {
            setEdited(null);
            onChange({ [name]: value });
          }}
        />
      ))}
      <Menu position="bottom-start" shadow="md">
        <Menu.Target>
          <Button variant="subtle" size="xs" leftSection={<Icon name="plus" size={14} />}>
            Add filter
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
          {FILTER_NAMES.map((name) => (
            <Menu.Item key={name} onClick={() => setEdited(name)}>
              {FILTERS[name].label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

interface FilterChipProps {
  name: FilterName;
  value: string | undefined;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  onChange: (value: string | undefined) => void;
}

function FilterChip({ name, value, isOpen, onOpen, onChange }: FilterChipProps) {
  const { label } = FILTERS[name];
  return (
    <Group gap={0} wrap="nowrap" maw="100%">
      <Popover
        opened={isOpen}
        onChange={onOpen}
        position="bottom-start"
        shadow="md"
        trapFocus
        returnFocus
        width={280}
      >
        <Popover.Target>
          <Button
            variant="light"
            size="xs"
            style={{ borderTopRightRadius: 0, borderBottomRightRadius: 0 }}
            onClick={() => onOpen(!isOpen)}
          >
            {label}:&nbsp;<span className="data">{value ?? '…'}</span>
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <ValueForm name={name} value={value} onSubmit={onChange} />
        </Popover.Dropdown>
      </Popover>
      <ActionIcon
        variant="light"
        size={30}
        style={{ borderTopLeftRadius: 0, borderBottomLeftRadius: 0 }}
        aria-label={`Remove the filter ${label}`}
        onClick={() => {
          onOpen(false);
          onChange(undefined);
        }}
      >
        <Icon name="cross" size={14} />
      </ActionIcon>
    </Group>
  );
}

interface ValueFormProps {
  name: FilterName;
  value: string | undefined;
  onSubmit: (value: string | undefined) => void;
}

function ValueForm({ name, value, onSubmit }: ValueFormProps) {
  const [typed, setTyped] = useState(value ?? '');
  const filter = FILTERS[name];
  if ('choices' in filter) {
    return (
      <Select
        label={filter.label}
        data={[...filter.choices]}
        value={value ?? null}
        onChange={(choice) => onSubmit(choice ?? undefined)}
        searchable
        comboboxProps={{ withinPortal: false }}
        // Without a scroll area, which would get the keyboard's focus instead of the options.
        withScrollArea={false}
        styles={{ options: { maxHeight: 260, overflowY: 'auto' } }}
        data-autofocus
      />
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(typed.trim() === '' ? undefined : typed.trim());
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          label={filter.label}
          description="The whole value"
          placeholder={filter.example}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        <Button type="submit" size="xs">
          Apply filter
        </Button>
      </Stack>
    </form>
  );
}

const ANY_TIME = 'any';
const RANGE = 'range';

function TimeFilter({ search, onChange }: FilterBarProps) {
  const [isAsking, setAsking] = useState(false);
  const isRange = search.since !== undefined || search.until !== undefined;
  const choose = (value: string) => {
    if (value === RANGE) return setAsking(true);
    const last = LAST_NAMES.find((name): name is LastName => name === value);
    onChange({ last, since: undefined, until: undefined });
  };
  return (
    <>
      <Select
        aria-label="Time"
        size="xs"
        w={isRange ? 330 : 160}
        maw="100%"
        allowDeselect={false}
        data={[
          { value: ANY_TIME, label: 'Any time' },
          ...LAST_NAMES.map((name) => ({ value: name, label: LAST[name].label })),
          { value: RANGE, label: isRange ? describeRange(search) : 'From … until …' },
        ]}
        value={isRange ? RANGE : (search.last ?? ANY_TIME)}
        // Also called if the same option is chosen again, so that a range can be changed.
        onOptionSubmit={choose}
      />
      <Modal opened={isAsking} onClose={() => setAsking(false)} title="Times of the records" size="sm">
        <RangeForm
          search={search}
          onSubmit={(range) => {
            setAsking(false);
            onChange({ last: undefined, ...range });
          }}
        />
      </Modal>
    </>
  );
}

function RangeForm({
  search,
  onSubmit,
}: {
  search: AuditSearch;
  onSubmit: (range: { since: string | undefined; until: string | undefined }) => void;
}) {
  const [since, setSince] = useState(toLocalInput(search.since));
  const [until, setUntil] = useState(toLocalInput(search.until));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit({ since: fromLocalInput(since), until: fromLocalInput(until) });
  };
  const isReversed = since !== '' && until !== '' && since >= until;
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          type="datetime-local"
          step={1}
          label="From"
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          type="datetime-local"
          step={1}
          label="Until"
          description="Excluded. Empty: until now"
          value={until}
          onChange={(event) => setUntil(event.currentTarget.value)}
          error={isReversed && 'This is not after the begin.'}
        />
        <Button type="submit" size="xs" disabled={isReversed}>
          Apply times
        </Button>
      </Stack>
    </form>
  );
}

function describeRange({ since, until }: AuditSearch): string {
  if (since === undefined) return `Until ${printMoment(until ?? '')}`;
  return until === undefined
    ? `Since ${printMoment(since)}`
    : `${printMoment(since)} – ${printMoment(until)}`;
}

/** Prints a time for an input of type `datetime-local`. */
function toLocalInput(time: string | undefined): string {
  return time === undefined ? '' : printMoment(time).replace(' ', 'T');
}

function fromLocalInput(value: string): string | undefined {
  return value === '' ? undefined : new Date(value).toISOString();
}
