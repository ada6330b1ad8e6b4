/**
 * Conditions that Odoo adds to a search unless the domain names certain fields. Each page of an export except the first
 * has a condition on `id`, and must still find the same records as the domain alone. Pure.
 */
import { decodeString, type JsonSpan, readElements } from '@erp-proxy/json';

interface ImpliedCondition {
  /** The condition as JSON text. */
  condition: string;
  /** The condition is added unless the domain names one of these fields. */
  unless: readonly string[];
  /** The condition is not added if this member of the context is true. */
  unlessContext: string;
}

/**
 * The conditions of Odoo 14 to 19. Other models add conditions by context or user, which are the same for each page.
 */
const IMPLIED_CONDITIONS: ReadonlyMap<string, ImpliedCondition> = new Map([
  [
    'ir.attachment',
    {
      condition: '["res_field","=",false]',
      unless: ['id', 'res_field'],
      unlessContext: 'skip_res_field_check',
    },
  ],
]);

/** Returns the condition that Odoo adds to a search with this domain, as JSON text; null if it adds none. */
export function findImpliedCondition(
  model: string,
  bytes: Uint8Array,
  domain: JsonSpan | undefined,
  context: Uint8Array | null,
): string | null {
  const implied = IMPLIED_CONDITIONS.get(model);
  if (implied === undefined) return null;
  const { condition, unless, unlessContext } = implied;
  if (domain !== undefined && namesField(bytes, domain, unless)) return null;
  return context !== null && isTrue(context, unlessContext) ? null : condition;
}

/**
 * True if a condition of the domain itself names one of the fields. Odoo does not look into conditions on related
 * records either.
 */
function namesField(bytes: Uint8Array, domain: JsonSpan, names: readonly string[]): boolean {
  let isNamed = false;
  readElements(bytes, domain, (term) => {
    if (term.kind !== 'array') return true;
    readElements(bytes, term, (name) => {
      isNamed = name.kind === 'string' && names.includes(decodeString(bytes, name));
      return false;
    });
    return !isNamed;
  });
  return isNamed;
}

function isTrue(context: Uint8Array, name: string): boolean {
  const members: unknown = JSON.parse(Buffer.from(context).toString());
  return (
    typeof members === 'object' && members !== null && Boolean((members as Record<string, unknown>)[name])
  );
}
