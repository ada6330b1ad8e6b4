/**
 * Prints a call as a program that sends it with a client key, in several languages. Secrets come from the environment:
 * ERP_PROXY_KEY and, for a server that is not stored, ODOO_API_KEY.
 */
import type { ErpInstance, ExecuteCall, Json } from '@erp-proxy/contract';
import { printJson } from './print-json.ts';
import { quote } from './print-request.ts';

/** The members of a call except its server. */
export interface CallParts extends Pick<ExecuteCall, 'model_id' | 'action'> {
  params: Json[];
  keyword: Record<string, Json>;
}

/** The server of a call, without its key. */
export type PrintedInstance = { name: string } | Omit<ErpInstance, 'api_key'>;

export interface PrintedCall {
  /** Origin of the proxy. */
  origin: string;
  call: CallParts;
  instance: PrintedInstance;
  areValuesNormalized: boolean;
}

const PATH = '/api/erp/execute';
const PREFERENCE = 'values=normalized';

export function printCurl({ origin, call, instance, areValuesNormalized }: PrintedCall): string {
  const more = areValuesNormalized ? [`-H 'prefer: ${PREFERENCE}'`] : [];
  return joinCurl(origin + PATH, omitEmpty(call), instance, more);
}

/** Prints a request for a document. `url`: that of its route. */
export function printDocumentCurl(url: string, document: object, instance: PrintedInstance): string {
  return joinCurl(url, document, instance, ['-OJ']);
}

function joinCurl(url: string, members: object, instance: PrintedInstance, more: string[]): string {
  let body = quote(printJson({ ...members, erp_instance: instance }));
  // The server is the last member, so the variable is inserted after its last value.
  if (!('name' in instance)) body = body.replace(/\s*\}\s*\}'$/, `, "api_key": "'"$ODOO_API_KEY"'"}}'`);
  return [
    `curl ${quote(url)}`,
    '-H "x-proxy-api: $ERP_PROXY_KEY"',
    `-H 'content-type: application/json'`,
    ...more,
    `-d ${body}`,
  ].join(' \\\n  ');
}

export function printTypescript({ origin, call, instance, areValuesNormalized }: PrintedCall): string {
  const text = (value: unknown) => JSON.stringify(value);
  const server =
    'name' in instance
      ? text(instance.name)
      : `{ url: ${text(instance.url)}, db: ${text(instance.db)}, userId: ${instance.user_id}, apiKey: process.env.ODOO_API_KEY! }`;
  const args = [text(call.action), printJson(call.params)];
  if (Object.keys(call.keyword).length > 0) args.push(printJson(call.keyword));
  else if (call.params.length === 0) args.pop();
  return [
    `import { createClient } from '@erp-proxy/client';`,
    '',
    'const client = createClient({',
    `  url: ${text(origin)},`,
    '  key: process.env.ERP_PROXY_KEY!,',
    `  instance: ${server},`,
    ...(areValuesNormalized ? [`  values: 'normalized',`] : []),
    '});',
    `const result = await client.model(${text(call.model_id)}).call(${args.join(', ')});`,
    'console.log(result);',
  ].join('\n');
}

export function printPython({ origin, call, instance, areValuesNormalized }: PrintedCall): string {
  const members = { ...omitEmpty(call), erp_instance: instance as unknown as Json };
  return [
    'import json',
    'import os',
    'import urllib.request',
    '',
    `call = ${printPythonValue(members, '')}`,
    ...('name' in instance ? [] : [`call["erp_instance"]["api_key"] = os.environ["ODOO_API_KEY"]`]),
    'request = urllib.request.Request(',
    `    ${JSON.stringify(origin + PATH)},`,
    '    data=json.dumps(call).encode(),',
    '    headers={',
    '        "x-proxy-api": os.environ["ERP_PROXY_KEY"],',
    '        "content-type": "application/json",',
    ...(areValuesNormalized ? [`        "prefer": "${PREFERENCE}",`] : []),
    '    },',
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    answer = json.load(response)',
    'if "error" in answer:',
    '    raise SystemExit(answer["error"]["message"])',
    'print(answer["result"])',
  ].join('\n');
}

export function printPhp({ origin, call, instance, areValuesNormalized }: PrintedCall): string {
  const members = { ...omitEmpty(call), erp_instance: instance as unknown as Json };
  return [
    '<?php',
    `$call = ${printPhpValue(members, '')};`,
    ...('name' in instance ? [] : [`$call->erp_instance->api_key = getenv('ODOO_API_KEY');`]),
    `$request = curl_init(${printPhpValue(origin + PATH, '')});`,
    'curl_setopt_array($request, [',
    '    CURLOPT_RETURNTRANSFER => true,',
    '    CURLOPT_POSTFIELDS => json_encode($call, JSON_THROW_ON_ERROR),',
    '    CURLOPT_HTTPHEADER => [',
    `        'x-proxy-api: ' . getenv('ERP_PROXY_KEY'),`,
    `        'content-type: application/json',`,
    ...(areValuesNormalized ? [`        'prefer: ${PREFERENCE}',`] : []),
    '    ],',
    ']);',
    '$answer = json_decode(curl_exec($request), false, 512, JSON_THROW_ON_ERROR);',
    'if (isset($answer->error)) {',
    '    throw new RuntimeException($answer->error->message);',
    '}',
    'var_dump($answer->result);',
  ].join('\n');
}

/** The members of a call to send, without empty ones. */
export function omitEmpty({ params, keyword, ...call }: CallParts): Record<string, Json> {
  return {
    ...call,
    ...(params.length === 0 ? {} : { params }),
    ...(Object.keys(keyword).length === 0 ? {} : { keyword }),
  };
}

function printPythonValue(value: Json, margin: string): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  // A JSON string is a valid Python string.
  if (typeof value !== 'object') return JSON.stringify(value);
  const print = (item: Json) => printPythonValue(item, `${margin}    `);
  return Array.isArray(value)
    ? encloseItems('[', value.map(print), ']', margin)
    : encloseItems(
        '{',
        Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${print(item)}`),
        '}',
        margin,
      );
}

function printPhpValue(value: Json, margin: string): string {
  if (typeof value === 'string') return `'${value.replaceAll(/[\\']/g, '\\$&')}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const print = (item: Json) => printPhpValue(item, `${margin}    `);
  return Array.isArray(value)
    ? encloseItems('[', value.map(print), ']', margin)
    : // Names that are numbers would make a list of an array.
      `(object) ${encloseItems(
        '[',
        Object.entries(value).map(([name, item]) => `${printPhpValue(name, '')} => ${print(item)}`),
        ']',
        margin,
      )}`;
}

function encloseItems(open: string, items: string[], close: string, margin: string): string {
  const line = `${open}${items.join(', ')}${close}`;
  if (line.length + margin.length <= 80 && !line.includes('\n')) return line;
  return `${open}\n${items.map((item) => `${margin}    ${item},\n`).join('')}${margin}${close}`;
}
