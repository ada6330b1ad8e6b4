/**
 * docs/errors.md from the error table of the contract: how a caller reads an error, and every one of them. Facts stand in
 * the table; here is only the text around it.
 */

import { COMPATIBLE_CHANGES, COMPATIBLE_ERRORS } from '../packages/contract/src/compatible.ts';
import {
  BUSINESS_CODES,
  BUSINESS_ERRORS,
  type BusinessErrorRow,
  type ErrorRow,
  PROXY_ERRORS,
  type Retry,
} from '../packages/contract/src/errors.ts';

const RETRYABLE: Record<Retry, string> = { never: 'no', always: 'yes', if_safe: 'if safe' };

/** The whole page. */
export function renderErrors(): string {
  const proxyErrors = Object.entries<ErrorRow>(PROXY_ERRORS);
  const businessErrors = Object.entries<BusinessErrorRow>(BUSINESS_ERRORS);
  const compatibleErrors = Object.entries<ErrorRow>(COMPATIBLE_ERRORS);
  const changes = Object.entries(COMPATIBLE_CHANGES);
  const withOutcome = proxyErrors.filter(([, row]) => row.hasOutcome).map(([type]) => `\`${type}\``);

  return `<!-- Generated from packages/contract/src/{errors,compatible}.ts by "npm run docs": change it there. -->

# Errors

Every answer has either a \`result\` or an \`error\`:

\`\`\`json
{
  "jsonrpc": "2.0",
  "id": 7,
  "error": {
    "code": ${PROXY_ERRORS.upstream_timeout.code},
    "message": "What went wrong, and what to do.",
    "data": { "type": "upstream_timeout", "retryable": false, "outcome": "unknown" }
  }
}
\`\`\`

Decide by \`data.type\`: it names one cause and stays the same for every Odoo version. \`message\` is for people and may be
worded differently tomorrow. \`data\` is always there and always has \`type\` and \`retryable\`; other members are named below.

1. \`code\` below zero: **the proxy** answers, and there is no answer of Odoo's to be had. The HTTP status is that of the
   [first table](#errors-of-the-proxy).
2. \`code\` ${listBusinessCodes()}: **Odoo** answered, and said no. The HTTP status is 200, since the call went through; see the
   [second table](#errors-of-odoo).

Within a batch the HTTP status is 200 and each answer has its own \`error\`.

## May I send it again?

\`data.retryable\` is true only where the same call may be sent again as it is, a write too. In the tables: *yes* is always
true, *no* is always false, and *if safe* is true where nothing can have happened yet or the action only reads. Where the answer
has a \`retry-after\` header, wait that many seconds first.

With ${joinWords(withOutcome)} \`data.outcome\` tells what became of the call:

| \`data.outcome\` | meaning |
|---|---|
| \`not_sent\` | Odoo has not seen the call. |
| \`rolled_back\` | Odoo began it and took everything back. |
| \`unknown\` | It may have happened. Before a write is sent again, look in Odoo whether it did. |

## Errors of the proxy

| code | HTTP | \`data.type\` | retryable | when | what to do |
|---|---|---|---|---|---|
${proxyErrors.map(([type, row]) => renderRow([row.code, row.httpStatus, `\`${type}\``, RETRYABLE[row.retry], renderWhen(row), row.remedy])).join('\n')}

## Errors of Odoo

\`data\` also has \`name\` (Odoo's exception class, which differs between versions), \`message\` and \`arguments\` (Odoo's own text),
\`context\`, and \`status\`: the HTTP status that this failure would deserve. \`code\` is ${BUSINESS_CODES.session} where Odoo speaks of
a session, ${BUSINESS_CODES.routeMissing} where it has no such route, and ${BUSINESS_CODES.error} for everything else. Tracebacks, server paths, SQL and
credentials are cut out; \`debug\` is there only if the operator turned \`errors.debug\` on.

| \`data.type\` | \`status\` | retryable | when |
|---|---|---|---|
${businessErrors.map(([type, row]) => renderRow([`\`${type}\``, row.status, RETRYABLE[row.retry], row.when])).join('\n')}

## Errors of the compatible routes

The routes of [compatibility.md](compatibility.md) give the same errors, and these two:

| code | HTTP | \`data.type\` | retryable | when | what to do |
|---|---|---|---|---|---|
${compatibleErrors.map(([type, row]) => renderRow([row.code, row.httpStatus, `\`${type}\``, RETRYABLE[row.retry], row.when, row.remedy])).join('\n')}

Their clients expect another code or status of some; \`data.type\` is the same:

| \`data.type\` | code | HTTP |
|---|---|---|
${changes.map(([type, { code, httpStatus }]) => renderRow([`\`${type}\``, code, httpStatus])).join('\n')}

On \`/v2/odoo/execute\` a status of 400 or more of the server's is HTTP 200 with that status as \`code\`; \`data\` is that of the tables above.
`;
}

function renderWhen({ when, notYet }: ErrorRow): string {
  return notYet === undefined ? when : `Not given by this version: ${notYet}. ${when}`;
}

function renderRow(cells: (string | number)[]): string {
  // A bar within a cell would end the cell, in code spans too.
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

function listBusinessCodes(): string {
  return joinWords(Object.values(BUSINESS_CODES).map(String), 'or');
}

function joinWords(words: string[], last = 'and'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
