/** Prints JSON for people to read and edit: short lists stay on one line. Pure. */

const LINE_MAX = 88;

export function printJson(value: unknown, indent = ''): string {
  const flat = printFlat(value);
  if (flat.length + indent.length <= LINE_MAX && !hasNested(value)) return flat;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => deeper + printJson(item, deeper)).join(',\n')}\n${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    if (members.length === 0) return '{}';
    const lines = members.map(
      ([name, item]) => `${deeper}${JSON.stringify(name)}: ${printJson(item, deeper)}`,
    );
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  return flat;
}

function printFlat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printFlat).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    if (members.length === 0) return '{}';
    return `{ ${members.map(([name, item]) => `${JSON.stringify(name)}: ${printFlat(item)}`).join(', ')} }`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** True for an object that contains objects or lists, which is printed with one line for each member. */
function hasNested(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((item) => typeof item === 'object' && item !== null);
}
