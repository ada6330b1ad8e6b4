import { Tabs, Text } from '@mantine/core';
import { CodeBlock } from './code-block.tsx';
import { type PrintedCall, printCurl, printPhp, printPython, printTypescript } from './print-call.ts';

const LANGUAGES = [
  { label: 'curl', print: printCurl },
  { label: 'TypeScript', print: printTypescript },
  { label: 'Python', print: printPython },
  { label: 'PHP', print: printPhp },
];

/** Shows a call as a program, in a language that the person chooses. */
export function CallCode(printed: PrintedCall) {
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="xs">
        {LANGUAGES.map(({ label }) => (
          <Tabs.Tab key={label} value={label}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {LANGUAGES.map(({ label, print }) => (
        <Tabs.Panel key={label} value={label}>
          <CodeBlock label={label} code={print(printed)} />
        </Tabs.Panel>
      ))}
      <Text size="xs" c="dimmed" mt="xs">
        The variable <span className="data">ERP_PROXY_KEY</span> has a client key
        {'name' in printed.instance ? '.' : ', and ODOO_API_KEY the key of the user in Odoo.'}
      </Text>
    </Tabs>
  );
}
