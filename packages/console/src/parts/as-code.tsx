import { Button, Popover, Tabs, Text } from '@mantine/core';
import { readProxyUrl } from '../api/root.ts';
import type { AdminRequest } from '../api/send.ts';
import { CodeBlock } from './code-block.tsx';
import { Icon } from './icon.tsx';
import { printCurl, printTypescript } from './print-request.ts';

interface AsCodeProps {
  request: AdminRequest;
  /** The corresponding command, without `npx erp-proxy`; null if there is none. */
  command: string | null;
}

/** A button that shows how to send the same request without the console. Variables replace the request's secrets. */
export function AsCode({ request, command }: AsCodeProps) {
  return (
    <Popover width="min(640px, 92vw)" position="bottom-end" shadow="md" trapFocus>
      <Popover.Target>
        <Button variant="subtle" size="xs" leftSection={<Icon name="code" size={16} />}>
          As code
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Tabs defaultValue="curl">
          <Tabs.List mb="xs">
            <Tabs.Tab value="curl">curl</Tabs.Tab>
            {command !== null && <Tabs.Tab value="command">Command</Tabs.Tab>}
            <Tabs.Tab value="typescript">TypeScript</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="curl">
            <CodeBlock label="curl" code={printCurl(request, readProxyUrl())} />
          </Tabs.Panel>
          {command !== null && (
            <Tabs.Panel value="command">
              <CodeBlock label="command" code={`npx erp-proxy ${command}`} />
            </Tabs.Panel>
          )}
          <Tabs.Panel value="typescript">
            <CodeBlock label="TypeScript" code={printTypescript(request, readProxyUrl())} />
          </Tabs.Panel>
        </Tabs>
        <Text size="xs" c="dimmed" mt="xs">
          The token is the setting <span className="data">admin.token</span>, in the variable
          ERP_PROXY_ADMIN_TOKEN.
        </Text>
      </Popover.Dropdown>
    </Popover>
  );
}
