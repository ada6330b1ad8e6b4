const LINE_LENGTH_MAX = 76;

/** JSON with a line for each item, except for what is short. */
export function printJson(value: unknown, margin = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const inner = `${margin}  `;
  const items = isList
    ? value.map((item: unknown) => printJson(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${printJson(item, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const line = `${open}${items.join(', ')}${close}`;
  if (line.length + margin.length <= LINE_LENGTH_MAX && !line.includes('\n')) return line;
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${margin}${close}`;
}
