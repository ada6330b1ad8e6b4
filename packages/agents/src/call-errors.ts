/**
 * Turns errors of calls into errors of tools: what went wrong, which names exist, and what the model should do next.
 */
import {
  APPROVAL_HEADER,
  type BusinessErrorType,
  clipText,
  cutText,
  type ErrorBody,
  type ProxyErrorType,
} from '@erp-proxy/contract';
import { Denial } from '@erp-proxy/gateway/terms';
import type { UnknownField, UnknownFields } from './fields.ts';
import { explainMissingApps } from './known-models.ts';
import { cleanText } from './show.ts';
import { ToolError } from './tool-error.ts';

const TEXT_MAX = 500;
/** Longer names are cut: they come from hostile or confused callers. */
const NAME_SHOWN_MAX = 100;

/** The next step, by type of error (docs/errors.md). `model` is the model of the call. */
const NEXT_STEPS: { readonly [Type in ProxyErrorType | BusinessErrorType]?: (model: string) => string } = {
  policy_denied: () => 'Do not try again: tell the user that the operator of the proxy must allow it.',
  access_denied: () =>
    'Tell the user: the key of Odoo that the proxy has stored does not work. If they connected Odoo themselves, they enter a new key on the page where they connected.',
  access_error: () => 'The Odoo user may not do this. Tell the user, or use other records.',
  approval_required: () =>
    'A person must approve this call. Tell the user. After the approval, send the same call again with its id as `approval`.',
  connect_required: () => 'Give the user this address. When they have connected, try again.',
  record_missing: (model) => `Find records that exist by search_records {"model": "${model}", "query": "…"}.`,
  validation_error: () => 'Change the values as the message says, then send them again.',
  user_error: () => 'Do what the message says first.',
  redirect_warning: () => 'Tell the user: the message says what must be set up in Odoo first.',
  model_not_found: () => 'Find the model by list_models {"query": "…"}.',
  method_not_found: (model) => `${model} has no such method. Use another tool, or ask the user.`,
  arguments_invalid: () => 'Correct the arguments as the message says.',
  invalid_params: () => 'Correct the arguments as the message says.',
  invalid_request: () => 'Correct the arguments as the message says.',
  query_invalid: (model) =>
    `Find the names of fields by describe_model {"model": "${model}", "query": "…"}, then correct the call.`,
  concurrency_conflict: () => 'Try again.',
  rate_limited: () => 'Wait some seconds, then try again.',
  overloaded: () => 'Wait some seconds, then try again.',
  upstream_timeout: () => 'Ask for less at once. After a write, look first whether it was done.',
  upstream_unreachable: () => 'Odoo does not answer. Try again later, or tell the user.',
};

/** The next step for a model that the policy does not name: its name may be misspelt. */
export const UNNAMED_MODEL_NEXT =
  'Check the name of the model by list_models {"query": "…"}. If it is right, tell the user that the operator of the proxy must allow it.';

/**
 * `isNamed`: whether the policy of the key names the model. `names`: the tool's names of the positional arguments of
 * the call.
 */
export function toToolError(
  error: Denial | ErrorBody,
  model: string,
  isNamed: boolean,
  names: readonly string[] = [],
): ToolError {
  const [type, message, data] =
    error instanceof Denial
      ? [error.type, error.message, { connect_url: error.more.connectUrl } as Record<string, unknown>]
      : [error.data.type, error.message, error.data as unknown as Record<string, unknown>];
  const said = typeof data['message'] === 'string' ? data['message'] : message;
  const approval = typeof data['approval'] === 'string' ? ` Id of the approval: ${data['approval']}.` : '';
  // Printed on one line: after a line break, Odoo's text would look like a line of the proxy, such as the next step.
  const told = nameArguments(namesApproval(type) ? nameArgument(said) : said, names);
  const cleaned = cleanText(told).replace(/\s+/g, ' ');
  const text = clipText(cleaned, TEXT_MAX);
  const missing = type === 'model_not_found' && namesModel(said, model) ? explainMissingApps([model]) : null;
  // No similar models are named: none of them does what the missing app does.
  if (missing !== null) return new ToolError(type, text, { next: `${missing} Tell the user.` });
  const nearest = Array.isArray(data['nearest']) ? data['nearest'].map(String) : null;
  const nothing = nearest?.length === 0 ? ` ${NOTHING_NEAR[type] ?? ''}` : '';
  return new ToolError(type, `${text}${approval}${nothing}`, {
    nearest: nearest ?? [],
    url: typeof data['connect_url'] === 'string' ? data['connect_url'] : null,
    next:
      type === 'policy_denied' && !isNamed
        ? UNNAMED_MODEL_NEXT
        : (NEXT_STEPS[type as keyof typeof NEXT_STEPS]?.(model) ?? ''),
  });
}

/** The error about fields that a model lacks, or that the policy denies. `unknown`: at least one. */
export function explainUnknownFields(model: string, unknown: readonly UnknownField[]): ToolError {
  if (unknown.every(({ isDenied }) => isDenied)) {
    const names = unknown.map(({ name }) => quote(name)).join(', ');
    const what =
      unknown.length === 1 ? `The field ${names} of ${model} is` : `The fields ${names} of ${model} are`;
    const message = `${what} not available to this key.`;
    return new ToolError('policy_denied', message, { next: NEXT_STEPS.policy_denied?.(model) ?? '' });
  }
  const find = `describe_model {"model": "${model}", "query": "…"}`;
  const hasNear = unknown.some(({ nearest }) => nearest.length > 0);
  const next = hasNear
    ? `Use one of these fields, or search for it by ${find}.`
    : `Search for it by ${find}. The app that adds it may not be installed.`;
  const [only, ...others] = unknown;
  if (only !== undefined && others.length === 0) {
    const nothing = hasNear ? '' : ` ${NOTHING_NEAR['query_invalid']}`;
    const message = `${model} has no field ${quote(only.name)}.${nothing}`;
    return new ToolError('query_invalid', message, { nearest: only.nearest, next });
  }
  const listed = unknown.map((field) => `${quote(field.name)} ${printNear(field)}`);
  return new ToolError('query_invalid', `${model} has no fields ${listed.join(', ')}.`, { next });
}

/**
 * Prints the fields that a call asks for and a model lacks, for an answer without them. `path` precedes their names.
 */
export function listUnknownFields({ names, shown }: UnknownFields, path = ''): string[] {
  const listed = shown.map((field) => `${path}${shorten(field.name)} ${printNear(field)}`);
  return names.size > shown.length ? [...listed, `… (${names.size} in all)`] : listed;
}

function printNear({ isDenied, nearest }: UnknownField): string {
  if (isDenied) return '(not available to this key)';
  return nearest.length > 0 ? `(nearest: ${nearest.join(', ')})` : '(no similar name)';
}

/** Text for an empty list of similar names, by type of error. */
const NOTHING_NEAR: Readonly<Record<string, string>> = {
  query_invalid: 'No field has a similar name.',
  model_not_found: 'No model has a similar name.',
};

/** True if the fault is about this model, not about another one that a module of the server needs. */
function namesModel(text: string, model: string): boolean {
  return text.split(/[^\w.]+/).includes(model);
}

function quote(name: string): string {
  return `"${shorten(name)}"`;
}

function shorten(name: string): string {
  return cutText(name, NAME_SHOWN_MAX);
}

/** True for errors of the proxy itself whose text says how a caller names its approval. */
function namesApproval(type: string): boolean {
  return type === 'approval_required' || type === 'policy_denied';
}

/** Names the approval as a tool's argument; other calls name it by a header. */
function nameArgument(message: string): string {
  return message.replace(SENT_HEADER, 'with its id as `approval`').replaceAll(HEADER, '`approval`');
}

/** Adapts a text for other callers, which send headers and positional arguments, to a tool, which has neither. */
function nameArguments(message: string, names: readonly string[]): string {
  const named = message.replace(/`params\[(\d)\]/g, (text, index) => {
    const name = names[Number(index)];
    return name === undefined ? text : `\`${name}`;
  });
  return HEADER_PHRASES.reduce((text, [phrase, other]) => text.replace(phrase, other), named);
}

/** Phrases of the proxy's own errors, and their replacements. */
const HEADER_PHRASES: readonly [string, string][] = [
  [', or without `prefer: values=normalized`', ''],
  [' with `prefer: values=normalized`', ''],
  [' for `prefer: values=normalized`', ''],
  [', or allow more with x-request-timeout', ''],
  ['tell its operator the x-request-id of this answer', 'tell its operator'],
];
const HEADER = `\`${APPROVAL_HEADER}\``;
const SENT_HEADER = new RegExp(`with the header \`${APPROVAL_HEADER}: \\w+\``);
