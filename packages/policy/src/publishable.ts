/**
 * The rules for the policy of a publishable key, which every visitor of a web page can read. Whatever the key may do
 * must be harmless for any visitor to do. Pure.
 */
import { compileGlob, type Policy } from '@erp-proxy/contract';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import { type Members, pathOfEntry, type Report } from './member-kinds.ts';
import { readOrigin } from './origin-pattern.ts';

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

export function reportUnpublishable(given: Members, policy: Policy, report: Report): void {
  if (policy.read_only !== true) {
    report('read_only', 'must be true: a publishable key can only read');
  }
  if (given['cors_origins'] === undefined) {
    report(
      'cors_origins',
      'must name the web pages that use the publishable key, e.g. https://shop.example.com',
    );
  }
  for (const [index, origin] of (policy.cors_origins ?? []).entries()) {
    const error = findPageError(origin);
    if (error !== null) report(`cors_origins[${index}]`, error);
  }
  if (given['approve'] !== undefined) {
    report('approve', 'must be left out: any visitor of the page could ask for approvals');
  }
  if (given['data'] !== undefined) {
    report('data', 'must be left out: any visitor of the page could copy all records');
  }
  if (policy.allow_unknown_methods === true) {
    report(
      'allow_unknown_methods',
      'must be left out: any visitor of the page could call methods that nobody knows',
    );
  }
  if (given['origins'] !== undefined) {
    report('origins', 'must be left out: a page that brings credentials of Odoo would publish them too');
  } else if (given['instances'] === undefined) {
    report('instances', 'must name the stored instances that the publishable key may call');
  }
  for (const [index, name] of (policy.instances ?? []).entries()) {
    if (name.includes('*')) report(`instances[${index}]`, NAMED_RULE);
  }
  for (const [model, methods] of Object.entries(policy.models)) {
    if (model.includes('*')) report(pathOfEntry('models', model), NAMED_RULE);
    for (const [index, method] of methods.entries()) {
      const sensitivity = findSensitivity(model, method);
      if (sensitivity === null) continue;
      const path = `${pathOfEntry('models', model)}[${index}]`;
      report(path, `\`${method}\` of \`${model}\` ${sensitivity}: a publishable key may not call it`);
    }
  }
}

/** Keys that were made before this rule existed keep their policies. */
export function reportMissingFields(policy: Policy, report: Report): void {
  for (const model of listModelsWithoutFields(policy)) {
    report(
      'fields',
      `must list the fields of \`${model}\` that any visitor of the page may read, e.g. {${JSON.stringify(model)}: {"allow": [${proposeFields(
        model,
      )
        .map((field) => JSON.stringify(field))
        .join(', ')}]}}`,
    );
  }
}

/** The models of a publishable policy of which any visitor may read all fields. */
export function listModelsWithoutFields({ publishable, models, fields = {} }: Policy): string[] {
  if (publishable !== true) return [];
  const allowing = Object.entries(fields).filter(([, rule]) => 'allow' in rule);
  return Object.keys(models).filter((model) => !allowing.some(([pattern]) => compileGlob(pattern)(model)));
}

/** Fields of common models that shops show to all visitors. The operator decides which ones to use. */
const SHOWN_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['product.template', ['name', 'list_price', 'currency_id', 'description_sale', 'categ_id']],
  ['product.product', ['name', 'lst_price', 'currency_id', 'description_sale', 'categ_id']],
  ['product.category', ['name', 'complete_name', 'parent_id']],
  ['res.country', ['name', 'code']],
  ['res.country.state', ['name', 'code', 'country_id']],
  ['res.currency', ['name', 'symbol', 'position']],
]);

export function proposeFields(model: string): readonly string[] {
  return SHOWN_FIELDS.get(model) ?? ['name'];
}

/** Whether replacing `before` by `after` takes from a key the restriction that makes it safe to publish. */
export function losesPublishable(before: Policy | null, after: Policy | null): boolean {
  return before?.publishable === true && after?.publishable !== true;
}

export const LOSS_MESSAGE =
  'the key is publishable, and may be in the source of a web page: it stays publishable. Create another key for other rights';

const NAMED_RULE = 'must be a name without `*`: a publishable key is for what its policy names';

function findPageError(origin: string): string | null {
  if (origin.includes('*')) return NAMED_RULE;
  const page = readOrigin(origin);
  // Another check reports any other text as no origin.
  if (page === null) return null;
  if (page.scheme === 'https' || (page.scheme === 'http' && LOCAL_HOSTS.includes(page.host))) return null;
  return 'must begin with https://; http:// is for localhost only';
}
