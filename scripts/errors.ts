/**
 * Renders docs/errors.md from the error tables of the contract. The tables hold the facts, this file the surrounding
 * text.
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

Handle errors by \`data.type\`. It identifies one cause and is the same for every Odoo version. \`message\` is for people,
and its wording may change. \`data\` is always present and always has \`type\` and \`retryable\`. Other members
are described below.

1. A negative \`code\` means that **the proxy** answers, and there is no answer from Odoo. The
   [first table](#errors-of-the-proxy) shows the HTTP status.
2. The \`code\` ${listBusinessCodes()} means that **Odoo** answered with an error. The HTTP status is 200, because the call
   reached Odoo. See the [second table](#errors-of-odoo).

In a batch the HTTP status is 200, and each answer has its own \`error\`.

## Sending a call again

If \`data.retryable\` is true, the same call can be sent again unchanged, even if it is a write. If the answer has a
\`retry-after\` header, wait that many seconds first. The tables below use these values:

- *yes*: always true
- *no*: always false
- *if safe*: true if the call cannot have run yet, or only reads

Errors of these types have \`data.outcome\`, which tells whether the call ran:
${joinWords(withOutcome)}.

| \`data.outcome\` | meaning |
|---|---|
| \`not_sent\` | The call did not reach Odoo. |
| \`rolled_back\` | Odoo started the call and rolled it back. |
| \`unknown\` | The call may have run. Before you send a write again, check in Odoo. |

## Errors of the proxy

| code | HTTP | \`data.type\` | retryable | when | what to do |
|---|---|---|---|---|---|
${proxyErrors.map(([type, row]) => renderRow([row.code, row.httpStatus, `\`${type}\``, RETRYABLE[row.retry], row.when, row.remedy])).join('\n')}

## Errors of Odoo

\`data\` also has these members:

- \`name\`: Odoo's exception class, which differs between versions
- \`message\` and \`arguments\`: Odoo's own text
- \`context\`
- \`status\`: the HTTP status that corresponds to the failure
- \`debug\`: the traceback, only if the operator enabled \`errors.debug\`
- \`nearest\`: see [nearest names](#nearest-names)

Tracebacks, server paths, SQL and credentials are removed from all other members.

\`code\` is ${BUSINESS_CODES.session} for a session error, ${BUSINESS_CODES.routeMissing} for a missing route, and ${BUSINESS_CODES.error} for everything else.

| \`data.type\` | \`status\` | retryable | when |
|---|---|---|---|
${businessErrors.map(([type, row]) => renderRow([`\`${type}\``, row.status, RETRYABLE[row.retry], row.when])).join('\n')}

### Nearest names

If a call names a field, model or method that does not exist, \`data.nearest\` has up to five names that do and that are
similar, the most similar one first:

\`\`\`json
{ "type": "model_not_found", "nearest": ["res.partner", "res.partner.category"] }
\`\`\`

| \`data.type\` | compared with | if no name is similar |
|---|---|---|
| \`query_invalid\` | the fields of the model | \`nearest\` is an empty list |
| \`model_not_found\` | the models of the database | \`nearest\` is an empty list |
| \`method_not_found\` | methods that are well known, such as \`search_read\` and \`write\` | \`nearest\` is missing |

If a field exists but cannot be searched, sorted or grouped by, \`nearest\` has fields that can: those with a similar
name first, then others of the same type.

A name is similar if one of these holds:

- It differs by few letters for its length: \`nmae\` and \`name\`.
- It shares a word, as \`customer_rank\` and \`customer\` do.
- One of its words begins alike: \`categ_id\` and \`category_id\`.
- Callers or other versions of Odoo are known to call it so: \`mobile\` and \`phone\`.

\`nearest\` never has a name that the Odoo user of the call or the [policy](policies.md) of the key may not see. For a
path such as \`country_id.nmae\` in a domain, the names are those of the model to which the path leads.

To find the names of fields and models, the proxy calls \`fields_get\` or reads \`ir.model\` with the credentials of the
call, and keeps the names for some minutes. \`nearest\` is missing if that fails or takes longer than a second or half of
the time that the call has left, if the user may not read \`ir.model\`, or if Odoo has translated its message.

## Errors of the compatible routes

The routes of [compatibility.md](compatibility.md) return the same errors and these two:

| code | HTTP | \`data.type\` | retryable | when | what to do |
|---|---|---|---|---|---|
${compatibleErrors.map(([type, row]) => renderRow([row.code, row.httpStatus, `\`${type}\``, RETRYABLE[row.retry], row.when, row.remedy])).join('\n')}

Their clients expect another code or status for some errors. \`data.type\` is the same:

| \`data.type\` | code | HTTP |
|---|---|---|
${changes.map(([type, { code, httpStatus }]) => renderRow([`\`${type}\``, code, httpStatus])).join('\n')}

If the server answers a call of \`/v2/odoo/execute\` with a status of 400 or more, the caller gets HTTP 200.
That status becomes \`code\`, and \`data\` follows the tables above.
`;
}

function renderRow(cells: (string | number)[]): string {
  // A `|` ends a cell even inside a code span.
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

function listBusinessCodes(): string {
  return joinWords(Object.values(BUSINESS_CODES).map(String), 'or');
}

function joinWords(words: string[], last = 'and'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
