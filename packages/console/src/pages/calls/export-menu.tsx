import { Button, Menu } from '@mantine/core';
import { locate } from '../../api/send.ts';
import { Icon } from '../../parts/icon.tsx';
import { type AuditSearch, toAuditQuery } from './audit-filters.ts';

const FORMATS = [
  { format: 'ndjson', label: 'JSON lines (NDJSON)' },
  { format: 'csv', label: 'Spreadsheet (CSV)' },
] as const;

/** Downloads all records that match, the oldest first. */
export function ExportMenu({ search }: { search: AuditSearch }) {
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button variant="default" size="xs" leftSection={<Icon name="download" size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {FORMATS.map(({ format, label }) => (
          <Menu.Item
            key={format}
            component="a"
            href={locate({ path: '/audit/export', query: { ...toAuditQuery(search, Date.now()), format } })}
            download={`audit.${format}`}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
