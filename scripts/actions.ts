/**
 * Renders docs/actions.md from the examples of the OpenAPI document, each of which a test runs. The table holds the
 * calls and answers, this file the surrounding text.
 */
import { EXECUTE_EXAMPLES } from '@erp-proxy/http/openapi';

const COLUMNS_MAX = 110;

export function renderActions(): string {
  const sections = EXECUTE_EXAMPLES.map(
    ({ name, summary, body, answer }) =>
      `## ${name}\n\n${summary}\n\n${fence(body)}\nThe answer:\n\n${fence(answer)}`,
  );
  return `<!-- Generated from packages/http/src/openapi/call-examples.ts by "npm run docs": change it there. -->

# Actions

The usual methods of Odoo as calls of \`POST /api/erp/execute\`, each with the answer of Odoo 18 and the data of the
sandbox. Any other public method works in the same way. [calling.md](calling.md) shows how to send a call,
[execute.md](execute.md) has its rules.

${sections.join('\n')}`;
}

function fence(value: unknown): string {
  return `\`\`\`json\n${print(value, '')}\n\`\`\`\n`;
}

/** Prints the value on one line if it fits, otherwise with a line for each member. */
function print(value: unknown, indent: string): string {
  const line = printLine(value);
  const isSimple = typeof value !== 'object' || value === null;
  if (isSimple || indent.length + line.length <= COLUMNS_MAX) return line;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((element) => `${inner}${print(element, inner)}`)
    : Object.entries(value).map(([name, member]) => `${inner}"${name}": ${print(member, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

function printLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${printLine(member)}`);
  return `{${members.join(', ')}}`;
}
