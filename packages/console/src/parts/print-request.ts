/** Prints requests of the admin API as code. Secrets become variables. */
import { type AdminRequest, printUrl } from '../api/send.ts';

/** Names of body members whose values are secret, each with the variable that replaces it. */
const SECRETS: Record<string, string> = { api_key: 'ODOO_API_KEY', token: 'ERP_PROXY_ADMIN_TOKEN' };

export function printCurl(request: AdminRequest, origin: string): string {
  const { method, body, ifMatch } = request;
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(origin + printUrl(request))}`,
    '-H "authorization: Bearer $ERP_PROXY_ADMIN_TOKEN"',
  ];
  if (ifMatch !== undefined) lines.push(`-H 'if-match: ${ifMatch}'`);
  if (body !== undefined) {
    const text = JSON.stringify(
      mask(body, (name) => `\u0000${name}\u0000`),
      null,
      2,
    );
    lines.push(`-H 'content-type: application/json'`, `-d ${insertVariables(quote(text))}`);
  }
  return lines.join(' \\\n  ');
}

export function printTypescript(request: AdminRequest, origin: string): string {
  const { method, body, ifMatch } = request;
  const headers = ["    authorization: 'Bearer ' + process.env.ERP_PROXY_ADMIN_TOKEN,"];
  if (ifMatch !== undefined) headers.push(`    'if-match': '${ifMatch}',`);
  if (body !== undefined) headers.push(`    'content-type': 'application/json',`);
  const lines = [
    `const response = await fetch(${JSON.stringify(origin + printUrl(request))}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    ...headers,
    '  },',
  ];
  if (body !== undefined) {
    const text = JSON.stringify(
      mask(body, (name) => `\u0000${name}\u0000`),
      null,
      2,
    );
    const code = text.replaceAll(/"\\u0000(\w+)\\u0000"/g, 'process.env.$1');
    lines.push(`  body: JSON.stringify(${code.replaceAll('\n', '\n  ')}),`);
  }
  lines.push('});', 'if (!response.ok) throw new Error(await response.text());');
  if (method !== 'DELETE') lines.push('const answer = await response.json();');
  return lines.join('\n');
}

/** Quotes a text as one word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Inserts variables in double quotes, because the shell does not expand them within single quotes. */
function insertVariables(quoted: string): string {
  return quoted.replaceAll(/\\u0000(\w+)\\u0000/g, `'"$$$1"'`);
}

function mask(value: unknown, replace: (variable: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const variable = SECRETS[name];
      return [
        name,
        variable !== undefined && typeof item === 'string' ? replace(variable) : mask(item, replace),
      ];
    }),
  );
}
